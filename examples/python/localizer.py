"""A humanoid on a RoboCup field finds out where it is, by Monte Carlo localization (Fox et al.
1999), and walks along a path by its own estimate.

mayfly serve scenes/localizer.yaml --page 8765
python examples/python/localizer.py [ADDRESS]; ADDRESS is 127.0.0.1:8766 unless given.

What it has: the command of its walk and the yaw rate of its gyroscope, both as they are, and posts
and crossings of lines that it sees ahead, with noise; crossings of one shape look alike. The page
shows the truth (arrow), the particles, the estimate (a ghost), what is seen and the path.
"""

# %%
# The libraries.
from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

import mayfly

Numbers = npt.NDArray[np.float64]
Sighting = tuple[str, float, float]  # kind, distance [m], bearing [rad]
PERIOD = 0.2  # [s] between turns
REACH, HALF_ANGLE = 4.0, 1.0  # [m], [rad] of what is seen
RANGE_NOISE, BEARING_NOISE = 0.08, 0.04  # [1] of the distance, [rad]
SLIP, DRIFT = 0.25, 0.05  # [1] of the step, [rad/s]: how far dead reckoning may be wrong
WIDE = 2.0  # [1] sightings of one moment are taken for less exact than they are, so none decides
BLUR = 0.03  # [m], [rad] of particles that were drawn twice
LOST = 1e-3  # [1] likelihood of a sighting that no landmark explains

# %%
# Landmarks by kind, x and y [m]: posts of goals; corners, tees and crosses of lines.
HALF = {
    "post": [(4.5, 1.35), (4.5, -1.35)],
    "corner": [(4.5, 3), (4.5, -3), (3.5, 1.5), (3.5, -1.5), (2.5, 2.5), (2.5, -2.5)],
    "tee": [(4.5, 1.5), (4.5, -1.5), (4.5, 2.5), (4.5, -2.5)],
    "cross": [(3, 0)],
}
MAP = {
    kind: np.array([*places, *((-x, y) for x, y in places)], float) for kind, places in HALF.items()
}
MAP["tee"] = np.vstack([MAP["tee"], [(0, 3), (0, -3)]])
MAP["cross"] = np.vstack([MAP["cross"], [(0, 0.75), (0, -0.75)]])
PATH = np.array([(-3, 1), (-1.5, 1.2), (-0.5, 0), (-1.5, -1.2), (-3, -1), (-3.6, 0), (-3, 1)])


# %%
# What the camera's software would find, and what the robot makes of it.
def wrap(angle: Any) -> Any:
    """The same angle [rad] of -pi .. pi."""
    return (angle + np.pi) % (2 * np.pi) - np.pi


def see(pose: Numbers, random: np.random.Generator, factor: float) -> list[Sighting]:
    """What is seen from a pose (x, y, heading): kinds, distances [m] and bearings [rad]."""
    found = []
    for kind, places in MAP.items():
        ahead = places - pose[:2]
        distance = np.hypot(*ahead.T)
        bearing = wrap(np.arctan2(ahead[:, 1], ahead[:, 0]) - pose[2])
        for d, b in zip(distance, bearing):
            if 0.3 < d < REACH and abs(b) < HALF_ANGLE:
                noise = factor * random.normal(size=2)
                found.append((kind, d * (1 + RANGE_NOISE * noise[0]), b + BEARING_NOISE * noise[1]))
    return found


