"""Many different gaits for a six-legged robot by CMA-MAE of pyribs: the farthest
walk for each way of loading the feet.

pip install ribs; usage: gaits_by_map_elites.py [ITERATIONS]
"""

import sys

import numpy as np
from ribs.archives import GridArchive
from ribs.emitters import EvolutionStrategyEmitter
from ribs.schedulers import Scheduler

import mayfly

LENGTH = 10.0  # [s] of one episode


# %%
# The archive keeps the best gait in each cell of a grid. Its axes are the duty factors (the share
# of time in which feet bear load) of the left and of the right side. Four searches fill it.
def searches(size: int) -> Scheduler:
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
    return Scheduler(archive, emitters)


# %%
# One call simulates all gaits of an iteration and also returns the duty factors of their feet.
def main(iterations: int = 50) -> GridArchive:
    robot = mayfly.Model.from_file("hexapod.urdf")
    search = searches(3 * len(robot.joints) + 1)
    for iteration in range(iterations):
        gaits = mayfly.Oscillators.from_unit(np.clip(search.ask(), 0, 1), robot)
        result = mayfly.evaluate(robot, gaits, LENGTH, motion="points", descriptors=["duty"])
        feet = result.descriptors
        sides = np.stack([feet[:, :3].mean(axis=1), feet[:, 3:].mean(axis=1)], axis=1)
        search.tell(result.objective(worst=-1.0), np.nan_to_num(sides))
        if (iteration + 1) % 10 == 0:
            stats = search.archive.stats
            print(
                f"{iteration + 1}: {stats.num_elites} gaits, the best walks {stats.obj_max:.2f} m"
            )
    return search.archive


if __name__ == "__main__":
    main(*map(int, filter(str.isdigit, sys.argv[1:2])))  # a notebook has arguments of its own
