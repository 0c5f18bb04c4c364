#!/usr/bin/env python3
"""How far robots that stand or lie move in a minute, here and in MuJoCo.

usage: resting_robots.py [--hard NAME]... FILE...

From the first keyframe (else the reference), controls held, 20 s to settle: the largest change of a
position of a body or joint in the 60 s after that [m, rad], in MuJoCo, here with its law, with the
compliant and with the hard law; double precision. MuJoCo's regularized friction creeps. Exit status
1: its law moves more than MORE times as far here and more than REST, or a model named by --hard
moves more than REST with hard contacts. 77: MuJoCo or Mayfly is absent.
"""
import argparse
import os
import sys

try:
    import mayfly
    import mujoco
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from mujoco_files import world_of

SETTLE, SECONDS, MORE, REST = 20.0, 60.0, 1.5, 1e-6
LAWS = ("mujoco", "compliant", "hard")


def start_of(model):
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    return data


def steps_of(model, seconds):
    return round(seconds / model.opt.timestep)


def theirs(model):
    data = start_of(model)
    for _ in range(steps_of(model, SETTLE)):
        mujoco.mj_step(model, data)
    settled = data.qpos.copy()
    for _ in range(steps_of(model, SECONDS)):
        mujoco.mj_step(model, data)
    return float(np.abs(data.qpos - settled).max())


def ours(path, model, law):
    robot, start = mayfly.Model.from_file(path), start_of(model)
    world = world_of(mayfly, robot, model)
    group = world.add_group(robot, 1, motion="articulated", precision="double", contact_law=law)
    group.set_state(start.qpos[None].copy(), start.qvel[None].copy())
    if model.nu:
        group["actuator.control"] = start.ctrl
    world.step(steps_of(model, SETTLE))
    settled = group.state()[0].copy()
    world.step(steps_of(model, SECONDS))
    return float(np.abs(group.state()[0] - settled).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--hard", action="append", default=[], metavar="NAME")
    options = parser.parse_args()
    good = True
    print("| robot | MuJoCo | its law here | compliant | hard |\n|---|---|---|---|---|")
    for path in options.files:
        model = mujoco.MjModel.from_xml_path(path)
        name = os.path.join(os.path.basename(os.path.dirname(path)), os.path.basename(path))
        their, own = theirs(model), {law: ours(path, model, law) for law in LAWS}
        numbers = " | ".join(f"{x:.1e}" for x in (their, *own.values()))
        print(f"| {name} | {numbers} |", flush=True)
        good = good and own["mujoco"] <= max(MORE * their, REST)
        if any(part in name for part in options.hard):
            good = good and own["hard"] <= REST
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
