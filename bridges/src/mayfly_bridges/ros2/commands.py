"""Commands of ROS 2 as inputs of a robot: which fields a velocity or a joint command goes to."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mayfly_bridges._dds.links import Links

Inputs = dict[str, list[float]]  # field to values of one robot


class Velocity:
    """`cmd_vel`: forward, left and up [m/s], yaw rate [rad/s] as inputs of one robot.

    `fields` are the names of the group's inputs. `update` is called every `seconds` with the newest
    command, because headings and positions are integrals of it.
    """

    MODES = {
        "gait": ("gait.command",),
        "velocity": ("command.velocity", "command.yaw"),
        "position": ("command.position", "command.yaw"),
        "car": ("command.speed", "command.steering"),
        "plane": ("command.airspeed", "command.altitude", "command.course"),
    }

    def __init__(self, fields: Iterable[str], wheelbase: float) -> None:
        inputs = set(fields)
        found = [mode for mode, names in self.MODES.items() if set(names) <= inputs]
        self.mode = found[0] if found else ""
        if self.mode == "car" and not wheelbase > 0.0:
            self.mode = ""
        self._wheelbase = wheelbase
        self._heading = math.nan  # [rad] commanded
        self._position = [math.nan] * 3  # [m] commanded

    def update(self, twist: Any, seconds: float, yaw: float, place: Sequence[float]) -> Inputs:
        """The inputs for a geometry_msgs/Twist; `yaw` [rad] and `place` [m] are the present ones.

        ValueError if it is not finite.
        """
        linear, angular = twist.linear, twist.angular
        forward, left, up, yaw_rate = linear.x, linear.y, linear.z, angular.z
        if not all(math.isfinite(value) for value in (forward, left, up, yaw_rate)):
            raise ValueError("cmd_vel is not finite")
        if self.mode == "gait":
            return {"gait.command": [forward, left, yaw_rate]}
        if self.mode == "car":
            return {
                "command.speed": [forward],
                "command.steering": [self._steering(forward, yaw_rate)],
            }
        c, s = math.cos(yaw), math.sin(yaw)
        velocity = [c * forward - s * left, s * forward + c * left, up]
        if math.isnan(self._heading):
            self._heading, self._position = yaw, list(place)
        self._heading = math.remainder(self._heading + yaw_rate * seconds, math.tau)
        self._position = [at + v * seconds for at, v in zip(self._position, velocity)]
        if self.mode == "velocity":
            return {"command.velocity": velocity, "command.yaw": [self._heading]}
        if self.mode == "position":
            return {"command.position": list(self._position), "command.yaw": [self._heading]}
        return {
            "command.airspeed": [forward],
            "command.altitude": [self._position[2]],
            "command.course": [self._heading],
        }

    def _steering(self, forward: float, yaw_rate: float) -> float:
        """Of a car whose rear axle turns about a point on its own line; 0 when it stands."""
        return math.atan(self._wheelbase * yaw_rate / forward) if forward else 0.0


def wheelbase(described: Mapping[str, Any]) -> float:
    """The wheelbase [m] of a car by the description of its group; 0: it is none."""
    car = (described["vehicle"] or {}).get("car")
    return float(car["front"] + car["rear"]) if car else 0.0


@dataclasses.dataclass(frozen=True)
class _Drive:
    """Where a kind of command for a joint goes: control = value * factor at `index` of a field."""

    field: str
    index: int
    factor: float = 1.0


class Joints:
    """Joint commands: positions, velocities and efforts by name as inputs of one robot.

    Actuators of MJCF files take what their law wants: a servo a position, a velocity servo a
    velocity, a motor an effort. Other positions go to `joint.target`, other efforts to
    `joint.torque`. `dropped` names joints and kinds for which there is no input.
    """

    def __init__(self, links: Links, fields: Mapping[str, int]) -> None:
        """`fields` are the numbers of values of the group's inputs."""
        self.names = [joint.name for joint in links.joints]
        self.dropped: set[str] = set()
        self._drives: dict[tuple[str, str], _Drive] = {}
        for joint in links.joints:
            if fields.get("joint.target", 0) > 0:
                self._drives["position", joint.name] = _Drive("joint.target", joint.index)
            if fields.get("joint.torque", 0) > 0:
                self._drives["effort", joint.name] = _Drive("joint.torque", joint.index)
        if fields.get("actuator.control", 0) > 0:
            self._add_actuators(links)

    def update(
        self, kind: str, names: Sequence[str], values: Sequence[float], rows: Inputs
    ) -> set[str]:
        """Puts values of "position", "velocity" or "effort" into the rows; returns their fields."""
        touched = set()
        for name, value in zip(names, values):
            drive = self._drives.get((kind, name))
            if drive is None or not math.isfinite(value):
                self.dropped.add(f"{kind} of {name}")
                continue
            rows[drive.field][drive.index] = value * drive.factor
            touched.add(drive.field)
        return touched

    def fields(self) -> set[str]:
        """The inputs that commands may write."""
        return {drive.field for drive in self._drives.values()}

    def _add_actuators(self, links: Links) -> None:
        by_index = {joint.index: joint.name for joint in links.joints}
        for index, actuator in enumerate(links.described["actuators"]):
            name = by_index.get(actuator["joint"], "")
            if actuator["drive"] != "joint" or actuator["dynamics"] != "none" or not name:
                continue
            gear, gain = float(actuator["gear"][0]), float(actuator["gain"][0])
            _, position, rate = (float(value) for value in actuator["bias"])
            if gear == 0.0 or gain == 0.0:
                continue
            kind = "position" if position else "velocity" if rate else "effort"
            law = -(position or rate) * gear / gain  # force = gain control + bias state = 0
            factor = law if law else 1.0 / (gear * gain)
            for other in ("position", "velocity"):
                self._drives.pop((other, name), None)
            self._drives[kind, name] = _Drive("actuator.control", index, factor)
