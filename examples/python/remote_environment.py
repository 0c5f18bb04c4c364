"""Learns a gait by the cross-entropy method in a world of another process.

mayfly serve models/hexapod.urdf --robots 64 --speed 0
python examples/python/remote_environment.py [ADDRESS]; ADDRESS is 127.0.0.1:8766 unless given.

The robots are one vector environment of Gymnasium. The gait is a wave of one frequency with an
amplitude and a phase for each joint.
"""

# %%
# The libraries.
from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from mayfly.envs import RemoteVectorEnv

PERIOD, FREQUENCY, EPISODE = 0.02, 1.5, 150  # [s], [Hz], steps


# %%
# The reward is the speed along x, less some effort.
def forward(state: Mapping[str, np.ndarray], actions: np.ndarray) -> Any:
    """Of each robot, from fields by their names: (robots, components)."""
    return state["base.linear_velocity"][:, 0] - 0.01 * np.square(actions).mean(axis=1)


# %%
# One episode of all robots: each has its own amplitudes of the sine and of the cosine.
def walk(envs: RemoteVectorEnv, genomes: np.ndarray) -> np.ndarray:
    """The mean reward of each robot; `genomes` [rad] is (robots, 2, joints)."""
    envs.reset()
    total = np.zeros(envs.num_envs)
    for step in range(EPISODE):
        angle = 2 * np.pi * FREQUENCY * PERIOD * step
        targets = genomes[:, 0] * np.sin(angle) + genomes[:, 1] * np.cos(angle)
        total += envs.step(targets.astype(np.float32))[1]
    return total / EPISODE


# %%
# A quarter of each generation, the best, is where the next one is drawn from.
def main(address: str, generations: int = 25) -> list[float]:
    """The mean reward of each generation."""
    envs = RemoteVectorEnv(
        address,
        observation=["joint.angle"],
        fields=["base.linear_velocity"],
        action="joint.target",
        period=PERIOD,
        reward=forward,
    )
    random = np.random.default_rng(1)
    shape = (2, *envs.single_action_space.shape)
    mean, deviation = np.zeros(shape), np.full(shape, 0.3)
    history = []
    for generation in range(generations):
        genomes = mean + deviation * random.normal(size=(envs.num_envs, *shape))
        rewards = walk(envs, genomes)
        best = np.argsort(rewards)[-envs.num_envs // 4 :]
        mean, deviation = genomes[best].mean(axis=0), genomes[best].std(axis=0) + 0.01
        history.append(float(rewards.mean()))
        print(f"generation {generation}: {history[-1]:.3f}, best {rewards.max():.3f}", flush=True)
    envs.close()
    return history


# %%
# The address of the command line, or that of a server without options.
if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8766")
