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


# %%
# The archive keeps the best gait of each kind. Kinds are shares of the time that feet bear load, on
# the left side and on the right. Four searches fill it.
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
# All gaits of an iteration live in one call, which also tells how their feet were loaded.
def main(iterations: int = 50) -> GridArchive:
    robot = mayfly.Model.from_file("hexapod.urdf")
    search = searches(3 * len(robot.joints) + 1)
    for iteration in range(iterations):
        gaits = mayfly.Oscillators.from_unit(np.clip(search.ask(), 0, 1), robot)
        lives = mayfly.evaluate(robot, gaits, LENGTH, motion="points", descriptors=["duty"])
        feet = lives.descriptors
        sides = np.stack([feet[:, :3].mean(axis=1), feet[:, 3:].mean(axis=1)], axis=1)
        search.tell(lives.objective(), np.nan_to_num(sides))
        if (iteration + 1) % 10 == 0:
            stats = search.archive.stats
            print(
                f"{iteration + 1}: {stats.num_elites} gaits, the best walks {stats.obj_max:.2f} m"
            )
    return search.archive


if __name__ == "__main__":
    main(*map(int, filter(str.isdigit, sys.argv[1:2])))  # a notebook has arguments of its own
