"""A humanoid crosses a field of poles to a goal, and touches none: the obstacle challenge.

mayfly serve scenes/obstacle_challenge.yaml --page 8765
python examples/python/obstacles.py [ADDRESS]; ADDRESS is 127.0.0.1:8766 unless given.

It knows its pose, and no pole at first: it sees those ahead, with noise, takes the mean of its
sightings, and plans its path anew by A* (Hart, Nilsson and Raphael 1968) as it learns more. The
page shows the poles where it believes them (circles), the path, and what it has walked.
"""

# %%
# The libraries.
from __future__ import annotations

import heapq
import math
import sys

import numpy as np
import numpy.typing as npt

import mayfly

Numbers = npt.NDArray[np.float64]

PERIOD = 0.2  # [s] between turns
GOAL = np.array([2.3, 0.0])  # [m]
REACH, HALF_ANGLE = 2.2, 1.1  # [m], [rad] of what is seen
RANGE_NOISE, BEARING_NOISE = 0.05, 0.03  # [1] of the distance, [rad]
POLE, SAFE = 0.1, 0.33  # [m] radius of a pole; between the robot's middle and its surface
CELL, LOW, HIGH = 0.1, np.array([-3.0, -1.1]), np.array([3.0, 1.1])  # [m] lane of the plan
MOVES = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)]


# %%
# What the camera's software would find, and what the robot makes of it.
def wrap(angle: float) -> float:
    """The same angle [rad] of -pi .. pi."""
    return (angle + math.pi) % (2 * math.pi) - math.pi


class Poles:
    """Where the robot believes poles: means of sightings."""

    def __init__(self) -> None:
        self.places, self.counts = np.empty((0, 2)), np.empty(0)

    def see(self, pose: Numbers, true_places: Numbers, random: np.random.Generator) -> None:
        """Takes what is seen from a pose (x, y, heading), with noise."""
        for place in true_places:
            ahead = place - pose[:2]
            distance, bearing = np.hypot(*ahead), wrap(math.atan2(ahead[1], ahead[0]) - pose[2])
            if distance > REACH or abs(bearing) > HALF_ANGLE:
                continue
            noise = random.normal(size=2)
            distance *= 1 + RANGE_NOISE * noise[0]
            angle = pose[2] + bearing + BEARING_NOISE * noise[1]
            self.add(pose[:2] + distance * np.array([math.cos(angle), math.sin(angle)]), distance)

    def add(self, place: Numbers, distance: float) -> None:
        """One sighting; near ones count more."""
        weight = 1 / distance**2
        if len(self.places):
            nearest = np.argmin(np.hypot(*(self.places - place).T))
            if np.hypot(*(self.places[nearest] - place)) < 0.4:
                self.counts[nearest] += weight
                part = weight / self.counts[nearest]
                self.places[nearest] += part * (place - self.places[nearest])
                return
        self.places = np.vstack([self.places, place])
        self.counts = np.append(self.counts, weight)


# %%
# The plan: the cheapest path over a grid.
def grid_cost(poles: Numbers) -> Numbers:
    """[1] Cost of each cell: 1, more near poles, infinite where the robot would touch one."""
    count = np.round((HIGH - LOW) / CELL).astype(int) + 1
    x, y = np.meshgrid(*(LOW[c] + CELL * np.arange(count[c]) for c in (0, 1)), indexing="ij")
    cost = np.ones(count)
    for place in poles:
        clear = np.hypot(x - place[0], y - place[1]) - POLE
        cost += np.where(clear < 0.5, 3 * (0.5 - clear), 0)
        cost[clear < SAFE] = np.inf
    return cost


def plan(begin: Numbers, goal: Numbers, poles: Numbers) -> Numbers:
    """The cheapest path over the grid as points [m]; the straight line where there is none."""
    cost = grid_cost(poles)
    last = np.array(cost.shape) - 1
    start, end = (
        tuple(np.clip(np.round((point - LOW) / CELL).astype(int), 0, last))
        for point in (begin, goal)
    )
    best, before, queue = {start: 0.0}, {}, [(0.0, start)]
    while queue:
        _, now = heapq.heappop(queue)
        if now == end:
            break
        for move in MOVES:
            to = (now[0] + move[0], now[1] + move[1])
            if not (0 <= to[0] <= last[0] and 0 <= to[1] <= last[1]):
                continue
            price = cost[to] if np.isfinite(cost[to]) else 1e3  # out of where it is already
            total = best[now] + price * math.hypot(*move)
            if total < best.get(to, math.inf):
                best[to], before[to] = total, now
                rest = math.hypot(to[0] - end[0], to[1] - end[1])
                heapq.heappush(queue, (total + rest, to))
    path = [end]
    while path[-1] in before:
        path.append(before[path[-1]])
    points = LOW + CELL * np.array(path[::-1])
    return np.vstack([begin, points[1:-1], goal])


