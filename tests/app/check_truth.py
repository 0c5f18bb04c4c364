#!/usr/bin/env python3
"""Writes apps/mayfly/check_truth.h: what MuJoCo computes for Mayfly's own robots (check case F17).

Needs the Python packages mujoco and numpy. Run it by hand when a robot changes; the header is kept
with the sources, so that the command needs neither.

    python3 tests/app/check_truth.py models > apps/mayfly/check_truth.h
"""
import os
import sys

import mujoco
import numpy as np

MODELS = ["figure.xml", "ant.xml"]
STEP, STEPS = 5e-4, 400


def load(path):
    """The robot with nothing that touches."""
    spec = mujoco.MjSpec.from_file(path)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.timestep = STEP
    spec.option.disableflags |= (mujoco.mjtDisableBit.mjDSBL_CONTACT |
                                 mujoco.mjtDisableBit.mjDSBL_LIMIT)
    return spec.compile()


def set_state(model, data, rng):
    data.qpos[:] = rng.uniform(-1, 1, model.nq)
    data.qpos[2] += 3
    data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
    data.qvel[:] = rng.uniform(-2, 2, model.nv)
    data.qfrc_applied[:] = rng.uniform(-1, 1, model.nv)
    data.qfrc_applied[:6] = 0
    for values in (data.qpos, data.qvel, data.qfrc_applied):
        values[:] = [float("%.17g" % v) for v in values]


def numbers(values):
    lines, line = [], ""
    for value in values:
        text = repr(float(value)) + ", "
        if len(line) + len(text) > 90:
            lines.append(line.rstrip())
            line = ""
        line += text
    lines.append(line.rstrip(", "))
    return "{" + "\n     ".join(lines) + "}"


def describe(name, path, rng):
    model = load(path)
    data = mujoco.MjData(model)
    set_state(model, data, rng)
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    free = np.linalg.solve(mass, data.qfrc_applied - data.qfrc_bias)
    start = [data.qpos.copy(), data.qvel.copy(), data.qfrc_applied.copy()]
    bias = data.qfrc_bias.copy()
    lower = mass[np.tril_indices(model.nv)]
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
    rows = start + [bias, free, lower, data.qpos]
    return "    {\"models/%s\", %d, %d,\n     %s}" % (
        name, model.nq, model.nv, ",\n     ".join(numbers(r) for r in rows))


def main():
    rng = np.random.default_rng(17)
    rows = [describe(m, os.path.join(sys.argv[1], m), rng) for m in MODELS]
    print("// What MuJoCo %s computes for Mayfly's own robots: written by tests/app/check_truth.py.\n"
          "// clang-format off\n"
          "static const Truth truths[] = {\n%s};\n"
          "// clang-format on" % (mujoco.__version__, ",\n".join(rows)))


if __name__ == "__main__":
    main()
