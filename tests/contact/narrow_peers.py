#!/usr/bin/env python3
"""Depths and normals of random pairs of solids against MuJoCo's mj_geomDistance.

usage: narrow_peers.py PROBE PAIRS

PROBE is the test program test_contact_narrow; PAIRS is how many states there are of each pair of
kinds. Only overlaps up to SHALLOW are compared: beyond, MuJoCo's depths (also of a capsule whose
axis is within a box) are no longer the least overlap of all directions. Ours may be larger in one
state of 200, theirs in any.
"""
import subprocess
import sys

try:
    import mujoco
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

HULLS = [
    "-0.1 -0.1 -0.05 0.12 -0.08 -0.06 0 0.15 -0.05 0.02 0.01 0.12 -0.06 0.05 0.08",
    "-0.1 -0.1 0 0.1 -0.1 0 0.1 0.1 0 -0.1 0.1 0 0 -0.1 0.06 0 0.1 0.06",
    "0.1 0 0 -0.1 0 0 0 0.1 0 0 -0.1 0 0 0 0.1 0 0 -0.1",
]
# MuJoCo's kind, its size, our number of the kind and our sizes.
SOLIDS = [
    ("sphere", "0.1", 3, (0.1, 0, 0)),
    ("capsule", "0.05 0.15", 4, (0.05, 0.3, 0)),
    ("ellipsoid", "0.1 0.2 0.15", 7, (0.1, 0.2, 0.15)),
    ("cylinder", "0.1 0.15", 2, (0.1, 0.3, 0)),
    ("box", "0.1 0.15 0.05", 1, (0.2, 0.3, 0.1)),
    ("mesh", "0", 5, (0, 0, 0)),
    ("mesh", "1", 5, (1, 0, 0)),
    ("mesh", "2", 5, (2, 0, 0)),
]
TOLERANCE = 2e-5  # [m]
SHALLOW = 0.02  # [m]
FAR = 0.15  # [m]


def geom(name, solid):
    kind, size, _, _ = solid
    shape = f'mesh="hull{size}"' if kind == "mesh" else f'size="{size}"'
    return f'<body mocap="true"><geom name="{name}" type="{kind}" {shape}/></body>'


def build(a, b):
    meshes = "".join(
        f'<mesh name="hull{i}" vertex="{v}"/>' for i, v in enumerate(HULLS)
    )
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><asset>{meshes}</asset><worldbody>{geom('a', a)}{geom('b', b)}"
        "</worldbody></mujoco>"
    )
    return model, mujoco.MjData(model)


def matrix(quat):
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, quat)
    return out.reshape(3, 3)


def place_solid(model, data, number, place, quat):
    """Sets the geom so that the file's own frame of the solid is at `place`, turned by `quat`."""
    turn = matrix(quat)
    local = matrix(model.geom_quat[number])
    data.geom_xpos[number] = place + turn @ model.geom_pos[number]
    data.geom_xmat[number] = (turn @ local).ravel()


def states(rng, count):
    for _ in range(count):
        places = [rng.uniform(-0.5, 0.5, 3), rng.normal(size=3)]
        quats = [rng.normal(size=4) for _ in range(2)]
        quats = [q / np.linalg.norm(q) for q in quats]
        places[1] = places[0] + places[1] / np.linalg.norm(places[1]) * rng.uniform(0.1, 0.45)
        yield places, quats


def line(solid, place, quat):
    return " ".join([str(solid[2])] + [f"{x:.17g}" for x in (*solid[3], *place, *quat)])


def compare(probe, a, b, count, rng):
    model, data = build(a, b)
    lines, theirs = [], []
    for places, quats in states(rng, count):
        for k in range(2):
            place_solid(model, data, k, places[k], quats[k])
        ends = np.zeros(6)
        theirs.append(-mujoco.mj_geomDistance(model, data, 0, 1, 0.9, ends))
        lines += [line(a, places[0], quats[0]), line(b, places[1], quats[1])]
    done = subprocess.run(
        [probe, "probe"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    )
    ours = [x.split() for x in done.stdout.splitlines()]
    assert len(ours) == count, done.stderr
    boxes = a[0] == "box" and b[0] == "box"
    worse, better, worst, seen = 0, 0, 0.0, 0
    for our, their in zip(ours, theirs):
        if not -FAR < their < SHALLOW or (boxes and their < 0):
            continue  # of boxes apart we tell the overlap along an axis
        seen += 1
        depth = float(our[0]) if our[0] != "none" else -np.inf
        worst = max(worst, depth - their)
        worse += depth > their + TOLERANCE
        better += depth < their - TOLERANCE
    return worse, better, worst, seen


def main():
    probe, count = sys.argv[1], int(sys.argv[2])
    rng = np.random.default_rng(1)
    total, bad = 0, 0
    for i, a in enumerate(SOLIDS):
        for b in SOLIDS[i:]:
            worse, better, worst, seen = compare(probe, a, b, count, rng)
            total += seen
            bad += worse
            print(
                f"{a[0]:9} {b[0]:9} {seen} states: {worse} deeper than MuJoCo's (by at most "
                f"{worst:.2g} m), {better} less deep"
            )
    print(f"mujoco {mujoco.__version__}: {bad} of {total} are deeper")
    sys.exit(bad * 200 > total or total == 0)


if __name__ == "__main__":
    main()
