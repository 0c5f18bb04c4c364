"""Scripts for `mayfly run SCENE --python FILE.py`, with the words of scripts in Lua.

    from mayfly.script import results, world

    height = world.property("robots[*]/base.position.z")
    world.every(0.02)  # [s]

    def tick(time):
        if min(height.all()) < 0.1:
            world.stop("one has fallen")

docs/how_to/scripts.md explains when `start`, `event`, `tick` and `finish` are called.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import os
import re
import signal
import struct
import sys
import types
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from mayfly import _messages as messages
from mayfly import _protocol as protocol
from mayfly import client, errors
from mayfly._shown import Shown
from mayfly._wire import Request, T

__all__ = ["Event", "Property", "Results", "ScriptWorld", "Table", "results", "world"]

_HOOKS = ("start", "event", "tick", "finish")
_FOREVER = 3e6  # [s] for answers: `mayfly run` ends a script that takes too long
_SPAN = 5.0  # [s] by which `mayfly run` waits longer than the script's own watch
_NONE = messages.ALL
_DOCKS = ("free", "closing", "engaged", "missed", "broken")
_STREAM = 0x73637270  # of random numbers, as in Lua
_INTEGERS = {2: (-(2**31), 2**31 - 1), 3: (0, 2**32 - 1)}


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that happened since the last tick; members that its kind has not are None."""

    kind: str  # "fault", "fall", "dock" or "score"
    group: str
    time: float  # [s]
    robot: int | None = None
    dock: str | None = None
    state: str | None = None
    fault: int | None = None


# ---- properties ----------------------------------------------------------------------------------


class Property(Shown):
    """All values of a path or pattern, robot by robot, as an array of numbers from 0 on."""

    def __init__(self, world: ScriptWorld, number: int, path: str) -> None:
        found = world._ask(protocol.find_property(number, path))
        group, robot, field, word = found.parts.T
        each = word & 0xFFFFFF
        self._world = world
        self._number = number
        self._name, self._unit = found.name, found.unit
        self._is_rotation = found.is_rotation
        self._locked = found.locked
        self.is_single = len(found.parts) == 1  # not several that match a pattern
        self._robots = list(zip(np.repeat(group, each).tolist(), np.repeat(robot, each).tolist()))
        self._types = np.repeat(word >> 24 & 7, each).tolist()
        self._moves = np.repeat(word >> 31, each).tolist()
        self._fields = set(field.tolist())
        self._values: list[float] | None = None
        self._epoch = -1
        if len(self._robots) != found.values:
            raise errors.CorruptError("a property came without its values")

    def __len__(self) -> int:
        return len(self._robots)

    def __getitem__(self, index: int) -> float:
        index = self._check(index)
        if self._world._marked and self._robots[index] in self._world._marked:
            self._world._renew()
        return self._read()[index]

    def __setitem__(self, index: int, value: float) -> None:
        index = self._check(index)
        self._put(index, [value])

    def _in_brief(self) -> str:
        return f"{self._name}, {len(self._robots)} values"

    def all(self) -> npt.NDArray[np.float64]:
        """All values in a new array."""
        if self._world._marked and not self._world._marked.isdisjoint(self._robots):
            self._world._renew()
        return np.array(self._read())

    def assign(self, values: npt.ArrayLike) -> None:
        """Writes all values; shape (len(self),)."""
        array = np.asarray(values, np.float64)
        if array.shape != (len(self),):
            raise errors.ArgumentError(
                f"property {self._name}: expected {len(self)} numbers, found shape {array.shape}"
            )
        self._put(0, array.tolist())

    def fill(self, value: float) -> None:
        """Writes the same number everywhere."""
        self._put(0, [value] * len(self))

    def robot(self, index: int) -> tuple[str, int]:
        """Group and robot of a value."""
        group, robot = self._robots[self._check(index)]
        return self._world.groups()[group], robot

    def unit(self) -> str:
        """The unit of the values; "1" for pure numbers."""
        return self._unit

    def _check(self, index: int) -> int:
        if not -len(self) <= index < len(self):
            raise IndexError(f"property {self._name}: it has {len(self)} values, found {index}")
        return index % len(self)

    def _read(self) -> list[float]:
        if self._values is None or self._epoch != self._world._epoch:
            self._values = self._world._ask(protocol.get(self._number))
            self._epoch = self._world._epoch
        return self._values

    def _put(self, first: int, values: Sequence[float], whole: bool = False) -> None:
        if self._locked is not None:
            raise errors.ArgumentError(
                f"property {self._name}: cannot be written, it is {self._locked}"
            )
        if self._is_rotation and not whole:
            raise errors.ArgumentError(
                f"property {self._name}: a rotation: write its four numbers by world.set"
            )
        rounded = [self._round(first + i, value) for i, value in enumerate(values)]
        self._world._put(self._number, first, struct.pack(f"<{len(rounded)}d", *rounded))
        if self._values is not None:
            self._values[first : first + len(rounded)] = rounded
        for field in self._fields:
            for other in self._world._by_field.get(field, ()):
                if other is not self:
                    other._values = None
        for i in range(first, first + len(rounded)):
            if self._moves[i]:
                self._world._marked.add(self._robots[i])

    def _round(self, index: int, value: float) -> float:
        number, kind = float(value), self._types[index]
        if kind == 0 and abs(number) <= 3.5e38:
            number = float(np.float32(number))
        if not math.isfinite(number) or (kind == 0 and abs(number) > 3.5e38):
            raise errors.ArgumentError(
                f"property {self._name}: expected a finite number, found {value}"
            )
        if kind in _INTEGERS:
            lower, upper = _INTEGERS[kind]
            if not (lower <= number <= upper and number == math.floor(number)):
                raise errors.ArgumentError(
                    f"property {self._name}: expected a whole number, found {value}"
                )
        return number


