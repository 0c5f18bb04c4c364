"""Learns an open-loop gait by the cross-entropy method in a world of another process.

    mayfly serve models/hexapod.urdf --robots 64 --speed 0
    python examples/python/remote_environment.py 127.0.0.1:8766

The 64 robots are one vector environment of Gymnasium. The gait is a wave of one frequency with an
amplitude and a phase for each joint; the reward is the speed forward.
"""

import argparse

import numpy as np

from mayfly.envs import RemoteVectorEnv

PERIOD, FREQUENCY, EPISODE = 0.02, 1.5, 150  # [s], [Hz], steps


def forward(state, actions):
    """Reward: speed along x, less some effort."""
    return state["base.linear_velocity"][:, 0] - 0.01 * np.square(actions).mean(axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", nargs="?", default="127.0.0.1:8766")
    parser.add_argument("--generations", type=int, default=25)
    chosen = parser.parse_args()
    envs = RemoteVectorEnv(
        chosen.address,
        observation=["joint.angle"],
        fields=["base.linear_velocity"],
        action="joint.target",
        period=PERIOD,
        reward=forward,
        max_episode_steps=EPISODE,
    )
    joints = envs.single_action_space.shape[0]
    random = np.random.default_rng(1)
    mean, deviation = np.zeros((2, joints)), np.full((2, joints), 0.3)
    for generation in range(chosen.generations):
        # Amplitudes [rad] of the sine and of the cosine of each joint.
        genomes = mean + deviation * random.normal(size=(envs.num_envs, 2, joints))
        envs.reset()
        total = np.zeros(envs.num_envs)
        for step in range(EPISODE):
            angle = 2 * np.pi * FREQUENCY * PERIOD * step
            targets = genomes[:, 0] * np.sin(angle) + genomes[:, 1] * np.cos(angle)
            _, rewards, *_ = envs.step(targets.astype(np.float32))
            total += rewards / EPISODE
        best = np.argsort(total)[-envs.num_envs // 4 :]
        mean, deviation = genomes[best].mean(axis=0), genomes[best].std(axis=0) + 0.01
        print(
            f"generation {generation}: {total.mean():.3f} m/s, best {total.max():.3f}", flush=True
        )
    envs.close()


if __name__ == "__main__":
    main()
