"""One run of a scene by Mayfly (bench_precision) or MuJoCo: positions of bodies, and the cost.

Both read the same file, start at its first keyframe and get the same controls in the same steps,
A + B sin(2 pi (f t + C)) with t at the beginning of the step. A run is an array of samples,
[moment][body][3] in m, energies in J, and the cost in seconds of processor time for one simulated
second of one robot, the least of several repeats.
"""
import dataclasses
import subprocess
import time

import mujoco
import numpy as np
from mujoco import rollout

NANOSECOND = 1e-9
MUJOCO_INTEGRATORS = {"Euler": mujoco.mjtIntegrator.mjINT_EULER,
                      "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
                      "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
                      "RK4": mujoco.mjtIntegrator.mjINT_RK4}


@dataclasses.dataclass
class Scene:
    """Settings of a run, for both simulators."""
    name: str
    title: str
    model: str                   # path of the MJCF file
    friction: float = 1.0        # [1] of the ground, as in the file
    frames: int = 16             # samples after the start
    every: int = 64_000_000      # [ns] between samples
    frequency: float = 0.0       # [Hz] of the waves
    waves: tuple = ()            # (offset, amplitude, phase in turns) of each actuator


@dataclasses.dataclass
class Run:
    places: np.ndarray   # [sample][body][3] m, the start included
    energy: np.ndarray   # [sample] J, kinetic and potential
    kinetic: np.ndarray  # [sample] J
    cost: float          # [s/s]
    good: bool           # no fault, all finite


def mayfly(program, scene, step, repeats=1, force=None, **options):
    """`step` in ns; options of bench_precision."""
    command = [program, scene.model, "step", str(step), "frames", str(scene.frames), "every",
               str(scene.every), "friction", str(scene.friction), "repeats", str(repeats)]
    if scene.waves:
        command += ["frequency", str(scene.frequency)]
        for wave in scene.waves:
            command += ["wave", ",".join(map(repr, wave))]
    if force is not None:
        command += ["force", ",".join(repr(float(f)) for f in force)]
    for name, value in options.items():
        command += [name, str(value)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    rows = np.array([[float(word) for word in line.split()] for line in text[:scene.frames + 1]])
    seconds, _, faults = text[scene.frames + 1].split()[1:]
    simulated = scene.frames * scene.every * NANOSECOND * options.get("robots", 1)
    return Run(rows[:, 3:].reshape(len(rows), -1, 3), rows[:, 1] + rows[:, 2], rows[:, 1],
               float(seconds) / simulated, int(faults) == 0 and bool(np.isfinite(rows).all()))


def mujoco_model(scene, step, integrator, cone=None):
    model = mujoco.MjModel.from_xml_path(scene.model)
    model.opt.timestep = step * NANOSECOND
    model.opt.integrator = MUJOCO_INTEGRATORS[integrator]
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    if cone == "elliptic":
        model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    return model


def mujoco_controls(model, scene, step, force):
    """[1][step][nu + 6 nbody]: controls, then the force on the first body."""
    count = scene.frames * (scene.every // step)
    begin = np.arange(count) * (step * NANOSECOND)
    rows = np.zeros((1, count, model.nu + (6 * model.nbody if force is not None else 0)))
    for i, (offset, amplitude, phase) in enumerate(scene.waves):
        turns = scene.frequency * begin + phase
        rows[0, :, i] = offset + amplitude * np.sin(2 * np.pi * turns)
    if force is not None:
        rows[0, :, model.nu + 6:model.nu + 9] = force
    return rows


def mujoco_run(scene, step, integrator, repeats=1, force=None, cone=None):
    """`step` in ns; the default solver with its default settings."""
    model = mujoco_model(scene, step, integrator, cone)
    data = mujoco.MjData(model)
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    kinds = mujoco.mjtState.mjSTATE_CTRL
    if force is not None:
        kinds |= mujoco.mjtState.mjSTATE_XFRC_APPLIED
    controls = mujoco_controls(model, scene, step, force)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    start = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data, start, full)
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        states, _ = rollout.rollout(model, data, start[None, :], controls, control_spec=kinds)
        best = min(best, time.process_time() - began)
    places, energy, kinetic = [], [], []
    per_frame = scene.every // step
    for state in [start] + [states[0, (i + 1) * per_frame - 1] for i in range(scene.frames)]:
        mujoco.mj_setState(model, data, state, full)
        mujoco.mj_forward(model, data)
        places.append(data.xpos[1:].copy())
        energy.append(data.energy.sum())
        kinetic.append(data.energy[1])
    good = bool(np.isfinite(states).all() and data.warning.number.sum() == 0)
    return Run(np.array(places), np.array(energy), np.array(kinetic),
               best / (scene.frames * scene.every * NANOSECOND), good)


def distance(a, b):
    """Root of the mean squared distance of all bodies at all samples after the start [m]."""
    apart = a[1:] - b[1:]
    return float(np.sqrt((apart ** 2).sum(axis=2).mean()))
