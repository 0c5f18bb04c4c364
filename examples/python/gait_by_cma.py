"""A gait of sine waves for a six-legged robot by CMA-ES: found with fast physics, evaluated with
accurate physics, and improved there.

pip install cma; usage: gait_by_cma.py [FAST_GENERATIONS [ACCURATE_GENERATIONS]]
"""

import sys
from typing import Any

import cma
import numpy as np

import mayfly

# %%
# Two levels of physics: a fast one for the search, an accurate one for evaluation and refinement.
LENGTH = 10.0  # [s] of one episode
FAST: dict[str, Any] = {
    "motion": "points",
    "step": 0.01,
    "friction": "coupled",
    "friction_coefficient": 1.0,
    "keep_momentum": True,
}
ACCURATE: dict[str, Any] = {"motion": "articulated", "step": 0.004}


# %%
# One call simulates a whole generation. Gaits are vectors of numbers in 0 .. 1.
def walked(robot: mayfly.Model, vectors: np.ndarray, level: dict[str, Any]) -> np.ndarray:
    """Distance forward [m] of each gait; -1 for a robot with a fault."""
    gaits = mayfly.Oscillators.from_unit(np.clip(vectors, 0, 1), robot)
    return mayfly.evaluate(robot, gaits, LENGTH, fitness="forward", **level).objective(worst=-1.0)


# %%
# The search is that of the package `cma`; Mayfly computes the fitness.
def search(
    robot: mayfly.Model, start: np.ndarray, spread: float, generations: int, level: dict[str, Any]
) -> np.ndarray:
    """The best gait found in `generations`."""
    settings = {"popsize": 64, "seed": 1, "bounds": [0, 1], "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(start, spread, settings)
    for generation in range(generations):
        vectors = strategy.ask()
        distances = walked(robot, vectors, level)
        strategy.tell(vectors, -distances)
        print(f"{level['motion']} {generation + 1}: {distances.max():.2f} m")
    return np.asarray(strategy.result.xbest)


# %%
# Found at `points`, evaluated at `articulated`, improved there.
def main(fast: int = 40, accurate: int = 20) -> tuple[float, float, float]:
    """Distance of the first gait at both levels, and of the improved one at the accurate level."""
    robot = mayfly.Model.from_file("hexapod.urdf")
    first = search(robot, np.full(3 * len(robot.joints) + 1, 0.5), 0.2, fast, FAST)
    second = search(robot, first, 0.1, accurate, ACCURATE)
    found = float(walked(robot, first[None], FAST)[0])
    kept, improved = walked(robot, np.stack([first, second]), ACCURATE).tolist()
    print(f"found at `points`: {found:.2f} m there, {kept:.2f} m at `articulated`")
    print(f"improved at `articulated`: {improved:.2f} m")
    return found, kept, improved


if __name__ == "__main__":
    main(*map(int, filter(str.isdigit, sys.argv[1:3])))  # a notebook has arguments of its own
