"""What programs draw into the picture of a world - points, lines, arrows, text, ghosts of robots -
and the sliders, buttons and checkboxes that they put on its page.

    world.draw("particles", "points", particles, color="#1c7ed6", size=0.03)
    world.draw("estimate", "ghost", [x, y, z, 1, 0, 0, 0], on="robots")

    @world.slider("noise", 0, 0.5, value=0.1, unit="m")
    def noise(value):
        filter.noise = value

`World` and the clients of `mayfly serve` have the same calls.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._sealed import Sealed
from mayfly.arrays import as_array

__all__ = ["Color", "Control"]

KINDS = ("points", "lines", "arrows", "text", "ghost")
SLIDER, BUTTON, CHECKBOX, NONE = range(4)
CONTROLS = 64  # most of a program

Color = str | Sequence[float] | None  # "#rrggbb", "#rrggbbaa", or 3 or 4 numbers of 0 .. 1


@dataclasses.dataclass(frozen=True)
class Drawing:
    """A layer, as C and the protocol have it."""

    kind: int
    color: int  # 0xrrggbbaa; 0: the default
    size: float  # [m] 0: the default
    numbers: npt.NDArray[np.float32]
    text: str


def read_color(color: Color) -> int:
    """0xrrggbbaa."""
    if color is None:
        return 0
    if isinstance(color, str):
        digits = color.removeprefix("#")
        if color.startswith("#") and len(digits) in (6, 8):
            try:
                return int(digits.ljust(8, "f"), 16)
            except ValueError:
                pass
        raise errors.ArgumentError(f"expected a color '#rrggbb' or '#rrggbbaa', found {color!r}")
    parts = [*color, 1.0][:4]
    if len(color) not in (3, 4) or not all(0 <= part <= 1 for part in parts):
        raise errors.ArgumentError("expected a color of 3 or 4 numbers 0 .. 1")
    return sum(round(255 * part) << shift for part, shift in zip(parts, (24, 16, 8, 0)))


def drawing(kind: str, numbers: npt.ArrayLike, text: str, color: Color, size: float) -> Drawing:
    """What the arguments of `draw` say."""
    if kind not in KINDS:
        raise errors.ArgumentError(f"expected a kind of {', '.join(KINDS)}, found {kind!r}")
    flat = np.ascontiguousarray(as_array(numbers), np.float32).reshape(-1)
    return Drawing(KINDS.index(kind), read_color(color), float(size), flat, text)


def carrier_of(kind: str, on: Any) -> tuple[Any, int, Any] | None:
    """Group, robot and link that carry a drawing."""
    if kind == "ghost":
        if on is None:
            raise errors.ArgumentError("a ghost needs the group that it is like: on='robots'")
        return on, 0, 0
    if on is None:
        return None
    if not isinstance(on, tuple) or len(on) != 3:
        raise errors.ArgumentError("expected on=(group, robot, link)")
    return on


class Control(Sealed):
    """A slider, a button or a checkbox on the page.

    Called with a function it calls that with each new value, and so it is a decorator: in
    `Viewer.update`, or in the calls of a client. Or poll `value` and `take`.

    Attributes:
        name: on the page.
        value: that people gave it last; of a button: how often it was pressed.

    """

    _settable = frozenset({"value"})

    def __init__(self, number: int, kind: int, name: str, unit: str, limits: tuple[float, ...]):
        self.name = name
        self.value = 0.0 if kind == BUTTON else limits[3]
        self._number, self._kind, self._unit = number, kind, unit
        self._limits = limits  # low, high, step and the first value
        self._function: Callable[[float], Any] | None = None
        self._fresh = False
        self._seal()

    def _in_brief(self) -> str:
        return f"{self.name} {self.value:g} {self._unit}".rstrip()

    def __call__(self, function: Callable[[float], Any]) -> Control:
        self._function = function
        return self

    def take(self) -> bool:
        """Whether people have changed it since the last call."""
        fresh, self._fresh = self._fresh, False
        return fresh

    def _move(self, value: float) -> None:
        self.value = value
        self._fresh = True

    def _tell(self) -> Any:
        return None if self._function is None else self._function(self.value)


class ControlList:
    """The controls of a program by name."""

    def __init__(self) -> None:
        self._named: dict[str, Control] = {}

    def __iter__(self) -> Iterator[Control]:
        return iter(list(self._named.values()))

    def make(self, kind: int, name: str, unit: str, *limits: float) -> Control:
        """A new control; one of the same name gives it its number."""
        known = self._named.get(name)
        taken = {control._number for control in self}
        free = (n for n in range(CONTROLS) if n not in taken)
        number = next(free, None) if known is None else known._number
        if number is None:
            raise errors.LimitError(f"a program has at most {CONTROLS} controls")
        return Control(number, kind, name, unit, limits)

    def add(self, control: Control) -> Control:
        """Keeps it."""
        self._named[control.name] = control
        return control

    def take(self, name: str) -> Control:
        """The control of that name, which is removed."""
        if name not in self._named:
            raise errors.NotFoundError(f"there is no control {name}: {', '.join(self._named)}")
        return self._named.pop(name)

    def move(self, number: int, value: float) -> Control | None:
        """The control whose value has changed; None: it was removed meanwhile."""
        for control in self:
            if control._number == number:
                control._move(value)
                return control
        return None
