"""Contacts between links of a robot, and with objects that move in its file, by name."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mayfly import errors, mdp
from mayfly._shown import Shown
from mayfly.arrays import Array
from mayfly.model import Model
from mayfly.parts import Sensor

if TYPE_CHECKING:
    from mayfly.envs.state import State

__all__ = ["ContactsBetween"]


class ContactsBetween(Shown):
    """Contacts of links with other links, (robots, links), in the order of the model's links.

    They are the values of the contact sensors between two bodies of the robot's file, as of the
    last step; the task needs settings={"sensors": True}. Their data may be "found", "dist" or both;
    with reduce="mindist" the distance is the least of all contacts.

    Attributes:
        links: names.

    """

    def __init__(self, state: State, links: Sequence[str], others: Sequence[str]) -> None:
        model = state.group.model
        names = [link.name for link in model.links]
        chosen, partners = mdp.match(names, links, "link"), mdp.match(names, others, "link")
        if "sensor.value" not in state.group:
            raise errors.UnsupportedError(
                'contacts between links: the task needs settings={"sensors": True}'
            )
        self.links = tuple(names[link] for link in chosen)
        self._state = weakref.proxy(state)
        self._found: list[list[int]] = []  # of each link: addresses in sensor.value
        self._distance: list[list[int]] = []
        for link in chosen:
            sensors = [s for s in model.sensors if _is_between(model, s, link, partners)]
            if not sensors:
                raise errors.ArgumentError(
                    f"link {names[link]}: the robot's file has no contact sensor between it and "
                    f"{', '.join(names[other] for other in partners)}"
                )
            self._found.append([s.address for s in sensors if s.query.data & 1])
            # Of a sensor that has both, the number comes first.
            self._distance.append(
                [s.address + (s.query.data & 1) for s in sensors if s.query.data & 2]
            )

    def _in_brief(self) -> str:
        return ", ".join(self.links)

    @property
    def found(self) -> Array:
        """Whether they touch, (robots, links)."""
        if not all(self._found):
            raise errors.UnsupportedError('contact sensors need data="found"')
        values = self._state["sensor.value"].T
        return np.stack([np.maximum.reduce(values[rows]) > 0 for rows in self._found], axis=-1)

    @property
    def distance(self) -> Array:
        """The least distance of their surfaces where they touch [m], < 0: overlap; else 0; (robots,
        links).
        """
        if not all(self._distance):
            raise errors.UnsupportedError('contact sensors need data="dist"')
        values = self._state["sensor.value"].T
        return np.stack([np.minimum.reduce(values[rows]) for rows in self._distance], axis=-1)


def _is_between(model: Model, sensor: Sensor, link: int, others: Sequence[int]) -> bool:
    """Whether it is about contacts of bodies of these links."""
    query = sensor.query
    if sensor.type != "contact pair" or query.sides != ("body", "body") or None in query.objects:
        return False
    first, second = (model.bodies[number].link for number in query.objects)
    return (first == link and second in others) or (second == link and first in others)
