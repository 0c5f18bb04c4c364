"""What agents send: `(init T1 Reds 3)`, then `(beam x y theta)`, `(SPK say volume message)` and
`(name q dq kp kd tau)`: a motor's target [deg], target rate [deg/s], gains [N m/rad, N m s/rad] and
torque [N m] in addition; its torque is kp (q - angle) + kd (dq - rate) + tau.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mayfly_bridges.robocup import sexpr


@dataclass(frozen=True)
class Init:
    """Who an agent is."""

    robot: str
    team: str
    number: int


@dataclass(frozen=True)
class Motor:
    """A command to a motor, in SI units."""

    name: str
    q: float  # [rad]
    dq: float  # [rad/s]
    kp: float  # [N m/rad]
    kd: float  # [N m s/rad]
    tau: float  # [N m]


@dataclass(frozen=True)
class Motors:
    """Commands to several motors: rows of `values` are q, dq, kp, kd, tau as in Motor."""

    names: Sequence[str]
    values: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rate:
    """A rate at which a motor turns its joint from now on: the older dialect's command."""

    name: str
    rate: float  # [rad/s]


@dataclass(frozen=True)
class Beam:
    """A pose on the own half, seen by the own team."""

    x: float  # [m]
    y: float  # [m]
    theta: float  # [rad]


@dataclass(frozen=True)
class Say:
    """A message to all others."""

    volume: float  # [1]
    message: bytes


Action = Motor | Motors | Rate | Beam | Say

# A message of nothing but motors, as agents send them fifty times a second.
_MOTORS = re.compile(rb"(?:\([^\s()]+(?: [-+.0-9eE]+){5}\))+")
_SCALE = np.array([math.pi / 180, math.pi / 180, 1.0, 1.0, 1.0])


def read_init(data: bytes) -> Init:
    """The first message of an agent; Malformed if it is another one."""
    nodes = sexpr.parse(data)
    node = nodes[0] if nodes else []
    if not isinstance(node, list) or len(node) != 4 or node[0] != "init":
        raise sexpr.Malformed("expected (init ROBOT TEAM NUMBER)")
    team = sexpr.word(node[2])
    number = sexpr.number(node[3])
    if number != int(number) or not 1 <= number <= 99:
        raise sexpr.Malformed(f"expected a number of 1 .. 99, found {sexpr.write(node[3])}")
    return Init(sexpr.word(node[1]), team, int(number))


def _read(node: list[sexpr.Node]) -> Action | None:
    if len(node) == 4 and node[0] == "beam":
        x, y, theta = sexpr.numbers(node[1:])
        return Beam(x, y, math.radians(theta))
    if len(node) == 4 and node[0] == "SPK":
        try:
            message = base64.b64decode(sexpr.word(node[3]), validate=True)
        except binascii.Error as error:
            raise sexpr.Malformed("expected a message in base 64") from error
        return Say(sexpr.number(node[2]) / 100, message)
    if len(node) == 6:
        q, dq, kp, kd, tau = sexpr.numbers(node[1:])
        return Motor(sexpr.word(node[0]), math.radians(q), math.radians(dq), kp, kd, tau)
    return None  # (syn), and what other versions know


def _read_motors(data: bytes) -> Motors | None:
    """A message of motors alone, in less than half of the time of `sexpr`; else None."""
    if not _MOTORS.fullmatch(data):
        return None
    words = data.replace(b"(", b" ").replace(b")", b" ").split()
    try:
        names = [name.decode() for name in words[::6]]
        del words[::6]
        values = np.array([float(word) for word in words]).reshape(-1, 5)
    except ValueError:
        return None
    return Motors(names, values * _SCALE) if np.isfinite(values).all() else None


def read_actions(data: bytes) -> list[Action]:
    """All actions of a message; Malformed if one has not its form. Unknown ones are skipped."""
    motors = _read_motors(data)
    if motors is not None:
        return [motors]
    found = []
    for node in sexpr.parse(data):
        action = _read(node) if isinstance(node, list) and node else None
        if action is not None:
            found.append(action)
    return found
