"""Pictures of worlds and recordings: films, and pages that notebooks show as an inline frame."""

from __future__ import annotations

import html
import os
import pathlib
from collections.abc import Sequence

from mayfly import errors
from mayfly._native import Native, call, encode, ffi, lib, output, take_text
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
        with self._world._lock:
            native = what._use()
            if what is self._world:
                table, title = ffi.new("char *[]", self._colors), self._title
                film = output(lib.mf_film_create_world, native, title, table, float(period))
                self._take(lib.MFPY_FILM, film, [self._world])
                joints = lib.mf_world_joints_of(native)
                if joints != ffi.NULL:
                    call(lib.mf_film_show_joints, film, joints)
            else:
                film = output(lib.mf_film_create, native, float(period))
                self._take(lib.MFPY_FILM, film, [self._world])
        self._filled = False

    def _in_brief(self) -> str:
        return f"of {self._world!r}"

    def sample(self) -> None:
        """Takes a picture of the present state."""
        with self._world._lock:
            lib.mf_film_sample(self._use())
        self._filled = True

    def page(self, height: int = 480) -> Page:
        """The film as a page; `height` [pixel] of the frame in a notebook."""
        if not self._filled:
            self.sample()
        with self._world._lock:
            native = self._use()
            return Page(take_text(default_context()._use(), lib.mf_film_text, native), height)

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
    recording = output(lib.mf_recording_open, context, encode(path), 0)
    try:
        return take_text(context, lib.mf_film_recording_page, context, recording)
    finally:
        lib.mf_recording_destroy(recording)
