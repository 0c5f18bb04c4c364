"""Pushes a standing humanoid to its side, each time harder, until it falls (scenes/pushes.lua).

mayfly run models/humanoid.urdf --gait stand --duration 60 --python examples/python/pushes.py
"""

# %%
# The libraries, and what one push is.
import math

from mayfly.script import Event, results, world

SETTLE = 1.0  # [s] before the first push
WATCH = 2.0  # [s] after a push
HARDER = 20  # [s/m] pushes up to one of 1 m/s


# %%
# Properties by path, a table of results, and how often `tick` is called.
robot = world.groups()[0]
speed = world.property(f"{robot}[0]/base.linear_velocity.y")
height = world.property(f"{robot}[0]/base.position.z")
rotation = world.property(f"{robot}[0]/base.orientation")  # w, x, y, z
pushes = results.table("pushes.csv", ["push", "lean", "height", "fell"])
world.every(0.02)


class Push:
    """The present push."""

    before: bytes | None = None  # snapshot of the standing robot
    number = 0
    speed = 0.0  # [m/s] added to that of the base
    began = 0.0  # [s]
    lean = 0.0  # [rad] most so far
    fell = False


# %%
# How far the robot leans, and the next push, from the same state as all of them.
def tilt() -> float:
    """Angle of the body's z axis from the vertical [rad]."""
    _, x, y, _ = rotation.all()
    return math.acos(1 - 2 * (x * x + y * y))


def push_harder() -> None:
    """Goes back to the standing robot and pushes it."""
    assert Push.before is not None
    world.restore(Push.before)
    Push.number += 1
    Push.speed = Push.number / HARDER
    speed[0] += Push.speed
    Push.began, Push.lean, Push.fell = world.time(), 0.0, False


# %%
# What the run calls: at events, at every tick, and at its end.
def event(e: Event) -> None:
    """Something has happened."""
    if e.kind == "fall":
        Push.fell = True


def tick(time: float) -> None:
    """Every 0.02 s."""
    if Push.before is None:
        if time >= SETTLE:
            Push.before = world.snapshot()
            push_harder()
        return
    Push.lean = max(Push.lean, tilt())
    if not Push.fell and time - Push.began < WATCH:
        return
    pushes.row(Push.speed, Push.lean, height[0], Push.fell)
    if Push.fell:
        world.stop(f"fell after a push of {Push.speed:.2f} m/s")
    else:
        push_harder()


def finish() -> None:
    """After the run."""
    results.json("summary.json", {"push": Push.speed, "fell": Push.fell})
