#!/usr/bin/env python3
"""Relaxation of trusses by Mayfly, SciPy and MuJoCo: the time of a relaxed frame.

usage: truss.py BENCH_TRUSS CORE_RATE

BENCH_TRUSS is the program of bench/peers/truss.c; CORE_RATE is printed beside the figures. All
minimize the same energy (bars, weight, loads; neither ground nor bars that meet) in double
precision on one thread, from the positions of the frame before, until the largest force left at a
vertex is a millionth of the load. SciPy gets the energy, its gradient and its second derivatives as
NumPy arrays over all bars, and MuJoCo point masses with springs as tendons, stepped with damping
until they are at rest; its step, damping and masses are the fastest of those tried. The peer of a
case is the fastest of all. Positions must agree.
"""
import math
import os
import subprocess
import sys
import tempfile
import time

import mujoco
import numpy as np
import scipy
from scipy.optimize import minimize
from scipy.sparse import coo_matrix

ELASTICITY, DENSITY, GRAVITY = 0.896e9, 1000.0, 9.81
DIAMETER = 0.01
TOLERANCE = 1e-6
FRAMES, COPIES, REPEATS = 16, 64, 20
AMPLITUDE = 0.002  # [m]
STEPS = 400000  # [1] most of MuJoCo in a frame


class Truss:
    """Vertices, bars and what they carry; `rest` changes from frame to frame."""

    def __init__(self, name, vertices, bars, fixed, loads, driven):
        self.name, self.driven = name, driven
        self.start = np.array(vertices, float)
        self.one, self.two = np.array(bars).T
        self.home = np.linalg.norm(self.start[self.two] - self.start[self.one], axis=1)
        self.rest = self.home.copy()
        self.rigidity = ELASTICITY * math.pi / 4 * DIAMETER**2
        mass = DENSITY * math.pi / 4 * DIAMETER**2 * self.home
        self.mass = np.zeros(len(vertices))
        np.add.at(self.mass, self.one, mass / 2)
        np.add.at(self.mass, self.two, mass / 2)
        self.fixed = np.zeros((len(vertices), 3), bool)
        for vertex, axes in fixed.items():
            self.fixed[vertex, ["xyz".index(axis) for axis in axes]] = True
        self.loads = np.zeros((len(vertices), 3))
        for vertex, force in loads.items():
            self.loads[vertex] = force
        self.pull = self.loads - np.outer(self.mass, [0, 0, GRAVITY])
        # As Mayfly: the largest component of the weight and of the load of each vertex.
        self.load = GRAVITY * self.mass.sum() + np.abs(self.loads).max(axis=1).sum()
        self.free = np.flatnonzero(~self.fixed.ravel())
        ends = np.stack([self.one, self.two], 1)
        axes = (3 * ends[:, :, None] + np.arange(3)).reshape(len(bars), 6)
        self.rows = np.repeat(axes, 6, axis=1).ravel()
        self.columns = np.tile(axes, (1, 6)).ravel()

    def length_at(self, frame):
        wave = math.sin(2 * math.pi * (frame + 1) / FRAMES)
        return self.home[self.driven] + AMPLITUDE * wave

    def place(self, values):
        at = self.start.copy().ravel()
        at[self.free] = values
        return at.reshape(-1, 3)

    def energy(self, values):
        """[J] and its gradient at the free coordinates."""
        at = self.place(values)
        span = at[self.two] - at[self.one]
        length = np.sqrt(np.einsum("ij,ij->i", span, span))
        stretch = length - self.rest
        stiffness = self.rigidity / self.rest
        pull = (stiffness * stretch / length)[:, None] * span
        force = -self.pull.copy()
        np.add.at(force, self.two, pull)
        np.subtract.at(force, self.one, pull)
        sum_ = 0.5 * np.dot(stiffness * stretch, stretch) - np.vdot(self.pull, at - self.start)
        return sum_, force.ravel()[self.free]

    def blocks(self, values):
        """The 6 x 6 second derivatives of each bar."""
        at = self.place(values)
        span = at[self.two] - at[self.one]
        length = np.sqrt(np.einsum("ij,ij->i", span, span))
        way = span / length[:, None]
        stiffness = self.rigidity / self.rest
        across = stiffness * (length - self.rest) / length
        block = (stiffness - across)[:, None, None] * way[:, :, None] * way[:, None, :]
        block += across[:, None, None] * np.eye(3)
        return np.block([[[block, -block], [-block, block]]]).reshape(len(length), 36)

    def dense(self, values):
        count = self.start.size
        whole = np.bincount(
            self.rows * count + self.columns, self.blocks(values).ravel(), count * count
        )
        return whole.reshape(count, count)[np.ix_(self.free, self.free)]

    def sparse(self, values):
        count = self.start.size
        entries = (self.blocks(values).ravel(), (self.rows, self.columns))
        whole = coo_matrix(entries, (count, count)).tocsr()
        return whole[self.free][:, self.free]

    def residual(self, values):
        """[1] The largest force left over the tolerance."""
        return np.abs(self.energy(values)[1]).max() / (TOLERANCE * self.load)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            print("truss:\n  material: golem\n  vertices:", file=file)
            for at, held, load in zip(self.start, self.fixed, self.loads):
                axes = ", ".join(axis for axis, fixed in zip("xyz", held) if fixed)
                numbers = [", ".join(repr(float(x)) for x in row) for row in (at, load)]
                extra = f", fixed: [{axes}]" if axes else ""
                print(
                    f"    - {{position: [{numbers[0]}], load: [{numbers[1]}]{extra}}}", file=file
                )
            print("  bars:", file=file)
            for one, two in zip(self.one, self.two):
                print(f"    - {{ends: [{one}, {two}], diameter: {DIAMETER}}}", file=file)
            length = self.home[self.driven]
            print(
                f"  actuators:\n    - {{bar: {self.driven}, range: "
                f"[{float(length - 2 * AMPLITUDE)!r}, {float(length + 2 * AMPLITUDE)!r}]}}",
                file=file,
            )


