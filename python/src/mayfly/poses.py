"""Poses of real bodies, such as those of motion capture, sent to a world in another process.

    with mayfly.connect("127.0.0.1:8766") as world:        # mayfly serve scenes/mixed_reality.yaml
        real = mayfly.PoseStream(world["real"])
        real.send(time, position, orientation)

docs/how_to/hardware.md explains delays and clocks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._sealed import Sealed
from mayfly.client import RemoteGroup

__all__ = ["PoseStream"]

_WIDTH = 8  # time, position, orientation


class PoseStream(Sealed):
    """The newest poses of one robot of a group with `motion: {external: {poses: N}}`."""

    _sealed = True

    def __init__(self, group: RemoteGroup, robot: int = 0) -> None:
        if "poses" not in group.fields:
            raise errors.ArgumentError(
                f"group {group.name} takes no poses: it needs motion: {{external: {{poses: 8}}}}"
            )
        self._group = group
        self._robot = robot
        self._rows = np.zeros((group.fields["poses"].components // _WIDTH, _WIDTH))
        self._count = 0

    def _in_brief(self) -> str:
        return f"robot {self._robot} of {self._group!r}"

    def send(
        self,
        time: float,
        position: npt.ArrayLike,
        orientation: npt.ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ) -> None:
        """Sends where the body was at `time` [s] of the world: it replaces the oldest pose.

        `position` [m] and `orientation` (w, x, y, z) are in the world frame. NaN says that the body
        was not seen.
        """
        row = self._rows[self._count % len(self._rows)]
        row[0], row[1:4], row[4:8] = time, position, orientation
        self._count += 1
        self._group.write("poses", self._rows.reshape(1, -1), first=self._robot, count=1)
