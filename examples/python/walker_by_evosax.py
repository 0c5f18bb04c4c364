"""Neural networks that walk a four-legged robot, by several evolution strategies of evosax, whose
populations live in JAX.

pip install evosax; usage: walker_by_evosax.py [GENERATIONS [STRATEGY ...]]
"""

import sys

import jax
import numpy as np
from evosax.algorithms import algorithms

import mayfly

# %%
# The length of an episode, and the sizes of network and population.
LENGTH = 8.0  # [s] of one episode
HIDDEN = 16
POPULATION = 128


# %%
# One call simulates a whole population. A row holds the weights of one network, layer by layer.
def walked(robot: mayfly.Model, rows: np.ndarray) -> np.ndarray:
    """Distance forward [m] of each network; -1 for a robot with a fault."""
    joints = len(robot.joints)
    first = (10 + 2 * joints) * HIDDEN
    layers = [
        rows[:, :first].reshape(-1, HIDDEN, 10 + 2 * joints),
        rows[:, first:].reshape(-1, joints, HIDDEN),
    ]
    result = mayfly.evaluate(robot, mayfly.MLP(layers), LENGTH, motion="points", fitness="forward")
    return result.objective(worst=-1.0)


# %%
# Strategies of evosax have no state: each call returns the next one, and random keys are split.
def search(robot: mayfly.Model, name: str, generations: int, seed: int = 1) -> tuple[float, float]:
    """Mean distance of the first and of the last generation."""
    start = np.zeros(HIDDEN * (10 + 3 * len(robot.joints)))
    strategy = algorithms[name](population_size=POPULATION, solution=start)
    how = strategy.default_params
    key, begin = jax.random.split(jax.random.key(seed))
    state = strategy.init(begin, start, how)
    means = []
    for _ in range(generations):
        key, ask, tell = jax.random.split(key, 3)
        rows, state = strategy.ask(ask, state, how)
        distances = walked(robot, np.asarray(rows, np.float64))
        state, _ = strategy.tell(tell, rows, -distances, state, how)
        means.append(float(distances.mean()))
    return means[0], means[-1]


# %%
# Each strategy gets the same number of episodes.
def main(
    generations: int = 30, names: tuple[str, ...] = ("CMA_ES", "Sep_CMA_ES", "SNES")
) -> dict[str, tuple[float, float]]:
    """Mean distance of the first and of the last generation of each strategy."""
    robot = mayfly.Model.from_file("quadruped.urdf")
    result = {name: search(robot, name, generations) for name in names}
    for name, (first, last) in result.items():
        print(f"{name}: mean of {first:.2f} m in the first generation, {last:.2f} m in the last")
    return result


if __name__ == "__main__":
    words, names = sys.argv[1:2], tuple(sys.argv[2:])
    if not "".join(words).isdigit():  # a notebook has arguments of its own
        main()
    elif names:
        main(int(words[0]), names)
    else:
        main(int(words[0]))
