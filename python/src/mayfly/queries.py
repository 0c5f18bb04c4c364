"""Queries of a world between its steps: rays, distances, contacts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly._native import ffi, lib, output
from mayfly._shown import Brief
from mayfly.arrays import whole
from mayfly.group import Group

__all__ = ["Contact", "Distance", "RayHit", "ShapeOwner"]

Vector = npt.NDArray[np.float64]
Robot = tuple[Group, int]
Body = tuple[Group, int] | tuple[Group, int, "int | str"]
_NONE = 2**32 - 1


@dataclasses.dataclass(frozen=True)
class ShapeOwner:
    """A shape and its owner. All None: the ground."""

    group: Group | None
    robot: int | None
    link: int | None  # None: a world-fixed shape of the robot's file
    shape: int | None  # None: a contact point

    @property
    def is_ground(self) -> bool:
        """Whether this is the ground and not a shape of a robot."""
        return self.group is None


@dataclasses.dataclass(frozen=True, repr=False)
class RayHit(Brief):
    """The first hit of a ray."""

    distance: float  # [m]
    point: Vector  # [m] world
    normal: Vector  # [1] world, outward
    owner: ShapeOwner


@dataclasses.dataclass(frozen=True, repr=False)
class Distance(Brief):
    """The nearest shapes of two bodies."""

    distance: float  # [m] < 0: they overlap
    points: Vector  # [m] world, of the first and of the second
    normal: Vector  # [1] world, from the first to the second
    owners: tuple[ShapeOwner, ShapeOwner]


@dataclasses.dataclass(frozen=True, repr=False)
class Contact(Brief):
    """Two shapes that touched in the last step."""

    owners: tuple[ShapeOwner, ShapeOwner]
    point: Vector  # [m] world
    normal: Vector  # [1] world, from the first to the second
    depth: float  # [m]
    load: float  # [N] normal force
    force: Vector | None  # [N] world, on the second; None: the motion stores only the load


def _vector(values: Any) -> Vector:
    return np.array(list(values), dtype=np.float64)


def _owner(groups: Sequence[Group], native: Any) -> ShapeOwner:
    if native.group == ffi.NULL:
        return ShapeOwner(None, None, None, None)
    group = next(group for group in groups if group._native == native.group)
    link = None if native.link == _NONE else int(native.link)
    return ShapeOwner(group, int(native.instance), link, _index(native.shape))


def _index(number: int) -> int | None:
    return None if number == _NONE else int(number)


def _triple(values: Sequence[float], what: str) -> list[float]:
    numbers = [float(value) for value in values]
    if len(numbers) != 3:
        raise ValueError(f"{what}: need three numbers, got {values!r}")
    return numbers


def _is_one_of(groups: Sequence[Group], group: object) -> bool:
    return any(group is own for own in groups)


def _robot(groups: Sequence[Group], robot: Robot, what: str) -> tuple[Any, int]:
    if not isinstance(robot, tuple) or len(robot) != 2 or not _is_one_of(groups, robot[0]):
        raise ValueError(f"{what}: need a group of this world and a robot's number, got {robot!r}")
    return robot[0]._native, whole(robot[1], f"{what}: robot of {robot[0].name}", 0, robot[0].count)


def _body(groups: Sequence[Group], body: Body, what: str) -> tuple[Any, int, int]:
    if not isinstance(body, tuple) or len(body) not in (2, 3) or not _is_one_of(groups, body[0]):
        raise ValueError(
            f"{what}: need a group of this world, a robot's number and perhaps a link, got {body!r}"
        )
    native, number = _robot(groups, body[:2], what)
    if len(body) == 2:
        return native, number, _NONE
    link = body[2]
    if isinstance(link, str):
        return native, number, body[0].model.link(link).index
    return native, number, whole(link, f"{what}: link", 0, _NONE)


def cast_ray(
    world: Any,
    groups: Sequence[Group],
    start: Sequence[float],
    direction: Sequence[float],
    reach: float,
    ground: bool,
    without: Robot | None,
    alone: Robot | None,
) -> RayHit | None:
    config = lib.mf_ray_config()
    config.start, config.direction = _triple(start, "start"), _triple(direction, "direction")
    config.reach, config.ground = float(reach), bool(ground)
    if without is not None:
        config.without, config.without_instance = _robot(groups, without, "without")
    if alone is not None:
        config.alone, config.alone_instance = _robot(groups, alone, "alone")
    out = output(lib.mf_world_ray, world, ffi.new("mf_RayConfig *", config))
    if not out.hit:
        return None
    return RayHit(out.distance, _vector(out.point), _vector(out.normal), _owner(groups, out.owner))


def find_distance(
    world: Any, groups: Sequence[Group], a: Body, b: Body | None, reach: float
) -> Distance | None:
    config = lib.mf_distance_config()
    config.a.group, config.a.instance, config.a.link = _body(groups, a, "a")
    if b is not None:
        config.b.group, config.b.instance, config.b.link = _body(groups, b, "b")
    config.reach = float(reach)
    out = output(lib.mf_world_distance, world, ffi.new("mf_DistanceConfig *", config))
    if not out.found:
        return None
    return Distance(
        out.distance,
        np.array([list(point) for point in out.points]),
        _vector(out.normal),
        (_owner(groups, out.owners[0]), _owner(groups, out.owners[1])),
    )


def list_contacts(world: Any, groups: Sequence[Group]) -> list[Contact]:
    count = output(lib.mf_world_contacts, world, ffi.NULL, 0)
    out = ffi.new("mf_Contact[]", max(count, 1))
    contacts = []
    for native in out[0 : output(lib.mf_world_contacts, world, out, count)]:
        force = _vector(native.force)
        contacts.append(
            Contact(
                (_owner(groups, native.owners[0]), _owner(groups, native.owners[1])),
                _vector(native.point),
                _vector(native.normal),
                native.depth,
                native.load,
                None if np.isnan(force).any() else force,
            )
        )
    return contacts
