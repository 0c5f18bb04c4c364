#!/usr/bin/env python3
"""One step from random states in Mayfly and in MuJoCo, grouped by the contacts in them.

usage: one_step.py [--states N] [--near] [--list] [--require] NAME=FOLDER[:PATTERN,...]...

Collections as in robots.py. Every state is the first keyframe (else the reference) with its joints
moved by up to 0.4 (standard deviation), random velocities and random controls over their whole
range, often in deep penetration. --near: free bases are then put up to 5 mm into the ground or a
little above it, and the movement of the others is halved until nothing is deeper. Compared are, and
a state agrees where the difference is at most 1e-5:

  velocities  after the step, over the largest change that MuJoCo makes
  joints      generalized forces of all constraints (qfrc_constraint), over the largest
  bodies      forces and torques of contacts, connects and welds on what each body carries, over the
              largest force or torque

The forces are those of a copy of the file with a force sensor on each body with shapes (at most 64)
and Euler's method. MuJoCo's solver and collision detection iterate to the end. States without
contacts test everything else; those in which all contacts are of one pair of shapes show how many
agree. Left out are velocities of files whose solver stops after fewer than 50 iterations (where
they stop is not comparable) and of free bodies that nothing pushes (they keep their momentum here),
and files with height fields, whose surface MuJoCo cuts into triangles.
--list: also every other state that differs.
--require: exit with 1 where a state without contacts, or with those of SURE pairs only, differs.
"""
import argparse
import collections
import os
import pickle
import sys
import tempfile

import mujoco
import numpy as np
from causes import world_of
from robots import files_of

AGREES = 1e-5
SPREAD = (0.01, 0.05, 0.2, 0.4)  # [rad, m] of joints
DEEP = 5e-3  # [m] with --near
ZONES = 64  # [1] bodies with force sensors
KINDS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
COLUMNS = ("velocities", "joints", "bodies")
# Shapes that touch in single points, or in those of a face that both choose alike.
SURE = {(), *((kind, "plane") for kind in ("sphere", "capsule", "ellipsoid", "box")),
        ("plane", "sphere"), ("capsule", "capsule"), ("capsule", "sphere"), ("sphere", "sphere"),
        ("box", "sphere")}
PROBE = "one_step_probe_"


# ---- states -------------------------------------------------------------------------------------


def solve_to_the_end(option):
    option.tolerance, option.ls_tolerance = 0, 1e-12
    option.iterations, option.ls_iterations = 300, 100
    option.ccd_tolerance, option.ccd_iterations = 1e-12, 200


def place(model, data, moved):
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    else:
        mujoco.mj_resetData(model, data)
    data.time = 0.0
    if model.na:
        data.act[:] = 0.0
    mujoco.mj_integratePos(model, data.qpos, moved, 1.0)


def deepest(model, data, floor):
    """Of the contacts with planes of the world, or of all others."""
    planes = (model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE) & (model.geom_bodyid == 0)
    return max((-c.dist for c in data.contact if planes[c.geom].any() == floor), default=-np.inf)


def above(model, data, root):
    """Least distance of a tree to the planes of the world that it collides with [m], at most 10."""
    found, line = 10.0, np.zeros(6)
    bodies = np.flatnonzero(model.body_rootid == root)
    for plane in np.flatnonzero((model.geom_type == 0) & (model.geom_bodyid == 0)):
        for g in np.flatnonzero(np.isin(model.geom_bodyid, bodies)):
            if (model.geom_contype[g] & model.geom_conaffinity[plane]
                    or model.geom_contype[plane] & model.geom_conaffinity[g]):
                found = min(found, mujoco.mj_geomDistance(model, data, plane, g, 10.0, line))
    return found


def bring_near(model, data, rng, moved):
    for _ in range(12):
        place(model, data, moved)
        for joint in np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            gap = above(model, data, model.body_rootid[model.jnt_bodyid[joint]])
            if gap < 10.0:
                data.qpos[model.jnt_qposadr[joint] + 2] -= gap + rng.uniform(-0.2, 1.0) * DEEP
        mujoco.mj_forward(model, data)
        if deepest(model, data, False) < DEEP:
            return
        moved = 0.5 * moved


def draw(model, data, rng, spread, near):
    moved = rng.normal(size=model.nv) * spread
    place(model, data, moved)
    if near:
        bring_near(model, data, rng, moved)
    data.qvel[:] = rng.normal(size=model.nv) * 0.5
    data.qacc_warmstart[:] = 0.0
    limited = model.actuator_ctrllimited
    low = np.where(limited, model.actuator_ctrlrange[:, 0], -1.0)
    high = np.where(limited, model.actuator_ctrlrange[:, 1], 1.0)
    data.ctrl[:] = rng.uniform(low, high)


