"""Drawings and controls of a world of this process (mayfly.drawings)."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from mayfly import drawings
from mayfly._native import Native, Turn, call, encode, ffi, lib
from mayfly.arrays import whole

__all__ = ["DrawnWorld"]


class DrawnWorld(Native):
    """What a world has for them."""

    _lock: Turn
    _controls: drawings.ControlList

    def group(self, name: str) -> Any:
        """The group of that name."""
        raise NotImplementedError

    def draw(
        self,
        layer: str,
        kind: str,
        numbers: npt.ArrayLike,
        *,
        text: str = "",
        color: drawings.Color = None,
        size: float = 0.0,
        on: Any = None,
    ) -> None:
        """Draws a layer into the picture, in place of what had its name, until `erase`.

        A page shows it (`mayfly.Viewer`), and films and recordings show each change at its
        time. It is no state: hashes and snapshots do not change.

        Args:
            layer: its name.
            kind: of `numbers`: "points" or "lines" (x, y, z of each [m]; a row of NAN interrupts a
                line), "arrows" (both ends, the tip last), "text" (its middle), or "ghost" of a
                robot (position, orientation (w, x, y, z) and, if they differ from those of its
                file, all joint angles).
            numbers: in the world frame, or in that of the link that carries them.
            text: of the kind "text".
            color: "#rrggbb", "#rrggbbaa", or 3 or 4 numbers of 0 .. 1; None: orange.
            size: [m] diameter, thickness or height of letters; 0: 0.02, of text 0.1.
            on: group, robot and link that carry it, or of a ghost the group; None: the world.

        """
        made = drawings.drawing(kind, numbers, text, color, size)
        carrier = drawings.carrier_of(kind, on)
        words = ffi.new("char[]", encode(made.text))
        native = ffi.new("mf_Drawing *")
        native.kind, native.color, native.size = made.kind, made.color, made.size
        native.numbers = ffi.from_buffer("float[]", made.numbers) if made.numbers.size else ffi.NULL
        native.count, native.text = made.numbers.size, words
        with self._lock:
            if carrier is not None:
                self._carry(native, *carrier)
            call(lib.mf_draw, self._use(), encode(layer), native)

    def _carry(self, native: Any, group: Any, robot: int, link: Any) -> None:
        found = self.group(group) if isinstance(group, str) else group
        native.group = found._use()
        native.robot = whole(robot, "draw: robot", 0, 2**32)
        number = found.model.link(link).index if isinstance(link, str) else link
        native.link = whole(number, "draw: link", 0, 2**32)

    def erase(self, layer: str | None = None) -> None:
        """Removes a layer that was drawn; None: all of them."""
        with self._lock:
            lib.mf_draw_clear(self._use(), ffi.NULL if layer is None else encode(layer))

    def slider(
        self,
        name: str,
        low: float,
        high: float,
        *,
        value: float | None = None,
        step: float = 0.0,
        unit: str = "",
    ) -> drawings.Control:
        """Puts a slider on the page of the world; `value` None: in the middle."""
        start = 0.5 * (low + high) if value is None else value
        return self._show(self._controls.make(drawings.SLIDER, name, unit, low, high, step, start))

    def button(self, name: str) -> drawings.Control:
        """Puts a button on the page of the world; its value counts how often it was pressed."""
        return self._show(self._controls.make(drawings.BUTTON, name, "", 0, 1, 0, 0))

    def checkbox(self, name: str, value: bool = False) -> drawings.Control:
        """Puts a checkbox on the page of the world; its value is 0 or 1."""
        return self._show(self._controls.make(drawings.CHECKBOX, name, "", 0, 1, 0, float(value)))

    def remove_control(self, name: str) -> None:
        """Takes a slider, button or checkbox off the page."""
        with self._lock:
            call(lib.mf_control, self._use(), self._controls.take(name)._number, ffi.NULL)

    def _show(self, made: drawings.Control) -> drawings.Control:
        words = [ffi.new("char[]", encode(word)) for word in (made.name, made._unit)]
        native = ffi.new("mf_Control *")
        native.kind, native.name, native.unit = made._kind, *words
        native.low, native.high, native.step, native.value = made._limits
        with self._lock:
            call(lib.mf_control, self._use(), made._number, native)
        return self._controls.add(made)

    def _tell_controls(self) -> None:
        """Calls the functions of controls that people have changed."""
        number, value = ffi.new("uint32_t *"), ffi.new("double *")
        moved = []
        with self._lock:
            while lib.mf_control_changed(self._use(), number, value):
                moved.append(self._controls.move(int(number[0]), float(value[0])))
        for control in moved:
            if control is not None:
                control._tell()
