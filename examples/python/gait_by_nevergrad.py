"""A gait of sine waves for a four-legged robot by several optimizers of nevergrad, with the same
number of episodes for each.

pip install nevergrad; usage: gait_by_nevergrad.py [EPISODES [OPTIMIZER ...]]
"""

import sys

import nevergrad
import numpy as np

import mayfly

# %%
# The length of an episode, and how many are simulated at once.
LENGTH = 10.0  # [s] of one episode
BATCH = 64  # episodes at once


# %%
# One call simulates a whole batch. Gaits are vectors of numbers in 0 .. 1.
def walked(robot: mayfly.Model, vectors: np.ndarray) -> np.ndarray:
    """Distance forward [m] of each gait; -1 for a robot with a fault."""
    gaits = mayfly.Oscillators.from_unit(np.clip(vectors, 0, 1), robot)
    result = mayfly.evaluate(robot, gaits, LENGTH, motion="points", fitness="forward")
    return result.objective(worst=-1.0)


# %%
# The optimizer proposes a batch of gaits and gets the distance of each.
def search(robot: mayfly.Model, name: str, episodes: int, seed: int = 1) -> np.ndarray:
    """The final recommendation of an optimizer."""
    space = nevergrad.p.Array(init=np.full(3 * len(robot.joints) + 1, 0.5), lower=0.0, upper=1.0)
    space.random_state.seed(seed)
    optimizer = nevergrad.optimizers.registry[name](space, budget=episodes, num_workers=BATCH)
    for _ in range(episodes // BATCH):
        asked = [optimizer.ask() for _ in range(BATCH)]
        distances = walked(robot, np.stack([point.value for point in asked]))
        for point, distance in zip(asked, distances.tolist()):
            optimizer.tell(point, -distance)
    return np.asarray(optimizer.recommend().value)


# %%
# Each optimizer gets the same number of episodes.
def main(
    episodes: int = 1920, names: tuple[str, ...] = ("TwoPointsDE", "CMA", "OnePlusOne")
) -> dict[str, float]:
    """Distance of the gait of each optimizer."""
    robot = mayfly.Model.from_file("quadruped.urdf")
    best = np.stack([search(robot, name, episodes) for name in names])
    result = dict(zip(names, walked(robot, best).tolist()))
    for name, distance in result.items():
        print(f"{name}: {distance:.2f} m")
    return result


if __name__ == "__main__":
    episodes, names = sys.argv[1:2], tuple(sys.argv[2:])
    if not "".join(episodes).isdigit():  # a notebook has arguments of its own
        main()
    elif names:
        main(int(episodes[0]), names)
    else:
        main(int(episodes[0]))
