"""Speed of a task of named terms, and the share of Python in it: a JSON object per line.

    OPENBLAS_NUM_THREADS=1 MAYFLY_ISA=avx2 python bench/tasks.py unitree_go2/go2_mjx.xml

The task is that of examples/python/velocity_tracking.py: 5 x 4 ms, noise, latency and pushes; then
with masses, friction, damping and strength per robot, with a history and without latency. CPU
times are those of all threads, so that they say something on a machine with other load too. Python
is the interpreter with NumPy: what is not in a function of C.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pathlib
import sys
import time
from typing import Any

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "examples" / "python"))

from velocity_tracking import make_task  # noqa: E402

import mayfly  # noqa: E402
from mayfly import mdp  # noqa: E402
from mayfly.mdp import Observation  # noqa: E402


MODULES = [
    importlib.import_module(f"mayfly.{name}")
    for name in ("_program", "world", "group", "envs.task", "envs.terms", "envs.state")
]


class Timed:
    """The library in C, whose functions add the time of their calls on this thread to a sum."""

    def __init__(self, lib: Any, total: list[float]) -> None:
        self.lib, self._total = lib, total

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.lib, name)
        if not callable(found):
            return found

        def timed(*given: Any) -> Any:
            begin = time.thread_time()
            made = found(*given)
            self._total[0] += time.thread_time() - begin
            return made

        setattr(self, name, timed)
        return timed


def measure(name: str, task: mayfly.Task, robots: int, steps: int, times: int) -> dict[str, Any]:
    """The best of several runs."""
    envs = task.make(robots, autoreset_mode="SameStep")
    rng = np.random.default_rng(1)
    envs.reset(seed=1)
    envs.episode_length_buf[:] = rng.integers(0, envs.max_episode_length, robots)
    shape = (8, *envs.action_space.shape)
    actions = rng.normal(0, 0.3, shape).astype(np.float32)
    native = [0.0]  # seconds in C
    timers = {module: Timed(module.lib, native) for module in MODULES}
    for module, timer in timers.items():
        module.lib = timer
    found = []
    for i in range(times * steps):
        if i % steps == 0:
            native[0], own = 0.0, time.thread_time()
            begin, wall = time.process_time(), time.perf_counter()
        envs.step(actions[i % 8])
        if i % steps == steps - 1:
            cpu, wall = time.process_time() - begin, time.perf_counter() - wall
            found.append((cpu, (time.thread_time() - own - native[0]) / cpu, wall))
    for module, timer in timers.items():
        module.lib = timer.lib
    cpu, python, _ = min(found[1:])  # the first one warms up
    return {
        "bench": name,
        "instances": robots,
        "threads": envs.world.threads,
        "isa": envs.world.isa,
        "env_steps_per_cpu_second": round(robots * steps / cpu),
        "env_steps_per_second": round(robots * steps / min(one[2] for one in found)),
        "python_share_of_cpu": round(python, 3),
    }


def main(model: str, robots: int, steps: int, times: int) -> None:
    task = make_task(model)
    history = {
        group: {
            name: Observation(
                one.func, noise=one.noise, scale=one.scale, history_length=3, **one.params
            )
            for name, one in terms.items()
        }
        for group, terms in task.observations.items()
    }
    at_once = {"joint_pos": mdp.JointPositionAction(scale=0.25)}
    ranges = {
        "link.mass": (0.8, 1.2), "actuator.gain": (0.9, 1.1), "joint.damping": (0.5, 1.5),
        "joint.friction": (0.5, 1.5), "shape.friction.0": (0.5, 1.5),
    }  # fmt: skip
    body = mdp.Event(mdp.randomize_model, "startup", ranges=ranges)
    for name, one in (
        ("task", task),
        ("task, every robot its own", task.replace(events={**task.events, "body": body})),
        ("task, history of 3", task.replace(observations=history)),
        ("task, without latency", task.replace(actions=at_once)),
    ):
        print(json.dumps(measure(name, one, robots, steps, times)), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="go2_mjx.xml of MuJoCo Menagerie")
    for word, value in {"robots": 4096, "steps": 30, "times": 7}.items():
        parser.add_argument(f"--{word}", type=int, default=value)
    main(**vars(parser.parse_args()))
