"""The motors of a robot: the law of the SDK's low-level command, and where its torques go.

    torque = tau + kp (q - angle) + kd (dq - rate)

with the present angle and rate at each turn; a motor whose mode is 0 is off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

import mayfly
from mayfly_bridges._dds.links import Links
from mayfly_bridges.unitree.robots import Kind

STOP_POSITION = 2.146e9  # q: "no position"
STOP_VELOCITY = 16000.0  # dq: "no velocity"
Array = npt.NDArray[np.float64]


def torques(command: npt.NDArray[Any], angles: Array, rates: Array) -> Array:
    """The torques [N m] for the first motors of a command; NaN in a command: 0."""
    motors = command[: len(angles)]
    q, dq = motors["q"].astype(np.float64), motors["dq"].astype(np.float64)
    with np.errstate(all="ignore"):
        position = np.where(q == np.float32(STOP_POSITION), 0.0, motors["kp"] * (q - angles))
        velocity = np.where(dq == STOP_VELOCITY, 0.0, motors["kd"] * (dq - rates))
        total = motors["tau"] + position + velocity
    return np.where((motors["mode"] != 0) & np.isfinite(total), total, 0.0)


class Motors:
    """The motors of a kind of robot in the order of the SDK; `index` -1: the robot lacks it.

    Torques go to `actuator.control` where a motor of the file drives the joint, else to
    `joint.torque`, and are limited to the actuator's or the joint's range.
    """

    def __init__(self, kind: Kind, links: Links, inputs: Mapping[str, int]) -> None:
        """`inputs` are the numbers of values of the group's inputs; UnsupportedError: servos."""
        joints = {joint.name: joint for joint in links.joints}
        found = [joints.get(name) for name in kind.motors]
        self.index = np.array([-1 if joint is None else joint.index for joint in found])
        self.has = self.index >= 0
        motors = _motors(links)
        self._rows = {
            n: np.zeros(inputs[n]) for n in ("actuator.control", "joint.torque") if inputs.get(n)
        }
        self._places: list[tuple[str, int, int, float, float]] = []
        for number, joint in enumerate(found):
            if joint is None:
                continue
            place, factor, limit = motors.get(joint.index, (-1, 1.0, joint.effort or np.inf))
            field = "joint.torque" if place < 0 else "actuator.control"
            if field not in self._rows:
                raise mayfly.UnsupportedError(f"joint {joint.name}: the group has no input {field}")
            index = joint.index if place < 0 else place
            self._places.append((field, number, index, factor, limit))

    def pick(self, values: Array) -> Array:
        """Values of the robot's joints in the order of the SDK, 0 for those that it lacks."""
        return np.where(self.has, values[self.index], 0.0)

    def drive(self, wanted: Array) -> tuple[Array, dict[str, Array]]:
        """The torques after limits, and the rows of the inputs for them."""
        given = np.zeros(len(self.index))
        for field, number, index, factor, limit in self._places:
            given[number] = min(max(wanted[number], -limit), limit)
            self._rows[field][index] = given[number] * factor
        return given, self._rows


def _motors(links: Links) -> dict[int, tuple[int, float, float]]:
    """By joint: the index of its motor, control for a torque of 1 N m, largest torque."""
    found: dict[int, tuple[int, float, float]] = {}
    for index, actuator in enumerate(links.described["actuators"]):
        if actuator["drive"] != "joint":
            continue
        gear, gain = float(actuator["gear"][0]), float(actuator["gain"][0])
        if any(actuator["bias"]) or actuator["dynamics"] != "none" or not gear * gain:
            raise mayfly.UnsupportedError(
                f"actuator {actuator['name']} is no motor: the SDK commands torques; "
                "docs/how_to/unitree.md shows how to make it one"
            )
        ends = [actuator["control_lower"], actuator["control_upper"]]
        limit = np.inf if None in ends else min(-ends[0], ends[1]) * abs(gear * gain)
        joint = links.described["joints"][actuator["joint"]]
        for end in (joint["force_lower"], joint["force_upper"]):
            limit = limit if end is None else min(limit, abs(end))
        found[actuator["joint"]] = (index, 1.0 / (gear * gain), limit)
    return found