def contacts_of(model, data):
    acting = [c.geom for c in data.contact if c.efc_address >= 0]
    return {tuple(sorted(KINDS[kind] for kind in model.geom_type[geoms])) for geoms in acting}


def origin_of(model, data, body):
    """[m] Of a body's link here: the anchor of its last joint."""
    body = model.body_weldid[body]
    last = model.body_jntadr[body] + model.body_jntnum[body] - 1
    free = mujoco.mjtJoint.mjJNT_FREE
    if body == 0 or model.body_jntnum[body] == 0 or model.jnt_type[last] == free:
        return data.xpos[body].copy()
    return data.xpos[body] + data.xmat[body].reshape(3, 3) @ model.jnt_pos[last]


# ---- velocities ---------------------------------------------------------------------------------


class Twin:
    """The same robot in both."""

    def __init__(self, path, **settings):
        import mayfly

        self.model = mujoco.MjModel.from_xml_path(path)
        self.data = mujoco.MjData(self.model)
        solve_to_the_end(self.model.opt)
        robot = mayfly.Model.from_file(path, root=os.sep)  # its meshes are elsewhere
        self.world = world_of(mayfly, robot, self.model)
        self.group = self.world.add_group(robot, 1, motion="articulated", precision="double",
                                          **settings)

    def step(self, state, control):
        """The velocities after a step: ours, MuJoCo's; its forces are those before the step."""
        self.group.reset()
        self.group.set_state(state[0][None].copy(), state[1][None].copy())
        if self.model.nu:
            self.group["actuator.control"] = control
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:], self.data.ctrl[:] = *state, control
        mujoco.mj_forward(self.model, self.data)
        self.forces = self.data.qfrc_constraint.copy()
        mujoco.mj_rnePostConstraint(self.model, self.data)
        self.outer = self.data.cfrc_ext.copy()
        self.contacts = contacts_of(self.model, self.data)
        smooth = (self.data.qfrc_bias, self.data.qfrc_actuator, self.data.qfrc_passive)
        self.least = 1e-2 * np.abs(smooth).max(initial=1e-9)
        self.mass = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, self.mass)
        self.acceleration, self.centers = self.data.qacc.copy(), self.data.subtree_com.copy()
        self.origins = [origin_of(self.model, self.data, b) for b in range(self.model.nbody)]
        mujoco.mj_step(self.model, self.data)
        self.world.step(1)
        return self.group.state()[1][0], self.data.qvel

    def keeps_momentum(self):
        """Free bodies that nothing pushes do so here, but not in MuJoCo under this method."""
        first = self.model.jnt_dofadr[self.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
        pushed = np.abs(self.forces[first[:, None] + np.arange(6)]).max(axis=1)
        rk4 = self.model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
        return not rk4 and (pushed <= 1e-12 * np.abs(self.forces).max(initial=0.0)).any()


# ---- forces -------------------------------------------------------------------------------------


def probed(path):
    """The text of a copy with force sensors, and the numbers of the bodies that have one."""
    spec = mujoco.MjSpec.from_file(path)
    model, bodies = spec.compile(), []
    for b in range(1, model.nbody):
        geoms = np.flatnonzero(model.geom_bodyid == b)
        collides = (model.geom_contype[geoms] | model.geom_conaffinity[geoms]).any()
        if collides and len(bodies) < ZONES:
            bodies.append(b)
    for b, body in enumerate(list(spec.bodies)):
        if b in bodies:
            body.add_site(name=f"{PROBE}{b}")
    own = (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE)
    for sensor in [s for s in spec.sensors if s.type in own]:
        spec.delete(sensor)
    for b in bodies:
        spec.add_sensor(name=f"{PROBE}{b}", type=mujoco.mjtSensor.mjSENS_FORCE,
                        objtype=mujoco.mjtObj.mjOBJ_SITE, objname=f"{PROBE}{b}")
    here = os.path.dirname(os.path.abspath(path))
    spec.meshdir = os.path.join(here, spec.meshdir)
    spec.texturedir = os.path.join(here, spec.texturedir)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    solve_to_the_end(spec.option)
    spec.compile()
    return spec.to_xml(), bodies


class Forces:
    def __init__(self, path):
        text, self.bodies = probed(path)
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as copy:
            copy.write(text)
            copy.flush()
            self.twin = Twin(copy.name, sensors=True)
        model = self.twin.model
        self.carried = [[c for c in range(model.nbody) if b in ancestors(model, c)]
                        for b in self.bodies]

    def outer(self):
        """[bodies, 2, 3] MuJoCo's forces, and torques about their links, on what bodies carry."""
        twin, out = self.twin, []
        for b, carried in zip(self.bodies, self.carried):
            torque, force = twin.outer[carried].sum(axis=0).reshape(2, 3)
            arm = twin.centers[twin.model.body_rootid[b]] - twin.origins[b]
            out.append([force, torque + np.cross(arm, force)])
        return np.array(out)

    def errors(self, state, control):
        twin = self.twin
        ours, theirs = twin.step(state, control)
        wrong = twin.group["solver.acceleration"][0] - twin.acceleration
        if twin.model.opt.noslip_iterations > 0:  # the pass follows, and is in the velocities only
            wrong = (ours - theirs) / twin.model.opt.timestep
        wrong = twin.mass @ wrong
        joints = float(np.abs(wrong).max() / max(np.abs(twin.forces).max(), twin.least))
        if twin.model.opt.noslip_iterations > 0 and twin.keeps_momentum():
            joints = None
        if not self.bodies:
            return joints, None
        outer = self.outer()
        found = np.asarray(twin.group["sensor.outer"][0]).reshape(outer.shape)
        size = np.fmax(np.abs(outer).max(axis=(0, 2)), twin.least)
        return joints, float((np.abs(found - outer).max(axis=(0, 2)) / size).max())


def ancestors(model, body):
    out = []
    while body > 0:
        out.append(body)
        body = model.body_parentid[body]
    return out


# ---- files --------------------------------------------------------------------------------------


def steps_of(path, states, near):
    """Per state: the errors of COLUMNS (None: not comparable), pairs of kinds of its contacts."""
    model = mujoco.MjModel.from_xml_path(path)
    heights = (model.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD).any()
    if model.nv == 0 or heights:
        return []
    stops = model.opt.iterations < 50
    data, rng, out = mujoco.MjData(model), np.random.default_rng(0), []
    twin, forces = Twin(path), Forces(path)
    for state in range(states):
        draw(model, data, rng, SPREAD[state % len(SPREAD)], near)
        start = (data.qpos.copy(), data.qvel.copy())
        ours, theirs = twin.step(start, data.ctrl)
        change = 1e-3 + np.abs(theirs - start[1]).max()
        error = float(np.abs(ours - theirs).max() / change)
        error = None if stops or twin.keeps_momentum() else error
        out.append(((error, *forces.errors(start, data.ctrl)), twin.contacts))
    return out


def apart(path, states, near):
    """steps_of in a separate process, so that a crash is contained."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        try:
            result = steps_of(path, states, near)
        except Exception as failure:  # pylint: disable=broad-except
            result = f"{type(failure).__name__}: {failure}"
        with os.fdopen(sink, "wb") as pipe:
            pickle.dump(result, pipe)
        os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else "it crashed"


def row(kind, states):
    """Of a table: how many states agree in each column."""
    columns = []
    for c in range(len(COLUMNS)):
        errors = [s[c] for s in states if s[c] is not None]
        others = [e for e in errors if not e <= AGREES]
        median = f", others {np.median(others):.0e}" if others else ""
        columns.append(f"{len(errors) - len(others)} of {len(errors)}{median}")
    return f"| {kind} | " + " | ".join(columns) + " |"


def kind_of(found):
    return " and ".join(next(iter(found))) if len(found) == 1 else "several" if found else "nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("collections", nargs="+", metavar="NAME=FOLDER[:PATTERN,...]")
    parser.add_argument("--states", type=int, default=20, help="per file")
    parser.add_argument("--near", action="store_true", help="near the ground, and not deep")
    parser.add_argument("--list", action="store_true", help="every state that differs")
    parser.add_argument("--require", action="store_true", help="exit with 1 where it differs")
    options = parser.parse_args()
    kinds, files, wrong, others = collections.defaultdict(list), 0, [], []
    for collection in options.collections:
        for name, place_, path in files_of(collection):
            steps = apart(path, options.states, options.near)
            if isinstance(steps, str):
                print(f"{name}/{place_}: {steps[:200]}", file=sys.stderr)
                continue
            files += len(steps) > 0
            for number, (errors, found) in enumerate(steps):
                if max((e for e in errors if e is not None), default=0.0) > AGREES:
                    text = " ".join("-" if e is None else f"{e:.1e}" for e in errors)
                    pairs = ", ".join(sorted(map(" and ".join, found)))
                    (wrong if found <= SURE else others).append(
                        f"{name}/{place_}, state {number}: {text}: {pairs or 'nothing'}")
                kinds[kind_of(found)].append(errors)
    print("| contact | " + " | ".join(COLUMNS) + " |")
    print("|---" * (1 + len(COLUMNS)) + "|")
    for kind, states in sorted(kinds.items()):
        print(row(kind, states))
    print(f"\n{files} files, MuJoCo {mujoco.__version__}.")
    for line in wrong + (others if options.list else []):
        print("falls short:", line)
    return 1 if options.require and (wrong or files == 0) else 0


if __name__ == "__main__":
    sys.exit(main())
