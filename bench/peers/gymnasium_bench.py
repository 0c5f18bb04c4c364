#!/usr/bin/env python3
"""Vector environments of Mayfly and of Gymnasium: steps of robots per second, in one run.

All do the same work: random actions, observations and rewards as NumPy arrays of float64, robots
that fell begin again in the next step. Gymnasium's AsyncVectorEnv has one process for each
processor, each with the same number of robots; its SyncVectorEnv runs in this process. They take
turns, so that what else the machine does slows all of them; each figure is the median of the
rounds, and every ratio is that of one round.

usage: gymnasium_bench.py [TASK...]      (run_gymnasium.sh makes what this needs)
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
ROBOTS = 4096  # of ours
PEER_ROBOTS = 16  # of Gymnasium's: more robots are not faster there


def make(peer, task, workers):
    if peer == "mayfly":
        return gymnasium.make_vec(f"Mayfly/{task}", num_envs=ROBOTS, num_threads=workers)
    def one():
        return gymnasium.make(task)
    kinds = {"async": AsyncVectorEnv, "sync": SyncVectorEnv}
    return kinds[peer]([one] * (workers if peer == "async" else PEER_ROBOTS))


def actions_for(environment):
    space, random = environment.single_action_space, np.random.default_rng(1)
    size = (32, environment.num_envs, *space.shape)
    return random.uniform(space.low, space.high, size).astype(np.float32)


def rate(environment, actions):
    """Steps of robots per second."""
    count = 0
    began = time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        environment.step(actions[count % len(actions)])
        count += 1
    return count * environment.num_envs / (time.perf_counter() - began)


def run(task, workers):
    peers = ("mayfly", "async", "sync")
    environments = {peer: make(peer, task, workers) for peer in peers}
    actions = {peer: actions_for(environments[peer]) for peer in peers}
    rates = {peer: [] for peer in peers}
    for peer in peers:
        environments[peer].reset(seed=1)
        for step in range(64):  # falls and new starts are spread over time from here
            environments[peer].step(actions[peer][step % 32])
    for _ in range(ROUNDS):
        for peer in peers:
            rates[peer].append(rate(environments[peer], actions[peer]))
    for peer in peers:
        environments[peer].close()
    ratios = {
        peer: statistics.median(ours / theirs for ours, theirs in zip(rates["mayfly"], rates[peer]))
        for peer in ("async", "sync")
    }
    medians = {peer: statistics.median(rates[peer]) for peer in peers}
    print(
        f"| {task} | {medians['mayfly']:,.0f} | {medians['async']:,.0f} | {ratios['async']:.0f} x "
        f"| {medians['sync']:,.0f} | {ratios['sync']:.0f} x |",
        flush=True,
    )


def main():
    workers = len(os.sched_getaffinity(0))
    tasks = sys.argv[1:] or ["Ant-v5", "Humanoid-v5", "HalfCheetah-v5", "Hopper-v5"]
    print(f"{workers} workers; Mayfly {ROBOTS} robots; Gymnasium {gymnasium.__version__}: "
          f"async {workers} robots, sync {PEER_ROBOTS}; steps of robots per second\n")
    print("| task | Mayfly | AsyncVectorEnv | ratio | SyncVectorEnv | ratio |")
    print("|---|---|---|---|---|---|")
    for task in tasks:
        run(task, workers)


if __name__ == "__main__":
    main()
