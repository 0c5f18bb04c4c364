"""Fields: their measures, and the flags on them that agents see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Area = tuple[float, float, float, float]  # smallest x, largest x, smallest y, largest y [m]


def is_in(area: Area, at: npt.NDArray[np.float64]) -> bool:
    """Whether a point is above an area."""
    low, high, bottom, top = area
    return bool(low <= at[0] <= high and bottom <= at[1] <= top)


@dataclass(frozen=True)
class Field:
    """Measures [m] of a field; the left team plays towards +x, the origin is its center."""

    length: float
    width: float
    border: float  # of the carpet around it
    goal_depth: float
    goal_width: float
    goal_height: float
    goal_area_length: float
    goal_area_width: float
    penalty_area_length: float
    penalty_area_width: float
    penalty_mark: float  # from the goal line
    circle: float  # radius of the center circle
    flags_at: float  # y of the flags of areas, in widths of the area
    # Places beside the field: their y, the x of the first one and between two of them, and how far
    # others have to be away.
    beside: float
    beside_step: float
    beside_gap: float

    def flags(self) -> dict[str, tuple[float, float, float]]:
        """Where the flags are [m], by the names that agents know."""
        x, y = self.length / 2, self.width / 2
        goal, height = self.goal_width / 2, self.goal_height
        mark = x - self.penalty_mark
        found = {
            "l_luf": (-x, y, 0.0),
            "l_llf": (-x, -y, 0.0),
            "l_ruf": (x, y, 0.0),
            "l_rlf": (x, -y, 0.0),
            "t_cuf": (0.0, y, 0.0),
            "t_clf": (0.0, -y, 0.0),
            "x_cuc": (0.0, self.circle, 0.0),
            "x_clc": (0.0, -self.circle, 0.0),
            "p_lpm": (-mark, 0.0, 0.0),
            "p_rpm": (mark, 0.0, 0.0),
            "g_lup": (-x, goal, height),
            "g_llp": (-x, -goal, height),
            "g_rup": (x, goal, height),
            "g_rlp": (x, -goal, height),
        }
        areas = (
            ("ga", self.goal_area_length, self.goal_area_width),
            ("pa", self.penalty_area_length, self.penalty_area_width),
        )
        for name, depth, width in areas:
            for kind, at in (("l", x - depth), ("t", x)):
                for side, sign in (("l", -1.0), ("r", 1.0)):
                    found[f"{kind}_{side}u{name}"] = (sign * at, self.flags_at * width, 0.0)
                    found[f"{kind}_{side}l{name}"] = (sign * at, -self.flags_at * width, 0.0)
        return found

    def area(self, side: int, penalty: bool = False) -> Area:
        """Goal area or penalty area of a side (0 left, 1 right)."""
        depth = self.penalty_area_length if penalty else self.goal_area_length
        half = (self.penalty_area_width if penalty else self.goal_area_width) / 2
        x = self.length / 2
        return (-x, -x + depth, -half, half) if side == 0 else (x - depth, x, -half, half)

    def is_inside(self, at: npt.NDArray[np.float64]) -> bool:
        """Whether a point is above the field."""
        return bool(abs(at[0]) <= self.length / 2 and abs(at[1]) <= self.width / 2)

    def goal_of(self, at: npt.NDArray[np.float64]) -> int | None:
        """In whose goal a point is: 0 left, 1 right, None."""
        beyond = abs(at[0]) - self.length / 2
        if not 0 < beyond < self.goal_depth:
            return None
        if abs(at[1]) > self.goal_width / 2 or at[2] > self.goal_height:
            return None
        return 0 if at[0] < 0 else 1


# kid: models/soccer_field.xml. The others: as the league's server 0.2.1 has them, whose flags of
# areas stand a whole width beside the axis, twice as far as the lines.
FIELDS = {
    "kid": Field(9, 6, 1, 0.6, 2.6, 1.2, 1, 3, 2, 5, 1.5, 0.75, 0.5, 3.7, 1, 0.7),
    "fifa7vs7": Field(55, 36, 3, 1, 3.66, 1.83, 4, 7.3, 9, 16.5, 7.32, 5.5, 1.0, 21, 2, 1),
    "fifa": Field(105, 68, 3, 1.6, 7.32, 2.44, 5.5, 18.32, 16.5, 40.32, 11, 9.15, 1.0, 37, 2, 1),
}


def field_of(model: str | None) -> str | None:
    """The name in FIELDS of the field that a model shows, by the model's name; None: unknown."""
    if model is None or not model.startswith("soccer_field"):
        return None
    name = model.removeprefix("soccer_field").removeprefix("_") or "kid"
    return name if name in FIELDS else None
