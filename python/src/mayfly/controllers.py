"""Batches of controllers, one per robot, for mayfly.evaluate().

Programs, Oscillators, Linear and MLP run in C, in lanes and threads. A Policy is any function,
called for all robots at once between steps.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly._native import call, ffi, lib, text
from mayfly._shown import Shown
from mayfly.arrays import Array
from mayfly.group import Group
from mayfly.model import Model

__all__ = ["MLP", "Controllers", "Linear", "Oscillators", "Policy", "Programs"]


_GP_BYTES: int = lib.MF_GP_BYTES


class Controllers(Shown):
    """Base class of batches of `count` controllers, one per robot.

    Attributes:
        kind: argument `controller` of add_group.
        settings: other arguments of add_group.
        tick: [s] interval of calls of act(); None: never, they run in C.

    """

    count: int
    kind: str | None = None
    tick: float | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """Other arguments of add_group."""
        return {}

    def start(self, group: Group) -> None:
        """Gives every robot of the group its controller."""

    def act(self, group: Group, time: float) -> None:
        """Called every `tick` seconds: reads fields and writes targets."""

    def __len__(self) -> int:
        return self.count

    def _form(self) -> Any:
        """Equal for batches of a kind that differ in their rows alone."""
        return self.settings

    def _in_brief(self) -> str:
        return f"{self.count} robots"


def _finite(values: npt.ArrayLike, what: str) -> npt.NDArray[np.float64]:
    given = np.asarray(values)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{what}: need real numbers, got {given.dtype}")
    if not np.isfinite(given).all():
        raise ValueError(f"{what}: need finite numbers")
    return given.astype(np.float64)


class Programs(Controllers):
    """Machine-code programs of 32 bytes each, as the evolution of walkers uses them.

    Args:
        programs: bytes of shape (n, 32), or a list of bytes or texts ("left 3", one instruction a
            line; docs/reference/controllers.md has the language).
        settings: of the machine: `rate` [1/s] of its ticks, `instructions_per_tick`,
            `angle_per_move` [rad], `unknown` "ignore" or "wrap".

    """

    kind = "gp"

    def __init__(self, programs: npt.ArrayLike | Sequence[bytes | str], **settings: Any) -> None:
        if isinstance(programs, (list, tuple)):
            rows = [self._bytes(program, i) for i, program in enumerate(programs)]
            table = np.array(rows, np.uint8) if rows else np.zeros((0, _GP_BYTES), np.uint8)
        else:
            table = np.asarray(programs)
        if table.ndim != 2 or table.shape[1] != _GP_BYTES or table.shape[0] == 0:
            raise ValueError(f"programs: need shape (n, {_GP_BYTES}), got {table.shape}")
        if table.dtype.kind not in "iu" or table.min() < 0 or table.max() > 255:
            raise ValueError("programs: need whole numbers 0 .. 255")
        self.programs: npt.NDArray[np.uint8] = table.astype(np.uint8)
        self.count = len(self.programs)
        self._settings = settings

    @staticmethod
    def _bytes(program: Any, index: int) -> list[int]:
        if isinstance(program, str):
            out = ffi.new(f"uint8_t[{_GP_BYTES}]")
            call(lib.mf_gp_assemble, program.encode(), out)
            return list(out)
        row = list(bytes(program)) if isinstance(program, (bytes, bytearray)) else list(program)
        if len(row) != _GP_BYTES:
            raise ValueError(f"programs[{index}]: need {_GP_BYTES} bytes, got {len(row)}")
        return row

    @property
    def settings(self) -> dict[str, Any]:
        """Of the machine, if some were given."""
        return {"gp": self._settings} if self._settings else {}

    def start(self, group: Group) -> None:
        group["gp.program"] = self.programs

    def _in_brief(self) -> str:
        return f"{self.count} programs of {_GP_BYTES} bytes"

    def text(self, index: int) -> str:
        """A program as text, one instruction a line."""
        row = ffi.from_buffer("uint8_t[]", np.ascontiguousarray(self.programs[index]))
        size = int(lib.mf_gp_disassemble(row, ffi.NULL, 0)) + 1
        out = ffi.new("char[]", size)
        lib.mf_gp_disassemble(row, out, size)
        return text(out)


_LIMITS = np.dtype(
    {
        "names": ["type", "lower", "upper"],
        "formats": [np.int32, np.float64, np.float64],
        "offsets": [ffi.offsetof("mf_Joint", name) for name in ("type", "lower", "upper")],
        "itemsize": ffi.sizeof("mf_Joint"),
    }
)


def joint_ranges(model: Model) -> tuple[Array, Array]:
    """Lower and upper end of the used range of each joint: its range, or +-pi rad, +-1 m."""
    native = model._use()
    if model._ranges is None:
        size = int(native.joint_count) * int(ffi.sizeof("mf_Joint"))
        joints = np.frombuffer(ffi.buffer(native.joints, size), _LIMITS) if size > 0 else _NO_JOINTS
        reach = np.where(joints["type"] == lib.MF_JOINT_SLIDE, 1.0, np.pi)
        lower, upper = joints["lower"], joints["upper"]
        model._ranges = (
            np.where(np.isfinite(lower), lower, -reach),
            np.where(np.isfinite(upper), upper, reach),
        )
    return model._ranges


_NO_JOINTS = np.zeros(0, _LIMITS)


class Oscillators(Controllers):
    """Sine waves: target = offset + amplitude * sin(2 pi (frequency * time + phase)) per joint.

    Args:
        amplitude, offset: [rad] or [m], shape (n, joints).
        phase: [1] revolutions, shape (n, joints).
        frequency: [Hz], shape (n,).
        rate: [1/s] of ticks.

    """

    kind = "oscillator"

    def __init__(
        self,
        amplitude: npt.ArrayLike,
        phase: npt.ArrayLike,
        frequency: npt.ArrayLike,
        offset: npt.ArrayLike | None = None,
        rate: float = 12.5,
    ) -> None:
        self.amplitude = _finite(amplitude, "amplitude")
        if self.amplitude.ndim != 2:
            raise ValueError(f"amplitude: need shape (n, joints), got {self.amplitude.shape}")
        self.phase = self._like(phase, "phase")
        self.offset = self._like(0.0 if offset is None else offset, "offset")
        self.count = len(self.amplitude)
        self.frequency = np.array(np.broadcast_to(_finite(frequency, "frequency"), (self.count,)))
        self._own_offset = offset is not None
        self._rate = rate

    def _form(self) -> Any:
        return self.amplitude.shape[1], self._own_offset, self._rate

    def _like(self, values: npt.ArrayLike, what: str) -> npt.NDArray[np.float64]:
        given = _finite(values, what)
        try:
            return np.array(np.broadcast_to(given, self.amplitude.shape))
        except ValueError:
            raise ValueError(
                f"{what}: need shape {self.amplitude.shape}, got {given.shape}"
            ) from None

    @classmethod
    def from_unit(
        cls, vectors: npt.ArrayLike, model: Model | Sequence[Model], rate: float = 12.5
    ) -> Oscillators:
        """From search vectors of shape (n, 3 * joints + 1) with values in 0 .. 1.

        `model` is the robot, or a list with a model of one tree for each vector. Each joint has
        three: center within its range, amplitude relative to half the range, and phase in cycles;
        the last value is the frequency from 0 to 2 Hz. A search that leaves the
        unit cube must map its vectors itself, for example by numpy.clip(vectors, 0, 1).

        Raises:
            ValueError: a value is not in 0 .. 1.

        """
        rows = np.atleast_2d(_finite(vectors, "vectors"))
        models = [model] if isinstance(model, Model) else list(model)
        if len(models) not in (1, len(rows)):
            raise ValueError(f"vectors: need one for each of {len(models)} models, got {len(rows)}")
        for one in models:
            requested = 3 * int(one._use().joint_count) + 1
            if rows.shape[1] != requested:
                raise ValueError(
                    f"vectors: need shape (n, {requested}) for {one!r}, got {rows.shape}"
                )
        wrong = (rows < 0) | (rows > 1)
        if wrong.any():
            row, column = np.unravel_index(int(np.argmax(wrong)), rows.shape)
            raise ValueError(
                f"vectors: need values in 0 .. 1, got {rows[row, column]:g} in row {row}, "
                f"column {column}"
            )
        ranges = [joint_ranges(one) for one in models]
        lower = np.array([low for low, _ in ranges])
        span = np.array([high for _, high in ranges]) - lower
        made = cls.__new__(cls)  # its arrays are known to fit
        made.count = len(rows)
        made.offset = lower + rows[:, 0:-1:3] * span
        made.amplitude = 0.5 * rows[:, 1:-1:3] * span
        made.phase, made.frequency = rows[:, 2:-1:3].copy(), 2.0 * rows[:, -1]
        made._own_offset, made._rate = True, rate
        return made

    @classmethod
    def from_genomes(cls, genomes: npt.ArrayLike, model: Model, rate: float = 12.5) -> Oscillators:
        """From the bytes that `mayfly evolve` stores (docs/reference/scenes.md, Genomes)."""
        table = np.asarray(genomes)
        if table.dtype != np.uint8 or table.ndim != 2:
            raise ValueError("genomes: need bytes, an array of uint8 of shape (n, bytes)")
        unit = table / 255.0
        unit[:, 2:-1:3] = table[:, 2:-1:3] / 256.0
        return cls.from_unit(unit, model, rate)

    @property
    def settings(self) -> dict[str, Any]:
        """The rate of ticks."""
        return {"oscillator": {"rate": self._rate}}

    def _in_brief(self) -> str:
        joints = self.amplitude.shape[1]
        low, high = self.frequency.min(), self.frequency.max()
        return f"{self.count} robots of {joints} joints, {low:.3g} to {high:.3g} Hz"

    def start(self, group: Group) -> None:
        native = group.model._use()
        joints = int(native.joint_count)
        if self.amplitude.shape[1] != joints:
            raise ValueError(f"oscillators: need {joints} joints, have {self.amplitude.shape[1]}")
        if self.count not in (1, group.count):
            raise ValueError(f"oscillators: need {group.count} robots, have {self.count}")
        for name, rows in (
            ("offset", self.offset if self._own_offset else _start_angles(group.models)),
            ("amplitude", self.amplitude),
            ("phase", self.phase),
            ("frequency", self.frequency[:, None]),
        ):
            if len(rows) != group.count:
                rows = np.broadcast_to(rows, (group.count, rows.shape[1]))
            group._write_rows(f"oscillator.{name}", rows)


def _start_angles(models: Sequence[Model]) -> Array:
    """Of each joint, (robots, joints)."""
    angles = {
        model: ffi.unpack(model._use().start_angle, model._use().joint_count)
        for model in dict.fromkeys(models)
    }
    return np.array([angles[model] for model in models], np.float64)


def joined(batches: Sequence[Controllers]) -> Controllers | None:
    """One batch with the rows of all, for one group; None: they need a group each."""
    first = batches[0]
    if len(batches) == 1:
        return first
    kind, form = type(first), first._form()
    if kind not in _ROWS or not all(type(b) is kind and _same(b._form(), form) for b in batches):
        return None
    whole = copy.copy(first)
    whole.count = sum(batch.count for batch in batches)
    for name in _ROWS[kind]:
        lists = [getattr(batch, name) for batch in batches]
        layered = isinstance(lists[0], list)
        rows = [np.concatenate(part) for part in (zip(*lists, strict=True) if layered else [lists])]
        setattr(whole, name, rows if layered else rows[0])
    return whole


def rows_of(batch: Controllers, rows: slice) -> Controllers:
    """Some rows of a batch of a kind with rows."""
    some = copy.copy(batch)
    for name in _ROWS[type(batch)]:
        values = getattr(batch, name)
        cut = [v[rows] for v in values] if isinstance(values, list) else values[rows]
        setattr(some, name, cut)
    some.count = len(range(batch.count)[rows])
    return some


def has_rows(batch: Controllers) -> bool:
    """Whether rows_of() can take it apart."""
    return type(batch) in _ROWS


def _same(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except ValueError:  # arrays among the settings
        return False


OBSERVED = (
    "base.orientation",
    "base.linear_velocity",
    "base.angular_velocity",
    "joint.angle",
    "joint.rate",
)


class MLP(Controllers):
    """Neural networks with tanh and separate weights for each robot; they run in C.

    Actions are mapped by tanh to the range of joint or control (docs/reference/controllers.md).

    Args:
        weights: for each layer (n, outputs, inputs).
        biases: for each layer (n, outputs); None: 0.
        observe: fields, one after the other.
        act: the field that actions go to, "joint.target" or "actuator.control".
        rate: [1/s] of actions.
        settings: `lower` and `upper`, the range of each action; None: the model's.
    """

    kind = "network"

    def __init__(
        self,
        weights: Sequence[npt.ArrayLike],
        biases: Sequence[npt.ArrayLike] | None = None,
        *,
        observe: Sequence[str] = OBSERVED,
        act: str = "joint.target",
        rate: float = 50.0,
        **settings: Any,
    ) -> None:
        self.weights = [_finite(layer, "weights") for layer in weights]
        if not self.weights or any(layer.ndim != 3 for layer in self.weights):
            raise ValueError("weights: need layers of shape (n, outputs, inputs)")
        self.count = len(self.weights[0])
        for before, after in zip(self.weights, self.weights[1:]):
            if after.shape[::2] != (self.count, before.shape[1]):
                raise ValueError(
                    f"weights: a layer {before.shape} cannot feed one of {after.shape}"
                )
        given = [0.0] * len(self.weights) if biases is None else biases
        if len(given) != len(self.weights):
            raise ValueError(f"biases: need {len(self.weights)} layers, got {len(given)}")
        self.biases = [self._bias(b, layer) for b, layer in zip(given, self.weights)]
        self.observe = tuple(observe)
        self._more = {"output": act, "rate": rate, **settings}

    def _form(self) -> Any:
        return [layer.shape[1:] for layer in self.weights], self.settings

    def _in_brief(self) -> str:
        sizes = [self.weights[0].shape[2], *(layer.shape[1] for layer in self.weights)]
        return (
            f"{self.count} robots, {' - '.join(map(str, sizes))} units, to {self._more['output']}"
        )

    @staticmethod
    def _bias(bias: npt.ArrayLike, layer: Array) -> Array:
        values = _finite(bias, "biases")
        try:
            return np.broadcast_to(values, layer.shape[:2])
        except ValueError:
            raise ValueError(f"biases: need shape {layer.shape[:2]}, got {values.shape}") from None

    @property
    def settings(self) -> dict[str, Any]:
        """Fields, layers, rate and range of the network."""
        hidden = [layer.shape[1] for layer in self.weights[:-1]]
        return {"network": {"inputs": list(self.observe), "hidden": hidden, **self._more}}

    def start(self, group: Group) -> None:
        seen = sum(group[name].view[0, 0].size for name in self.observe)
        acts = group[str(self._more["output"])].view[0, 0].size
        requested = (self.weights[0].shape[2], self.weights[-1].shape[1])
        if (seen, acts) != requested:
            raise ValueError(
                f"weights: are for {requested[0]} inputs and {requested[1]} outputs, the robot has "
                f"{seen} and {acts}"
            )
        rows = [
            np.concatenate([weight, bias[:, :, None]], axis=2).reshape(self.count, -1)
            for weight, bias in zip(self.weights, self.biases)
        ]
        group["network.weight"] = np.concatenate(rows, axis=1)


class Linear(MLP):
    """actions = weights @ observation + bias, mapped by tanh; separate weights for each robot.

    Args:
        weights: (n, actions, values).
        bias: (n, actions); None: 0.
        more: as for MLP.
    """

    def __init__(
        self, weights: npt.ArrayLike, bias: npt.ArrayLike | None = None, **more: Any
    ) -> None:
        super().__init__([weights], None if bias is None else [bias], **more)


# The attributes of each kind with a row for each robot.
_ROWS: dict[type, tuple[str, ...]] = {
    Programs: ("programs",),
    Oscillators: ("amplitude", "phase", "offset", "frequency"),
    MLP: ("weights", "biases"),
    Linear: ("weights", "biases"),
}


# ---- in NumPy ------------------------------------------------------------------------------------


class Policy(Controllers):
    """Any function from observations to actions, called for all robots at once.

    Args:
        function: from observations of shape (n, values) to actions of shape (n, actions).
        count: number of robots.
        observe: fields, one after the other.
        act: the field that actions go to, "joint.target" or "actuator.control".
        tick: [s] between two actions.
        squash: actions are mapped by tanh to the range of joint or control.

    """

    def __init__(
        self,
        function: Callable[[Array], npt.ArrayLike],
        count: int,
        *,
        observe: Sequence[str] = OBSERVED,
        act: str = "joint.target",
        tick: float = 0.02,
        squash: bool = True,
    ) -> None:
        if not callable(function):
            raise TypeError(f"function: need something to call, got {function!r}")
        self._function = function
        self.count = count
        self.observe = tuple(observe)
        self.target = act
        self.tick = tick
        self._squash = squash
        self._range: tuple[Array, Array] | None = None

    @staticmethod
    def observations(group: Group, fields: Sequence[str] = OBSERVED) -> Array:
        """The fields of all robots side by side, (n, values)."""
        return np.concatenate([group[name].read().reshape(group.count, -1) for name in fields], 1)

    def start(self, group: Group) -> None:
        self._range = self._find_range(group) if self._squash else None

    def _in_brief(self) -> str:
        return f"{self.count} robots, {', '.join(self.observe)} to {self.target}, {self.tick:g} s"

    def _find_range(self, group: Group) -> tuple[Array, Array]:
        if self.target != "actuator.control":
            lower, upper = joint_ranges(group.model)
        else:
            actuators = group.model.actuators
            lower = np.array([max(a.control_lower, -1e3) for a in actuators])
            upper = np.array([min(a.control_upper, 1e3) for a in actuators])
            free = (lower == -1e3) | (upper == 1e3)
            lower[free], upper[free] = -1.0, 1.0
        return 0.5 * (lower + upper), 0.5 * (upper - lower)

    def act(self, group: Group, time: float) -> None:
        seen = self.observations(group, self.observe)
        wrong = group.fault != 0
        if wrong.any():
            seen[wrong] = 0.0
        actions = np.asarray(self._function(seen), np.float64)
        if self._range is not None:
            middle, half = self._range
            actions = middle + half * np.tanh(actions)
        if actions.ndim != 2 or len(actions) != group.count:
            raise ValueError(
                f"function: need actions of shape ({group.count}, ...), got {actions.shape}"
            )
        bad = np.nonzero(~np.isfinite(actions).all(axis=1))[0]
        actions = np.where(np.isfinite(actions), actions, 0.0)
        field = group[self.target]
        field[...] = actions
        # A robot whose controller fails gets a fault, as with controllers in C; others continue.
        field.view[bad // 16, bad % 16] = np.nan
