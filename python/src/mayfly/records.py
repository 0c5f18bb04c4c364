"""Results of the command, from Python: archives of evolution (SQLite), recordings (HDF5, MCAP), and
a recorder for worlds. Tables need pandas, which is optional.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import pathlib
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import Native, call, encode, ffi, lib, output, text, texts
from mayfly._shown import Brief, table
from mayfly.context import default_context
from mayfly.group import Group
from mayfly.world import World

__all__ = ["Archive", "Individual", "Recorder", "Recording", "Series"]

_APPLICATION = 0x4D617966
_FORMATS = (1, 2, 3, 4, 5)
_STEADY = 4  # the format that can have steady states, and omits zeros


def optional(name: str, use: str) -> Any:
    """An optional module."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"{use} needs {name}: pip install {name}") from None


# ---- archives ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, repr=False)
class Individual(Brief):
    """One individual of an evolution."""

    id: int  # counts from 0 over the run
    generation: int  # in which it was born
    parent: int | None  # id; None in the first generation
    fitness: float  # at birth; NaN when it had none
    genome: npt.NDArray[np.uint8]


_GENERATIONS = np.dtype(
    [
        ("number", np.int64),
        ("best", np.float64),
        ("mean", np.float64),
        ("champion", np.int64),
        ("seconds", np.float64),
        ("simulated", np.float64),
        ("hash", np.uint64),
    ]
)


