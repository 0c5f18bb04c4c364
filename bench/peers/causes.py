"""Why a robot ends elsewhere in Mayfly and in MuJoCo, measured (robots.py).

unstable in MuJoCo  which warns of it and starts again
chance  it ends as far away as MuJoCo does from itself after a start 1e-7 beside it, times a factor
        for the rounding of each precision
tie     the start is an edge case, for example a sole that is exactly level and has no lowest corner:
        moved by about 1e-3 rad and 1 mm at the start, both end in the same place
faces   contacts of faces with faces, edges or capsules, for which both choose other points, and
        those of ellipsoids, which both find by iteration: a copy of the file without those contacts
        ends in the same place, moved likewise at the start
"""
import contextlib
import importlib.util
import os
import tempfile

import mujoco
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOVED = 1e-3  # [rad, m]
ITERATED = (mujoco.mjtGeom.mjGEOM_ELLIPSOID,)
ROUNDS = 16  # of dropping contacts, since others follow where some are gone


def module_of(path):
    """A program of this project as a module."""
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, os.path.join(ROOT, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FILES = module_of("tests/peers/mujoco_files.py")
BESIDE, world_of, read = FILES.BESIDE, FILES.world_of, mujoco.MjModel.from_xml_path


def chance(differences, own, away, precision):
    """Whether MuJoCo's own difference from a start beside it explains one."""
    if differences is None:
        return False
    factor = FILES.SELF[precision]
    worst = max(d / a for d, a in zip(differences, away))
    return worst < factor * max(o / a for o, a in zip(own, away))


def face_pairs(path, seconds, settle_start):
    """The names of the pairs of bodies whose faces touch, or None where a body has no name."""
    model = read(path)
    data, found = mujoco.MjData(model), set()
    settle_start(model, data)
    mujoco.mj_integratePos(model, data.qpos, np.sin(1.0 + np.arange(model.nv)), MOVED)
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
        pairs = FILES.touching_faces(model, data, FILES.FACES + ITERATED)
        bodies = model.geom_bodyid[pairs]
        found |= {tuple(sorted(map(int, pair))) for pair in bodies}
    names = {tuple(model.body(b).name for b in pair) for pair in found}
    return None if any("" in pair for pair in names) else names


@contextlib.contextmanager
def without_faces(path, seconds, settle_start):
    """A copy of a file in which no faces touch within a time, beside it, and how many pairs of
    bodies do not collide in it; None where there are none, or where that cannot be had."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    end, dropped, done = text.rfind("</mujoco>"), set(), False
    with tempfile.NamedTemporaryFile("w", suffix=".xml", dir=os.path.dirname(path)) as copy:
        for _ in range(ROUNDS if end > 0 else 0):
            more = face_pairs(copy.name if dropped else path, seconds, settle_start)
            if not more:
                done = more is not None and len(dropped) > 0
                break
            dropped |= more
            lines = "".join(f'<exclude body1="{a}" body2="{b}"/>' for a, b in sorted(dropped))
            copy.seek(0)
            copy.truncate()
            copy.write(f"{text[:end]}<contact>{lines}</contact>{text[end:]}")
            copy.flush()
        yield (copy.name if done else None), len(dropped)
