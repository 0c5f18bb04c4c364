"""Bars of progress by tqdm, where that is installed."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator

__all__ = ["progress_bar"]


@contextlib.contextmanager
def progress_bar(
    total: int, unit: str, show: bool | None, first: int = 0
) -> Iterator[Callable[[int, str], None]]:
    """Gives a function to call with what was done since, and with a note.

    Args:
        total: of units.
        unit: its name.
        show: None: on a terminal or in a notebook.
        first: units that are done already.

    """
    bars = None
    if show is not False:
        with contextlib.suppress(ImportError):
            bars = importlib.import_module("tqdm.auto")
    if bars is None:
        yield lambda done, note: None
        return
    disable = None if show is None else False
    with bars.tqdm(total=total, initial=first, unit=unit, disable=disable) as bar:

        def update(done: int, note: str) -> None:
            bar.set_postfix_str(note, refresh=False)
            bar.update(done)

        yield update
