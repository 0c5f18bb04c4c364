"""What an autopilot's output channels drive: rotors, surfaces, or actuators of a robot's model."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import mayfly

QUADROTOR, FIXED_WING, ROBOT = "quadrotor", "fixed_wing", "robot"
_SURFACES = ("aileron", "elevator", "throttle", "rudder")
_REVERSED = {"elevator", "rudder"}  # positive in Mayfly: nose down, nose left
# Corners of motors 1 .. 4 of the X frame: forward, left, and +1 for counterclockwise from above.
_CORNERS = ((1, -1, 1), (-1, 1, 1), (1, 1, -1), (-1, -1, -1))


@dataclasses.dataclass(frozen=True)
class Control:
    """A channel, as what drives a motor (0 .. 1) and what drives a surface (-1 .. 1)."""

    motor: float
    surface: float


class Kind(enum.Enum):
    """How a channel acts."""

    SURFACE = enum.auto()  # both ways from the middle
    THROTTLE = enum.auto()  # as it is
    THRUST = enum.auto()  # of a motor, by its curve
    SPEED = enum.auto()  # of a rotor, whose thrust goes with the square


@dataclasses.dataclass(frozen=True)
class Output:
    """An input of a robot and its range."""

    field: str
    component: int
    low: float
    high: float
    kind: Kind
    sign: float = 1.0

    def part(self, control: Control, curve: float) -> float:
        """Of its largest thrust, 0 .. 1; `curve` is the quadratic share of a motor's thrust."""
        if self.kind is Kind.SURFACE:
            return 0.0
        motor = min(1.0, max(0.0, control.motor))
        if self.kind is Kind.THROTTLE:
            return motor
        return (1.0 - curve) * motor + curve * motor * motor

    def value(self, control: Control, curve: float) -> float:
        """In the unit of the field."""
        if self.kind is Kind.SURFACE:
            middle, half = 0.5 * (self.high + self.low), 0.5 * (self.high - self.low)
            return middle + half * self.sign * min(1.0, max(-1.0, control.surface))
        part = self.part(control, curve)
        if self.kind is Kind.SPEED:
            return max(self.low, self.high * math.sqrt(part))
        return self.low + (self.high - self.low) * part


def kind_of(group: mayfly.RemoteGroup) -> str:
    """QUADROTOR, FIXED_WING or ROBOT; ArgumentError if nothing of the group can be driven."""
    requested = (
        ("command.rotors", QUADROTOR),
        ("command.elevator", FIXED_WING),
        ("actuator.control", ROBOT),
    )
    for field, kind in requested:
        if field in group.fields and group.fields[field].is_writable:
            return kind
    raise mayfly.ArgumentError(
        f"group {group.name}: expected a writable field command.rotors or command.elevator"
        " (in the scene: behavior: {program: {mode: rotors}}, or surfaces) or actuator.control"
    )


def quadrotor_outputs(vehicle: dict[str, Any]) -> dict[str, Output]:
    """rotor_0 .. rotor_3 by their numbers, and motor_1 .. motor_4 of an X frame."""
    low, high = float(vehicle["rotor_speed_min"]), float(vehicle["rotor_speed_max"])
    rotors = [Output("command.rotors", i, low, high, Kind.SPEED) for i in range(4)]
    found = {f"rotor_{i}": rotor for i, rotor in enumerate(rotors)}
    signs = [
        (np.sign(x), np.sign(y), np.sign(d))
        for x, y, d in zip(vehicle["rotor_x"], vehicle["rotor_y"], vehicle["rotor_direction"])
    ]
    for number, corner in enumerate(_CORNERS, 1):
        if corner in signs:
            found[f"motor_{number}"] = rotors[signs.index(corner)]
    return found


def fixed_wing_outputs(vehicle: dict[str, Any]) -> dict[str, Output]:
    """aileron, elevator, throttle and rudder; positive: roll right, nose up, nose right."""
    found = {}
    for name in _SURFACES:
        if name == "throttle":
            found[name] = Output("command.throttle", 0, 0.0, 1.0, Kind.THROTTLE)
        else:
            limit = float(vehicle[f"{name}_limit"])
            sign = -1.0 if name in _REVERSED else 1.0
            found[name] = Output(f"command.{name}", 0, -limit, limit, Kind.SURFACE, sign)
    return found


def robot_outputs(model: dict[str, Any]) -> dict[str, Output]:
    """The actuators of a model by their names; those that cannot pull are motors."""
    found = {}
    for index, actuator in enumerate(model["actuators"]):
        low, high = actuator["control_lower"], actuator["control_upper"]
        if low is None or high is None:
            continue  # without a range there is no full deflection
        kind = Kind.THRUST if low >= 0 else Kind.SURFACE
        found[actuator["name"]] = Output("actuator.control", index, low, high, kind)
    return found


def choose(names: str | None, outputs: dict[str, Output], kind: str) -> list[Output | None]:
    """What channels 1, 2, .. drive. `names` is a list with commas; "-" drives nothing and a "~"
    before a name reverses it; None: motors 1 .. 4, aileron to rudder, or all actuators."""
    if names is None:
        usual = {QUADROTOR: [f"motor_{i}" for i in range(1, 5)], FIXED_WING: list(_SURFACES)}
        chosen = usual.get(kind, list(outputs))
        if kind == QUADROTOR and not all(name in outputs for name in chosen):
            raise mayfly.ArgumentError(
                "the rotors are not those of an X frame whose front right and rear left ones turn"
                " counterclockwise: say with --channels rotor_0,... what each channel drives"
            )
    else:
        chosen = [name.strip() for name in names.split(",")]
    if not chosen:
        raise mayfly.ArgumentError("the robot has no actuator with a control range")
    found: list[Output | None] = []
    for name in chosen:
        plain = name.removeprefix("~")
        if name != "-" and plain not in outputs:
            raise mayfly.ArgumentError(
                f"--channels: there is no {plain!r}, expected - or one of {', '.join(outputs)}"
            )
        output = None if name == "-" else outputs[plain]
        if output is not None and plain != name:
            if output.kind is not Kind.SURFACE:
                raise mayfly.ArgumentError(f"--channels: {plain} is a motor and has no reverse")
            output = dataclasses.replace(output, sign=-output.sign)
        found.append(output)
    return found


class Driver:
    """Writes the channels of autopilots to the inputs of robots."""

    def __init__(
        self, group: mayfly.RemoteGroup, channels: Sequence[Output | None], curve: float
    ) -> None:
        self.group = group
        self.channels = channels
        self._curve = curve
        fields = {output.field for output in channels if output is not None}
        self._widths = {name: group.fields[name].components for name in sorted(fields)}

    def write(self, robot: int, controls: Sequence[Control]) -> None:
        """Acts in the next step. Inputs without a channel, and motors that are off, are 0."""
        values = {name: np.zeros((1, width)) for name, width in self._widths.items()}
        for output, control in zip(self.channels, controls):
            if output is not None:
                values[output.field][0, output.component] = output.value(control, self._curve)
        for name, array in values.items():
            self.group.write(name, array, first=robot, count=1)

    def thrust(self, controls: Sequence[Control]) -> float:
        """The mean thrust of the motors, as a part of their largest one."""
        parts = [
            output.part(control, self._curve)
            for output, control in zip(self.channels, controls)
            if output is not None and output.kind is not Kind.SURFACE
        ]
        return sum(parts) / len(parts) if parts else 0.0
