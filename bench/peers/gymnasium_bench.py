#!/usr/bin/env python3
"""Vector environments of Mayfly and of Gymnasium: robot steps per second, in one run.

All do the same work: random actions, observations and rewards as NumPy arrays of float64, fallen
robots restart in the next step. Gymnasium's AsyncVectorEnv has one process per processor, each with
the same number of robots; its SyncVectorEnv runs in this process. Measurements alternate, so that
other load on the machine affects all of them; each figure is the median of the rounds, and ratios
are computed within a round. Files with Runge-Kutta are also stepped by Euler in Mayfly
(integrator="euler"), but not in Gymnasium.

Then Mayfly only: the whole step compared with the call into C.

usage: gymnasium_bench.py [TASK...]      (run_gymnasium.sh prepares the environment)
"""
import os
import statistics
import sys
import time

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import mayfly  # noqa: F401  # registers its environments

ROUNDS = 5
SECONDS = 2.0  # of one measurement, at least
ROBOTS = 4096  # of Mayfly
PEER_ROBOTS = 16  # of Gymnasium; more are not faster
OWN = [  # compared with the call into C
    ("Ant-v5", {}),
    ("Humanoid-v5", {}),
    ("Ant-v5", {"integrator": "euler"}),
    ("Hexapod-v0", {"motion": "points"}),
    ("Hexapod-v0", {"motion": "articulated"}),
    ("Quadrotor-v0", {}),
    ("Swarm-v0", {}),
]


def make(peer, task, workers, integrator):
    if peer == "mayfly":
        return gymnasium.make_vec(
            f"Mayfly/{task}", num_envs=ROBOTS, num_threads=workers, integrator=integrator
        )
    def one():
        return gymnasium.make(task)
    kinds = {"async": AsyncVectorEnv, "sync": SyncVectorEnv}
    return kinds[peer]([one] * (workers if peer == "async" else PEER_ROBOTS))


def actions_for(environment):
    space, random = environment.single_action_space, np.random.default_rng(1)
    size = (32, environment.num_envs, *space.shape)
    return random.uniform(space.low, space.high, size).astype(np.float32)


def rate(step, robots, actions):
    """Steps of robots per second."""
    count = 0
    began = time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        step(actions[count % len(actions)])
        count += 1
    return count * robots / (time.perf_counter() - began)


def spread(environment, actions):
    """Steps until falls and restarts are spread over time."""
    environment.reset(seed=1)
    for step in range(64):
        environment.step(actions[step % len(actions)])


def beside_peers(task, workers, integrator):
    peers = ("mayfly", "async", "sync")
    environments = {peer: make(peer, task, workers, integrator) for peer in peers}
    actions = {peer: actions_for(environments[peer]) for peer in peers}
    rates = {peer: [] for peer in peers}
    for peer in peers:
        spread(environments[peer], actions[peer])
    for _ in range(ROUNDS):
        for peer in peers:
            environment = environments[peer]
            rates[peer].append(rate(environment.step, environment.num_envs, actions[peer]))
    for peer in peers:
        environments[peer].close()
    ratios = {
        peer: statistics.median(ours / theirs for ours, theirs in zip(rates["mayfly"], rates[peer]))
        for peer in ("async", "sync")
    }
    medians = {peer: statistics.median(rates[peer]) for peer in peers}
    print(
        f"| {task} | {integrator} | {medians['mayfly']:,.0f} | {medians['async']:,.0f} "
        f"| {ratios['async']:.0f} x | {medians['sync']:,.0f} | {ratios['sync']:.0f} x |",
        flush=True,
    )


def beside_itself(task, workers, settings):
    """The whole step compared with the call into C, with reused memory."""
    environment = gymnasium.make_vec(
        f"Mayfly/{task}", num_envs=ROBOTS, num_threads=workers, **settings
    )
    actions, native = actions_for(environment), environment.unwrapped.environment
    spread(environment, actions)
    rows, whole, bare = native.make_rows(), [], []
    for _ in range(ROUNDS):
        whole.append(rate(environment.step, ROBOTS, actions))
        bare.append(rate(lambda action: native.step(rows, action), ROBOTS, actions))
    more = statistics.median(inner / outer for inner, outer in zip(bare, whole)) - 1
    reported = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    print(
        f"| {task} | {reported} | {statistics.median(whole):,.0f} | {statistics.median(bare):,.0f} "
        f"| {100 * more:.1f} % |",
        flush=True,
    )
    environment.close()


def main():
    workers = len(os.sched_getaffinity(0))
    tasks = sys.argv[1:] or ["Ant-v5", "Humanoid-v5", "HalfCheetah-v5", "Hopper-v5"]
    print(f"{workers} workers; Mayfly {ROBOTS} robots; Gymnasium {gymnasium.__version__}: "
          f"async {workers} robots, sync {PEER_ROBOTS}; steps of robots per second\n")
    print("| task | integrator | Mayfly | AsyncVectorEnv | ratio | SyncVectorEnv | ratio |")
    print("|---" * 7 + "|")
    for task in tasks:
        for integrator in ("file", "euler"):
            if integrator == "file" or task != "HalfCheetah-v5":  # whose file has Euler
                beside_peers(task, workers, integrator)
    print("\n| task | arguments | whole step | call into C | Python |\n" + "|---" * 5 + "|")
    for task, settings in OWN:
        beside_itself(task, workers, settings)


if __name__ == "__main__":
    main()
