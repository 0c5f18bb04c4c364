"""Speed of UniSim's backends on the scenes of UniLab's walking tasks: a JSON object per line.

    python bench/unisim_backends.py          # in a clone of UniLab, with its meshes and extras
    python bench/unisim_backends.py --backends mayfly,mujoco --envs 256

Each backend has a process of its own, several in turns; the best of each counts. CPU times are
those of all threads, so that they say something on a machine with other load too. `physics`:
controls and steps of the task; `task`: also its state and sensors, and 1 % of the environments
reset; `unilab`: UniLab's whole environment with its rewards and observations, without gains that
differ.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

import numpy as np

# Scene, keyframe, root, [s] physics step, steps of an environment; and what the task reads.
SCENES = {
    "go2": ("robots/go2/scene_flat.xml", "home", "base", 0.01, 2),
    "g1": ("robots/g1/scene_flat.xml", "stand", "pelvis", 0.02 / 3, 3),
}
LEGS = ("FL", "FR", "RL", "RR")
SENSORS = {
    "go2": (
        *("gyro", "upvector", "local_linvel"),
        *(f"{leg}_pos" for leg in LEGS),
        *(f"{leg}_foot_contact" for leg in LEGS),
    ),
    "g1": (
        *("torso_gyro", "torso_upvector", "pelvis_local_linvel"),
        *(f"{side}_foot_pos" for side in ("left", "right")),
        *(f"{side}_foot_contact_{i}" for side in ("left", "right") for i in range(4)),
    ),
}
TASKS = {"go2": "go2_joystick_flat", "g1": "g1_walk_flat"}
WORDS = ("physics", "task", "unilab")
PACKAGES = {"mayfly": "mayfly", "mujoco": "mujoco", "motrix": "motrixsim-core"}


def measure(name: str, robot: str, envs: int, steps: int) -> dict[str, Any]:
    """One backend in this process."""
    import mayfly_unisim
    import torch
    from unilab.assets import ASSETS_ROOT_PATH
    from unisim.backend.base import TensorIOSpec
    from unisim.scene import SceneCfg

    import unisim

    torch.set_num_threads(1)
    mayfly_unisim.register()
    file, key, root, step, decimation = SCENES[robot]
    scene = SceneCfg(model_file=str(pathlib.Path(ASSETS_ROOT_PATH) / file))
    backend = unisim.create_backend(name, scene, envs, step, base_name=root)
    backend.materialize()
    plan = backend.bind_host_bridge_io(TensorIOSpec(("qpos", "qvel"), SENSORS[robot]))
    pose = torch.tensor(np.asarray(backend.get_keyframe_qpos(key)), dtype=torch.float32)
    joints = backend.get_joint_state_qpos_indices(backend.get_actuator_joint_names())
    random = torch.Generator().manual_seed(1)
    everyone, width = torch.arange(envs), len(backend.get_init_qvel())

    def reset(rows: Any) -> None:
        plan.apply_reset(rows, pose.repeat(len(rows), 1), torch.zeros(len(rows), width))

    def run(task: bool) -> float:
        begin = time.process_time()
        for _ in range(steps):
            noise = torch.rand((envs, len(joints)), generator=random)
            plan.write_control(pose[joints] + 0.3 * (noise - 0.5))
            plan.step(decimation)
            if task:
                plan.read_state_sensors()
                reset(torch.randperm(envs, generator=random)[: max(envs // 100, 1)])
                plan.read_selected_state_sensors()
        return time.process_time() - begin

    found: dict[str, float] = {}
    for task in (False, True, False, True):
        reset(everyone)
        cpu = run(task)
        word = "task" if task else "physics"
        found[word] = max(found.get(word, 0.0), envs * steps / cpu)  # the first one warms up
    backend.close()
    found["unilab"] = unilab_environment(name, TASKS[robot], envs, steps)
    return {
        "backend": name,
        "version": importlib.metadata.version(PACKAGES[name]),
        "robot": robot,
        "envs": envs,
        "physics_steps_per_env_step": decimation,
        **{f"{word}_env_steps_per_cpu_second": round(value) for word, value in found.items()},
    }


def unilab_environment(name: str, task: str, envs: int, steps: int) -> float:
    """Environment steps per second of CPU time of UniLab's environment, with random actions."""
    import torch
    import unilab
    from hydra import compose, initialize_config_dir
    from unilab.base.config_adapter import create_env
    from unilab.scripts.train_rsl_rl import build_ppo_env_cfg_override
    from unilab.training import ensure_registries

    ensure_registries()
    folder = str(pathlib.Path(unilab.__file__).parent / "conf" / "ppo")
    settings = [f"task={task}/mujoco", f"training.sim_backend={name}", "env.events.pd_gains=null"]
    with initialize_config_dir(folder, version_base=None):
        config = compose("config", overrides=[*settings, "training.device=cpu"])
    env = create_env(config, num_envs=envs, env_cfg_override=build_ppo_env_cfg_override(config))
    env.init_state()
    best = 0.0
    for _ in range(2):  # the first one warms up
        begin = time.process_time()
        for _ in range(steps):
            env.step(0.5 * torch.randn(envs, env.action_space.shape[0]))
        best = max(best, envs * steps / (time.process_time() - begin))
    env.close()
    return best


def main(backends: str, robots: str, envs: int, steps: int, times: int) -> None:
    for robot in robots.split(","):
        best: dict[str, dict[str, Any]] = {}
        for _ in range(times):
            for name in backends.split(","):
                given = [
                    f"--child={name}",
                    f"--robots={robot}",
                    f"--envs={envs}",
                    f"--steps={steps}",
                ]
                done = subprocess.run(
                    [sys.executable, __file__, *given], capture_output=True, text=True
                )
                if done.returncode != 0:
                    raise SystemExit(f"{name}: {done.stderr.strip().splitlines()[-1]}")
                row = json.loads(done.stdout.splitlines()[-1])
                old = best.setdefault(name, row)
                for word in WORDS:
                    value = f"{word}_env_steps_per_cpu_second"
                    old[value] = max(old[value], row[value])
        for row in best.values():
            print(json.dumps({**row, "cores": os.cpu_count(), "runs": times}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backends", default="mayfly,mujoco,motrix")
    parser.add_argument("--robots", default="go2,g1")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    for word, value in {"envs": 1024, "steps": 40, "times": 3}.items():
        parser.add_argument(f"--{word}", type=int, default=value)
    settings = vars(parser.parse_args())
    child = settings.pop("child")
    if child is None:
        main(**settings)
    else:
        one = measure(child, settings["robots"], settings["envs"], settings["steps"])
        print(json.dumps(one))