# %%
# The filter: particles move by dead reckoning, and are weighed by what is seen.
class Localizer:
    """Particles (x, y, heading) and their weights."""

    def __init__(self, count: int, random: np.random.Generator) -> None:
        self.random, self.count = random, count
        self.forget()

    def forget(self) -> None:
        """It knows its half, from which teams enter the field, and nothing else."""
        low, high = (-4.5, -3, -np.pi), (0, 3, np.pi)
        self.particles = self.random.uniform(low, high, (self.count, 3))
        self.weights = np.full(self.count, 1 / self.count)

    def move(self, forward: float, left: float, turn: float) -> None:
        """Dead reckoning of a step [m, m, rad], with its noise."""
        count = len(self.particles)
        size = SLIP * math.hypot(forward, left) + 0.004
        step = self.random.normal((forward, left), size, (count, 2))
        c, s = np.cos(self.particles[:, 2]), np.sin(self.particles[:, 2])
        self.particles[:, 0] += c * step[:, 0] - s * step[:, 1]
        self.particles[:, 1] += s * step[:, 0] + c * step[:, 1]
        noise = self.random.normal(0, DRIFT * PERIOD, count)
        self.particles[:, 2] = wrap(self.particles[:, 2] + turn + noise)

    def look(self, sightings: list[Sighting]) -> None:
        """Weighs the particles by what is seen: by the landmark of its kind that fits best."""
        for kind, distance, bearing in sightings:
            ahead = MAP[kind][None] - self.particles[:, None, :2]
            far = np.hypot(ahead[..., 0], ahead[..., 1])
            angle = np.arctan2(ahead[..., 1], ahead[..., 0]) - self.particles[:, None, 2]
            misfit = ((far - distance) / (WIDE * RANGE_NOISE * distance)) ** 2
            misfit += (wrap(angle - bearing) / (WIDE * BEARING_NOISE)) ** 2
            self.weights *= np.exp(-0.5 * misfit.min(axis=1)) + LOST
        self.weights /= self.weights.sum()
        if 1 / np.sum(self.weights**2) < 0.5 * len(self.weights):
            self.resample()

    def resample(self) -> None:
        """As many particles as before, by their weights (low variance)."""
        count = len(self.weights)
        at = (np.arange(count) + self.random.uniform()) / count
        chosen = np.searchsorted(np.cumsum(self.weights), at).clip(0, count - 1)
        self.particles = self.particles[chosen] + self.random.normal(0, BLUR, (count, 3))
        self.weights = np.full(count, 1 / count)

    def estimate(self) -> tuple[Numbers, float]:
        """The mean of the particles near the heaviest: x, y, heading; and the spread [m] of all."""
        best = self.particles[np.argmax(self.weights)]
        near = np.hypot(*(self.particles[:, :2] - best[:2]).T) < 0.6
        weights = self.weights * near / np.sum(self.weights * near)
        x, y = weights @ self.particles[:, :2]
        heading = np.arctan2(
            weights @ np.sin(self.particles[:, 2]), weights @ np.cos(self.particles[:, 2])
        )
        mean = self.weights @ self.particles[:, :2]
        spread = np.sqrt(self.weights @ np.sum((self.particles[:, :2] - mean) ** 2, axis=1))
        return np.array([x, y, heading]), float(spread)


# %%
# The walk towards the next point of the path.
def pose_of(state: mayfly.Subscription) -> Numbers:
    """The true pose (x, y, heading)."""
    w, x, y, z = state["base.orientation"][0]
    return np.array(
        [
            *state["base.position"][0][:2],
            math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
        ]
    )


def steer(pose: Numbers, goal: Numbers) -> tuple[float, float, float]:
    """The walk's command towards a goal: forward [m/s], left [m/s], yaw [rad/s]."""
    ahead = wrap(math.atan2(goal[1] - pose[1], goal[0] - pose[0]) - pose[2])
    forward = 0.12 * max(0.0, math.cos(ahead)) if abs(ahead) < 0.8 else 0.0
    return forward, 0.0, float(np.clip(1.2 * ahead, -0.4, 0.4))


# %%
# What the program thinks, on the page.
def flat(points: npt.ArrayLike, height: float = 0.03) -> Numbers:
    """x and y as x, y, z."""
    points = np.atleast_2d(points)
    return np.column_stack([points[:, :2], np.full(len(points), height)])


def headings(poses: npt.ArrayLike, length: float, height: float = 0.05) -> Numbers:
    """Arrows of poses."""
    poses = np.atleast_2d(poses)
    tips = poses[:, :2] + length * np.column_stack([np.cos(poses[:, 2]), np.sin(poses[:, 2])])
    return np.stack([flat(poses, height), flat(tips, height)], axis=1)


def sight_lines(estimate: Numbers, sightings: list[Sighting]) -> Numbers:
    """From the estimate to what is seen; a row of NAN ends each line."""
    rows = np.full((len(sightings), 3, 3), np.nan)
    for row, (_, distance, bearing) in zip(rows, sightings):
        angle = estimate[2] + bearing
        row[0] = flat(estimate, 0.4)
        row[1] = flat(estimate[:2] + distance * np.array([math.cos(angle), math.sin(angle)]))
    return rows


