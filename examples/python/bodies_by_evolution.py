"""Bodies and gaits evolve together: legs, their lengths and joints, and how they swing.
usage: bodies_by_evolution.py [GENERATIONS]
"""

import sys

import numpy as np
import numpy.typing as npt

import mayfly

POPULATION = 32
LENGTH = 5.0  # [s] of one episode
BODY, GAIT = 5, 4  # genes
Genes = npt.NDArray[np.float64]  # of one individual, in 0 .. 1


# %%
# The first genes are the body. Any text that a file could hold is a robot: here URDF with two to
# four pairs of legs, each with a hip, and with a knee if gene 3 wants it.
def joint(name: str, parent: str, child: str, at: str, axis: str) -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}"/><axis xyz="{axis}"/>'
        '<limit lower="-0.9" upper="0.9" effort="10" velocity="5"/></joint>'
    )


def rod(name: str, middle: str, turn: str, length: float) -> str:
    mass = 0.3 * length
    sides = mass * length**2 / 12
    return (
        f'<link name="{name}"><inertial><origin xyz="{middle}"/><mass value="{mass}"/>'
        f'<inertia ixx="{sides}" iyy="{sides}" izz="{sides}" ixy="0" ixz="0" iyz="0"/></inertial>'
        f'<collision><origin xyz="{middle}" rpy="{turn}"/><geometry>'
        f'<cylinder radius="0.01" length="{length}"/></geometry></collision></link>'
    )


def leg(name: str, x: float, side: int, upper: float, lower: float, knee: bool, axis: str) -> str:
    thigh = rod(f"{name}_thigh", f"0 {side * upper / 2} 0", "1.5708 0 0", upper)
    shin = rod(f"{name}_shin", f"0 0 {-lower / 2}", "0 0 0", lower)
    hip = joint(f"{name}_hip", "trunk", f"{name}_thigh", f"{x} {0.06 * side} 0", axis)
    bend = joint(f"{name}_knee", f"{name}_thigh", f"{name}_shin", f"0 {side * upper} 0", "1 0 0")
    return thigh + shin + hip + (bend if knee else bend.replace("revolute", "fixed"))


def body(genes: Genes) -> str:
    pairs, knee = 2 + min(int(3 * genes[0]), 2), genes[3] > 0.5
    upper, lower, trunk = 0.04 + 0.1 * genes[1], 0.05 + 0.15 * genes[2], 0.3
    axis = "0 1 0" if genes[4] > 0.5 else "0 0 1"
    legs = [
        leg(f"{'left' if side > 0 else 'right'}{i}", x, side, upper, lower, knee, axis)
        for i, x in enumerate(np.linspace(trunk / 2, -trunk / 2, pairs))
        for side in (1, -1)
    ]
    return (
        '<robot name="walker"><link name="trunk"><inertial><mass value="1.2"/>'
        '<inertia ixx="0.002" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
        f'<collision><geometry><box size="{trunk} 0.1 0.04"/></geometry></collision></link>'
        + "".join(legs)
        + "</robot>"
    )


# %%
# The others are the gait: frequency, then amplitude, phase between sides, and phase along the body.
def gait(genes: Genes, model: mayfly.Model) -> mayfly.Oscillators:
    frequency, swing, sides, along = genes[BODY:]
    names = [joint.name for joint in model.joints]
    side = np.array([name.startswith("right") for name in names])
    row = np.array([int(name.split("_")[0][-1]) for name in names])
    knee = np.array([name.endswith("knee") for name in names])
    phase = (sides * side + along * row + 0.25 * knee) % 1
    amplitude = np.where(knee & side, -0.5, 0.5) * swing
    return mayfly.Oscillators(amplitude[None, :], phase[None, :], [0.2 + 1.8 * frequency])


# %%
# One call simulates all bodies at the same time, each with its own gait.
def distances(population: Genes) -> Genes:
    models = [mayfly.Model.from_string(body(genes)) for genes in population]
    gaits = [gait(genes, model) for genes, model in zip(population, models)]
    return mayfly.evaluate(models, gaits, LENGTH, motion="points").objective(worst=-1.0)


# %%
# The better half of each generation stays; the other half are their mutated copies.
def main(generations: int = 20) -> list[float]:
    rng = np.random.default_rng(1)
    population = rng.random((POPULATION, BODY + GAIT))
    fitness = distances(population)
    best = [float(fitness.max())]
    for generation in range(generations):
        order = np.argsort(-fitness, kind="stable")[: POPULATION // 2]
        parents, kept = population[order], fitness[order]
        noise = rng.normal(0, 0.15, parents.shape) * (rng.random(parents.shape) < 0.4)
        children = np.clip(parents + noise, 0, 1)
        population = np.concatenate([parents, children])
        fitness = np.concatenate([kept, distances(children)])
        best.append(float(fitness.max()))
        if (generation + 1) % 5 == 0:
            legs = 4 + 2 * min(int(3 * population[fitness.argmax()][0]), 2)
            print(f"{generation + 1}: {best[-1]:.2f} m on {legs} legs")
    return best


if __name__ == "__main__":
    main(*map(int, filter(str.isdigit, sys.argv[1:2])))  # a notebook has arguments of its own