class Archive:
    """The archive of `mayfly evolve`: all its individuals (docs/reference/archive.md).

    Read-only, also during a run.

    Args:
        path: the file archive.sqlite, or the folder of the run.

    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        found = pathlib.Path(path)
        if found.is_dir():
            found = found / "archive.sqlite"
        if not found.exists():
            raise errors.MissingFileError(f"{found}: there is no such archive")
        self.path = found
        try:
            self._open(found)
        except sqlite3.Error as failure:
            raise errors.FileError(f"{found}: not an archive of Mayfly: {failure}") from None

    def _open(self, path: pathlib.Path) -> None:
        uri = path.resolve().as_uri() + "?mode=ro"
        self._database = sqlite3.connect(uri, uri=True, check_same_thread=False)
        (application,) = self._database.execute("PRAGMA application_id").fetchone()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION:
            self._database.close()
            raise errors.FileError(f"{path}: not an archive of Mayfly")
        if version not in _FORMATS:
            self._database.close()
            raise errors.VersionError(f"{path}: format {version}, this version reads 1 to 5")
        self.format = int(version)
        (self._genome_bytes,) = self._database.execute("SELECT genome_bytes FROM run").fetchone()

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.ProgrammingError:
            raise errors.ClosedError("Archive is closed: open it again") from None
        except sqlite3.Error as failure:
            raise errors.CorruptError(f"{self.path}: {failure}") from None

    @property
    def run(self) -> dict[str, Any]:
        """Settings of the run: population, survivors, genome_bytes, seed, mutation_rate, ..."""
        names = [row[1] for row in self._rows("PRAGMA table_info(run)")]
        values = dict(zip(names, self._rows("SELECT * FROM run")[0]))
        values.pop("id", None)
        for name in ("seed", "model_hash", "terrain_hash"):
            values[name] %= 2**64
        return values

    @property
    def settings(self) -> str:
        """The scene file, defaults filled in."""
        return str(self.run["settings"])

    @property
    def generations(self) -> npt.NDArray[Any]:
        """One row per generation: number, best, mean, champion, seconds, simulated, hash."""
        columns = ", ".join(_GENERATIONS.names or ())
        rows = self._rows(f"SELECT {columns} FROM generation ORDER BY number")
        table = np.zeros(len(rows), _GENERATIONS)
        for i, row in enumerate(rows):
            number = [np.nan if value is None else value for value in row[:-1]]
            table[i] = (*number, row[-1] % 2**64)
        return table

    def __len__(self) -> int:
        return int(self._rows("SELECT count(*) FROM individual")[0][0])

    def individual(self, number: int) -> Individual:
        """The individual of that id."""
        found = self._individuals("WHERE id = ?", int(number))
        if not found:
            raise errors.NotFoundError(f"{self.path}: there is no individual {number}")
        return found[0]

    def _individuals(self, where: str, *values: object) -> list[Individual]:
        rows = self._rows(
            f"SELECT id, generation, parent, fitness, genome FROM individual {where}", *values
        )
        return [
            Individual(
                id=row[0],
                generation=row[1],
                parent=row[2],
                fitness=float("nan") if row[3] is None else float(row[3]),
                genome=self._padded(row[4]),
            )
            for row in rows
        ]

    def _padded(self, genome: bytes) -> npt.NDArray[np.uint8]:
        """A genome at its full length: formats 4 and 5 omit the zeros at the end."""
        return np.frombuffer(genome.ljust(self._genome_bytes, b"\0"), np.uint8)

    @property
    def _steady(self) -> bool:
        """Whether children replace others one by one (search.replacement)."""
        if self.format < _STEADY:
            return False
        return int(self._rows("SELECT replacement FROM scheme")[0][0]) != 0

    def individuals(self, born_in: int | None = None) -> list[Individual]:
        """All individuals, or those born in a generation, by id."""
        if born_in is None:
            return self._individuals("ORDER BY id")
        return self._individuals("WHERE generation = ? ORDER BY id", int(born_in))

    def population(self, generation: int | None = None) -> list[Individual]:
        """Members of a generation (None: the newest), by descending fitness at birth."""
        number = self._newest() if generation is None else int(generation)
        if self._steady:
            return self._individuals(
                "WHERE id IN (SELECT id FROM living WHERE generation = ?) "
                "ORDER BY fitness DESC, id DESC",
                number,
            )
        return self._individuals(
            "WHERE id IN (SELECT id FROM survivor WHERE generation = ? UNION "
            "SELECT id FROM individual WHERE generation = ?) ORDER BY fitness DESC, id DESC",
            number,
            number,
        )

    def best(self, generation: int | None = None) -> Individual:
        """The champion of a generation (None: the newest)."""
        number = self._newest() if generation is None else int(generation)
        rows = self._rows("SELECT champion FROM generation WHERE number = ?", number)
        if not rows:
            raise errors.NotFoundError(f"{self.path}: there is no generation {number}")
        return self.individual(rows[0][0])

    def _newest(self) -> int:
        newest = self._rows("SELECT max(number) FROM generation")[0][0]
        if newest is None:
            raise errors.NotFoundError(f"{self.path}: no generation is stored yet")
        return int(newest)

    def lineage(self, number: int) -> list[Individual]:
        """An individual and its ancestors, the eldest last."""
        line = [self.individual(number)]
        while line[-1].parent is not None:
            line.append(self.individual(line[-1].parent))
        return line

    @property
    def descriptors(self) -> tuple[str, ...]:
        """Names of the descriptors of MAP-Elites; none in other runs."""
        if self.format < _STEADY:
            return ()
        return tuple(row[0] for row in self._rows("SELECT name FROM descriptor ORDER BY number"))

    def descriptor_values(self, individuals: Sequence[Individual]) -> npt.NDArray[np.float64]:
        """(n, descriptors) of these individuals, for example of population(): the repertoire."""
        table = np.full((len(individuals), len(self.descriptors)), np.nan)
        for i, individual in enumerate(individuals):
            query = "SELECT descriptor, value FROM place WHERE id = ?"
            for number, value in self._rows(query, individual.id) if table.size else ():
                table[i, number] = np.nan if value is None else value
        return table

    @property
    def genomes(self) -> npt.NDArray[np.uint8]:
        """(n, genome_bytes) of all individuals by id."""
        rows = self._rows("SELECT genome FROM individual ORDER BY id")
        return np.array([self._padded(row[0]) for row in rows], np.uint8)

    @property
    def fitness(self) -> npt.NDArray[np.float64]:
        """(n,) of all individuals at birth, by id."""
        rows = self._rows("SELECT fitness FROM individual ORDER BY id")
        return np.array([np.nan if row[0] is None else row[0] for row in rows], np.float64)

    def to_pandas(self, table: str = "generation") -> Any:
        """A table as a pandas.DataFrame: "generation", "individual", "survivor", "verified"."""
        pandas = optional("pandas", "Archive.to_pandas")
        known = [row[0] for row in self._rows("SELECT name FROM sqlite_master WHERE type='table'")]
        if table not in known:
            raise errors.NotFoundError(
                f"there is no table {table!r}; there are: {', '.join(known)}"
            )
        names = [row[1] for row in self._rows(f"PRAGMA table_info({table})")]
        return pandas.DataFrame(self._rows(f"SELECT * FROM {table}"), columns=names)

    def close(self) -> None:
        """Closes the file; may be called twice."""
        self._database.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        rows = self.generations[-20:]
        names = ("number", "best", "mean", "champion", "seconds", "simulated")
        cells = [[row[name].item() for name in names] for row in rows]
        return table(f"{self!r}, its last generations", names, cells)

    def __repr__(self) -> str:
        try:
            size, newest = len(self), len(self.generations)
        except errors.ClosedError:
            return "<Archive, closed>"
        return f"<Archive {self.path}: {newest} generations, {size} individuals>"


# ---- recordings ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, repr=False)
class Series(Brief):
    """One recorded field: `values` of shape (time, robot, component)."""

    name: str
    values: npt.NDArray[Any]
    unit: str
    frame: str
    doc: str

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]


_TYPES: dict[int, np.dtype[Any]] = {
    lib.MF_F32: np.dtype("<f4"),
    lib.MF_F64: np.dtype("<f8"),
    lib.MF_I32: np.dtype("<i4"),
    lib.MF_U32: np.dtype("<u4"),
}


def _values(pointer: Any, shape: tuple[int, ...], kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """A copy of an array of C."""
    size = int(np.prod(shape)) * kind.itemsize
    return np.frombuffer(bytes(ffi.buffer(pointer, size)), kind).reshape(shape).copy()


class Recording:
    """A recording of `mayfly run --record` or of a Recorder, HDF5 or MCAP, all of it in memory.

    `recording["base.position"]` is a Series of shape (time, robot, component); with several groups
    `recording["blue/base.position"]`. A notebook shows a recording that is the value of a cell.

    Attributes:
        time: [s] of each sample.
        attributes: version of Mayfly, seed, step [s], kind ("HDF5" or "MCAP"); compression ("zstd",
            "deflate"), if there is any; model and group of a recording of one group; run, if the
            program gave one.
        scene: the text of the scene file that was run; "": none.
        complete: False if the run was killed: the last samples are missing.

    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path)
        context = default_context()._use()
        native = output(lib.mf_recording_open, context, encode(path), 0)
        try:
            self._load(native)
        finally:
            lib.mf_recording_destroy(native)

    def _load(self, native: Any) -> None:
        samples = int(native.samples)
        self.time: npt.NDArray[np.float64] = _values(native.time, (samples,), np.dtype("<f8"))
        self.attributes: dict[str, Any] = {
            "kind": text(native.kind),
            "version": text(native.version),
            "seed": int(native.seed),
            "step": float(native.step),
        }
        for name in ("compression", "model", "group", "run"):
            value = text(getattr(native, name))
            if value:
                self.attributes[name] = value
        self.scene = text(native.scene)
        self.complete = bool(native.complete)
        self._series: dict[str, Series] = {}
        for i in range(int(native.field_count)):
            field = native.fields[i]
            shape = (samples, int(field.count), int(field.components))
            name = text(field.name)
            self._series[name] = Series(
                name,
                _values(field.values, shape, _TYPES[int(field.type)]),
                text(field.unit),
                text(field.frame),
                text(field.description),
            )

    def __getitem__(self, name: str) -> Series:
        if name not in self._series:
            raise errors.NotFoundError(f"{name!r} was not recorded; there are: {', '.join(self)}")
        return self._series[name]

    def __contains__(self, name: object) -> bool:
        return name in self._series

    def __iter__(self) -> Iterator[str]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def to_pandas(self, robot: int = 0, names: Sequence[str] | None = None) -> Any:
        """One robot as a pandas.DataFrame over time, a column per component."""
        pandas = optional("pandas", "Recording.to_pandas")
        columns: dict[str, Any] = {}
        for name in self if names is None else names:
            values = self[name].values
            if not 0 <= robot < values.shape[1]:
                raise IndexError(f"{name}: there is no robot {robot} of {values.shape[1]}")
            for component in range(values.shape[2]):
                label = name if values.shape[2] == 1 else f"{name}[{component}]"
                columns[label] = values[:, robot, component]
        return pandas.DataFrame(columns, index=pandas.Index(self.time, name="time"))

    def _repr_html_(self) -> str:
        from mayfly.show import show  # noqa: PLC0415 - it needs this module

        return show(self)._repr_html_()

    def __repr__(self) -> str:
        return f"<Recording {self.path}: {len(self.time)} samples of {', '.join(self)}>"


