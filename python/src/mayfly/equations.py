"""The equations of motion of the robots of a group, and the poses and velocities of their links.

All are computed in double for many robots at once, from the current state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mayfly._native import Turn, call, ffi, in_turn, lib
from mayfly.arrays import matrix, whole

if TYPE_CHECKING:
    from mayfly.model import Model

__all__ = ["Equations"]

Numbers = npt.NDArray[np.float64]


def _data(values: Numbers) -> Any:
    return ffi.from_buffer("double[]", values)


class Equations:
    """The methods of a group for its equations of motion.

    Velocity vectors contain the base, if it is free (velocity of its origin [m/s] in world axes,
    angular velocity [rad/s] in body axes), then the joints' values. With mass matrix M and bias h,
    M acceleration + h = force: h contains gravity, centrifugal and Coriolis forces, but not
    springs, damping, friction, limits, motors and contacts.

    `robots` selects robots: None for all, a number, a slice, a list or a mask. Results have one row
    per robot.
    """

    _lock: Turn
    count: int
    model: Model

    def _use(self) -> Any:
        raise NotImplementedError

    def _robots(self, robots: Any) -> npt.NDArray[np.uint32]:
        raise NotImplementedError

    @property
    @in_turn
    def velocity_count(self) -> int:
        """Length of a velocity vector of the equations of motion."""
        return int(lib.mf_group_velocity_count(self._use()))

    def mass_matrix(self, robots: Any = None) -> Numbers:
        """Mass matrices with the armature of motors, (robots, values, values)."""
        n = self.velocity_count
        return self._ask(lib.mf_group_mass_matrix, robots, [], (n, n))

    def bias(self, robots: Any = None) -> Numbers:
        """Gravity, centrifugal and Coriolis forces [N], [N m], (robots, values)."""
        return self._ask(lib.mf_group_bias, robots, [], (self.velocity_count,))

    def inverse_dynamics(self, acceleration: npt.ArrayLike, robots: Any = None) -> Numbers:
        """Forces [N], [N m] for given accelerations, (robots, values).

        Args:
            acceleration: derivative of the velocity vector: (values,), or one row per robot.
            robots: which.

        """
        return self._convert(lib.mf_group_inverse_dynamics, acceleration, robots, "acceleration")

    def forward_dynamics(self, force: npt.ArrayLike, robots: Any = None) -> Numbers:
        """Accelerations for given forces [N], [N m], (robots, values).

        Args:
            force: conjugate to the velocity vector: (values,), or one row per robot.
            robots: which.

        """
        return self._convert(lib.mf_group_forward_dynamics, force, robots, "force")

    def jacobian(
        self, link: str | int, point: npt.ArrayLike = (0.0, 0.0, 0.0), robots: Any = None
    ) -> Numbers:
        """Jacobians of a point of a link, (robots, 6, values).

        Rows: its velocity [m/s], then the link's angular velocity [rad/s], world axes.

        Args:
            link: name or number of the link.
            point: [m] in the link's frame.
            robots: which.

        """
        if isinstance(link, str):
            number = self.model.link(link).index
        else:
            number = whole(link, "link", 0, len(self.model.links))
        at = matrix(point, 1, 3, "point")
        with self._lock:
            n = int(lib.mf_group_velocity_count(self._use()))
            return self._ask(lib.mf_group_jacobian, robots, [number, _data(at)], (6, n))

    def poses(self, robots: Any = None) -> tuple[Numbers, Numbers]:
        """World poses of all links: positions [m] (robots, links, 3), and rotations (w, x, y, z),
        link to world, (robots, links, 4). `model.link(name).index` finds a link.
        """
        links = len(self.model.links)
        with self._lock:
            native = self._use()
            first, count, rows = self._range(robots)
            position, rotation = np.empty((count, links, 3)), np.empty((count, links, 4))
            out = (_data(position), _data(rotation))
            call(lib.mf_group_link_poses, native, first, count, *out)
        return position[rows], rotation[rows]

    def link_velocities(self, robots: Any = None) -> Numbers:
        """Velocities of all links, (robots, links, 6): of their origins [m/s], then angular
        velocities [rad/s], world axes.
        """
        return self._ask(lib.mf_group_link_velocities, robots, [], (len(self.model.links), 6))

    @in_turn
    def derive_links(self) -> None:
        """Adds the fields link.pose and link.velocity, valid after every step() and run().

        A call computes them once, however many steps it has; poses() costs only when asked.
        """
        call(lib.mf_group_derive_links, self._use())

    def _range(self, robots: Any) -> tuple[int, int, npt.NDArray[np.intp]]:
        """The smallest range that contains the robots, and their indices in it."""
        picked = self._robots(robots).astype(np.intp)
        if len(picked) == 0:
            return 0, 0, picked
        first = int(picked.min())
        return first, int(picked.max()) - first + 1, picked - first

    def _ask(self, function: Any, robots: Any, more: list[Any], shape: tuple[int, ...]) -> Numbers:
        with self._lock:
            native = self._use()
            first, count, rows = self._range(robots)
            out = np.empty((count, *shape))
            call(function, native, first, count, *more, _data(out))
        return out if np.array_equal(rows, np.arange(count)) else out[rows]

    def _convert(self, function: Any, values: Any, robots: Any, what: str) -> Numbers:
        with self._lock:
            n = int(lib.mf_group_velocity_count(self._use()))
            _, count, rows = self._range(robots)
            spread = np.zeros((count, n))
            spread[rows] = matrix(values, len(rows), n, what)
            return self._ask(function, robots, [_data(spread)], (n,))
