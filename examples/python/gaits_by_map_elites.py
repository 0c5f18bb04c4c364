"""Many different gaits for a six-legged robot by CMA-MAE of pyribs: how far, on which feet.

pip install ribs; usage: gaits_by_map_elites.py [ITERATIONS]
"""

import sys

import numpy as np
from ribs.archives import GridArchive
from ribs.emitters import EvolutionStrategyEmitter
from ribs.schedulers import Scheduler

import mayfly

LENGTH = 10.0  # [s] of one life


def main(iterations: int = 50) -> GridArchive:
    robot = mayfly.Model.from_file("hexapod.urdf")
    size = 3 * len(robot.joints) + 1
    # Shares of the time that the feet of the left and of the right side bear load.
    archive = GridArchive(
        solution_dim=size,
        dims=[20, 20],
        ranges=[(0, 1), (0, 1)],
        learning_rate=0.1,
        threshold_min=0,
    )
    emitters = [
        EvolutionStrategyEmitter(archive, x0=size * [0.5], sigma0=0.2, batch_size=64, seed=seed)
        for seed in range(4)
    ]
    search = Scheduler(archive, emitters)
    for iteration in range(iterations):
        gaits = mayfly.Oscillators.from_unit(search.ask(), robot)
        lives = mayfly.evaluate(robot, gaits, LENGTH, motion="points", descriptors=["duty"])
        feet = lives.descriptors
        sides = np.stack([feet[:, :3].mean(axis=1), feet[:, 3:].mean(axis=1)], axis=1)
        search.tell(lives.objective(), np.nan_to_num(sides))
        if (iteration + 1) % 10 == 0:
            stats = archive.stats
            print(
                f"{iteration + 1}: {stats.num_elites} gaits, the best walks {stats.obj_max:.2f} m"
            )
    return archive


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
