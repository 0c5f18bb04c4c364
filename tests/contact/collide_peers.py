#!/usr/bin/env python3
"""Which bodies' shapes may touch, against the contacts that MuJoCo makes when all margins are huge.

usage: collide_peers.py PROBE MODEL...

PROBE is the test program test_contact_collide.
"""
import collections
import subprocess
import sys

try:
    import mujoco
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def theirs(path):
    """How many pairs of shapes of each two bodies touch. Height fields are left out."""
    model = mujoco.MjModel.from_xml_path(path)
    model.geom_margin[:] = 1e3
    # Spheres always make a contact within the margin, and the trees of bodies have no part in it.
    flat = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
    for g in range(model.ngeom):
        if model.geom_type[g] not in flat:
            model.geom_type[g] = mujoco.mjtGeom.mjGEOM_SPHERE
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_MIDPHASE
    model.pair_margin[:] = 1e3
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    pairs = {tuple(sorted(int(g) for g in contact.geom)) for contact in data.contact}
    name = lambda g: model.body(model.geom_bodyid[g]).name
    heights = mujoco.mjtGeom.mjGEOM_HFIELD
    return collections.Counter(
        tuple(sorted((name(a), name(b))))
        for a, b in pairs
        if heights not in (model.geom_type[a], model.geom_type[b])
    )


def main():
    bad = 0
    for path in sys.argv[2:]:
        done = subprocess.run([sys.argv[1], path], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{path}: {done.stderr.strip()}")
            bad += 1
            continue
        ours = collections.Counter(
            tuple(sorted(line.split("\t"))) for line in done.stdout.splitlines()
        )
        other = theirs(path)
        print(f"{path}: {sum(ours.values())} pairs, MuJoCo {sum(other.values())}")
        if ours != other:
            print(f"  only ours {ours - other}, only MuJoCo's {other - ours}")
            bad += 1
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
