"""Speed of the update of mayfly.learn: a JSON object per line.

    python bench/learner.py --hidden 64 64 --samples 12288

Networks are those of a Go2: 45 and 48 observations, 12 actions. CPU times are those of all threads,
medians over updates.
"""

from __future__ import annotations

import argparse
import json
import os
import time

import gymnasium
import numpy as np

import mayfly

EPOCHS, BATCHES, ROBOTS = 4, 4, 64


class Nothing(gymnasium.vector.VectorEnv):
    """Spaces without an environment: only updates are measured."""

    metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}
    num_envs = ROBOTS
    single_action_space = gymnasium.spaces.Box(-1, 1, (12,), np.float32)
    observation_groups = {"critic": np.zeros((ROBOTS, 48), np.float32)}

    def reset(self, *, seed=None, options=None):
        return np.zeros((ROBOTS, 45), np.float32), {}


def multiplications(sizes: list[int]) -> int:
    """Of a sample forward and backward: the gradient of the inputs is not needed."""
    layers = [a * b for a, b in zip(sizes, sizes[1:])]
    return 3 * sum(layers) - layers[0]


def main(hidden: list[int], samples: int, seconds: float) -> None:
    rng = np.random.default_rng(1)
    widths = (45, 48, 12, 12, 1, 1)
    rows = [rng.normal(size=(samples, width)).astype(np.float32) for width in widths]
    work = sum(multiplications([a, *hidden, b]) for a, b in ((45, 12), (48, 1))) * EPOCHS * samples
    for activation in ("tanh", "elu", "relu"):
        learner = mayfly.learn.PPO(
            Nothing(), hidden=hidden, activation=activation, epochs=EPOCHS, batches=BATCHES
        )
        rows[3] = learner.act(rows[0])
        spent, end = [], time.monotonic() + seconds / 3
        while time.monotonic() < end:
            begin = time.process_time()
            learner._update(*rows)
            spent.append(time.process_time() - begin)
        middle = float(np.median(spent))
        found = {
            "bench": f"learner_{activation}", "hidden": hidden, "samples": samples,
            "updates": len(spent), "samples_per_cpu_second": round(samples / middle),
            "gflops": round(2e-9 * work / middle, 1), "load": round(os.getloadavg()[0], 1),
        }  # fmt: skip
        print(json.dumps(found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, nargs="*", default=[64, 64])
    parser.add_argument("--samples", type=int, default=12_288)
    parser.add_argument("--seconds", type=float, default=15.0)
    main(**vars(parser.parse_args()))
