"""What drives the joints of a robot: servos by their law, and the actuators of MJCF files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from mayfly_bridges._dds.links import Links

Array = npt.NDArray[np.float64]
GAINS = ("servo.gain", "servo.damping", "servo.target_rate", "servo.torque")
FIELDS = ("joint.target", "joint.angle", "joint.rate", "actuator.force", *GAINS)


class Efforts:
    """The torque [N m] or force [N] of each joint that its servo and actuators exert.

    A servo's is that of its law for the present state, which at full dynamics is the one that acted
    at the end of the step; an actuator's that at the beginning of the step, times its gear. Torques
    from outside (`joint.torque`) are not part of it.
    """

    def __init__(self, links: Links) -> None:
        described = links.described
        servos = described["servos"] or []
        self.is_known = described["servos"] is not None
        self._gain, self._damping, self._effort, speed, play = (
            np.array([np.inf if servo[name] is None else servo[name] for servo in servos], float)
            for name in ("gain", "damping", "effort", "speed", "backlash")
        )
        self._play = 0.5 * play  # to each side
        limited = np.isfinite(speed) & (self._damping > 0.0)
        self._most = np.full(len(servos), np.inf)  # of gain times error
        self._most[limited] = self._damping[limited] * speed[limited]
        self._actuators = [
            (index, int(actuator["joint"]), float(actuator["gear"][0]))
            for index, actuator in enumerate(described["actuators"])
            if actuator["drive"] == "joint" and actuator["joint"] is not None
        ]

    def read(self, row: Callable[[str], Sequence[float]]) -> Array:
        """Efforts in the model's order; `row` gives a field's values, none: it is not there."""
        target, angle, rate, forces, *inputs = (np.asarray(row(name), float) for name in FIELDS)
        gain, damping, most = self._gain, self._damping, self._most
        requested = more = np.zeros(len(gain))
        if len(inputs[0]):
            gain, damping, requested, more = inputs
            most = np.full(len(gain), np.inf)
        error = target - angle
        error = error - np.clip(error, -self._play, self._play)
        pull = np.clip(gain * error, -most, most) + damping * (requested - rate) + more
        effort: Array = np.clip(pull, -self._effort, self._effort)
        for index, joint, gear in self._actuators if len(forces) else []:
            effort[joint] += gear * forces[index]
        return effort
