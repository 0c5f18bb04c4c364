"""A gait of sine waves for a four-legged robot by several optimizers of nevergrad, with the same
number of lives for each.

pip install nevergrad; usage: gait_by_nevergrad.py [LIVES [OPTIMIZER ...]]
"""

import sys

import nevergrad
import numpy as np

import mayfly

# %%
# One life, and how many at once.
LENGTH = 10.0  # [s] of one life
BATCH = 64  # lives at once


# %%
# A whole batch lives in one call. Gaits are vectors of numbers in 0 .. 1.
def walked(robot: mayfly.Model, vectors: np.ndarray) -> np.ndarray:
    """[m] that each gait gets forward; a robot with a fault counts as one that went back."""
    gaits = mayfly.Oscillators.from_unit(np.clip(vectors, 0, 1), robot)
    lives = mayfly.evaluate(robot, gaits, LENGTH, motion="points", fitness="forward")
    return lives.objective(worst=-1.0)


# %%
# An optimizer is asked for a batch of points and told how far each got.
def search(robot: mayfly.Model, name: str, lives: int, seed: int = 1) -> np.ndarray:
    """What an optimizer recommends in the end."""
    space = nevergrad.p.Array(init=np.full(3 * len(robot.joints) + 1, 0.5), lower=0.0, upper=1.0)
    space.random_state.seed(seed)
    optimizer = nevergrad.optimizers.registry[name](space, budget=lives, num_workers=BATCH)
    for _ in range(lives // BATCH):
        asked = [optimizer.ask() for _ in range(BATCH)]
        distances = walked(robot, np.stack([point.value for point in asked]))
        for point, distance in zip(asked, distances.tolist()):
            optimizer.tell(point, -distance)
    return np.asarray(optimizer.recommend().value)


# %%
# Each optimizer has the same number of lives.
def main(
    lives: int = 1920, names: tuple[str, ...] = ("TwoPointsDE", "CMA", "OnePlusOne")
) -> dict[str, float]:
    """How far the gait of each optimizer gets."""
    robot = mayfly.Model.from_file("quadruped.urdf")
    best = np.stack([search(robot, name, lives) for name in names])
    result = dict(zip(names, walked(robot, best).tolist()))
    for name, distance in result.items():
        print(f"{name}: {distance:.2f} m")
    return result


if __name__ == "__main__":
    lives, names = sys.argv[1:2], tuple(sys.argv[2:])
    if not "".join(lives).isdigit():  # a notebook has arguments of its own
        main()
    elif names:
        main(int(lives[0]), names)
    else:
        main(int(lives[0]))
