"""Terms of an environment of a task: actions with their past targets, observations with theirs."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly import errors
from mayfly._native import ffi, lib
from mayfly._program import Recorder, Symbol
from mayfly.arrays import Array
from mayfly.field import Field
from mayfly.group import Group
from mayfly.task import Action, Gaussian, Observation

if TYPE_CHECKING:
    from mayfly.envs.task import TaskVectorEnv

__all__ = ["ActionTerm", "ObservationTerm", "stream_of"]


def stream_of(kind: str, name: str) -> int:
    """The stream of random numbers of a term, which depends on nothing but its name."""
    return zlib.crc32(f"{kind}/{name}".encode())


def _followed(group: Group) -> Array | None:
    """The targets that actuators have followed, (blocks, lanes, joints); NAN: they follow the
    present ones also if these do not change. None: joints have no such actuators.
    """
    if "actuator.target" not in group:
        return None
    view = group.field("actuator.target").view
    data = lib.mf_group_find_field(group._use(), b"actuator.target").data
    memory = np.frombuffer(ffi.buffer(data, view.nbytes), view.dtype)
    return memory.reshape(len(view), -1, view.shape[1]).transpose(0, 2, 1)


class ActionTerm:
    """An action term of an environment: the targets of the last steps, [age][column][robot]."""

    def __init__(self, env: TaskVectorEnv, name: str, term: Action, first: int) -> None:
        self.term, self.name = term, name
        self.field: Field = env.group.field(term.field)
        if not self.field.writeable:
            raise errors.ArgumentError(f"action {name}: {term.field} is computed, not written")
        columns, offset = term.find(env)
        if not columns:
            raise errors.ArgumentError(f"action {name}: there is nothing to write")
        self.columns, self.actions = columns, slice(first, first + len(columns))
        try:
            self.scale = np.broadcast_to(np.asarray(term.scale, np.float32), (len(columns),))
            self.offset = np.broadcast_to(np.asarray(offset, np.float32), (len(columns),))
        except ValueError:
            raise errors.ArgumentError(
                f"action {name}: need one scale and offset, or {len(columns)} of them"
            ) from None
        steps = [round(time / env.task.step) for time in term.latency]
        self.lowest, self.spread = steps[0], steps[1] - steps[0]
        self.decimation = env.task.decimation
        ages = -(-steps[1] // self.decimation) + 1
        view = self.field.view
        blocks, lanes = view.shape[:2]
        self.targets = np.empty((ages, len(columns), blocks * lanes), np.float32)
        self.targets[...] = self.offset[:, None]
        self.lag = np.full(blocks * lanes, self.lowest, np.int32)  # [physics step]
        self.numbers = np.array(columns, np.uint32)
        self.native = lib.mf_group_find_field(env.group._use(), term.field.encode())
        if self.native == ffi.NULL:
            raise errors.ArgumentError(f"action {name}: {term.field}: need a whole field")
        self._arguments = (
            self.native,
            ffi.from_buffer("uint32_t[]", self.numbers),
            len(self.numbers),
            ffi.from_buffer("float[]", self.targets),
            ages,
            ffi.from_buffer("int32_t[]", self.lag),
        )
        self.stream = stream_of("action", name)
        self.followed = _followed(env.group) if term.field == "joint.target" else None

    def restart(self, seen: Any, recorder: Recorder) -> None:
        """Part of a program: targets of the default pose and new latencies."""
        for targets in self.targets:
            recorder.store(targets.T, self.offset)
        if self.spread:
            seen.draw_for(self.stream)
            drawn = seen.random(1)[:, 0] * np.float32(self.spread + 1)
            recorder.store(self.lag, drawn + np.float32(self.lowest))
        recorder.store_field(self.field.view, self.offset, self.columns)
        if self.followed is not None:
            recorder.store_field(self.followed, np.float32(np.nan), self.columns)

    def take(self, given: Symbol, recorder: Recorder) -> None:
        """Part of a program: new targets, of the action."""
        count = recorder.count
        for age in range(len(self.targets) - 1, 0, -1):
            newer = recorder.array(self.targets[age - 1].T[:count])
            recorder.store(self.targets[age].T[:count], newer)
        new = given[:, self.actions] * self.scale + self.offset
        if self.term.clip is not None:
            new = np.clip(new, *self.term.clip)
        recorder.store(self.targets[0].T[:count], new)

    def acts(self, substep: int) -> bool:
        """Whether targets begin to act in a physics step of the step."""
        if self.spread:
            return (substep - self.lowest) % self.decimation <= self.spread
        return (substep - self.lowest) % self.decimation == 0

    def write(self, substep: int) -> None:
        """Writes what begins to act in a physics step of the step."""
        lib.mfpy_write_targets(*self._arguments, substep, self.decimation)


class ObservationTerm:
    """An observation term of an environment: columns of its group, and its past."""

    def __init__(self, name: str, term: Observation, stream: int) -> None:
        self.name, self.term, self.stream = name, term, stream
        # Terms with the same function and the same objects as parameters are computed once.
        self.key = (term.func, *((k, id(v)) for k, v in sorted(term.params.items())))
        self.gaussian = isinstance(term.noise, Gaussian)
        if isinstance(term.noise, Gaussian):
            self.low, self.span = term.noise.mean, term.noise.std
        else:
            self.low = term.noise[0]
            self.span = float(np.float32(term.noise[1]) - np.float32(self.low))
        self.noisy = self.low != 0.0 or self.span != 0.0
        self.scale = np.asarray(term.scale, np.float32)
        self.plain = bool((self.scale == 1).all())
        self.history = max(term.history_length, 1)
        self.frames: Array | None = None  # [age][column][robot], the oldest first
        self.lag: Array | None = None
        self.columns = slice(0, 0)
        self.width = 0  # of one frame

    def shape(self, width: int, first: int, count: int) -> int:
        """Takes its columns; the first column after them."""
        self.width = width
        self.columns = slice(first, first + width * self.history)
        least, most = self.term.delay
        if most > 0:
            self.frames = np.zeros((self.history + most, width, count), np.float32)
            self.lag = np.full(count, least, np.int32)
        self.factors = np.ascontiguousarray(np.broadcast_to(self.scale, (width,)))
        return self.columns.stop

    def native(self, value: Array) -> dict[str, Any]:
        """As mfpy_Observation, of values that stay where they are, (robots, width)."""
        limits = self.term.clip or (0.0, 0.0)
        return {
            "value": ffi.cast("float *", value.__array_interface__["data"][0]),
            "stride": len(value),
            "noisy": self.noisy,
            "gaussian": self.gaussian,
            "limited": self.term.clip is not None,
            "stream": self.stream << 32,
            "low": self.low,
            "span": self.span,
            "least": limits[0],
            "most": limits[1],
            "scale": ffi.NULL if self.plain else ffi.from_buffer("float[]", self.factors),
            "width": self.width,
            "first": self.columns.start,
            "history": self.history,
        }
