"""Numbers of the model that environments have of their own: UniSim's reset terms.

Tables have MuJoCo's columns: bodies from the world on, degrees of freedom, actuators. Mayfly has
masses by link, so those of bodies that are fixed to each other are summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

import mayfly
from mayfly.parts import Joint

__all__ = ["Numbers"]

Array = npt.NDArray[Any]
Rows = npt.NDArray[np.intp]

_BODY = ("body_mass", "body_ipos", "body_iquat", "body_inertia")
_DOF = {
    "dof_armature": "joint.armature",
    "dof_damping": "joint.damping",
    "dof_frictionloss": "joint.friction",
}
_GAINS = ("kp", "kd")
_DELTAS = {"base_mass_delta": "body_mass", "base_com_offset": "body_ipos"}
_NEGATIVE = ("body_ipos", "body_iquat")  # terms that may have any sign


class Numbers:
    """Numbers of all robots of a group.

    Args:
        group: its numbers are changed by nobody else.
        base: the body that "base_mass_delta" and "base_com_offset" change, from the world, 0;
            None: those terms are refused.

    Attributes:
        terms: the reset terms of UniSim that can differ.

    """

    def __init__(self, group: mayfly.Group, base: int | None) -> None:
        self._group, self._base = group, base
        model = group.model
        self._joints = [_columns(joint) for joint in model.joints]
        self._file = _tables(model)
        self._refused = _refused(model)
        terms = [term for term in self._file if term not in self._refused]
        if base is not None:
            terms += [delta for delta, term in _DELTAS.items() if term not in self._refused]
        self.terms = frozenset(terms)
        self._tables = {
            term: np.repeat(table[None], group.count, axis=0) for term, table in self._file.items()
        }
        none = -1
        links = [none, *(none if body.link is None else body.link for body in model.bodies)]
        self._link = np.array(links, np.intp)  # of each body
        self._position = np.array([(0.0, 0.0, 0.0), *(body.position for body in model.bodies)])
        rotation = np.array([(1.0, 0.0, 0.0, 0.0), *(body.rotation for body in model.bodies)])
        self._rotation = _matrices(rotation)

    def file(self, term: str) -> Array:
        """The file's table of a term of a body, degree of freedom or actuator."""
        return np.array(self._file[term])

    def table(self, term: str) -> Array:
        """The present table of each robot; zeros for terms that are differences."""
        if term == "base_mass_delta":
            return np.zeros(self._group.count)
        if term == "base_com_offset":
            return np.zeros((self._group.count, 3))
        return np.array(self._tables[term])

    def require(self, terms: Iterable[str]) -> None:
        """NotImplementedError for terms that cannot differ, with the reason."""
        for term in sorted(set(terms) - self.terms):
            reason = self._refused.get(_DELTAS.get(term, term), "it is a constant of the model")
            if term in _DELTAS and self._base is None:
                reason = "no base_name"
            elif term == "geom_friction":
                reason = "environments can differ in friction with the ground only"
            raise NotImplementedError(f"mayfly: reset term {term} is not supported: {reason}")

    def check(self, rows: Rows, values: Mapping[str, Array]) -> dict[str, Array]:
        """The tables that reset terms give to some robots.

        Raises:
            NotImplementedError: of a term or a column that cannot differ.
            ValueError: another shape, values that are not finite, or negative sizes.

        """
        self.require(values)
        for term, given in values.items():
            tail = self.table(term).shape[1:]
            size = term not in _NEGATIVE and term not in _DELTAS
            if given.shape != (len(rows), *tail) or not np.isfinite(given).all():
                raise ValueError(
                    f"mayfly: {term}: need finite values of shape {(len(rows), *tail)}"
                )
            if size and (given < 0).any():
                raise ValueError(f"mayfly: {term}: need values >= 0")
        made = {
            term: _unrounded(given, self._tables[term][rows])
            for term, given in values.items()
            if term not in _DELTAS
        }
        for delta, term in _DELTAS.items():
            if delta in values:
                table = made.get(term, np.repeat(self._file[term][None], len(rows), axis=0))
                table[:, self._base] += values[delta]
                made[term] = table
        self._check_tables(made)
        return made

    def set(self, rows: Rows, tables: Mapping[str, Array]) -> None:
        """Gives some robots what `check` returned, in one change of the group."""
        changes = {
            **self._bodies(rows, tables),
            **self._dofs(rows, tables),
            **self._actuators(rows, tables),
        }
        if changes:
            try:
                self._group.vary(changes, rows)
            except mayfly.UnsupportedError as error:
                raise NotImplementedError(f"mayfly: reset terms: {error}") from None
        for term, table in tables.items():
            self._tables[term][rows] = table

    # ---- what cannot differ ----------------------------------------------------------------------

    def _check_tables(self, tables: Mapping[str, Array]) -> None:
        for term, table in tables.items():
            fixed = np.zeros(table.shape[1], bool)
            if term in _BODY:
                fixed = self._link < 0
            elif term in _DOF:
                fixed[:] = True
                for joint, columns in zip(self._group.model.joints, self._joints, strict=True):
                    fixed[columns] = joint.type == "floating"
                    if (table[:, columns] != table[:, columns[:1]]).any():
                        raise NotImplementedError(
                            f"mayfly: {term}: need one value for all axes of joint {joint.name!r}"
                        )
            if (table[:, fixed] != self._file[term][fixed]).any():
                what = "bodies that are fixed in the world" if term in _BODY else "free bodies"
                raise NotImplementedError(f"mayfly: {term}: {what} have the file's")
            if (
                term == "body_mass"
                and (table[:, ~fixed] <= 0)[:, self._file[term][~fixed] > 0].any()
            ):
                raise ValueError("mayfly: body_mass: need values > 0 where the file has mass")
            if term == "body_iquat" and (abs(np.linalg.norm(table, axis=-1) - 1) > 1e-5).any():
                raise ValueError("mayfly: body_iquat: need unit quaternions (w, x, y, z)")
            if term in ("dof_damping", "dof_frictionloss"):
                if ((table > 0) != (self._file[term] > 0)).any():
                    raise NotImplementedError(
                        f"mayfly: {term}: need values > 0 where the file has them, and 0 elsewhere"
                    )

    # ---- changes of a group ----------------------------------------------------------------------

    def _differ(self, term: str, rows: Rows, tables: Mapping[str, Array]) -> npt.NDArray[np.intp]:
        """Columns of a table that change for any of the robots."""
        if term not in tables:
            return np.empty(0, np.intp)
        differ = tables[term] != self._tables[term][rows]
        return np.flatnonzero(differ.reshape(*differ.shape[:2], -1).any(axis=(0, 2)))

    def _bodies(self, rows: Rows, tables: Mapping[str, Array]) -> dict[str, Any]:
        bodies = np.concatenate([self._differ(term, rows, tables) for term in _BODY])
        changes: dict[str, dict[int, Array]] = {}
        for link in np.unique(self._link[bodies]):
            parts = np.flatnonzero(self._link == link)
            mass, center, quaternion, moments = (
                tables.get(term, self._tables[term][rows])[:, parts] for term in _BODY
            )
            rotation, axes = self._rotation[parts], _matrices(quaternion)
            place = self._position[parts] + np.einsum("bij,rbj->rbi", rotation, center)
            total = mass.sum(axis=1)
            middle = np.einsum("rb,rbi->ri", mass, place) / np.where(total > 0, total, 1)[:, None]
            axes = np.einsum("bij,rbjk->rbik", rotation, axes)
            arm = place - middle[:, None]
            square = (arm * arm).sum(axis=-1)[..., None, None] * np.eye(3)
            shift = mass[..., None, None] * (square - arm[..., :, None] * arm[..., None, :])
            inertia = np.einsum("rbik,rbk,rbjk->rij", axes, moments, axes) + shift.sum(axis=1)
            six = inertia[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
            for name, value in (("mass", total), ("center", middle), ("inertia", six)):
                changes.setdefault(f"link.{name}", {})[int(link)] = value
        return changes

    def _dofs(self, rows: Rows, tables: Mapping[str, Array]) -> dict[str, Any]:
        changes = {}
        for term, field in _DOF.items():
            differ = set(self._differ(term, rows, tables).tolist())
            own = {
                number: tables[term][:, columns[0]]
                for number, columns in enumerate(self._joints)
                if columns[0] in differ
            }
            if own:
                changes[field] = own
        return changes

    def _actuators(self, rows: Rows, tables: Mapping[str, Array]) -> dict[str, Any]:
        changes: dict[str, dict[int, Array]] = {}
        for number in self._differ("kp", rows, tables).tolist():
            changes.setdefault("actuator.gain.0", {})[number] = tables["kp"][:, number]
            changes.setdefault("actuator.bias.1", {})[number] = -tables["kp"][:, number]
        for number in self._differ("kd", rows, tables).tolist():
            changes.setdefault("actuator.bias.2", {})[number] = -tables["kd"][:, number]
        return changes


def _columns(joint: Joint) -> list[int]:
    """Its degrees of freedom."""
    width = {"floating": 6, "ball": 3}.get(joint.type, 1)
    return list(range(joint.velocity_address, joint.velocity_address + width))


def _tables(model: mayfly.Model) -> dict[str, Array]:
    bodies = model.bodies
    tables = {
        "body_mass": np.array([0.0, *(body.mass for body in bodies)]),
        "body_ipos": np.array([(0.0, 0.0, 0.0), *(body.center for body in bodies)]),
        "body_iquat": np.array([(1.0, 0.0, 0.0, 0.0), *(body.axes for body in bodies)]),
        "body_inertia": np.array([(0.0, 0.0, 0.0), *(body.moments for body in bodies)]),
    }
    for term, field in _DOF.items():
        tables[term] = np.zeros(model.velocity_count)
        for joint in model.joints:
            tables[term][_columns(joint)] = getattr(joint, field.partition(".")[2])
    tables["kp"] = np.array([actuator.gain[0] for actuator in model.actuators], np.float64)
    tables["kd"] = np.array([-actuator.bias[2] for actuator in model.actuators], np.float64)
    return tables


def _refused(model: mayfly.Model) -> dict[str, str]:
    """Reasons by term."""
    reasons = {}
    physics = model.physics
    if physics.density != 0.0 or physics.viscosity != 0.0:
        reasons.update(dict.fromkeys(_BODY, "drag of the medium is that of the file's bodies"))
    if any(body.gravity_compensated != 0.0 for body in model.bodies):
        reasons.update(dict.fromkeys(_BODY, "gravcomp is that of the file's bodies"))
    for term, field in (("dof_armature", "armature"), ("dof_damping", "damping")):
        if any(getattr(actuator, field) != 0.0 for actuator in model.actuators):
            reasons[term] = f"actuators of the file have {field}, too"
    for term, name in (("dof_damping", "damping"), ("dof_frictionloss", "friction")):
        if not any(getattr(joint, name) > 0.0 for joint in model.joints):
            reasons.setdefault(term, "no joint of the file has it")
    for actuator in model.actuators:
        position = actuator.gain[0] > 0 and actuator.bias[:2] == (0.0, -actuator.gain[0])
        if not position or actuator.gain[1:] != (0.0, 0.0) or actuator.muscle.exists:
            reason = f"actuator {actuator.name!r} is no position actuator"
            reasons.update(dict.fromkeys(_GAINS, reason))
    return reasons


def _unrounded(given: Array, present: Array) -> Array:
    """A copy in double, in which what equals the present table in `given`'s precision is that."""
    same = given == present.astype(given.dtype)
    return np.where(same, present, given.astype(np.float64))


def _matrices(quaternions: Array) -> Array:
    """Rotations of unit quaternions (..., 4), (..., 3, 3)."""
    w, x, y, z = np.moveaxis(np.asarray(quaternions, np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))
