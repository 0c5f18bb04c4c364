"""Docks: robots that join and separate by themselves while the world runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import call, encode, ffi, lib, text
from mayfly._sealed import Sealed
from mayfly.arrays import whole
from mayfly.context import default_context
from mayfly.group import Group
from mayfly.kinematics import Reach, solve

if TYPE_CHECKING:
    from mayfly.world import World

__all__ = ["Chain", "Docks", "Port"]

Port = tuple[Group, int, str]


class Chain(Sealed):
    """The joints between a base and a dock of an assembly: `Docks.chain`.

    Forward and inverse kinematics of this path as one model, in the frame of the base.

    Attributes:
        joints: (group, robot, name of the joint) of each of them, from the base on.

    """

    def __init__(self, model: Any, joints: tuple[Port, ...], end: Any) -> None:
        self.joints = joints
        self._model = model
        self._end = end
        self._seal()

    def _in_brief(self) -> str:
        return f"{len(self.joints)} joints"

    def angles(self) -> npt.NDArray[np.float64]:
        """[rad] or [m] of the joints now."""
        return np.array([float(g.joint(name).angle[i]) for g, i, name in self.joints])

    def pose(
        self, angles: npt.ArrayLike | None = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Forward kinematics: position [m] and rotation (w, x, y, z) of the dock, base frame.

        Args:
            angles: [rad] or [m] of the joints; without them, as they are now.
        """
        row = np.asarray(self.angles() if angles is None else angles, np.float64)
        if row.shape != (len(self.joints),):
            raise ValueError(f"pose: need {len(self.joints)} angles, got shape {row.shape}")
        at = ffi.new("double[][3]", len(row) + 1)
        turn = ffi.new("double[][4]", len(row) + 1)
        lib.mf_model_pose_at(self._model, ffi.new("double[]", list(row)), at, turn)
        own, end = list(turn[self._end.link]), self._end
        position = np.array(list(at[end.link])) + _rotate(own, list(end.position))
        return position, _multiply(own, list(end.rotation))

    def inverse_kinematics(
        self,
        position: npt.ArrayLike,
        rotation: npt.ArrayLike | None = None,
        *,
        start: npt.ArrayLike | None = None,
        **settings: object,
    ) -> Reach:
        """Joint angles at which the dock is at a position [m], base frame.

        Args:
            position: of the dock's origin.
            rotation: of the dock (w, x, y, z); None: any.
            start: [rad] or [m] first guess; None: as they are now.
            settings: of mf_InverseKinematicsConfig, such as tolerance.

        A target out of reach gives the nearest pose found: see Reach.reached.
        """
        first = self.angles() if start is None else start
        goal = rotation
        if rotation is not None:  # that of the link
            back = np.array(list(self._end.rotation)) * [1, -1, -1, -1]
            goal = _multiply(list(np.asarray(rotation, np.float64)), back)
        point = list(self._end.position)
        context = default_context()._use()  # for working memory
        return solve(context, self._model, self._end.link, position, goal, first, point, settings)


def _multiply(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The product of two quaternions (w, x, y, z)."""
    p, q = np.asarray(a, np.float64), np.asarray(b, np.float64)
    vector = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *vector])


def _rotate(rotation: npt.ArrayLike, vector: npt.ArrayLike) -> npt.NDArray[np.float64]:
    q, v = np.asarray(rotation, np.float64), np.asarray(vector, np.float64)
    half = 2.0 * np.cross(q[1:], v)
    return np.asarray(v + q[0] * half + np.cross(q[1:], half))


class Docks(Sealed):
    """The docks of a world: `World.docks`.

    What each dock does is in fields: `group["dock.enabled"]`, `group["dock.state"]`,
    `group["dock.partner"]`, `group["dock.orientation"]`, `group["dock.load"]` (mayfly/docks.h).
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._seal()

    def _in_brief(self) -> str:
        return f"of {self.world!r}"

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

    def chain(self, base: tuple[Group, int], tip: Port) -> Chain:
        """Forward and inverse kinematics of the joints between a robot's base and a dock.

        Args:
            base: (group, robot) whose base is the frame.
            tip: (group, robot, name of the dock) that engaged docks connect with it.

        The path remains that of now: call it again after a dock changed.
        """
        if not isinstance(base, tuple) or len(base) != 2 or not isinstance(base[0], Group):
            raise TypeError("docks: base: need (group, robot)")
        with self.world._lock:
            group, native = base[0], self._use()
            robot = whole(base[1], "docks: base: robot", 0, group.count)
            port = self._port(tip, "tip")
            most = sum(g.count * len(g.model.joints) for g in self.world.groups)
            joints = ffi.new("mf_ChainJoint[]", most + 1)
            model, end = ffi.new("mf_Model **"), ffi.new("mf_Frame *")
            call(lib.mf_docks_chain, native, group._use(), robot, port, joints, most, model, end)
            by_name = {g.name: g for g in self.world.groups}
            path = []
            for joint in joints[0 : model[0].joint_count]:
                owner = by_name[text(lib.mf_group_config_of(joint.group).name)]
                path.append((owner, int(joint.instance), owner.model.joints[joint.joint].name))
            return Chain(ffi.gc(model[0], lib.mf_model_destroy), tuple(path), end)

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
