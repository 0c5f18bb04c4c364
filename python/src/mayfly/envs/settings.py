"""Parameters of tasks in Gymnasium's form: ranges as pairs, switches as True and False."""

from __future__ import annotations

import importlib.util
import math
import os
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

from mayfly import errors
from mayfly._native import ffi, lib, real_number, text
from mayfly.model import Model
from mayfly.task import near

__all__ = ["TASKS", "load_model", "task_id", "task_info", "task_values"]

# Twins of Gymnasium's MuJoCo tasks. All other tasks are Mayfly's own, with models of its own.
_TWINS = {
    "ant": "Ant-v5",
    "half_cheetah": "HalfCheetah-v5",
    "hopper": "Hopper-v5",
    "humanoid": "Humanoid-v5",
    "humanoid_standup": "HumanoidStandup-v5",
    "inverted_double_pendulum": "InvertedDoublePendulum-v5",
    "inverted_pendulum": "InvertedPendulum-v5",
    "pusher": "Pusher-v5",
    "reacher": "Reacher-v5",
    "swimmer": "Swimmer-v5",
    "walker2d": "Walker2d-v5",
}
_DRAWING = (
    "camera_id",
    "camera_name",
    "default_camera_config",
    "max_geom",
    "visual_options",
)
NO_DRAWING = (
    "environments have one camera, which follows the robot: world.camera(...) takes pictures from "
    "other places"
)

TASKS: tuple[str, ...] = tuple(text(lib.mf_task_info(i).name) for i in range(lib.mf_task_count()))


def task_info(task: object) -> Any:
    """Properties of a task from C."""
    if not isinstance(task, str):
        raise TypeError(f"task: need a name, got {task!r}")
    if task not in TASKS:
        raise errors.NotFoundError(
            f"there is no task {task!r}{near(task, TASKS)}; there are: {', '.join(TASKS)}"
        )
    return lib.mf_task_find(task.encode())


def task_id(task: str) -> str:
    """Its name in Gymnasium: "Mayfly/Ant-v5"."""
    own = "".join(part.capitalize() for part in task.split("_")) + "-v0"
    return "Mayfly/" + _TWINS.get(task, own)


def in_teams(task: str) -> bool:
    """Whether robots share one space, and begin and end their episodes together."""
    info = task_info(task)
    return "agents" in [text(info.parameters[i].name) for i in range(info.parameter_count)]


# ---- model ---------------------------------------------------------------------------------------


def _assets() -> pathlib.Path:
    """The folder of robots of the installed Gymnasium; MuJoCo is not needed."""
    found = importlib.util.find_spec("gymnasium")
    if found is None or found.origin is None:
        raise errors.MissingFileError(
            "the robot's file comes with Gymnasium, which is not installed: pip install gymnasium, "
            "or say xml_file="
        )
    return pathlib.Path(found.origin).parent / "envs" / "mujoco" / "assets"


def load_model(task: str, file: str | os.PathLike[str] | Model | None) -> Model | None:
    """The robot of a task: a model, a path, or the name of a file of Gymnasium.

    None: the task creates its own.
    """
    if isinstance(file, Model):
        return file
    if file is not None and not isinstance(file, (str, os.PathLike)):
        raise TypeError(f"xml_file: need a path or a Model, got {file!r}")
    name = text(task_info(task).model) if file is None else os.path.expanduser(os.fspath(file))
    if name == "":
        return None
    if task not in _TWINS:
        return Model.from_file(name)
    if file is not None and os.path.exists(name):
        return Model.from_file(name)
    path = _assets() / name
    if not path.exists():
        raise errors.MissingFileError(
            f"there is no robot {name!r}, neither here nor in {path.parent}: install a Gymnasium "
            "that has it, or say xml_file="
        )
    return Model.from_file(path)


# ---- numbers -------------------------------------------------------------------------------------


def _value(name: str, value: object, row: Any, model: Model | None) -> float:
    if name == "main_body" and isinstance(value, str) and model is not None:
        return float([body.name for body in model.bodies].index(model.body(value).name) + 1)
    number = real_number(value, name)
    if math.isinf(number):  # as many as given
        return min(max(number, float(row.lower)), float(row.upper))
    return number


def _pair(name: str, value: object) -> tuple[float, float]:
    ends = list(value) if isinstance(value, Iterable) else []
    if isinstance(value, (str, bytes)) or len(ends) != 2:
        raise TypeError(f"{name}: need two numbers (lowest, largest), got {value!r}")
    low, high = (real_number(end, name) for end in ends)
    if not low <= high:
        raise ValueError(f"{name}: need (lowest, largest), got {value!r}")
    return low, high


def _unknown(task: str, name: str, rows: Mapping[str, Any]) -> TypeError:
    if name in _DRAWING:
        return TypeError(f"{name}: {NO_DRAWING}")
    ranges = [row.removesuffix("_min") + "_range" for row in rows if row.endswith("_min")]
    known = sorted([*rows, *ranges, *_COMMON])
    return TypeError(
        f"task {task} has no argument {name!r}{near(name, known)}; known: {', '.join(known)}"
    )


_COMMON = (
    "num_envs",
    "max_episode_steps",
    "autoreset_mode",
    "xml_file",
    "frame_skip",
    "motion",
    "integrator",
    "precision",
    "dtype",
    "num_threads",
    "copy",
)


def task_values(
    task: str, arguments: Mapping[str, object], model: Model | None
) -> dict[str, float]:
    """Numbers for C from arguments: `healthy_z_range=(0.2, 1)` is healthy_z_min and _max."""
    info = task_info(task)
    rows = {text(info.parameters[i].name): info.parameters[i] for i in range(info.parameter_count)}
    values: dict[str, float] = {}
    for name, value in arguments.items():
        stem = name.removesuffix("_range")
        ends = (stem + "_min", stem + "_max")
        if name in rows:
            given = {name: value}
        elif name.endswith("_range") and all(end in rows for end in ends):
            given = dict(zip(ends, _pair(name, value)))
        else:
            raise _unknown(task, name, rows)
        for row, number in given.items():
            if row in values:
                raise TypeError(f"{row} is given twice: as itself and in a range")
            values[row] = _value(row, number, rows[row], model)
    return values


def settings_of(values: Mapping[str, float]) -> tuple[Any, list[Any]]:
    """The array of settings for C, and the objects that it borrows."""
    letters = [ffi.new("char[]", name.encode()) for name in values]
    table = ffi.new("mf_TaskSetting[]", max(len(values), 1))
    for row, (name, value) in enumerate(zip(letters, values.values())):
        table[row].name, table[row].value = name, value
    return table, letters
