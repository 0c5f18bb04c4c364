#!/usr/bin/env python3
"""Articulated robots in Mayfly and in MuJoCo: steps per second of one core, on one machine.

Both load the same file and do the same work: random controls in every step, contacts, robots
that fall and restart after an episode of 500 steps. MuJoCo runs its own `rollout` (compiled, one
thread), so no Python is timed. Measurements alternate; each figure is the median of the repeats.

usage: mujoco_bench.py MAYFLY [SHARED]      (run_mujoco.sh prepares the environment and calls this)
"""
import json
import os
import statistics
import subprocess
import sys
import time

import gymnasium
import mujoco
import numpy as np
from mujoco import rollout

REPEATS = 5
EPISODE = 500


def mujoco_rate(path, integrator, episodes):
    """Steps per second of one core."""
    model = mujoco.MjModel.from_xml_path(path)
    if integrator is not None:
        model.opt.integrator = integrator
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(model, spec))
    mujoco.mj_getState(model, data, start, spec)
    random = np.random.default_rng(1)
    control = random.uniform(-1, 1, (episodes, EPISODE, model.nu))
    starts = np.tile(start, (episodes, 1))
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        rollout.rollout(model, data, starts, control)
        seconds.append(time.perf_counter() - began)
    return episodes * EPISODE / statistics.median(seconds), model.opt.timestep


def mayfly_rate(program, bench, path):
    line = subprocess.run(
        [program, "bench", bench, "--model", path, "--threads", "1", "--repeats", str(REPEATS),
         "--json"], check=True, capture_output=True, text=True).stdout
    result = json.loads(line)
    return result["steps_per_second"], result


def main():
    program = sys.argv[1]
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    shared = sys.argv[2] if len(sys.argv) > 2 else os.path.join(root, "..", "shared")
    gym = os.path.join(os.path.dirname(gymnasium.__file__), "envs", "mujoco", "assets")
    cases = [("articulated-ant", os.path.join(gym, "ant.xml")),
             ("articulated-ant", os.path.join(root, "models", "ant.xml")),
             ("articulated-humanoid", os.path.join(root, "models", "figure.xml")),
             ("articulated-single", os.path.join(root, "models", "figure.xml"))]
    humanoid = os.path.join(shared, "models", "mujoco_models", "humanoid.xml")
    if os.path.exists(humanoid):
        cases += [("articulated-humanoid", humanoid), ("articulated-single", humanoid)]
    booster = os.path.join(shared, "models", "booster_t1", "scene.xml")
    if os.path.exists(booster):
        cases.append(("articulated-t1", booster))
    print(f"MuJoCo {mujoco.__version__}; steps per second of one core")
    print(f"{'bench':22} {'model':27} {'mayfly':>12} {'mujoco, as file':>16} {'ratio':>7} "
          f"{'implicitfast':>13} {'ratio':>7}")
    for bench, path in cases:
        ours, _ = mayfly_rate(program, bench, path)
        theirs, _ = mujoco_rate(path, None, 20)
        fast, _ = mujoco_rate(path, mujoco.mjtIntegrator.mjINT_IMPLICITFAST, 20)
        name = os.path.basename(os.path.dirname(path)) + "/" + os.path.basename(path)
        print(f"{bench:22} {name:27} {ours:12.0f} {theirs:16.0f} {ours / theirs:7.1f} "
              f"{fast:13.0f} {ours / fast:7.1f}", flush=True)


if __name__ == "__main__":
    main()
