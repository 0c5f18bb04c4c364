"""Docks: robots that join and separate by themselves while the world runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import call, encode, ffi, lib
from mayfly._sealed import Sealed
from mayfly.arrays import whole
from mayfly.group import Group

if TYPE_CHECKING:
    from mayfly.world import World

__all__ = ["Docks", "Port"]

Port = tuple[Group, int, str]


class Docks(Sealed):
    """The docks of a world: `World.docks`.

    What each dock does is in fields: `group["dock.enabled"]`, `group["dock.state"]`,
    `group["dock.partner"]`, `group["dock.orientation"]`, `group["dock.load"]` (mayfly/docks.h).
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._seal()

    def _use(self) -> Any:
        return lib.mf_world_docks_of(self.world._use())

    def _port(self, port: Port, what: str) -> Any:
        if not isinstance(port, tuple) or len(port) != 3 or not isinstance(port[0], Group):
            raise TypeError(f"docks: {what}: need (group, robot, dock)")
        group = port[0]
        if group.world is not self.world:
            raise errors.ArgumentError(f"docks: {what}: group {group.name} is of another world")
        out = ffi.new("mf_DockPort *")
        out.group = group._use()
        out.instance = whole(port[1], f"docks: {what}: robot", 0, group.count)
        out.dock = lib.mf_model_find(group.model._use(), lib.MF_ITEM_DOCK, encode(port[2]))
        if out.dock == lib.MF_NONE:
            raise errors.NotFoundError(
                f"docks: {what}: robots of {group.name} have no dock {port[2]!r}"
            )
        return out

    def connect(
        self, first: Port, second: Port, *, orientation: int = 0, move: bool = True
    ) -> None:
        """Joins two docks now.

        Args:
            first: (group, robot, name of the dock).
            second: likewise.
            orientation: its number, about the docks' axis.
            move: puts the second robot where both docks mate; else what is left between them
                closes at 1 m/s and 1 rad/s at most.
        """
        with self.world._lock:
            native = self._use()
            ports = self._port(first, "first"), self._port(second, "second")
            number = whole(orientation, "docks: orientation", 0, 4)
            if move:
                self._move(native, ports, number)
            call(lib.mf_docks_connect, native, *ports, number)

    def _move(self, native: Any, ports: Any, number: int) -> None:
        position, rotation = ffi.new("double[3]"), ffi.new("double[4]")
        call(lib.mf_docks_mating_pose, native, *ports, number, position, rotation)
        port = ports[1]
        for name, values in (("base.position", position), ("base.orientation", rotation)):
            field = lib.mf_group_find_field(port.group, encode(name))
            for component, value in enumerate(values):
                lib.mf_field_set(field, port.instance, component, value)
        lib.mf_group_refresh(port.group, port.instance)

    def disconnect(self, port: Port) -> None:
        """Separates a dock from its partner; both stay enabled."""
        with self.world._lock:
            call(lib.mf_docks_disconnect, self._use(), self._port(port, "port"))

    def assemblies(self) -> npt.NDArray[np.uint32]:
        """For each robot of the groups with docks, in order, the lowest robot of its assembly."""
        with self.world._lock:
            native = self._use()
            out = np.empty(int(lib.mf_docks_robot_count(native)), dtype=np.uint32)
            lib.mf_docks_assemblies(native, ffi.cast("uint32_t *", out.ctypes.data))
            return out

    @property
    def statistics(self) -> dict[str, int]:
        """Pairs of docks that joined, were released, broke, missed, or found no memory, so far."""
        with self.world._lock:
            seen = lib.mf_docks_statistics(self._use())
            return {name: int(getattr(seen, name)) for name, _ in ffi.typeof(seen).fields}
