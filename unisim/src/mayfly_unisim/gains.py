"""Position actuators whose gains differ between robots.

The actuators of a model are constants. An actuator with gains kp and kd of the file, length l and
rate v has the force kp c - kp l - kd v. With other gains kp' and kd' of one robot it is that of the
control

    c' = (kp' c + (kp - kp') l + (kd - kd') v) / kp

at the same state, so it is found before each physics step. That is exact where forces are those of
the state at the beginning of a step. An implicit integrator also needs the derivative -kd of the
force: there kd cannot differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mayfly

__all__ = ["Gains"]

Array = npt.NDArray[Any]


class Gains:
    """Gains of all robots of a group.

    Attributes:
        kp: [N m/rad or N/m] of each robot's actuators, (robots, actuators).
        kd: [N m s/rad or N s/m].
        terms: the reset terms of UniSim that can differ, of "kp" and "kd".
        reason: why the others cannot, one line.

    """

    def __init__(self, group: mayfly.Group) -> None:
        model = group.model
        self._group = group
        self.terms, self.reason = _terms(model)
        gain = np.array([a.gain[0] for a in model.actuators], np.float64)
        rate = np.array([-a.bias[2] for a in model.actuators], np.float64)
        self._file = np.array([gain, rate])
        self.kp, self.kd = (np.tile(row, (group.count, 1)) for row in self._file)
        self.differ = False
        if self.terms:
            self._joint = np.array([int(a.joint) for a in model.actuators])
            self._gear = np.array([a.gear[0] for a in model.actuators])

    def set(self, term: str, robots: Any, values: Array) -> None:
        """Sets "kp" or "kd" of some robots, (k, actuators), finite."""
        getattr(self, term)[robots] = values
        kp, kd = self._file
        self.differ = bool((self.kp != kp).any() or (self.kd != kd).any())

    def control(self, given: Array) -> Array:
        """The controls with which the file's actuators have the forces of these gains now."""
        kp, kd = self._file
        length = self._group["joint.angle"].read()[:, self._joint] * self._gear
        control = self.kp * given + (kp - self.kp) * length
        if "kd" in self.terms:
            rate = self._group["joint.rate"].read()[:, self._joint] * self._gear
            control += (kd - self.kd) * rate
        control /= kp
        return control


def _terms(model: mayfly.Model) -> tuple[frozenset[str], str]:
    for actuator in model.actuators:
        plain = (
            actuator.drive == "joint" and actuator.dynamics == "none" and not actuator.muscle.exists
        )
        position = actuator.gain[0] > 0 and actuator.bias[:2] == (0.0, -actuator.gain[0])
        if not plain or actuator.gain[1:] != (0.0, 0.0) or not position:
            return frozenset(), f"actuator {actuator.name!r} is no position actuator of a joint"
        if np.isfinite(actuator.control_lower) or np.isfinite(actuator.control_upper):
            return frozenset(), f"actuator {actuator.name!r} has a range of control"
    integrator = model.physics.integrator
    if integrator == "Euler":
        return frozenset({"kp", "kd"}), ""
    if integrator == "RK4":
        return frozenset(), "the integrator RK4 evaluates forces within a step"
    return frozenset({"kp"}), f"the integrator {integrator} needs the derivative by the rate"
