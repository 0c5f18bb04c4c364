#!/usr/bin/env python3
"""Compares mass matrix, bias forces, accelerations and a step with MuJoCo's.

The step is an explicit one of 1 ms with random controls: it tells whether actuators, joint springs
and damping, and compensated weight make the same forces.

usage: articulated_peers.py PROBE STATES MODEL...

PROBE is the program test_motion_articulated_models. Exit code 77 where MuJoCo is absent.
"""
import subprocess
import sys

try:
    import mujoco
    import numpy as np
except ImportError:
    print("skipped: the Python packages mujoco and numpy are not installed")
    sys.exit(77)

TOLERANCE = 1e-9
ROUNDED = 5e-12  # [kg m^2] MuJoCo's principal axes leave products of inertia of up to 1e-12
OFF = ("CONSTRAINT", "CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS", "SPRING", "DAMPER", "ACTUATION")


def random_state(model, data, rng):
    data.qpos[:] = rng.normal(size=model.nq)
    for j in range(model.njnt):
        first = model.jnt_qposadr[j] + {0: 3, 1: 0}.get(int(model.jnt_type[j]), 0)
        if model.jnt_type[j] in (0, 1):
            q = data.qpos[first:first + 4]
            q /= np.linalg.norm(q)
    data.qvel[:] = rng.normal(size=model.nv)
    data.qfrc_applied[:] = rng.normal(size=model.nv)


def relative(got, expected):
    size = np.abs(expected).max()
    return np.abs(got - expected).max() / size if size > 0 else np.abs(got).max()


def compare(probe, path, count):
    model = mujoco.MjModel.from_xml_path(path)
    own_flags = model.opt.disableflags
    off_flags = own_flags
    for name in OFF:
        off_flags |= int(getattr(mujoco.mjtDisableBit, "mjDSBL_" + name))
    for name in ("CONSTRAINT", "EULERDAMP"):
        own_flags |= int(getattr(mujoco.mjtDisableBit, "mjDSBL_" + name))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.timestep = 0.001
    model.opt.gravity[:2] = 0  # our worlds pull straight down
    model.opt.density = model.opt.viscosity = 0
    model.tendon_armature[:] = 0
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    states, truth = [], []
    for _ in range(count):
        mujoco.mj_resetData(model, data)
        random_state(model, data, rng)
        control = rng.normal(size=model.nu) * 0.5
        gravity_compensation = model.body_gravcomp.copy()
        model.body_gravcomp[:] = 0
        model.opt.disableflags = off_flags
        mujoco.mj_forward(model, data)
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        states.append(" ".join(repr(float(x)) for x in
                               [*data.qpos, *data.qvel, *data.qfrc_applied, *control]))
        truth.append([mass, data.qfrc_bias.copy(), data.qacc.copy()])
        model.body_gravcomp[:] = gravity_compensation
        model.opt.disableflags = own_flags
        data.ctrl[:] = control
        data.qfrc_applied[:] = 0
        before = data.qvel.copy()
        mujoco.mj_step(model, data)
        truth[-1] += [before, data.qvel.copy()]
    run = subprocess.run([probe, path], input="\n".join(states), capture_output=True, text=True)
    if run.returncode == 3:
        print(f"{path}: not read: {run.stdout.strip()}{run.stderr.strip()}")
        return True
    lines = run.stdout.splitlines()
    if not lines or [int(x) for x in lines[0].split()] != [model.nq, model.nv, model.nu]:
        print(f"{path}: other sizes: {lines[:1]}, MuJoCo has {model.nq} {model.nv} {model.nu}")
        return False
    worst = [0.0, 0.0, 0.0, 0.0]
    for i, (mass, bias, acceleration, before, after) in enumerate(truth):
        got = [np.array(line.split(), dtype=float) for line in lines[1 + 4 * i:5 + 4 * i]]
        # Accelerations of a matrix with condition c are only known to c times the rounding.
        condition = np.linalg.cond(mass)
        worst[0] = max(worst[0], relative(got[0].reshape(mass.shape), mass))
        worst[1] = max(worst[1], relative(got[1], bias))
        worst[2] = max(worst[2], relative(got[2], acceleration) / max(1.0, condition * 1e-6))
        worst[3] = max(worst[3], relative(got[3] - before, after - before) /
                       max(1.0, condition * 1e-6))
    print(f"{path}: mass {worst[0]:.1e} bias {worst[1]:.1e} acceleration {worst[2]:.1e} "
          f"step {worst[3]:.1e}")
    return max(worst) <= TOLERANCE + ROUNDED / np.abs(truth[0][0]).max()


results = [compare(sys.argv[1], path, int(sys.argv[2])) for path in sys.argv[3:]]
sys.exit(0 if all(results) else 1)
