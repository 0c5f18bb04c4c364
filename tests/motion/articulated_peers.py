#!/usr/bin/env python3
"""Compares the equations of motion with MuJoCo's in random states.

usage: articulated_peers.py [--table] PROBE EXPORT STATES MODEL...

PROBE is the program test_motion_articulated_models. Per model the largest deviation of all states is
printed, over the largest value of the quantity in its state:
  mass       mass matrix
  bias       gravity, centrifugal and Coriolis forces (at least 1e-4 of the largest mass times the
             largest speed squared, of which they are differences)
  position   origins of the bodies (at least 1 m), rotation: their orientations
  jacobian   of the origins of all bodies, with the rows of turning
  forward    accelerations by a random force alone
  actuator   forces of the actuators for random controls and activations (at least 1 N)
  smooth     accelerations by actuators, springs, damping, weight and its compensation: all but
             constraints, from an explicit step of 1 ms
MuJoCo turns inertias that a file gives as a full tensor or as shapes into their principal axes and
stops when what is left off the diagonal is small. A model with a mass matrix that differs by more
than 1e-12 is therefore compared once more as Mayfly exports it, with the axes in the file, where
nothing is left to round: both lines are printed and the second counts. EXPORT is the command that
does that ("build/mayfly info --mjcf"). Exit code 77 where MuJoCo is absent.
"""
import os
import shlex
import subprocess
import sys
import tempfile

try:
    import mujoco
    import numpy as np
except ImportError:
    print("skipped: the Python packages mujoco and numpy are not installed")
    sys.exit(77)

TOLERANCE = 1e-9
ROUNDED = 1e-12
NAMES = ("mass", "bias", "position", "rotation", "jacobian", "forward", "actuator", "smooth")
OFF = ("CONSTRAINT", "CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS", "SPRING", "DAMPER", "ACTUATION")
CHUNK = 100  # [1] states of one run of the probe


def random_state(model, data, rng):
    data.qpos[:] = rng.normal(size=model.nq)
    for j in range(model.njnt):
        first = model.jnt_qposadr[j] + {0: 3, 1: 0}.get(int(model.jnt_type[j]), 0)
        if model.jnt_type[j] in (0, 1):
            q = data.qpos[first:first + 4]
            q /= np.linalg.norm(q)
    data.qvel[:] = rng.normal(size=model.nv)


def carlson(x, y, z):
    """3/2 of the integral of dt / ((t + z) sqrt((t + x) (t + y) (t + z))) over t > 0."""
    total, part = 0.0, 1.0
    for _ in range(30):
        a, b, c = np.sqrt([x, y, z])
        step = a * b + a * c + b * c
        total += part / (c * (z + step))
        part /= 4
        x, y, z = (x + step) / 4, (y + step) / 4, (z + step) / 4
    return 3 * total + part / (z * np.sqrt(z))


def make_exact(model):
    """Virtual masses of ellipsoids are integrals that MuJoCo's compiler knows to 6e-7."""
    for g in range(model.ngeom):
        if model.geom_fluid[g, 0] == 0:
            continue
        r = model.geom_size[g].copy()
        if model.geom_type[g] in (2, 3, 5):
            r[:] = r[0], r[0], r[0] if model.geom_type[g] == 2 else r[1] + r[0] * (
                model.geom_type[g] == 3)
        volume = 4 / 3 * np.pi * r.prod()
        k = [r.prod() * 2 / 3 * carlson(*np.roll(r * r, -1 - i)) for i in range(3)]
        for i in range(3):
            (b, c), (kb, kc) = np.roll(r * r, -1 - i)[:2], np.roll(k, -1 - i)[:2]
            model.geom_fluid[g, 6 + i] = volume * k[i] / (2 - k[i])
            under = 2 * (b - c) + (b + c) * (kb - kc)
            model.geom_fluid[g, 9 + i] = (
                volume / 5 * (b - c) ** 2 * (kc - kb) / under if abs(b - c) > 1e-9 * b else 0)


def flags(model, names):
    out = model.opt.disableflags
    for name in names:
        out |= int(getattr(mujoco.mjtDisableBit, "mjDSBL_" + name))
    return out