# ---- the world -----------------------------------------------------------------------------------


class ScriptWorld(Shown):
    """The world of the run."""

    def __init__(self) -> None:
        self._remote: client.RemoteWorld | None = None
        self._found: dict[str, Property] = {}
        self._by_field: dict[int, list[Property]] = {}
        self._writes: list[tuple[int, int, bytearray]] = []
        self._marked: set[tuple[int, int]] = set()  # robots of which state was written
        self._epoch = 0  # values that were read in an earlier one are old
        self._period = 0.0  # [s]
        self._tick = 0
        self._in_turn = False
        self._reason: str | None = None
        self._draws = 0
        self._seed = 0
        self._gaits: list[list[str]] = []
        self._docks: list[list[str]] = []

    def _in_brief(self) -> str:
        return "not running" if self._remote is None else repr(self._remote)

    @property
    def remote(self) -> client.RemoteWorld:
        """The connection, for whole fields as arrays: subscribe() and write() of its groups."""
        if self._remote is None:
            raise errors.ClosedError("no run: start this file by mayfly run SCENE --python FILE.py")
        return self._remote

    def every(self, period: float) -> None:
        """Sets the time between calls of `tick` [s], 0: each step; before `start` has ended."""
        if not 0.0 <= period <= 3600.0:
            raise errors.ArgumentError(f"expected a period of 0 .. 3600 s, found {period}")
        self._period = period

    def property(self, path: str) -> Property:
        """All values that match a path or pattern; resolve it once, outside of `tick`."""
        found = self._found.get(path)
        if found is not None:
            return found
        number = min(len(self._found), messages.PROPERTIES - 1)
        found = Property(self, number, path)
        if number < messages.PROPERTIES - 1:  # the last number is for all that come later
            self._found[path] = found
            for field in found._fields - {_NONE}:
                self._by_field.setdefault(field, []).append(found)
        return found

    def get(self, path: str) -> float | npt.NDArray[np.float64]:
        """One property by its path: a number, or an array of several."""
        found = self._single(path)
        return found[0] if len(found) == 1 else found.all()

    def set(self, path: str, value: npt.ArrayLike) -> None:
        """Writes one property: a number, or as many as it has."""
        found = self._single(path)
        values = np.atleast_1d(np.asarray(value, np.float64))
        if values.shape != (len(found),):
            raise errors.ArgumentError(
                f"property {path}: expected {len(found)} numbers, found shape {values.shape}"
            )
        found._put(0, values.tolist(), whole=len(found) % 4 == 0)
        if found._is_rotation:  # is normalized, or refused
            self._renew()

    def time(self) -> float:
        """Simulated time [s]."""
        return self._tick * self.remote.step_ns / 1e9

    def step(self) -> float:
        """Physics step [s]."""
        return self.remote.step_ns / 1e9

    def seed(self) -> int:
        """The seed of the world."""
        return self._seed

    def groups(self) -> list[str]:
        """Names of the groups."""
        return list(self.remote.groups)

    def count(self, group: str) -> int:
        """Robots of a group."""
        return self.remote[group].count

    def faults(self) -> int:
        """Robots with a fault."""
        return self._ask(protocol.about()).faults

    def reset(self, group: str, robot: int | None = None) -> None:
        """Back to the start: a robot, or all of the group."""
        first, count = self._range(group, robot)
        self._change(self.remote[group].reset, first, count)

    def motion(self, group: str, robot: int | None, name: str) -> None:
        """Switches the motion of a robot, or of all of the group."""
        first, count = self._range(group, robot)
        self._change(self.remote[group].switch, name, first, count)

    def gait(self, group: str, robot: int | None, name: str | None) -> None:
        """Makes a robot, or all of the group, follow one of the group's gaits; None: no gait."""
        names = self._gaits[self.remote[group].number]
        if name is not None and name not in names:
            raise errors.NotFoundError(f"group {group}: it has no gait {name}")
        self._spread(group, robot, "gait.select", [_NONE if name is None else names.index(name)])

    def command(
        self,
        group: str,
        robot: int | None,
        forward: float = 0.0,
        left: float = 0.0,
        yaw: float = 0.0,
    ) -> None:
        """Commands the gait of a robot, or of all of the group [m/s, m/s, rad/s]."""
        self._spread(group, robot, "gait.command", [forward, left, yaw])

    def connect(
        self,
        group: str,
        robot: int,
        dock: str,
        other: str,
        other_robot: int,
        other_dock: str,
        orientation: int = 0,
    ) -> None:
        """Joins two docks."""
        first, second = self._port(group, robot, dock), self._port(other, other_robot, other_dock)
        self._change(self.remote._ask, messages.DOCK.ask(True, *first, *second, orientation))

    def disconnect(self, group: str, robot: int, dock: str) -> None:
        """Separates a dock from its partner."""
        port = self._port(group, robot, dock)
        self._change(self.remote._ask, messages.DOCK.ask(False, *port, *port, 0))

    def snapshot(self) -> bytes:
        """The state of the world now."""
        self._flush()
        return self.remote.snapshot()

    def restore(self, snapshot: bytes) -> None:
        """That state again, its time too."""
        self._change(self.remote.restore, snapshot)
        if self._in_turn:  # a new one is given for the time that was restored
            self._tick = self._await_turn().tick

    def random(self, lower: float | None = None, upper: float | None = None) -> float:
        """0 <= x < 1; with one number n an integer of 1 .. n; with two lower <= x < upper."""
        words = _philox((self._draws & 0xFFFFFFFF, self._draws >> 32, 0, _STREAM), self._seed)
        self._draws += 1
        unit = ((words[0] << 32 | words[1]) >> 11) * 2.0**-53
        if lower is None:
            return unit
        if upper is not None:
            return lower + unit * (upper - lower)
        if not 1 <= lower < 2**32 or int(lower) != lower:
            raise errors.ArgumentError(f"expected an integer 1 .. 4294967295, found {lower}")
        return 1 + (words[0] * int(lower) >> 32)

    def stop(self, reason: str = "") -> None:
        """Ends the run after this function."""
        self._reason = reason

    # ---- what functions share --------------------------------------------------------------------

    def _single(self, path: str) -> Property:
        found = self.property(path)
        if not found.is_single:
            raise errors.ArgumentError(f"property {path}: several match")
        return found

    def _range(self, group: str, robot: int | None) -> tuple[int, int]:
        count = self.remote[group].count
        if robot is None:
            return 0, count
        if not 0 <= robot < count:
            raise errors.ArgumentError(
                f"group {group}: expected a robot 0 .. {count - 1}, found {robot}"
            )
        return robot, 1

    def _spread(self, group: str, robot: int | None, name: str, values: list[float]) -> None:
        first, count = self._range(group, robot)
        if name not in self.remote[group].fields:
            raise errors.NotFoundError(f"group {group}: it has no gaits")
        self.property(f"{group}[*]/{name}")._put(first * len(values), values * count)

    def _port(self, group: str, robot: int, dock: str) -> tuple[int, int, int]:
        first, _ = self._range(group, robot)
        number = self.remote[group].number
        if dock not in self._docks[number]:
            raise errors.NotFoundError(f"group {group}: it has no dock {dock}")
        return number, first, self._docks[number].index(dock)

    def _change(self, call: Callable[..., Any], *arguments: Any) -> None:
        self._flush()
        self._marked.clear()
        self._epoch += 1
        call(*arguments)

    def _ask(self, request: Request[T]) -> T:
        self._flush()
        return self.remote._ask(request)

    def _put(self, number: int, first: int, data: bytes) -> None:
        if self._writes:
            last, begin, values = self._writes[-1]
            if last == number and begin + len(values) // 8 == first:
                values += data
                return
        self._writes.append((number, first, bytearray(data)))

    def _flush(self) -> None:
        writes, self._writes = self._writes, []
        if writes:
            self.remote._ask(protocol.set_values(writes))

    def _renew(self) -> None:
        self._flush()
        self._marked.clear()
        self._epoch += 1

    def _await_turn(self) -> client.Turn:
        while self.remote._turn is None:
            self.remote._receive(_FOREVER)
        turn, self.remote._turn = self.remote._turn, None
        return turn

    def _begin(self, address: str) -> None:
        self._remote = remote = client.RemoteWorld(address, timeout=_FOREVER)
        remote.events = deque()  # none is dropped
        about = self._ask(protocol.about())
        self._seed = about.seed
        self._gaits = [gaits for gaits, _ in about.groups]
        self._docks = [docks for _, docks in about.groups]