def cantilever():
    """The ten-bar cantilever, in millimeters (check case A4)."""
    vertices = [(0.3 * (i // 2), 0, 0.5 - 0.3 * (i % 2)) for i in range(6)]
    bars = [(0, 2), (2, 4), (1, 3), (3, 5), (2, 3), (4, 5), (0, 3), (1, 2), (2, 5), (3, 4)]
    fixed = {i: "xyz" if i < 2 else "y" for i in range(6)}
    return Truss("ten bars", vertices, bars, fixed, {3: (0, 0, -2), 5: (0, 0, -2)}, 4)


def beam():
    """The beam of tetrahedra of truss-shared, 30 bars, held at one end."""
    across, up = (0.0, 0.09, 0.045), (0.005, 0.005, 0.085)
    vertices = [(0.05 * i, across[i % 3], up[i % 3]) for i in range(12)]
    bars = [(i, j) for i in range(12) for j in range(i + 1, min(i + 4, 12))]
    return Truss("30 bars", vertices, bars, {i: "xyz" for i in range(3)}, {}, 9)


# ---- solvers: each takes a truss and its start, and relaxes all frames ---------------------------


def frames_of(truss, relax):
    """Seconds of a frame, mean iterations, largest residual, the last positions."""
    values, seconds, spent, worst = truss.start.ravel()[truss.free], 0.0, 0, 0.0
    for frame in range(-1, FRAMES):
        truss.rest[truss.driven] = truss.home[truss.driven] if frame < 0 else truss.length_at(frame)
        started = time.process_time()
        values, iterations = relax(truss, values)
        if frame < 0:
            continue
        seconds += time.process_time() - started
        spent += iterations
        worst = max(worst, truss.residual(values))
    return seconds / FRAMES, spent / FRAMES, worst, truss.place(values)


def by_lbfgs(truss, values):
    limit = TOLERANCE * truss.load
    options = {"gtol": limit, "ftol": 0, "maxiter": 100000, "maxfun": 1000000, "maxcor": 30}
    found = minimize(truss.energy, values, jac=True, method="L-BFGS-B", options=options)
    return found.x, found.nit


def by_trust_region(truss, values):
    options = {"gtol": TOLERANCE * truss.load, "initial_trust_radius": 0.1}
    found = minimize(
        truss.energy, values, jac=True, hess=truss.dense, method="trust-exact", options=options
    )
    return found.x, found.nit


def by_newton_cg(truss, values):
    found = minimize(
        truss.energy,
        values,
        jac=True,
        hess=truss.sparse,
        method="Newton-CG",
        options={"xtol": 1e-10, "maxiter": 1000},
    )
    return found.x, found.nit


def by_newton(truss, values):
    """Newton's method written out, without a search: the least that NumPy can do."""
    limit = TOLERANCE * truss.load
    for step in range(50):
        gradient = truss.energy(values)[1]
        if np.abs(gradient).max() <= limit:
            return values, step
        values = values - np.linalg.solve(truss.dense(values), gradient)
    return values, 50


class Springs:
    """Point masses on slides, with springs as tendons. Masses are proportional to the stiffness
    around them, so that one step suits all; weight is a force."""

    def __init__(self, truss, damping, share):
        self.truss, self.share = truss, share
        stiffness = np.zeros(len(truss.start))
        for ends in (truss.one, truss.two):
            np.add.at(stiffness, ends, truss.rigidity / truss.home)
        mass = stiffness * 1e-6
        # Largest frequency of a mass between springs to fixed points is sqrt(2 k / m).
        step = share / math.sqrt(stiffness[0] / mass[0])
        bodies, tendons = [], []
        for v, at in enumerate(truss.start):
            slides = "".join(
                f'<joint type="slide" axis="{int(a == 0)} {int(a == 1)} {int(a == 2)}" '
                f'damping="{damping * mass[v]:.17g}"/>'
                for a in range(3)
                if not truss.fixed[v, a]
            )
            bodies.append(
                f'<body pos="{at[0]:.17g} {at[1]:.17g} {at[2]:.17g}">{slides}<site name="s{v}"/>'
                f'<geom type="sphere" size="0.001" mass="{mass[v]:.17g}" contype="0" '
                f'conaffinity="0"/></body>'
            )
        for b in range(len(truss.one)):
            tendons.append(
                f'<spatial stiffness="{truss.rigidity / truss.home[b]:.17g}" '
                f'springlength="{truss.home[b]:.17g}"><site site="s{truss.one[b]}"/>'
                f'<site site="s{truss.two[b]}"/></spatial>'
            )
        text = (
            f'<mujoco><option timestep="{step:.17g}" gravity="0 0 0" integrator="Euler">'
            '<flag contact="disable" constraint="disable" eulerdamp="enable"/></option>'
            f'<worldbody>{"".join(bodies)}</worldbody><tendon>{"".join(tendons)}</tendon></mujoco>'
        )
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self.data.qfrc_applied[:] = truss.pull.ravel()[truss.free]

    def relax(self, truss, values):
        model, data = self.model, self.data
        home = truss.start.ravel()[truss.free]
        model.tendon_lengthspring[:] = truss.rest[:, None]
        model.tendon_stiffness[:] = truss.rigidity / truss.rest
        data.qpos[:] = values - home
        data.qvel[:] = 0.0
        limit = TOLERANCE * truss.load
        for step in range(0, STEPS, 20):
            mujoco.mj_step(model, data, nstep=20)
            force = data.qfrc_passive + data.qfrc_applied + model.dof_damping * data.qvel
            if np.abs(force).max() <= 0.5 * limit:
                return home + data.qpos, step + 20
        return home + data.qpos, STEPS


def by_mujoco(truss):
    """The fastest of some dampings and steps, and its name."""
    best = None
    for share in (0.9, 1.2, 1.35):
        for damping in (20.0, 30.0, 50.0, 70.0, 100.0, 200.0, 300.0, 500.0):
            try:
                found = frames_of(truss, Springs(truss, damping, share).relax)
            except (mujoco.FatalError, ValueError, FloatingPointError):
                continue
            if found[2] <= 1.0 and (best is None or found[0] < best[0][0]):
                best = found, f"MuJoCo, damping {damping:g}/s, step {share:g} ms"
    return best


def by_mayfly(program, truss, copies):
    truss.rest[:] = truss.home
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "peer.truss.yaml")
        truss.write(path)
        words = [program, path, FRAMES, copies, TOLERANCE, AMPLITUDE, REPEATS]
        text = subprocess.run(
            [str(word) for word in words], check=True, capture_output=True, text=True
        ).stdout
    vertices, cost = (line.split()[1:] for line in text.splitlines())
    if cost[2] != "0":
        sys.exit(f"truss.py: Mayfly did not relax {cost[2]} frames of {truss.name}")
    return float(cost[0]), float(cost[1]), np.array(vertices, float).reshape(-1, 3)


def compare(program, truss):
    seconds, iterations, mine = by_mayfly(program, truss, COPIES)
    alone = by_mayfly(program, truss, 1)[0]
    print(f"{truss.name}: {len(truss.one)} bars, {len(truss.free)} coordinates, {FRAMES} frames")
    row = "  {:58} {:12.4g} {:9.1f} {:9.2g} {:9.2g} {:9.1f}"
    print(f"  {'':58} {'us / frame':>12} {'iterations':>9} {'residual':>9} {'apart m':>9} "
          f"{'times':>9}")
    print(row.format(f"Mayfly, {COPIES} copies", 1e6 * seconds, iterations, 0.0, 0.0, 1.0))
    print(row.format("Mayfly, alone", 1e6 * alone, iterations, 0.0, 0.0, alone / seconds))
    results = [
        (frames_of(truss, by_lbfgs), "SciPy L-BFGS-B"),
        (frames_of(truss, by_trust_region), "SciPy trust-exact, dense second derivatives"),
        (frames_of(truss, by_newton_cg), "SciPy Newton-CG, sparse second derivatives"),
        (frames_of(truss, by_newton), "NumPy Newton's method, dense solve"),
    ]
    springs = by_mujoco(truss)
    results += [springs] if springs else []
    fastest = math.inf
    for found, name in results:
        apart = np.abs(found[3] - mine).max()
        print(row.format(name, 1e6 * found[0], found[1], found[2], apart, found[0] / seconds))
        if found[2] <= 1.0 and apart < 1e-5:
            fastest = min(fastest, found[0])
    if not springs:
        print("  MuJoCo did not come to rest with any damping")
    print(f"  fastest peer over Mayfly: {fastest / seconds:.0f}, alone: {fastest / alone:.0f}\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(f"core: {sys.argv[2]}; SciPy {scipy.__version__}, NumPy {np.__version__}, "
          f"MuJoCo {mujoco.__version__}, Python {sys.version.split()[0]}\n")
    for truss in (cantilever(), beam()):
        compare(sys.argv[1], truss)


if __name__ == "__main__":
    main()
