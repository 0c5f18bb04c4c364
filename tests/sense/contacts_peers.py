#!/usr/bin/env python3
"""Compares contact sensors with MuJoCo's in random states.

usage: contacts_peers.py PROBE EXPORT STATES MODEL

PROBE is the program test_sense_model_readings, with contacts enabled; EXPORT is "build/mayfly
info --mjcf": the model as Mayfly writes it is compared, too. Exit code 77 where MuJoCo is absent.
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


def random_state(model, data, rng):
    """Bodies close together, a little above the floor."""
    data.qpos[:] = rng.normal(size=model.nq)
    for j in range(model.njnt):
        if model.jnt_type[j] == 0:
            first = model.jnt_qposadr[j]
            data.qpos[first:first + 3] *= 0.08
            data.qpos[first + 2] = rng.uniform(0.03, 0.2)
            data.qpos[first + 3:first + 7] /= np.linalg.norm(data.qpos[first + 3:first + 7])


def worst_of(probe, path, count):
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    lines, truth = [], []
    for _ in range(count):
        random_state(model, data, rng)
        mujoco.mj_forward(model, data)
        lines.append(" ".join(repr(float(x)) for x in
                              [*data.qpos, *data.qvel, *data.qacc, *data.actuator_force]))
        truth.append(data.sensordata.copy())
    run = subprocess.run([probe, path, "contacts"], input="\n".join(lines), capture_output=True,
                         text=True, check=False)
    got = np.array([np.fromstring(line, sep=" ") for line in run.stdout.splitlines()])
    truth = np.array(truth)
    if got.shape != truth.shape:
        sys.exit(f"{path}: {got.shape}, not {truth.shape}: {run.stdout[-300:]}{run.stderr[-300:]}")
    return np.abs(got - truth).max(axis=0), (truth != 0).mean(axis=0)


def main():
    probe, export, states, path = sys.argv[1:]
    good = True
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)  # MuJoCo writes its log where it runs
        plain = os.path.join(work, "plain.xml")
        subprocess.run([*shlex.split(export), plain, path], check=True, stdout=subprocess.DEVNULL)
        for file in (path, plain):
            worst, busy = worst_of(probe, file, int(states))
            print(f"{file}: {len(worst)} values, not 0 in {100 * busy.min():.0f} to "
                  f"{100 * busy.max():.0f} % of states, largest deviation {worst.max():.1e}")
            good = good and worst.max() <= TOLERANCE and busy.max() > 0.3
    return 0 if good else 1


sys.exit(main())
