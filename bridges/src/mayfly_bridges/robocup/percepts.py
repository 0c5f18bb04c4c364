"""What agents are sent: the texts of percepts, with the digits of the league's server."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


def cut(values: npt.ArrayLike, digits: int) -> Any:
    """Numbers cut, not rounded, after so many digits, as lists: the league's only noise."""
    factor = 10.0**digits
    scaled = np.trunc(np.atleast_1d(np.asarray(values, np.float64)) * factor)
    return (scaled / factor + 0.0).tolist()  # + 0.0: no -0.0


def _text(values: Iterable[float]) -> str:
    return " ".join(str(value) for value in values)


def time(now: float) -> str:
    """`now` [s]."""
    return f"(time (now {_text(cut(now + 1e-9, 2))}))"


def game(
    play_time: float, mode: str, left: str | None, right: str | None, score: Sequence[int]
) -> str:
    """The state of the game; teams that are not there yet are None."""
    teams = f"(tl {left})" if left is not None else ""
    teams += f"(tr {right})" if right is not None else ""
    at = _text(cut(play_time + 1e-9, 2))
    return f"(GS (t {at})(pm {mode}){teams}(sl {score[0]})(sr {score[1]}))"


def position(name: str, at: npt.ArrayLike) -> str:
    """A position [m] in the world: what the robot cannot feel, but the league tells."""
    return f"(pos (n {name}) (p {_text(cut(at, 3))}))"


def rotation(name: str, quaternion: npt.ArrayLike) -> str:
    """A rotation to the world (w, x, y, z)."""
    return f"(quat (n {name}) (q {_text(cut(quaternion, 3))}))"


def gyroscope(name: str, rate: npt.ArrayLike) -> str:
    """`rate` [rad/s] of the sensor about its axes."""
    return f"(GYR (n {name}) (rt {_text(cut(np.degrees(rate), 2))}))"


def accelerometer(name: str, acceleration: npt.ArrayLike) -> str:
    """`acceleration` [m/s^2], 9.81 upward for a robot that stands."""
    return f"(ACC (n {name}) (a {_text(cut(acceleration, 2))}))"


def touch(name: str, is_active: bool) -> str:
    """Whether something presses the sensor."""
    return f"(TCH n {name} val {int(is_active)})"


def joints(names: Sequence[str], angles: npt.ArrayLike, rates: npt.ArrayLike) -> str:
    """All joints: `angles` [rad], `rates` [rad/s]."""
    where = cut(np.degrees(angles), 2)
    speeds = cut(np.degrees(rates), 2)
    return "".join(f"(HJ (n {n})(ax {a})(vx {v}))" for n, a, v in zip(names, where, speeds))


def heard(name: str, messages: Sequence[tuple[float, bytes]]) -> str:
    """Messages of others with the directions [deg] from which they came; "" without any."""
    if not messages:
        return ""
    parts = (f"({int(a)} {base64.b64encode(text).decode()})" for a, text in messages)
    return f"(MIC {name} {''.join(parts)})"
