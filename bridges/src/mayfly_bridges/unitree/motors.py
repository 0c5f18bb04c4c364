"""The motors of a robot: the law of the SDK's low-level command, and where it goes.

    torque = tau + kp (q - angle) + kd (dq - rate)

Where the group has the inputs of servos (`servo: {inputs: true}` in the scene), the world computes
it in each of its steps, with angle and rate at the end of the step, which is stable at any gain.
Else the bridge does, with the present angle and rate at each turn. A motor whose mode is 0 is off.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

import mayfly
from mayfly_bridges._dds.links import Links
from mayfly_bridges.unitree.robots import Kind

STOP_POSITION = 2.146e9  # q: "no position"
STOP_VELOCITY = 16000.0  # dq: "no velocity"
_MOST = 1e9  # of all numbers: products of two are finite in single precision
INPUTS = ("servo.gain", "servo.damping", "joint.target", "servo.target_rate", "servo.torque")
Array = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Law:
    """What a command says to each motor: zeros where it is off."""

    kp: Array
    kd: Array
    q: Array
    dq: Array
    tau: Array

    def torques(self, angles: Array, rates: Array) -> Array:
        """The torques [N m] for these angles and rates, without limits."""
        return self.kp * (self.q - angles) + self.kd * (self.dq - rates) + self.tau


def read_law(command: npt.NDArray[Any], count: int) -> Law:
    """The law of the first motors of a command.

    A motor is off with mode 0, with a number that is not finite, and with a gain below 0.
    """
    motors = command[:count]
    kp, kd, q, dq, tau = (motors[n].astype(np.float64) for n in ("kp", "kd", "q", "dq", "tau"))
    kp = np.where(motors["q"] == np.float32(STOP_POSITION), 0.0, kp)
    kd = np.where(motors["dq"] == STOP_VELOCITY, 0.0, kd)
    is_on = (motors["mode"] != 0) & np.isfinite(kp + kd + q + dq + tau) & (kp >= 0) & (kd >= 0)
    return Law(*(np.where(is_on, part, 0.0).clip(-_MOST, _MOST) for part in (kp, kd, q, dq, tau)))


class Motors:
    """The motors of a kind of robot in the order of the SDK; `index` -1: the robot lacks it.

    Without inputs of servos, torques go to `actuator.control` where a motor of the file drives the
    joint, else to `joint.torque`, and are limited to the actuator's or the joint's range.
    """

    def __init__(self, kind: Kind, links: Links, inputs: Mapping[str, int]) -> None:
        """`inputs` are the numbers of values of the group's inputs; UnsupportedError: servos."""
        joints = {joint.name: joint for joint in links.joints}
        found = [joints.get(name) for name in kind.motors]
        self.index = np.array([-1 if joint is None else joint.index for joint in found])
        self.has = self.index >= 0
        self.by_servos = all(inputs.get(name) for name in INPUTS)
        motors = _motors(links)
        names = INPUTS if self.by_servos else ("actuator.control", "joint.torque")
        self._rows = {n: np.zeros(inputs[n]) for n in names if inputs.get(n)}
        if self.by_servos:
            self._start_rows(links.described)
        self._slots: list[tuple[str, int, int, float]] = []
        self._limits = np.full(len(found), np.inf)
        for number, joint in enumerate(found):
            if joint is None:
                continue
            place, factor, limit = motors.get(joint.index, (-1, 1.0, joint.effort or np.inf))
            if self.by_servos:
                limit = links.described["servos"][joint.index]["effort"]
            self._limits[number] = np.inf if limit is None else limit
            field = "joint.torque" if place < 0 else "actuator.control"
            if not self.by_servos and field not in self._rows:
                raise mayfly.UnsupportedError(f"joint {joint.name}: the group has no input {field}")
            self._slots.append((field, number, joint.index if place < 0 else place, factor))

    def pick(self, values: Array) -> Array:
        """Values of the robot's joints in the order of the SDK, 0 for those that it lacks."""
        return np.where(self.has, values[self.index], 0.0)

    def drive(self, law: Law, angles: Array, rates: Array) -> tuple[Array, dict[str, Array]]:
        """The torques after limits at these angles and rates, and the rows of the inputs."""
        requested = np.where(self.has, law.torques(angles, rates), 0.0)
        given = np.clip(requested, -self._limits, self._limits)
        if self.by_servos:
            own = self.index[self.has]
            for name, part in zip(INPUTS, (law.kp, law.kd, law.q, law.dq, law.tau)):
                self._rows[name][own] = part[self.has]
        else:
            for field, number, index, factor in self._slots:
                self._rows[field][index] = given[number] * factor
        return given, self._rows

    def _start_rows(self, described: Mapping[str, Any]) -> None:
        """Joints that are no motors of the SDK keep the servos that they have."""
        servos = described["servos"]
        self._rows["servo.gain"][:] = [servo["gain"] for servo in servos]
        self._rows["servo.damping"][:] = [servo["damping"] for servo in servos]
        self._rows["joint.target"][:] = described["start_angle"]


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
                "docs/how_to/bridges.md#unitrees-sdk shows how to make it one"
            )
        ends = [actuator["control_lower"], actuator["control_upper"]]
        limit = np.inf if None in ends else min(-ends[0], ends[1]) * abs(gear * gain)
        joint = links.described["joints"][actuator["joint"]]
        for end in (joint["force_lower"], joint["force_upper"]):
            limit = limit if end is None else min(limit, abs(end))
        found[actuator["joint"]] = (index, 1.0 / (gear * gain), limit)
    return found