def film_of(world: Any, title: Any, picture: Any) -> Any:
    """A film of a native world for recordings and viewers, with what these need of it."""
    film, joints = ffi.new("mf_Film **"), lib.mf_world_joints_of(world)
    call(lib.mf_film_record, world, title, ffi.NULL, joints, film, picture)
    return film[0]


class _Stage(Native):
    """What a recorder's file needs to be shown again."""

    def __init__(self, world: World) -> None:
        self._title = ffi.new("char[]", encode("Mayfly"))
        self.picture = ffi.new("mf_RecorderPicture *")
        with world._lock:
            self._take(lib.MFPY_FILM, film_of(world._use(), self._title, self.picture), [world])


class Recorder(Native):
    """Writes fields of a group, or of all groups of a world, to an HDF5 or MCAP file.

    Args:
        what: a group or a world.
        path: the file, which appears only after close(), complete. *.mcap: MCAP, with what Foxglove
            shows; all others: HDF5.
        fields: names, or paths within a robot ("knee/joint.angle"); None: base, joint angles and
            sensors.
        picture: the file also holds what is drawn, so that it can be shown again (`mayfly.show`,
            `mayfly view`).

    Run-time joints are also recorded while they exist: world_joints/force, moment, anchors,
    opening, angle, rate, acts and joint, of shape (time, row, component). A row holds one joint at
    a time, which `joint` names: WorldJoint.number and generation, kind, both sides.

    `with Recorder(group, "walk.h5") as record:` closes at the end, or drops the file when an
    exception ends the block. Call sample() to append a sample.

    """

    _sealed = True

    def __init__(
        self,
        what: Group | World,
        path: str | os.PathLike[str],
        fields: Sequence[str] | None = None,
        *,
        picture: bool = True,
    ) -> None:
        config = lib.mf_recorder_config()
        name = ffi.new("char[]", encode(path))
        config.path = name
        if isinstance(fields, str):
            raise TypeError("fields: need a list of names")
        alive: list[object] = []
        if fields is not None:
            config.fields = texts(fields, alive)
        self._world = what if isinstance(what, World) else what.world
        create = lib.mf_recorder_create_all if what is self._world else lib.mf_recorder_create
        self._stage = _Stage(self._world) if picture else None
        if self._stage is not None:
            config.picture = self._stage.picture
        with self._world._lock:
            native = output(create, what._use(), ffi.addressof(config))
            self._take(lib.MFPY_RECORDER, native, [self._world, *filter(None, [self._stage])])

    def _in_brief(self) -> str:
        return f"of {self._world!r}"

    def sample(self) -> None:
        """Appends all fields at the world's time."""
        with self._world._lock:
            call(lib.mf_recorder_sample, self._use())

    def close(self) -> None:
        """Writes buffered samples and completes the file; may be called twice."""
        if self._pointer is None:
            return
        with self._world._lock:
            native, owner = self._use(), self._owner
            lib.mfpy_object_forget(owner)
            super().close()
            call(lib.mf_recorder_close, native)

    def drop(self) -> None:
        """Stops without writing a file."""
        super().close()

    def __exit__(self, *failure: object) -> None:
        if failure[0] is None:
            self.close()
        else:
            self.drop()
