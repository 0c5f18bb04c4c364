"""Makes arm.csv: what a machine like arm.xml, but with other numbers, would have logged.

The machine is simulated by MuJoCo (pip install mujoco), another code; its commands arrive
late, its encoders are noisy. Everything is seeded.

usage: make_arm.py FOLDER
"""

import pathlib
import sys

import mujoco
import numpy as np

# What the machine has, in the units of the model file, per joint.
TRUTH = {
    "shoulder.damping": 0.55,
    "shoulder.friction": 0.32,
    "shoulder.armature": 0.021,
    "shoulder.gain": 42.0,
    "elbow.damping": 0.12,
    "elbow.friction": 0.05,
    "elbow.armature": 0.006,
    "elbow.gain": 24.0,
    "delay": 0.0123,
}
NOISE = 0.001  # [rad] of the encoders
PERIOD, DURATION = 0.01, 10.0  # [s] of samples, of the log
STEP = 0.00025  # [s] a machine has no steps: short ones of order 4 come near to that


def machine(path: pathlib.Path) -> mujoco.MjModel:
    """The model of the file with the machine's numbers."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    for joint in range(2):
        name = model.joint(joint).name
        model.dof_damping[joint] = TRUTH[f"{name}.damping"]
        model.dof_frictionloss[joint] = TRUTH[f"{name}.friction"]
        model.dof_armature[joint] = TRUTH[f"{name}.armature"]
        model.actuator_gainprm[joint, 0] = TRUTH[f"{name}.gain"]
        model.actuator_biasprm[joint, 1] = -TRUTH[f"{name}.gain"]
    mujoco.mj_setConst(model, mujoco.MjData(model))  # what depends on them
    return model


def commands(random: np.random.Generator) -> np.ndarray:
    """Steps of both joints at times of their own, then slow sweeps, one row per sample."""
    rows = np.zeros((round(DURATION / PERIOD), 2))
    for joint in range(2):
        level = 0.0
        for row in range(len(rows)):
            time = row * PERIOD
            if time < 7.0:
                if row % (45 + 13 * joint) == 20:
                    level = random.uniform(-0.7, 0.7)
                rows[row, joint] = level
            else:
                rows[row, joint] = 0.5 * np.sin((2.0 + joint) * (time - 7.0))
    return rows


def main() -> None:
    """Writes the log into the folder of arm.xml."""
    folder = pathlib.Path(sys.argv[1])
    random = np.random.default_rng(7)
    model = machine(folder / "arm.xml")
    data = mujoco.MjData(model)
    rows = commands(random)
    lines = ["time,shoulder.command,elbow.command,shoulder.position,elbow.position"]
    steps = round(PERIOD / STEP)
    for row, command in enumerate(rows):
        angles = data.qpos + NOISE * random.standard_normal(2)
        numbers = [row * PERIOD, *command, *angles]
        lines.append(",".join(f"{number:.5g}" for number in numbers))
        for step in range(steps):
            # The mean command of this step, after the delay.
            begin = row * PERIOD + step * STEP - TRUTH["delay"]
            times = begin + STEP * (np.arange(100) + 0.5) / 100
            held = np.clip(np.floor(times / PERIOD + 1e-9), 0, len(rows) - 1).astype(int)
            data.ctrl = rows[held].mean(axis=0)
            mujoco.mj_step(model, data)
    (folder / "arm.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
