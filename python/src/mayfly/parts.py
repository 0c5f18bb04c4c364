"""What a model consists of: links, joints, bodies, actuators, sensors, stored states, by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import ffi, lib, text

__all__ = [
    "Actuator",
    "Body",
    "Joint",
    "Keyframe",
    "Link",
    "Parts",
    "Sensor",
    "Vector",
    "copied",
]

Vector = tuple[float, ...]

_JOINT_TYPES = ("hinge", "slide", "ball", "planar", "floating", "fixed")
_SENSOR_PREFIX = "MF_SENSOR_"


@dataclass(frozen=True)
class Link:
    """A rigid part, in the frame of the joint that moves it."""

    index: int
    name: str
    parent: int | None  # link
    joint: int | None  # that moves it
    mass: float  # [kg]
    center: Vector  # [m] centre of mass, link frame
    inertia: Vector  # [kg m^2] xx, yy, zz, xy, xz, yz about the centre, link axes


@dataclass(frozen=True)
class Joint:
    """What moves a link against its parent."""

    index: int
    name: str
    type: str  # "hinge", "slide", "ball", "planar", "floating" or "fixed"
    parent: int  # link
    child: int  # link
    position: Vector  # [m] its origin in the parent link's frame
    axis: Vector  # [1] joint frame
    lower: float  # [rad] or [m]; -inf: unlimited
    upper: float
    speed: float  # [rad/s] or [m/s]; inf: unlimited
    effort: float  # [N m] or [N]; inf: unlimited
    damping: float  # [N m s/rad] or [N s/m]
    friction: float  # [N m] or [N]
    armature: float  # [kg m^2] or [kg]
    stiffness: float  # [N m/rad] or [N/m]
    start: float  # [rad] or [m] where it starts
    position_address: int  # its first value in a position vector
    velocity_address: int  # its first value in a velocity vector


@dataclass(frozen=True)
class Body:
    """A body as the file names it; several may be one link."""

    index: int
    name: str
    parent: int | None  # body
    link: int | None
    mass: float  # [kg]
    center: Vector  # [m] body frame
    moments: Vector  # [kg m^2] principal moments of inertia


@dataclass(frozen=True)
class Actuator:
    """What drives a joint, tendon or site by a control value."""

    index: int
    name: str
    joint: int | None
    gear: Vector  # [1] six values; the first for joints and tendons
    control_lower: float  # in the unit of the control; -inf: unlimited
    control_upper: float
    force_lower: float  # [N] or [N m]
    force_upper: float


@dataclass(frozen=True)
class Sensor:
    """What the robot measures: `count` values from `address` on in the field sensor.value."""

    index: int
    name: str
    type: str  # such as "contact", "gyro", "joint_position"
    address: int
    count: int
    noise: float  # standard deviation of each reading, in the sensor's unit


@dataclass(frozen=True)
class Keyframe:
    """A stored state."""

    index: int
    name: str
    time: float  # [s]
    position: npt.NDArray[np.float64]  # position_count values
    velocity: npt.NDArray[np.float64]  # velocity_count values
    control: npt.NDArray[np.float64]  # one per actuator


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Part = TypeVar("Part", bound=_Named)


class Parts(Sequence[Part], Generic[Part]):
    """Parts of one kind, by number or by name."""

    def __init__(self, kind: str, parts: tuple[Part, ...]) -> None:
        self._kind, self._parts = kind, parts
        self._by_name = {part.name: part for part in reversed(parts)}

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple(part.name for part in self._parts)

    @overload
    def __getitem__(self, key: int | str) -> Part: ...

    @overload
    def __getitem__(self, key: slice) -> Sequence[Part]: ...

    def __getitem__(self, key: int | str | slice) -> Part | Sequence[Part]:
        if isinstance(key, str):
            if key not in self._by_name:
                known = ", ".join(self.names[:40]) or "none"
                raise errors.NotFoundError(f"there is no {self._kind} {key!r}; there are: {known}")
            return self._by_name[key]
        return self._parts[key]

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts)

    def __contains__(self, key: object) -> bool:
        return key in self._by_name if isinstance(key, str) else key in self._parts

    def __repr__(self) -> str:
        return f"<{len(self)} {self._kind}s: {', '.join(self.names)}>"


def _index(value: int) -> int | None:
    return None if value == lib.MF_NONE else int(value)


def copied(pointer: Any, count: int) -> npt.NDArray[np.float64]:
    """A copy of `count` numbers that cannot be written."""
    array: npt.NDArray[np.float64]
    if count == 0 or pointer == ffi.NULL:
        array = np.zeros(0)
    else:
        array = np.frombuffer(ffi.buffer(pointer, 8 * count), np.float64).copy()
    array.flags.writeable = False
    return array


# ---- from C --------------------------------------------------------------------------------------


def make_links(native: Any) -> Parts[Link]:
    made = []
    for i in range(native.link_count):
        c = native.links[i]
        made.append(
            Link(
                i,
                text(c.name),
                _index(c.parent),
                _index(c.joint),
                c.mass,
                tuple(c.center),
                tuple(c.inertia),
            )
        )
    return Parts("link", tuple(made))


def make_joints(native: Any) -> Parts[Joint]:
    made = []
    for i in range(native.joint_count):
        c = native.joints[i]
        made.append(
            Joint(
                index=i,
                name=text(c.name),
                type=_JOINT_TYPES[int(ffi.cast("int", c.type))],
                parent=int(c.parent),
                child=int(c.child),
                position=tuple(c.position),
                axis=tuple(c.axis),
                lower=c.lower,
                upper=c.upper,
                speed=c.speed,
                effort=c.effort,
                damping=c.damping,
                friction=c.friction,
                armature=c.armature,
                stiffness=c.stiffness,
                start=native.start_angle[i],
                position_address=int(c.position_address),
                velocity_address=int(c.velocity_address),
            )
        )
    return Parts("joint", tuple(made))


def make_bodies(native: Any) -> Parts[Body]:
    made = []
    for i in range(native.body_count):
        c = native.bodies[i]
        made.append(
            Body(
                i,
                text(c.name),
                _index(c.parent),
                _index(c.link),
                c.mass,
                tuple(c.center),
                tuple(c.moments),
            )
        )
    return Parts("body", tuple(made))


def make_actuators(native: Any) -> Parts[Actuator]:
    made = []
    for i in range(native.actuator_count):
        c = native.actuators[i]
        made.append(
            Actuator(
                i,
                text(c.name),
                _index(c.joint),
                tuple(c.gear),
                c.control_lower,
                c.control_upper,
                c.force_lower,
                c.force_upper,
            )
        )
    return Parts("actuator", tuple(made))


def make_sensors(native: Any) -> Parts[Sensor]:
    names = ffi.typeof("mf_SensorType").elements
    made = []
    for i in range(native.sensor_count):
        c = native.sensors[i]
        kind = names[int(ffi.cast("int", c.type))].removeprefix(_SENSOR_PREFIX).lower()
        made.append(Sensor(i, text(c.name), kind, int(c.address), int(c.count), c.signal.noise))
    return Parts("sensor", tuple(made))


def make_keyframes(native: Any) -> Parts[Keyframe]:
    made = []
    for i in range(native.keyframe_count):
        c = native.keyframes[i]
        made.append(
            Keyframe(
                i,
                text(c.name),
                c.time,
                copied(c.position, native.position_count),
                copied(c.velocity, native.velocity_count),
                copied(c.control, native.actuator_count),
            )
        )
    return Parts("keyframe", tuple(made))
