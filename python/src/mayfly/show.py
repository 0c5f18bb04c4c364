"""Pictures of worlds and recordings: films, and pages that notebooks show as an inline frame."""

from __future__ import annotations

import html
import os
import pathlib
from collections.abc import Sequence

from mayfly import errors
from mayfly._native import Native, check, encode, ffi, lib
from mayfly.context import default_context
from mayfly.group import Group
from mayfly.records import Recording
from mayfly.world import World

__all__ = ["Film", "Page", "show"]

_FILM_PERIOD = 0.02  # [s] between pictures of show(duration=...)


class Page:
    """A page of HTML that needs nothing beside it. A notebook shows it in an inline frame.

    Attributes:
        html: the text of the whole page.

    """

    def __init__(self, text: str, height: int = 480) -> None:
        self.html = text
        self.height = height

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page, to be opened in a browser."""
        pathlib.Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        inside = html.escape(self.html, quote=True)
        return (
            f'<iframe title="Mayfly" style="width:100%;height:{self.height}px;border:0" '
            f'srcdoc="{inside}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Page of {len(self.html)} characters: save(path) writes it>"


def _take_text(out: object) -> str:
    """A text from C, which is released."""
    pointer = out[0]  # type: ignore[index]
    text = bytes(ffi.string(pointer)).decode("utf-8", "replace")
    lib.mf_release(default_context()._use(), pointer)
    return text


class Film(Native):
    """A film: the poses of all links, sampled while the world runs.

        film = mayfly.Film(world, period=0.02)
        for _ in range(100):
            world.run(0.02)
            film.sample()
        film.save("walk.html")

    Shown are the first 16 robots of an isolated group, and of others as many as have 256 links. A
    notebook shows a film that is the value of a cell.

    Args:
        what: a world, or one of its groups.
        period: [s] simulated time between two calls of sample().
        title: of the page.
        colors: a CSS color per group of the world, None: the colors of the shapes.

    """

    _sealed = True

    def __init__(
        self,
        what: World | Group,
        period: float = _FILM_PERIOD,
        *,
        title: str = "Mayfly",
        colors: Sequence[str | None] | None = None,
    ) -> None:
        self._world = what if isinstance(what, World) else what.world
        self._title = ffi.new("char[]", encode(title))
        count = lib.mf_world_group_count(self._world._use())
        if colors is not None and (what is not self._world or len(colors) != count):
            raise errors.ArgumentError(f"colors: need one for each of the world's {count} groups")
        self._colors = [
            ffi.NULL if color is None else ffi.new("char[]", encode(color))
            for color in colors or [None] * count
        ]
        out, error = ffi.new("mf_Film **"), ffi.new("mf_Error *")
        with self._world._lock:
            native = what._use()
            if what is self._world:
                table = ffi.new("char *[]", self._colors)
                joints = lib.mf_world_joints_of(native)
                status = lib.mf_film_create_world(
                    native, self._title, table, float(period), out, error
                )
                check(status, error)
                self._take(lib.MFPY_FILM, out[0], [self._world])
                if joints != ffi.NULL:
                    check(lib.mf_film_show_joints(out[0], joints, error), error)
            else:
                check(lib.mf_film_create(native, float(period), out, error), error)
                self._take(lib.MFPY_FILM, out[0], [self._world])
        self._filled = False

    def sample(self) -> None:
        """Takes a picture of the present state."""
        with self._world._lock:
            lib.mf_film_sample(self._use())
        self._filled = True

    def page(self, height: int = 480) -> Page:
        """The film as a page; `height` [pixel] of the frame in a notebook."""
        if not self._filled:
            self.sample()
        out, error = ffi.new("char **"), ffi.new("mf_Error *")
        with self._world._lock:
            check(lib.mf_film_text(self._use(), out, error), error)
        return Page(_take_text(out), height)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page."""
        self.page().save(path)

    def _repr_html_(self) -> str:
        return self.page()._repr_html_()


def show(
    what: World | Group | Film | Recording | Page | str | os.PathLike[str],
    duration: float = 0.0,
    *,
    title: str = "Mayfly",
    colors: Sequence[str | None] | None = None,
    height: int = 480,
) -> Page:
    """A page of a world, a group, a film, or a recording (or its path), for a notebook or a file.

    Args:
        what: what is shown. A world or group as it is now.
        duration: [s] > 0: the world runs for so long and is filmed.
        title: of the page of a world.
        colors: as for Film.
        height: [pixel] of the frame in a notebook.

    """
    if isinstance(what, Page):
        return what
    if isinstance(what, Film):
        return what.page(height)
    if isinstance(what, (str, os.PathLike)):
        what = Recording(what)
    if isinstance(what, Recording):
        return Page(recording_page(what.path), height)
    world = what if isinstance(what, World) else what.world
    step = world.step_seconds
    every = max(round(_FILM_PERIOD / step), 1)
    film = Film(what, every * step, title=title, colors=colors)
    film.sample()
    for _ in range(round(duration / (every * step))):
        world.step(every)
        film.sample()
    page = film.page(height)
    film.close()
    return page


def recording_page(path: str | os.PathLike[str]) -> str:
    """The page that shows a recording."""
    context = default_context()._use()
    out, recording = ffi.new("char **"), ffi.new("mf_Recording **")
    error = ffi.new("mf_Error *")
    check(lib.mf_recording_open(context, encode(path), 0, recording, error), error)
    try:
        check(lib.mf_film_recording_page(context, recording[0], out, error), error)
    finally:
        lib.mf_recording_destroy(recording[0])
    return _take_text(out)
