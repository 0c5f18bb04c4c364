"""The native environment: robots of one task that step together on NumPy arrays. It does not need
Gymnasium; the interface of Gymnasium is in vector.py.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import Native, Turn, check, ffi, lib, output, text
from mayfly.arrays import whole
from mayfly.context import Context, default_context
from mayfly.envs.settings import settings_of, task_info
from mayfly.group import Group
from mayfly.group_setup import MOTIONS, recipe_of
from mayfly.model import Model
from mayfly.world import World

__all__ = ["ENDLESS", "NativeEnvironment", "Rows"]

ENDLESS: int = lib.MF_NONE
_AUTORESET = {
    "NextStep": lib.MF_AUTORESET_NEXT_STEP,
    "SameStep": lib.MF_AUTORESET_SAME_STEP,
    "Disabled": lib.MF_AUTORESET_OFF,
}
_INTEGRATORS = {
    "file": lib.MF_ENVIRONMENT_AS_FILE,
    "euler": lib.MF_ENVIRONMENT_EULER,
    "rk4": lib.MF_ENVIRONMENT_RK4,
}
_MOTIONS = {name: getattr(lib, f"MF_MOTION_{name.upper()}") for name in MOTIONS}


@dataclasses.dataclass
class Rows:
    """The arrays that C fills, row i for robot i; final ones only for resets in the same step."""

    observation: npt.NDArray[Any]
    reward: npt.NDArray[np.float64]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    signals: npt.NDArray[np.float64]
    final_observation: npt.NDArray[Any] | None = None
    final_signals: npt.NDArray[np.float64] | None = None
    final_warning: npt.NDArray[np.uint32] | None = None
    final_fault: npt.NDArray[np.uint32] | None = None


class EnvironmentWorld(World):
    """The world that an environment owns: for reading, recording, snapshots."""

    def __init__(self, environment: NativeEnvironment, native: Any) -> None:
        # World.__init__ would make a new one.
        import weakref

        self._lock = environment.lock
        self._fields = weakref.WeakSet()
        self._settings = {}
        self._threads = None
        self._start_without_parts()
        self._environment = environment
        self.terrain = None
        self._ground = ffi.NULL
        self._context = environment.context
        self._owner = environment._owner
        self._pointer = native
        self._process = environment._process
        self._seal()

    def _hand(self) -> Any:
        self._use()
        return output(lib.mf_environment_pusher, self._environment._use())

    def add_group(self, *arguments: Any, **more: Any) -> NoReturn:
        raise errors.UnsupportedError("add_group: an environment has one group, its robots")

    def add_collisions(self, **settings: object) -> NoReturn:
        raise errors.UnsupportedError("add_collisions: robots of an environment are alone")

    def add_joints(self, **settings: object) -> NoReturn:
        raise errors.UnsupportedError("add_joints: robots of an environment are alone")

    def __reduce__(self) -> Any:
        raise TypeError("the world of an environment cannot be pickled: pickle the environment")


def _choose(value: object, choices: Mapping[str, int], what: str) -> int:
    if not isinstance(value, str):
        raise TypeError(f"{what}: need one of {', '.join(choices)}, got {value!r}")
    if value not in choices:
        found = difflib.get_close_matches(value, choices, 1)
        hint = f", did you mean {found[0]!r}?" if found else ""
        raise ValueError(f"{what}: need one of {', '.join(choices)}, got {value!r}{hint}")
    return choices[value]


class NativeEnvironment(Native):
    """Robots of one task.

    Args:
        task: one of mayfly.envs.TASKS.
        model: the robot; None: the task makes its own.
        count: robots.
        values: numbers of the task, by the names that C has.
        motion: level of physics.
        precision: of the physics, "float" or "double".
        integrator: of twins: "file", "euler" or "rk4".
        frame_skip: physics steps of a step; 0: the task's.
        episode_steps: an episode is truncated after this number; 0: the task's; ENDLESS: never.
        autoreset: "NextStep", "SameStep" or "Disabled".
        dtype: of observations, float64 or float32.
        threads: workers; None: those of the hidden default context.

    """

    def _in_brief(self) -> str:
        sizes = f"{self.observation_count} observations, {self.action_count} actions"
        return f"{self.count} x {self.model.name}, {sizes}"

    def __init__(
        self,
        task: str,
        model: Model | None,
        count: int,
        *,
        values: Mapping[str, float],
        motion: str,
        precision: str,
        integrator: str,
        frame_skip: int,
        episode_steps: int,
        autoreset: str,
        dtype: np.dtype[Any],
        threads: int | None,
    ) -> None:
        info = task_info(task)
        config = lib.mf_environment_config()
        name = ffi.new("char[]", task.encode())
        config.task = name
        config.model = ffi.NULL if model is None else model._use()
        config.count = whole(count, "num_envs", 1, 2**26 + 1)
        config.motion = _choose(motion, _MOTIONS, "motion")
        config.double_precision = _choose(precision, {"float": 0, "double": 1}, "precision") == 1
        config.integrator = _choose(integrator, _INTEGRATORS, "integrator")
        config.frame_skip = frame_skip
        config.episode_steps = episode_steps
        config.autoreset = _AUTORESET[autoreset]
        config.observation_type = lib.MF_F64 if dtype == np.float64 else lib.MF_F32
        table, letters = settings_of(values)
        config.settings = table
        config.setting_count = len(values)
        self.context = default_context() if threads is None else Context(threads)
        self.lock = Turn("the environment")
        place = ffi.new("mf_EnvironmentConfig *", config)
        native = output(lib.mf_environment_create, self.context._use(), place)
        del table, letters  # C has read them
        self._take(
            lib.MFPY_ENVIRONMENT, native, [self.context, *([] if model is None else [model])]
        )
        self.model = self._own_model() if model is None else model
        self.team = int(lib.mf_environment_team(native))
        self.count = count
        self.dtype = dtype
        self.signals = tuple(text(info.signals[i]) for i in range(info.signal_count))
        self.observation_count = int(lib.mf_environment_observation_count(native))
        self.action_count = int(lib.mf_environment_action_count(native))
        self.interval = float(lib.mf_environment_interval(native))
        self._buffers = ffi.new("mf_EnvironmentBuffers *")
        self._error = ffi.new("mf_Error *")
        self._world: EnvironmentWorld | None = None
        self._seal()

    def _own_model(self) -> Model:
        """The robot that the task created, owned by the environment."""
        return Model._borrowed(self, lib.mf_environment_group(self._pointer), {})

    # ---- what it is ------------------------------------------------------------------------------

    def action_range(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Lowest and largest action."""
        native, ends = self._use(), ffi.new("double[2]")
        rows = []
        for action in range(self.action_count):
            lib.mf_environment_action_range(native, action, ends, ends + 1)
            rows.append((ends[0], ends[1]))
        table = np.array(rows, np.float32).reshape(-1, 2)
        return table[:, 0].copy(), table[:, 1].copy()

    def value(self, name: str) -> float:
        """A number of the task."""
        return float(lib.mf_environment_parameter(self._use(), name.encode()))

    @property
    def world(self) -> World:
        """Its world: for reading, recording and snapshots, between two steps."""
        native = self._use()
        if self._world is None:
            self._world = EnvironmentWorld(self, lib.mf_environment_world(native))
            group = lib.mf_environment_group(native)
            recipe = recipe_of(group, self.model)
            self._world._groups.append(Group(self._world, group, recipe))
        return self._world

    @property
    def group(self) -> Group:
        """Its robots, with all their fields."""
        return self.world.groups[0]

    # ---- time ------------------------------------------------------------------------------------

    def make_rows(self) -> Rows:
        """Arrays for all robots, zero."""
        n = self.count
        return Rows(
            np.zeros((n, self.observation_count), self.dtype),
            np.zeros(n),
            np.zeros(n, np.bool_),
            np.zeros(n, np.bool_),
            np.zeros((n, len(self.signals))),
        )

    def _point(self, rows: Rows, action: npt.NDArray[np.float32] | None) -> Any:
        buffers, memory = self._buffers, ffi.from_buffer
        buffers.action = ffi.NULL if action is None else memory("float[]", action)
        buffers.observation = memory(rows.observation)
        buffers.reward = memory("double[]", rows.reward)
        buffers.terminated = memory("uint8_t[]", rows.terminated)
        buffers.truncated = memory("uint8_t[]", rows.truncated)
        buffers.signals = memory("double[]", rows.signals)
        last, signals = rows.final_observation, rows.final_signals
        buffers.final_observation = ffi.NULL if last is None else memory(last)
        buffers.final_signals = ffi.NULL if signals is None else memory("double[]", signals)
        bits = rows.final_warning, rows.final_fault
        buffers.final_warning, buffers.final_fault = (
            ffi.NULL if word is None else memory("uint32_t[]", word) for word in bits
        )
        return buffers

    def reset(
        self,
        rows: Rows,
        mask: npt.NDArray[np.bool_] | None,
        seeds: npt.NDArray[np.uint64] | None,
    ) -> None:
        """Starts episodes of robots in the mask; without seeds their random numbers continue."""
        native = self._use()
        chosen = ffi.NULL if mask is None else ffi.cast("uint8_t *", mask.ctypes.data)
        given = ffi.NULL if seeds is None else ffi.cast("uint64_t *", seeds.ctypes.data)
        buffers = self._point(rows, None)
        check(lib.mf_environment_reset(native, chosen, given, buffers, self._error), self._error)

    def step(self, rows: Rows, action: npt.NDArray[np.float32]) -> None:
        """One step of all robots. Other Python threads run meanwhile."""
        native, buffers = self._use(), self._point(rows, action)
        check(lib.mf_environment_step(native, buffers, self._error), self._error)

    def warned(self) -> bool:
        """Whether a robot has a warning."""
        return bool(lib.mf_group_warning_total(lib.mf_environment_group(self._use())) > 0)

    def failed(self) -> bool:
        """Whether a robot has a fault."""
        return bool(lib.mf_group_fault_total(lib.mf_environment_group(self._use())) > 0)

    # ---- closing ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Releases the memory; may be called twice."""
        if self._world is not None:
            self._world.close()
            self._world = None
        if self.model._owner is self._owner:
            self.model.close()
        super().close()
