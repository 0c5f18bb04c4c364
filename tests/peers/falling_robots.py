#!/usr/bin/env python3
"""How deep six robots that fall onto each other overlap, here and in MuJoCo.

usage: falling_robots.py FOLDER [STARTS]

FOLDER has go2.xml of MuJoCo Menagerie. Six of it fall onto the ground and each other from random
places and attitudes, without controls, for 2 s: in MuJoCo as one file, here as the same file and as
a group of six robots. Both depths, measured by MuJoCo's collision detection in the states after
every step, are shown for each start: of robots in each other and in the ground. Exit status 1: the
deepest of all starts is more than MORE times MuJoCo's. 77: MuJoCo or Mayfly is absent.
"""
import os
import sys
import tempfile

try:
    import mayfly
    import mujoco
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

COUNT, SECONDS, MORE = 6, 2.0, 1.2


def spec_of(folder):
    spec, plane = mujoco.MjSpec(), mujoco.mjtGeom.mjGEOM_PLANE
    spec.meshdir = os.path.join(os.path.abspath(folder), "assets")
    spec.worldbody.add_geom(name="floor", type=plane, size=[0, 0, 0.05])
    for k in range(COUNT):
        one = mujoco.MjSpec.from_file(os.path.join(folder, "go2.xml"))
        spec.option.cone, spec.option.impratio = one.option.cone, one.option.impratio
        spec.worldbody.add_frame().attach_body(one.body("base"), f"r{k}_", "")
    return spec


def start_of(pose, seed):
    rng, out = np.random.default_rng(seed), []
    for k in range(COUNT):
        own = pose.copy()
        own[:2] = rng.uniform(-0.15, 0.15, 2)
        own[2] = 0.35 + 0.55 * k
        own[3:7] = rng.normal(size=4) * [0, 0.3, 0.3, 1] + [1, 0, 0, 0]
        own[3:7] /= np.linalg.norm(own[3:7])
        out.append(own)
    return np.concatenate(out)


class Depth:
    """The deepest overlaps so far: between robots, with the ground [m]."""

    def __init__(self, model):
        self.model, self.data, self.deepest = model, mujoco.MjData(model), np.zeros(2)

    def see(self, positions):
        self.data.qpos[:] = positions
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_collision(self.model, self.data)
        for contact in self.data.contact:
            a, b = self.model.body_rootid[self.model.geom_bodyid[contact.geom]]
            if a != b:
                where = int(a == 0 or b == 0)
                self.deepest[where] = max(self.deepest[where], -contact.dist)


def theirs(model, start, steps, depth):
    data = mujoco.MjData(model)
    data.qpos[:] = start
    for _ in range(steps):
        mujoco.mj_step(model, data)
        depth.see(data.qpos)


def ours(robot, count, start, steps, depth):
    world = mayfly.World.for_model(robot)
    group = world.add_group(robot, count, motion="articulated", precision="double",
                            isolated=count == 1, pushable=count > 1)
    if count > 1:
        world.add_collisions()
    group.set_state(start.reshape(count, -1).copy(), np.zeros_like(group.state()[1]))
    for _ in range(steps):
        world.step(1)
        depth.see(group.state()[0].ravel())


def main():
    folder, starts = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    spec = spec_of(folder)
    model, steps = spec.compile(), round(SECONDS / 0.002)
    alone = os.path.join(folder, "go2.xml")
    pose = mujoco.MjModel.from_xml_path(alone).key_qpos[0]
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(spec.to_xml())
        file.flush()
        six = mayfly.Model.from_file(file.name, root=os.sep)
    one = mayfly.Model.from_file(alone)
    worst = {}
    print("| start | MuJoCo | one file | six robots | (between robots, in the ground) |")
    print("|---|---|---|---|---|")
    for seed in range(starts):
        start = start_of(pose, seed)
        runs = {"MuJoCo": lambda d, q=start: theirs(model, q, steps, d),
                "file": lambda d, q=start: ours(six, 1, q, steps, d),
                "group": lambda d, q=start: ours(one, COUNT, q, steps, d)}
        line = f"| {seed} |"
        for name, run in runs.items():
            depth = Depth(model)
            run(depth)
            worst[name] = np.maximum(worst.get(name, 0.0), depth.deepest)
            line += " {:.1f}, {:.1f} mm |".format(*(1e3 * depth.deepest))
        print(line, flush=True)
    good = all((worst[name] <= MORE * worst["MuJoCo"]).all() for name in ("file", "group"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
