"""Policies: a function that runs on every robot of a group and sees only what its robot senses."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import call, encode, ffi, lib, texts
from mayfly._sealed import Sealed
from mayfly.arrays import Array, whole
from mayfly.messages import Message, dock_number, pack, unpack

if TYPE_CHECKING:
    from mayfly.group import Group

__all__ = ["Noise", "RobotPolicy", "PolicyRecipe", "add_policy"]

# A law of noise: maps the values of a percept or of a command to what is read or done.
Noise = Callable[["RobotPolicy", Array], npt.ArrayLike]


@dataclasses.dataclass(frozen=True)
class PolicyRecipe:
    """The arguments of Group.add_policy, sufficient to add the policy again."""

    function: Callable[[RobotPolicy], object]
    percepts: tuple[str, ...]
    actions: tuple[str, ...]
    noise: Mapping[str, float | Noise]
    made: Mapping[str, Callable[[RobotPolicy], object]]
    memory: int
    tick: float
    name: str


class Memory:
    """The numbers that one robot remembers."""

    def __init__(self, native: Any, size: int) -> None:
        self._native = native
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> float:
        if not 0 <= index < self._size:
            raise IndexError(f"memory: need 0 .. {self._size - 1}, got {index}")
        return float(lib.mf_policy_memory(self._native, index))

    def __setitem__(self, index: int, value: float) -> None:
        if not 0 <= index < self._size:
            raise IndexError(f"memory: need 0 .. {self._size - 1}, got {index}")
        lib.mf_policy_set_memory(self._native, index, float(value))

    def __iter__(self) -> Iterator[float]:
        return (self[i] for i in range(self._size))


class RobotPolicy(Sealed):
    """What one robot senses, remembers, says and does, while its function is called.

    Attributes:
        memory: numbers that the robot remembers, `memory[0]` ...; zero after a reset.

    """

    def __init__(self, native: Any, recipe: PolicyRecipe, model: Any) -> None:
        self._native = native
        self._recipe = recipe
        self._model = model
        self._made: dict[str, object] = {}
        self.memory = Memory(native, recipe.memory)
        self._seal()

    @property
    def time(self) -> float:
        """[s] at the beginning of the step."""
        return float(lib.mf_time_to_seconds(lib.mf_policy_time(self._native)))

    def __repr__(self) -> str:
        return f"<RobotPolicy: {self._recipe.name}, robot {self.robot}>"

    @property
    def period(self) -> float:
        """[s] between two ticks."""
        return float(lib.mf_policy_period(self._native))

    @property
    def robot(self) -> int:
        """The robot's serial number: that in its group."""
        return int(lib.mf_policy_robot(self._native))

    @property
    def docks(self) -> int:
        """Number of docks of the robot."""
        return int(lib.mf_policy_docks(self._native))

    def percept(self, name: str) -> Any:
        """The robot's values of a field that is listed in `percepts`, with its law of noise.

        Of a name in `made`: what its function returns, which is called once in a tick.
        """
        if name in self._recipe.made:
            if name not in self._made:
                self._made[name] = self._recipe.made[name](self)
            return self._made[name]
        number = _find(self._recipe.percepts, name, "percepts")
        size = int(lib.mf_policy_percept_size(self._native, number))
        values = [lib.mf_policy_percept(self._native, number, c) for c in range(size)]
        return self._disturb(name, np.array(values, dtype=np.float64))

    def _disturb(self, name: str, values: Array) -> Array:
        law = self._recipe.noise.get(name)
        if not callable(law):
            return values
        return np.broadcast_to(np.asarray(law(self, values), dtype=np.float64), values.shape)

    def act(self, name: str, values: npt.ArrayLike) -> None:
        """Commands all values of a field that is listed in `actions`; their noise is added."""
        number = _find(self._recipe.actions, name, "actions")
        size = int(lib.mf_policy_action_size(self._native, number))
        row = np.broadcast_to(np.asarray(values, dtype=np.float64), (size,))
        row = self._disturb(name, row)
        if not np.isfinite(row).all():
            raise ValueError(f"{name}: need finite numbers, got {values!r}")
        for c in range(size):
            lib.mf_policy_act(self._native, number, c, float(row[c]))

    def send(self, dock: int | str, type: int, content: bytes = b"") -> bool:
        """Sends a message to whoever is docked; False: there is no space for it."""
        number = dock_number(self._model, dock)
        return bool(lib.mf_policy_send(self._native, number, pack(type, content)))

    def receive(self, dock: int | str | None = None) -> Message | None:
        """Takes the oldest message that arrived, at a dock or any; None: there is none."""
        number = lib.MF_NONE if dock is None else dock_number(self._model, dock)
        out = ffi.new("mf_Message *")
        return unpack(out) if lib.mf_policy_receive(self._native, number, out) else None

    def random(self, stream: int = 0) -> npt.NDArray[np.uint32]:
        """Four random words of the robot, the tick and a stream."""
        out = ffi.new("uint32_t[4]")
        lib.mf_policy_random(self._native, whole(stream, "random: stream", 0, 2**31), out)
        return np.array(list(out), dtype=np.uint32)


def _find(names: tuple[str, ...], name: str, what: str) -> int:
    if name not in names:
        raise errors.NotFoundError(f"policy: {name!r} is not in {what}: {', '.join(names)}")
    return names.index(name)


def add_policy(group: Group, recipe: PolicyRecipe) -> Any:
    """Adds a policy to a native group; returns what must live as long as the world."""
    model, failures = group.model._use(), group.world._failures

    def act(native: Any, user: Any) -> bool:
        recipe.function(RobotPolicy(native, recipe, model))
        return True

    def failed(kind: Any, error: BaseException, trace: Any) -> bool:
        failures.append(error)
        return False  # the robot gets a fault

    alive: list[object] = []
    config = lib.mf_policy_config()
    callback = ffi.callback("mf_PolicyFn", act, onerror=failed)
    name = ffi.new("char[]", encode(recipe.name))
    sizes_of = (recipe.noise.get(action, 0.0) for action in recipe.actions)
    noise = [0.0 if callable(size) else float(size) for size in sizes_of]
    for unknown, law in recipe.noise.items():
        if unknown not in recipe.actions + (recipe.percepts if callable(law) else ()):
            raise errors.ArgumentError(
                f"noise: {unknown!r} is not in actions; of percepts it is a function"
            )
    for both in set(recipe.made) & set(recipe.percepts):
        raise errors.ArgumentError(f"made: {both!r} is in percepts")
    sizes = ffi.new("double[]", noise or [0.0])
    config.name, config.function, config.noise = name, callback, sizes
    config.percepts = texts(recipe.percepts, alive)
    config.actions = texts(recipe.actions, alive)
    config.memory = whole(recipe.memory, "memory", 0, lib.MF_POLICY_MEMORY + 1)
    if recipe.tick:
        out = ffi.new("mf_Time *")
        out[0] = round(recipe.tick * 1e9)
        config.rate = lib.mf_rate_from_period(out[0])
    call(lib.mf_policy_add, group._use(), ffi.addressof(config))
    return callback