def draw(
    world: mayfly.RemoteWorld, state: mayfly.Subscription, localizer: Localizer, estimate: Numbers
) -> None:
    """Some particles and the estimate; the ghost has the joint angles of the robot."""
    arrows = headings(localizer.particles[::6], 0.12)
    world.draw("particles", "arrows", arrows, color="#e03131", size=0.008)
    height, rotation = state["base.position"][0][2], (math.cos(estimate[2] / 2), 0, 0)
    ghost = [*estimate[:2], height, *rotation, math.sin(estimate[2] / 2), *state["joint.angle"][0]]
    world.draw("estimate", "ghost", ghost, color="#1c7ed6", on="robot")


# %%
# One turn after the other, in lock-step: move, look, draw, walk.
def main(address: str, duration: float = 120.0, seed: int = 1) -> dict[str, float]:
    """The errors of the estimate, from when on the robot knew where it is."""
    random = np.random.default_rng(seed)
    localizer = Localizer(3000, random)
    errors: list[tuple[float, float, float, bool]] = []
    walked: list[Numbers] = []
    goal, sure, command, begin = 1, 0, (0.0, 0.0, 0.0), math.nan
    with mayfly.connect(address) as world:
        robot = world["robot"]
        fields = ("base.position", "base.orientation", "joint.angle", "sensor.value")
        state = robot.subscribe(*fields, period=PERIOD)
        noise = world.slider("noise of what is seen", 0.25, 4, value=1, unit="times")
        world.button("forget everything")(lambda presses: localizer.forget())
        world.draw("path", "lines", flat(PATH, 0.02), color="#ae3ec9", size=0.02)
        robot.write("gait.select", 0)
        for turn in world.lock_step(period=PERIOD, limit=60):
            if math.isnan(begin):
                begin = turn.time
                world.pause(False)  # where it was served with --paused
            yaw_rate = float(state["sensor.value"][0][2])  # the gyroscope comes first
            localizer.move(PERIOD * command[0], PERIOD * command[1], PERIOD * yaw_rate)
            truth = pose_of(state)
            sightings = see(truth, random, noise.value)
            localizer.look(sightings)
            estimate, spread = localizer.estimate()
            sure = sure + 1 if spread < 0.3 else 0
            if math.dist(estimate[:2], PATH[goal]) < 0.2:
                goal = goal % (len(PATH) - 1) + 1
            known = sure > 15  # else it looks around
            command = steer(estimate, PATH[goal]) if known else (0.0, 0.0, 0.4)
            robot.write("gait.command", command)
            walked.append(truth)
            distance, heading = math.dist(estimate[:2], truth[:2]), wrap(estimate[2] - truth[2])
            errors.append((turn.time - begin, distance, abs(heading), known))
            draw(world, state, localizer, estimate)
            world.draw("truth", "arrows", headings(truth, 0.5, 0.5), color="#ffd43b", size=0.03)
            world.draw("walked", "lines", flat(np.array(walked)), color="#ffd43b", size=0.015)
            lines = sight_lines(estimate, sightings)
            world.draw("seen", "lines", lines, color="#f08c00aa", size=0.008)
            if turn.time - begin >= duration:
                break
    return report(np.array(errors), np.array(walked))


# %%
# How good the estimate was.
def report(errors: Numbers, walked: Numbers) -> dict[str, float]:
    """Prints and returns it."""
    known = np.flatnonzero(errors[:, 3])
    if len(known) == 0:
        raise SystemExit("the robot never knew where it is")
    after = errors[known[0] :]
    walk = np.sum(np.hypot(*np.diff(walked[:: round(2 / PERIOD), :2], axis=0).T))
    mean, worst, heading = after[:, 1].mean(), after[:, 1].max(), np.degrees(after[:, 2].mean())
    print(f"it knows where it is after {errors[known[0], 0]:.1f} s; it walked {walk:.1f} m")
    print(f"error of the estimate: mean {mean:.3f} m, worst {worst:.3f} m; {heading:.1f} degrees")
    return {"after": errors[known[0], 0], "mean": mean, "worst": worst, "walk": walk}


# %%
# The address of the command line, or that of a server without options.
if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8766")
