"""Scenes: worlds built from a file, as by the command `mayfly run`."""

from __future__ import annotations

import os
import pathlib
import weakref
from collections.abc import Mapping
from typing import Any, NoReturn

from mayfly import errors
from mayfly._log import log
from mayfly._native import Turn, call, encode, ffi, in_turn, lib, output, text
from mayfly.context import Context, default_context
from mayfly.group import Group
from mayfly.group_setup import overrides, recipe_of, start_notes
from mayfly.model import Model, data_folder
from mayfly.world import World

__all__ = ["Scene", "scene_file"]


class Scene(World):
    """A world built from a scene (YAML) or a robot's own file (URDF, MJCF).

    Args:
        path: the file. A name that does not exist is searched among Mayfly's scenes and robots:
            "scenes/soccer.yaml", "models/hexapod.urdf".
        settings: changes of its lines by their paths, as with the option --set of the command:
            `{"group.motion": "rigid", "world.step": 0.002, "groups.blue.count": 3}`. Lists and
            groups of keys may be Python lists and dictionaries.
        plugins: load the shared libraries that the file names; their code runs with your
            permissions.
        threads: workers for this scene alone; None: those of `context`.
        context: memory and threads; None: the default context.

    The bits are those of `mayfly run` with the same file and settings. Its Lua scripts run, too:
    their `start` here, the rest while the scene steps, and `finish` by `finish`. What they print
    goes to the logger "mayfly", which writes to sys.stderr where logging is not set up. Snapshots
    do not have their variables, and a scene from pickle starts them anew.

    Raises:
        FileError: what is wrong, with file, line and column.
        ArgumentError: a script failed, with its file and line; likewise of steps.

    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: Mapping[str, object] | None = None,
        *,
        plugins: bool = False,
        threads: int | None = None,
        context: Context | None = None,
    ) -> None:
        if threads is not None and context is not None:
            raise TypeError("threads and context: a context has its own threads, give one of them")
        if settings is not None and not isinstance(settings, Mapping):
            raise TypeError(f"settings: need a mapping of paths to values, got {settings!r}")
        self._lock = Turn(type(self).__name__)
        self._fields = weakref.WeakSet()
        self._recipe = (os.fspath(path), dict(settings or {}), plugins, threads)
        self._threads = threads
        self._start_without_parts()
        self.terrain = None
        if threads is not None:
            context = Context(threads)
        self._context = context if context is not None else default_context()
        self._open(scene_file(path), settings or {}, plugins)
        self._groups = [self._group(i) for i in range(int(self._scene.group_count))]
        self._print = _printer(self._failures)
        lib.mf_scene_on_print(self._scene, self._print, ffi.NULL)
        call(lib.mf_scene_start_scripts, self._scene)
        found = start_notes(lib.mf_scene_start_notes, self._scene)
        self._begin = tuple(note for _, note in found)
        self._seal()

    def _open(self, path: str, settings: Mapping[str, object], plugins: bool) -> None:
        native = self._context._use()
        table, alive = overrides(settings)
        if plugins:
            lib.mf_plugins_allow(native, True)
        self._scene = output(lib.mf_scene_open, native, encode(path), table, len(alive))
        self._take(lib.MFPY_SCENE, self._scene, [self._context])
        self._pointer = self._scene.world
        self._native_joints = self._scene.joints if self._scene.joints != ffi.NULL else None

    def _group(self, index: int) -> Group:
        native = lib.mf_world_group(self._pointer, index)
        path = text(self._scene.models[index].file)
        model = Model._borrowed(self, native, {"path": path, "packages": {}, "settings": {}})
        return Group(self, native, recipe_of(native, model))

    @property
    def duration(self) -> float:
        """[s] duration of a run in the file."""
        self._use()
        return float(self._scene.file.duration)

    @property
    def notes(self) -> tuple[str, ...]:
        """What `mayfly run` prints at the start: deviations from the file, then of each group what
        its `Group.notes` were then."""
        self._use()
        return self._begin

    def _advance(self, native: Any, steps: int) -> None:
        super()._advance(native, steps)
        call(lib.mf_scene_scripts_status, self._scene)

    @in_turn
    def finish(self) -> dict[str, str]:
        """Calls the functions `finish` of scripts; returns what they wrote, by the files' names.

        Steps raise StoppedError once a script has stopped the run; this is possible then.
        """
        self._use()
        call(lib.mf_scene_finish_scripts, self._scene)
        out = ffi.new("mf_ScriptResult *")
        results: dict[str, str] = {}
        while lib.mf_scene_script_result(self._scene, len(results), out):
            results[text(out.name)] = text(out.text)
        return results

    def add_group(self, *arguments: Any, **more: Any) -> NoReturn:
        """Raises: groups are defined in the file."""
        raise errors.UnsupportedError("a scene has the groups of its file; make a World for others")

    def add_collisions(self, **settings: object) -> NoReturn:
        """Raises: collisions are defined by the key `contact` of the file."""
        raise errors.UnsupportedError("a scene says in its file how robots meet: contact.enabled")

    def __repr__(self) -> str:
        return super().__repr__().replace("<World", "<Scene", 1)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        with self._lock:
            self._use()
            return _scene_again, (*self._recipe, self.snapshot())


def _printer(failures: list[BaseException]) -> Any:
    """Of lines that scripts print; what it raises is raised after the steps."""

    def write(script: Any, line: Any, user: Any) -> None:
        log.info("%s: %s", text(script), text(line))

    def failed(kind: Any, error: BaseException, trace: Any) -> None:
        failures.append(error)

    return ffi.callback("mf_ScriptPrintFn", write, onerror=failed)


def scene_file(path: str | os.PathLike[str]) -> str:
    """The path of a file, or of Mayfly's own where there is none."""
    name = pathlib.Path(os.fsdecode(path))
    shipped = data_folder() / name
    return str(name if name.exists() or not shipped.exists() else shipped)


def _scene_again(
    path: str,
    settings: dict[str, object],
    plugins: bool,
    threads: int | None,
    state: bytes,
) -> Scene:
    """Unpickles: builds the same scene and restores its state."""
    scene = Scene(path, settings, plugins=plugins, threads=threads)
    scene.restore(state)
    return scene
