"""Small autopilots for tests, in the frames of autopilots: north-east-down, forward-right-down."""

from __future__ import annotations

import math
import re
import subprocess

import numpy as np
import numpy.typing as npt

import mayfly
from mayfly_bridges._rotation import angles

MASS, ARM, LARGEST, DRAG = 1.5, 0.18, 8.0, 0.016  # models/quadrotor.xml
INERTIA = np.array([0.029, 0.029, 0.055])
# Roll, pitch and yaw by motors 1 .. 4: front right, rear left, front left, rear right.
MIX = np.array([[-1, 1, 1, -1], [1, -1, 1, -1], [1, 1, -1, -1]])


def ports(program: subprocess.Popen[str], count: int = 1) -> list[int]:
    """Those at which a bridge to autopilots listens, one for each robot."""
    assert program.stdout is not None
    found = []
    for _ in range(count):
        line = program.stdout.readline()
        match = re.search(r"listens at 127\.0\.0\.1:(\d+)$", line)
        assert match, f"{line}{program.stdout.read()}"
        found.append(int(match[1]))
    return found


def hover(
    position: npt.ArrayLike,
    velocity: npt.ArrayLike,
    attitude: npt.ArrayLike,
    gyro: npt.ArrayLike,
    goal: npt.ArrayLike,
    yaw: float,
) -> npt.NDArray[np.float64]:
    """The parts of their largest thrust of the four motors that lead to `goal` [m]."""
    expected = 1.2 * (np.asarray(goal, float) - position) - 1.8 * np.asarray(velocity, float)
    expected = np.clip(expected, -3.0, 3.0)
    roll, pitch, heading = angles(attitude)
    c, s = math.cos(heading), math.sin(heading)
    ahead, right = c * expected[0] + s * expected[1], -s * expected[0] + c * expected[1]
    turn = math.remainder(yaw - heading, 2 * math.pi)
    error = np.array([right / 9.81 - roll, -ahead / 9.81 - pitch, turn])
    torque = INERTIA * (np.array([70.0, 70.0, 4.0]) * error - np.array([14, 14, 4]) * gyro)
    lift = MASS * (9.81 - expected[2]) / (math.cos(roll) * math.cos(pitch))
    thrust = lift / 4 + (torque / [4 * ARM, 4 * ARM, 4 * DRAG]) @ MIX
    return np.clip(thrust / LARGEST, 0.0, 1.0)


def level(
    height: float, climb: float, airspeed: float, attitude: npt.ArrayLike, gyro: npt.ArrayLike
) -> tuple[float, float, float, float]:
    """Aileron, elevator, throttle and rudder that keep models/aerosonde.yaml level at `height`
    [m] above its goal and 25 m/s; positive: roll right, nose up, nose right."""
    roll, pitch, _ = angles(attitude)
    p, q, r = np.asarray(gyro, float)
    goal = 0.05 + min(0.2, max(-0.2, -0.01 * height - 0.02 * climb))
    return (
        -0.6 * roll - 0.1 * p,
        0.159 + 1.0 * (goal - pitch) - 0.2 * q,
        min(1.0, max(0.0, 0.68 + 0.1 * (25.0 - airspeed))),
        -0.3 * r,
    )


def truth(address: str, *names: str) -> dict[str, np.ndarray]:
    """The present state of robot 0, by a connection of its own."""
    with mayfly.connect(address) as world:
        group = next(iter(world.groups.values()))
        state = group.subscribe(*names)
        assert world.wait(state)
        return {name: state[name][0].astype(float) for name in names}
