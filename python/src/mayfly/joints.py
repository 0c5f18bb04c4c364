"""Run-time joints: two links joined while the world runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import call, encode, ffi, in_turn, lib, output, text
from mayfly._sealed import Sealed
from mayfly.arrays import matrix, whole
from mayfly.group import Group

if TYPE_CHECKING:
    from mayfly.world import World

__all__ = ["Location", "WorldJoint", "fill_side", "pose_in_robot"]

Location = tuple[Group, int] | tuple[Group, int, str | int]


def fill_side(world: World, side: Any, place: Location | None, what: str) -> None:
    """Writes the link of one side of a joint, without its frame."""
    if place is None:
        return
    if not isinstance(place, tuple) or len(place) not in (2, 3) or not isinstance(place[0], Group):
        raise TypeError(f"join: {what}: need (group, robot), (group, robot, link) or None")
    group, link = place[0], place[2] if len(place) == 3 else 0
    if group.world is not world:
        raise errors.ArgumentError(f"join: {what}: group {group.name} is of another world")
    side.group = group._use()
    side.instance = whole(place[1], f"join: {what}: robot", 0, group.count)
    if isinstance(link, str):
        number = lib.mf_model_find(group.model._use(), lib.MF_ITEM_LINK, encode(link))
        if number == lib.MF_NONE:
            raise errors.NotFoundError(
                f"join: {what}: robots of {group.name} have no link {link!r}"
            )
        side.link = number
    else:
        side.link = whole(link, f"join: {what}: link", 0, len(group.model.links))


def _numbers(value: Any, width: int, what: str) -> list[float]:
    return [float(number) for number in matrix(value, 1, width, what)[0]]


def pose_in_robot(config: Any, at: Any, axis: Any, frames: Any) -> None:
    """Writes the frames of both sides: from a point of the world in the current pose, or given."""
    if at is not None:
        point = ffi.new("double[3]", _numbers(at, 3, "join: at"))
        direction = (
            ffi.NULL if axis is None else ffi.new("double[3]", _numbers(axis, 3, "join: axis"))
        )
        call(lib.mf_world_joint_here, config, point, direction)
        return
    if axis is not None:
        raise TypeError("join: axis: the axis of a hinge is the z axis of its frames")
    if not isinstance(frames, Sequence) or len(frames) != 2:
        raise TypeError("join: frames: need two pairs of position and orientation")
    for number, (position, orientation) in enumerate(frames):
        config.sides[number].position = _numbers(position, 3, "join: frames: position")
        config.sides[number].orientation = _numbers(orientation, 4, "join: frames: orientation")


class WorldJoint(Sealed):
    """A joint created by World.join; equal to other handles of the same joint."""

    def __init__(self, world: World, handle: int) -> None:
        self.world = world
        self.handle = handle
        self._lock = world._lock
        self._seal()

    def _use(self) -> Any:
        self.world._use()
        return self.world._native_joints

    def _state(self) -> Any:
        return output(lib.mf_world_joint_state, self._use(), self.handle)

    @property
    @in_turn
    def exists(self) -> bool:
        """Whether it exists: it was not removed by `remove` or a restored snapshot."""
        return bool(lib.mf_world_joint_exists(self._use(), self.handle))

    @in_turn
    def remove(self) -> None:
        """Removes the joint."""
        call(lib.mf_world_joint_destroy, self._use(), self.handle)

    @property
    @in_turn
    def enabled(self) -> bool:
        """Whether it is active; setting it to True repairs a broken joint."""
        return bool(self._state().enabled)

    @enabled.setter
    @in_turn
    def enabled(self, value: bool) -> None:
        call(lib.mf_world_joint_enable, self._use(), self.handle, bool(value))

    @property
    @in_turn
    def broken(self) -> bool:
        """Whether its load exceeded its limits in some step."""
        return bool(self._state().broken)

    @property
    @in_turn
    def force(self) -> npt.NDArray[np.float64]:
        """[N] on the second link in the last step, world axes; opposite on the first."""
        return np.array(list(self._state().force))

    @property
    @in_turn
    def moment(self) -> npt.NDArray[np.float64]:
        """[N m] likewise, about the joint's point."""
        return np.array(list(self._state().moment))

    @property
    @in_turn
    def anchors(self) -> npt.NDArray[np.float64]:
        """[m] current world positions of the frames' origins on both links."""
        return np.array([list(side) for side in self._state().anchors])

    @property
    @in_turn
    def opening(self) -> float:
        """[m] current distance of both origins."""
        return float(self._state().opening)

    @property
    @in_turn
    def angular_opening(self) -> float:
        """[rad] current angle between both frames or axes."""
        return float(self._state().angular_opening)

    @property
    @in_turn
    def residual(self) -> float:
        """[1] residual of the forces of the last step."""
        return float(self._state().residual)

    @property
    @in_turn
    def rounds(self) -> int:
        """Trial steps of the last step."""
        return int(self._state().rounds)

    @property
    @in_turn
    def angle(self) -> float:
        """[rad] current angle of a hinge."""
        return float(self._state().angle)

    @property
    @in_turn
    def rate(self) -> float:
        """[rad/s] current rate of a hinge."""
        return float(self._state().rate)

    @property
    @in_turn
    def torque(self) -> float:
        """[N m] of a hinge's motor and stops on the second link in the last step."""
        return float(self._state().torque)

    @in_turn
    def set_motor(self, rate: float, torque: float) -> None:
        """Sets rate [rad/s] and largest torque [N m] of a hinge's motor, from the next step on."""
        call(lib.mf_world_joint_set_motor, self._use(), self.handle, rate, torque)

    @property
    @in_turn
    def settings(self) -> dict[str, Any]:
        """Kind, stiffness, limits and the rest."""
        out = output(lib.mf_world_joint_config_of, self._use(), self.handle)
        values: dict[str, Any] = {"kind": text(lib.mf_world_joint_kind_name(out.kind))}
        for name, field in ffi.typeof(out[0]).fields:
            if field.type.cname == "double":
                values[name] = float(getattr(out, name))
        return values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WorldJoint):
            return NotImplemented
        return self.world is other.world and self.handle == other.handle

    def __hash__(self) -> int:
        return hash((id(self.world), self.handle))

    def __repr__(self) -> str:
        if self.world.closed:
            return "<WorldJoint of a closed world>"
        if not self.exists:
            return "<WorldJoint, removed>"
        state = "broken" if self.broken else "enabled" if self.enabled else "off"
        return f"<WorldJoint {self.settings['kind']}, {state}>"

    def __reduce__(self) -> Any:
        return WorldJoint, (self.world, self.handle)
