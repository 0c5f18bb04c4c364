"""How objects look: one line in a console, a table in a notebook."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["Brief", "Shown", "brief", "table"]

_FEW = 4  # numbers of an array that are written
_MOST = 100  # rows of a table


def brief(value: Any) -> str:
    """A value in few words: large arrays by type and shape."""
    if isinstance(value, np.ndarray):
        if value.size > _FEW or value.dtype.kind not in "biuf":
            return f"{value.dtype} {value.shape}"
        return str(np.vectorize(lambda x: f"{x:.6g}", otypes=[object])(value).tolist()).replace(
            "'", ""
        )
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {brief(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (bytes, bytearray)):
        return f"{len(value)} bytes"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of HTML; numbers with four digits, and how many rows are left out."""

    def row(kind: str, cells: Sequence[object]) -> str:
        words = (f"{one:.4g}" if isinstance(one, (float, np.floating)) else one for one in cells)
        inside = "".join(f"<{kind}>{html.escape(str(one))}</{kind}>" for one in words)
        return f"<tr>{inside}</tr>"

    given = list(rows)
    body = "".join(row("td", cells) for cells in given[:_MOST])
    if len(given) > _MOST:
        body += row("td", [f"and {len(given) - _MOST} more"])
    return f"<table><caption>{html.escape(caption)}</caption>{row('th', head)}{body}</table>"


class Shown:
    """An object whose `_in_brief()` stands behind its class in a line: <Class: about it>."""

    def _in_brief(self) -> str:
        return ""

    def __repr__(self) -> str:
        about = self._in_brief()
        return f"<{type(self).__name__}: {about}>" if about else f"<{type(self).__name__}>"


class Brief:
    """A dataclass (with repr=False) whose arrays are shown by type and shape."""

    def __repr__(self) -> str:
        members: Any = self
        words = [f"{f.name}={brief(getattr(self, f.name))}" for f in dataclasses.fields(members)]
        return f"{type(self).__name__}({', '.join(words)})"
