"""A neural network that walks a four-legged robot, by PGPE of evotorch: a population is one tensor.

pip install evotorch; usage: walker_by_evotorch.py [GENERATIONS]
"""

import sys

import torch
from evotorch import Problem
from evotorch.algorithms import PGPE

import mayfly

# %%
# The length of an episode, and the size of the network.
LENGTH = 8.0  # [s] of one episode
HIDDEN = 16


# %%
# A problem of evotorch: one call simulates a whole population of weights.
class Walk(Problem):
    """Weights of networks; the fitness is the distance walked."""

    def __init__(self, robot: mayfly.Model) -> None:
        self.robot = robot
        joints = len(robot.joints)
        self.shapes = [(HIDDEN, 10 + 2 * joints), (joints, HIDDEN)]  # (outputs, inputs)
        self.sizes = [outputs * inputs for outputs, inputs in self.shapes]
        super().__init__("max", solution_length=sum(self.sizes), initial_bounds=(-0.1, 0.1))

    def walked(self, values: torch.Tensor) -> torch.Tensor:
        """Distance forward [m]; -1 for a robot with a fault."""
        parts = values.split(self.sizes, dim=1)
        layers = [part.reshape(-1, *shape) for part, shape in zip(parts, self.shapes)]
        result = mayfly.evaluate(
            self.robot, mayfly.MLP(layers), LENGTH, motion="points", fitness="forward"
        )
        return torch.from_numpy(result.objective(worst=-1.0)).float()

    def _evaluate_batch(self, solutions) -> None:
        solutions.set_evals(self.walked(solutions.values))


# %%
# PGPE follows the gradient of the mean distance over the population.
def main(generations: int = 40) -> tuple[float, float]:
    """Distance of the center of the search after the first and after the last generation."""
    torch.manual_seed(1)
    problem = Walk(mayfly.Model.from_file("quadruped.urdf"))
    search = PGPE(
        problem,
        popsize=128,
        center_learning_rate=0.3,
        stdev_learning_rate=0.1,
        stdev_init=0.3,
        optimizer="adam",
    )
    walked = []
    for generation in range(generations):
        search.step()
        walked.append(float(problem.walked(search.status["center"][None])[0]))
        if generation % 10 == 0 or generation + 1 == generations:
            print(f"{generation + 1}: the center walks {walked[-1]:.2f} m")
    return walked[0], walked[-1]


if __name__ == "__main__":
    main(*map(int, filter(str.isdigit, sys.argv[1:2])))  # a notebook has arguments of its own