def _philox(counter: tuple[int, int, int, int], seed: int) -> tuple[int, int, int, int]:
    """Philox4x32 with ten rounds: the random numbers of all of Mayfly."""
    a, b, c, d = counter
    low, high, mask = seed & 0xFFFFFFFF, seed >> 32, 0xFFFFFFFF
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b = second >> 32 ^ b ^ low, second & mask
        c, d = first >> 32 ^ d ^ high, first & mask
        low, high = low + 0x9E3779B9 & mask, high + 0xBB67AE85 & mask
    return a, b, c, d


# ---- results -------------------------------------------------------------------------------------


class Table(Shown):
    """A table of results."""

    def __init__(self, path: str, columns: Sequence[str]) -> None:
        # Line by line, so that what was measured stays whatever happens later.
        self._file = open(path, "w", buffering=1, encoding="utf-8", newline="")
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._columns = len(columns)
        self._name = os.path.basename(path)
        self._writer.writerow(columns)

    def _in_brief(self) -> str:
        return f"{self._name}, {self._columns} columns"

    def row(self, *values: float | str | bool | None) -> None:
        """Adds a row: as many numbers, texts, booleans or None as there are columns."""
        if len(values) != self._columns:
            raise errors.ArgumentError(
                f"results: {self._name}: expected {self._columns} values, found {len(values)}"
            )
        self._writer.writerow([_cell(value) for value in values])