class Truth:
    """What MuJoCo says about one state."""

    def __init__(self, model, data, rng):
        own_flags, lift = model.opt.disableflags, model.body_gravcomp.copy()
        mujoco.mj_resetData(model, data)
        random_state(model, data, rng)
        self.force = rng.normal(size=model.nv)
        speed = np.abs(data.qvel).max()
        control = rng.normal(size=model.nu) * 0.5
        activation = rng.normal(size=model.na) * 0.5
        self.question = np.concatenate([data.qpos, data.qvel, self.force, control, activation])
        data.qfrc_applied[:] = self.force
        model.body_gravcomp[:] = 0
        model.opt.disableflags = flags(model, OFF)
        mujoco.mj_forward(model, data)
        self.mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, self.mass)
        self.bias, self.forward = data.qfrc_bias.copy(), data.qacc.copy()
        self.rough = 1e-4 * np.abs(self.mass).max() * speed * speed
        self.jacobian = np.zeros((model.nbody - 1, 6, model.nv))
        for body in range(1, model.nbody):
            part = self.jacobian[body - 1]
            mujoco.mj_jacBody(model, data, part[:3], part[3:], body)
        self.place, self.turn = data.xpos[1:].copy(), data.xquat[1:].copy()
        model.body_gravcomp[:] = lift
        model.opt.disableflags = own_flags
        model.opt.disableflags = flags(model, ("CONSTRAINT", "EULERDAMP"))
        data.qfrc_applied[:] = 0
        data.ctrl[:] = control
        data.act[:] = activation
        mujoco.mj_forward(model, data)
        self.actuator, self.smooth = data.actuator_force.copy(), data.qacc.copy()
        model.opt.disableflags = own_flags


def take(numbers, shape):
    count = int(np.prod(shape))
    return numbers[:count].reshape(shape), numbers[count:]


def relative(got, expected, least=0.0):
    size = max(np.abs(expected).max(initial=0.0), least)
    error = np.abs(got - expected).max(initial=0.0)
    return error / size if size > 0 else error


def deviations(truth, numbers):
    n, bodies, controls = len(truth.bias), len(truth.place), len(truth.actuator)
    mass, numbers = take(numbers, (n, n))
    bias, numbers = take(numbers, (n,))
    body, numbers = take(numbers, (bodies, 7 + 6 * n))
    forward, numbers = take(numbers, (n,))
    actuator, numbers = take(numbers, (controls,))
    smooth, numbers = take(numbers, (n,))
    turn = body[:, 3:7]
    turn = turn * np.sign(np.sum(turn * truth.turn, axis=1, keepdims=True))
    return np.array([
        relative(mass, truth.mass), relative(bias, truth.bias, truth.rough),
        relative(body[:, :3], truth.place, 1.0), relative(turn, truth.turn),
        relative(body[:, 7:].reshape(bodies, 6, n), truth.jacobian),
        relative(forward, truth.forward), relative(actuator, truth.actuator, 1.0),
        relative(smooth, truth.smooth)]), numbers


def ask(probe, path, truths, sizes):
    question = np.concatenate([t.question for t in truths]).tobytes()
    run = subprocess.run([probe, path], input=question, capture_output=True, check=False)
    if run.returncode != 0:
        return None, (run.stdout + run.stderr).decode(errors="replace").strip()[-300:]
    numbers = np.frombuffer(run.stdout)
    if list(numbers[:5]) != sizes:
        return None, f"other sizes: {numbers[:5]}, MuJoCo has {sizes}"
    return numbers[5:], ""


def worst_of(probe, path, count):
    """Largest deviations, or None and why there are none."""
    model = mujoco.MjModel.from_xml_path(path)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.timestep = 0.001
    model.tendon_armature[:] = 0
    make_exact(model)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    sizes = [model.nq, model.nv, model.nu, model.na, model.nbody - 1]
    worst = np.zeros(len(NAMES))
    for first in range(0, count, CHUNK):
        truths = [Truth(model, data, rng) for _ in range(min(CHUNK, count - first))]
        numbers, why = ask(probe, path, truths, sizes)
        if numbers is None:
            return None, why
        for truth in truths:
            found, numbers = deviations(truth, numbers)
            worst = np.fmax(worst, np.where(np.isfinite(found), found, np.inf))
    return worst, model.nv


def show(name, worst, size, table):
    if table:
        print(f"| {name} | {size} | " + " | ".join(f"{x:.0e}" for x in worst) + " |", flush=True)
    else:
        print(f"{name}: " + " ".join(f"{n} {x:.1e}" for n, x in zip(NAMES, worst)), flush=True)


def compare(probe, export, path, count, table):
    name = os.path.basename(path) if table else path
    worst, size = worst_of(probe, path, count)
    if worst is not None and worst[0] > ROUNDED:
        show(name, worst, size, table)
        name += ", exported"
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "exported.xml")
            subprocess.run([*shlex.split(export), plain, path], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            worst, size = worst_of(probe, plain, count)
    if worst is None:
        print(f"{name}: {size}")
        return False
    show(name, worst, size, table)
    if worst.max() > TOLERANCE:
        print(f"{name}: more than {TOLERANCE}")
    return worst.max() <= TOLERANCE


def main():
    arguments = sys.argv[1:]
    table = arguments[0] == "--table"
    probe, export, states, *models = arguments[table:]
    if table:
        print("| model | n | " + " | ".join(NAMES) + " |\n" + "|---" * (len(NAMES) + 2) + "|")
    # A list, so that all are compared when one differs.
    return 0 if all([compare(probe, export, path, int(states), table) for path in models]) else 1


if __name__ == "__main__":
    sys.exit(main())
