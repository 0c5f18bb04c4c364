#!/usr/bin/env python3
"""One step from random states in Mayfly and in MuJoCo, grouped by the contacts in them.

usage: one_step.py [--states N] [--require] NAME=FOLDER[:PATTERN,...]...       (as robots.py)

Every state is the first keyframe (else the reference) with its joints moved by up to 0.4 (standard
deviation), random velocities and random controls over their whole range. The error of a step is the
largest difference of the velocities after it, over the largest change that MuJoCo makes. States
without contacts test everything else; for those in which all contacts are of one pair of shapes the
table shows how many agree. Files whose solver stops after fewer than 50 iterations are left out (where they stop
is not comparable), and those with height fields, whose surface MuJoCo cuts into triangles.
--require: exit with 1 where a state without contacts differs.
"""
import argparse
import collections
import os
import pickle
import sys

import mujoco
import numpy as np
from robots import files_of

AGREES = 1e-5
SPREAD = (0.01, 0.05, 0.2, 0.4)  # [rad, m] of joints
KINDS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")


def solve_to_the_end(model):
    model.opt.tolerance, model.opt.ls_tolerance = 0, 1e-12
    model.opt.iterations, model.opt.ls_iterations = 300, 100


def draw(model, data, rng, spread):
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    else:
        mujoco.mj_resetData(model, data)
    data.time = 0.0
    if model.na:
        data.act[:] = 0.0
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv) * spread, 1.0)
    data.qvel[:] = rng.normal(size=model.nv) * 0.5
    limited = model.actuator_ctrllimited
    low = np.where(limited, model.actuator_ctrlrange[:, 0], -1.0)
    high = np.where(limited, model.actuator_ctrlrange[:, 1], 1.0)
    data.ctrl[:] = rng.uniform(low, high)


def contacts_of(model, data):
    kind = lambda geom: KINDS[model.geom_type[geom]]
    return {tuple(sorted(kind(g) for g in c.geom)) for c in data.contact}


def steps_of(path, states):
    """Per state: error, pairs of kinds of its contacts."""
    import mayfly

    model = mujoco.MjModel.from_xml_path(path)
    heights = (model.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD).any()
    if model.nv == 0 or model.opt.iterations < 50 or heights:
        return []
    data, rng, out = mujoco.MjData(model), np.random.default_rng(0), []
    robot = mayfly.Model.from_file(path)
    solve_to_the_end(model)
    world = mayfly.World.for_model(robot)
    group = world.add_group(robot, 1, motion="articulated", precision="double")
    for state in range(states):
        draw(model, data, rng, SPREAD[state % len(SPREAD)])
        group.reset()
        group.set_state(data.qpos[None].copy(), data.qvel[None].copy())
        if model.nu:
            group["actuator.control"] = data.ctrl
        before = data.qvel.copy()
        mujoco.mj_forward(model, data)
        contacts = contacts_of(model, data)
        mujoco.mj_step(model, data)
        world.step(1)
        change = 1e-3 + np.abs(data.qvel - before).max()
        error = float(np.abs(group.state()[1][0] - data.qvel).max() / change)
        out.append((error, contacts))
    return out


def apart(path, states):
    """steps_of in a separate process, so that a crash is contained."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        try:
            result = steps_of(path, states)
        except Exception as failure:  # pylint: disable=broad-except
            result = str(failure)
        with os.fdopen(sink, "wb") as pipe:
            pickle.dump(result, pipe)
        os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else "it crashed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("collections", nargs="+", metavar="NAME=FOLDER[:PATTERN,...]")
    parser.add_argument("--states", type=int, default=20, help="per file")
    parser.add_argument("--require", action="store_true", help="exit with 1 where it differs")
    options = parser.parse_args()
    kinds, files, wrong = collections.defaultdict(list), 0, []
    for collection in options.collections:
        for name, place, path in files_of(collection):
            steps = apart(path, options.states)
            if isinstance(steps, str):
                print(f"{name}/{place}: {steps[:120]}", file=sys.stderr)
                continue
            files += len(steps) > 0
            for error, found in steps:
                if not found and error > AGREES:
                    wrong.append(f"{name}/{place}: {error:.1e}")
                if len(found) < 2:
                    kinds[" and ".join(found.pop()) if found else "nothing"].append(error)
    print("| contact | states | agree within 1e-5 | median error of the others |\n|---|---|---|---|")
    for kind, errors in sorted(kinds.items()):
        others = [e for e in errors if e > AGREES]
        median = f"{np.median(others):.0e}" if others else ""
        print(f"| {kind} | {len(errors)} | {len(errors) - len(others)} | {median} |")
    print(f"\n{files} files, MuJoCo {mujoco.__version__}.")
    for line in wrong:
        print("falls short:", line)
    return 1 if options.require and (wrong or files == 0) else 0


if __name__ == "__main__":
    sys.exit(main())