class Results(Shown):
    """Files that the run leaves behind, in the folder of --results."""

    def __init__(self) -> None:
        self._folder: str | None = None
        self._tables: set[str] = set()

    def _in_brief(self) -> str:
        return f"{self._folder}" if self._folder is not None else "no run"

    def table(self, name: str, columns: Sequence[str]) -> Table:
        """A new table; `name` ends with .csv."""
        path = self._path(name, ".csv")
        if name in self._tables:
            raise errors.ArgumentError(f"results: {name} exists")
        self._tables.add(name)
        return Table(path, columns)

    def json(self, name: str, value: Any) -> None:
        """A result of dictionaries, lists, arrays, numbers and text; the last one counts."""
        with open(self._path(name, ".json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(_plain(value), ensure_ascii=False) + "\n")

    def _path(self, name: str, ending: str) -> str:
        if self._folder is None:
            raise errors.ClosedError("no run: start this file by mayfly run SCENE --python FILE.py")
        if not re.fullmatch(r"[\w][\w.-]{0,62}", name, re.ASCII) or not name.endswith(ending):
            raise errors.ArgumentError(
                "results: expected a name of at most 63 letters, digits, - and _ that ends with "
                f"{ending}, found {name!r}"
            )
        os.makedirs(self._folder, exist_ok=True)
        return os.path.join(self._folder, name)


def _cell(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return value


def _plain(value: Any) -> Any:
    """What JSON knows; it has neither infinity nor NaN."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value


world = ScriptWorld()
results = Results()

# ---- the run -------------------------------------------------------------------------------------


class _Failure(Exception):
    """An exception of the script: the line and the reason."""


class _Runner:
    def __init__(self, file: str, patience: float) -> None:
        self.file = file
        self.patience = patience
        self.hooks: dict[str, Callable[..., Any]] = {}
        signal.signal(signal.SIGALRM, self._ring)

    def _ring(self, number: int, frame: types.FrameType | None) -> None:
        raise errors.LimitError(f"it takes longer than {self.patience:g} s (--patience)")

    def call(self, name: str, function: Callable[..., Any], *arguments: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, self.patience)
        try:
            function(*arguments)
            world._flush()
        except BaseException as error:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            if world.remote._is_over:
                raise
            line, reason = self._describe(error)
            raise _Failure(f"{line} {name}: {reason}") from error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def _describe(self, error: BaseException) -> tuple[int, str]:
        line = 0
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.file:
                line = trace.tb_lineno
            trace = trace.tb_next
        text = str(error)
        if isinstance(error, SyntaxError) and error.filename == self.file:
            line, text = error.lineno or 0, error.msg
        text = " ".join(text.split())
        return line, f"{type(error).__name__}: {text}" if text else type(error).__name__

    def load(self) -> None:
        """Runs the text of the script itself."""
        module = types.ModuleType("__mayfly_script__")
        module.__file__ = self.file
        sys.modules[module.__name__] = module
        sys.path.insert(0, os.path.dirname(os.path.abspath(self.file)))
        with open(self.file, "rb") as source:
            exec(compile(source.read(), self.file, "exec"), module.__dict__)
        for name in _HOOKS:
            function = getattr(module, name, None)
            if callable(function):
                self.hooks[name] = function

    def hook(self, name: str, *arguments: Any) -> None:
        if name in self.hooks:
            self.call(name, self.hooks[name], *arguments)

    def stop(self) -> None:
        world.remote._ask(messages.STOP.ask(tail=(world._reason or "").encode()))

    def run(self) -> None:
        self.call("main", self.load)
        if world._reason is None:
            self.hook("start")
        remote = world.remote
        remote.watch("end", *(("raised", "fall", "dock", "score") if "event" in self.hooks else ()))
        if world._reason is not None:
            self.stop()
        else:
            remote._ask(protocol.lock_step(True, world._period, self.patience + _SPAN))
        while self.turn():
            pass
        self.hook("finish")

    def turn(self) -> bool:
        """Waits for the next turn and takes it; False: the run is over."""
        remote = world.remote
        while remote._turn is None:
            if remote.events and remote.events[-1].name == "end":
                world._tick = remote.events[-1].tick
                world._renew()
                return False
            remote._receive(_FOREVER)
        turn, remote._turn = remote._turn, None
        remote._pending = []
        world._tick = turn.tick
        world._in_turn = True
        world._renew()
        happened = list(remote.events)
        remote.events.clear()
        for event in happened:
            self.hook("event", self.event(event))
        self.call("control", remote._tell_controls)
        if world._reason is None:
            self.hook("tick", world.time())
        world._in_turn = False
        writes, remote._pending = remote._pending, None
        stops = world._reason is not None
        remote._send_writes(writes, world._tick, go=not stops)
        if stops:
            self.stop()
        return True

    def event(self, event: client.Event) -> Event:
        group = world.groups()[event.group]
        time = event.tick * world.remote.step_ns / 1e9
        if event.name == "dock":
            dock = world._docks[event.group][event.value & 0xFFFF]
            return Event("dock", group, time, event.instance, dock, _DOCKS[event.value >> 16])
        if event.name == "raised":
            return Event("fault", group, time, event.instance, fault=event.value)
        return Event(event.name, group, time, event.instance)


def main(address: str, file: str, folder: str, patience: str) -> NoReturn:
    """Runs a script; `mayfly run --python` calls this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # `mayfly run` ends the run, and then this
    results._folder = os.path.join(folder, "results")
    try:
        world._begin(address)
        _Runner(file, float(patience)).run()
        world.remote.close()
    except _Failure as failure:
        with open(os.path.join(folder, "error"), "w", encoding="utf-8") as note:
            note.write(str(failure))
    except errors.MayflyError as error:  # of the connection: `mayfly run` knows why
        if world._remote is None or not world.remote._is_over:
            with open(os.path.join(folder, "error"), "w", encoding="utf-8") as note:
                note.write(f"0 {error}")
    else:
        sys.exit(0)
    sys.exit(1)