# %%
# The walk along it.
def steer(pose: Numbers, path: Numbers) -> tuple[float, float, float]:
    """The walk's command along a path: forward [m/s], left [m/s], yaw [rad/s]."""
    far = np.hypot(*(path - pose[:2]).T)
    ahead = path[min(np.argmax(np.append(far[1:], 9) > 0.3) + 1, len(path) - 1)]
    angle = wrap(math.atan2(ahead[1] - pose[1], ahead[0] - pose[0]) - pose[2])
    forward = 0.12 * math.cos(angle) if abs(angle) < 0.6 else 0.0
    return forward, 0.0, float(np.clip(1.5 * angle, -0.5, 0.5))


# %%
# What the page shows.
def flat(points: npt.ArrayLike, height: float = 0.03) -> Numbers:
    """x and y as x, y, z."""
    points = np.atleast_2d(points)
    return np.column_stack([points[:, :2], np.full(len(points), height)])


def circles(places: npt.ArrayLike, radius: float) -> Numbers:
    """Lines around places, which a row of NAN ends."""
    angle = np.linspace(0, 2 * np.pi, 33)
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    parts = [np.vstack([flat(place + ring), [[np.nan] * 3]]) for place in np.atleast_2d(places)]
    return np.vstack([*parts, np.empty((0, 3))])


def pose_of(state: mayfly.Subscription) -> Numbers:
    """The pose of the robot (x, y, heading)."""
    w, x, y, z = state["base.orientation"][0]
    heading = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.array([*state["base.position"][0][:2], heading])


# %%
# One turn after the other, in lock-step: see, plan, draw, walk.
def main(address: str, limit: float = 180.0, seed: int = 1) -> dict[str, float]:
    """How long it took [s], how near poles came [m], and how far one was moved [m]."""
    random, poles, walked = np.random.default_rng(seed), Poles(), []
    nearest, begin, reached = math.inf, math.nan, False
    with mayfly.connect(address) as world:
        robot = world["robot"]
        state = robot.subscribe("base.position", "base.orientation", period=PERIOD)
        truth = world["poles"].subscribe("base.position", period=PERIOD)
        robot.write("gait.select", 0)
        world.draw("goal", "lines", circles(GOAL, 0.2), color="#2b8a3e", size=0.03)
        world.draw("sign", "text", [*GOAL, 0.5], text="goal", color="#2b8a3e", size=0.15)
        for turn in world.lock_step(period=PERIOD, limit=60):
            pose, places = pose_of(state), truth["base.position"].astype(float)
            if math.isnan(begin):
                begin, start = turn.time, places
                world.pause(False)  # where it was served with --paused
            nearest = min(nearest, np.hypot(*(places[:, :2] - pose[:2]).T).min() - POLE)
            poles.see(pose, places[:, :2], random)
            path = plan(pose[:2], GOAL, poles.places)
            robot.write("gait.command", steer(pose, path))
            walked.append(pose[:2])
            world.draw("path", "lines", flat(path), color="#e03131", size=0.025)
            rings = circles(poles.places, POLE + 0.02)
            world.draw("poles", "lines", rings, color="#f08c00", size=0.02)
            world.draw("walked", "lines", flat(np.array(walked)), color="#ffd43b", size=0.015)
            reached = math.dist(GOAL, pose[:2]) < 0.2
            if reached or turn.time - begin >= limit:
                break
        moved = float(np.abs(truth["base.position"] - start).max())
    length = np.sum(np.hypot(*np.diff(np.array(walked)[:: round(2 / PERIOD)], axis=0).T))
    time = turn.time - begin
    print(f"{'at the goal' if reached else 'not at the goal'} after {time:.0f} s, {length:.1f} m")
    print(
        f"{len(poles.places)} poles seen, the nearest {nearest:.2f} m from its middle; "
        f"a pole moved {1000 * moved:.1f} mm"
    )
    return {"reached": reached, "time": time, "nearest": nearest, "moved": moved}


# %%
# The address of the command line, or that of a server without options.
if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8766")
