"""Parameters of a robot from a log of the machine, as by the command `mayfly fit`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from typing import Any

from mayfly._native import call, encode, ffi, lib, output, real_number, text, texts
from mayfly.context import Context, default_context
from mayfly.group_setup import overrides

__all__ = ["Fit", "FitChannel", "FitParameter", "fit"]


@dataclasses.dataclass(frozen=True)
class FitParameter:
    """One parameter, in its unit."""

    value: float
    interval: float  # half of the 95 % interval
    model: float  # the model's own value
    lower: float  # range of the search
    upper: float
    unit: str
    identified: bool  # False: the log does not tell it; a note says why


@dataclasses.dataclass(frozen=True)
class FitChannel:
    """Root mean square errors of one column of the log, in its unit."""

    model: float  # with the model's parameters
    fitted: float
    predicted: float  # of the part that was not fitted; NaN: none
    noise: float  # standard deviation of the noise in the log
    unit: str


@dataclasses.dataclass(frozen=True)
class Fit:
    """The result of fit()."""

    parameters: dict[str, FitParameter]
    channels: dict[str, FitChannel]
    delay: float  # [s] of the commands
    notes: list[str]  # what is unclear


def fit(
    model: str | os.PathLike[str],
    log: str | os.PathLike[str],
    *,
    parameters: Iterable[str] | None = None,
    map: Mapping[str, str] | None = None,
    time: str = "time",
    holdout: float = 0.2,
    out: str | os.PathLike[str] | None = None,
    settings: Mapping[str, object] | None = None,
    context: Context | None = None,
) -> Fit:
    """Identifies parameters of a robot from a log.

    Args:
        model: the robot's file (URDF, MJCF), or a scene of one group.
        log: CSV, HDF5, MCAP or a bag of ROS 2.
        parameters: "damping", "knee.friction=0:0.5", "delay"; None: those of the log's joints.
        map: what columns of the log are: `{"q0": "knee.position*0.01"}`; "" ignores one.
        time: the column of times [s], perhaps with a factor: "stamp*1e-9".
        holdout: 0 .. 0.9, last part of the log that is predicted, not fitted.
        out: a file to write: .yaml a report, .urdf or .xml the robot with the fitted numbers.
        settings: lines of the scene by their paths, as for Scene.
        context: memory and threads; None: the default context.

    Raises:
        FileError: what is wrong with a file, with its line.

    """
    alive: list[object] = []
    native = (context if context is not None else default_context())._use()
    config = lib.mf_fit_config()
    if parameters is not None:
        names = [parameters] if isinstance(parameters, str) else list(parameters)
        alive.append(ffi.new("char[]", encode(",".join(names))))
        config.parameters = alive[-1]
    columns = [f"{column}={name}" for column, name in (map or {}).items()]
    config.map, config.map_count = texts(columns, alive), len(columns)
    config.holdout = real_number(holdout, "holdout")
    table, kept = overrides(settings or {})
    alive += [table, kept]
    file = output(lib.mf_scene_file_load, native, encode(model), table, len(kept))
    data = found = None
    try:
        data = output(lib.mf_log_open, native, encode(log), encode(time))
        found = output(lib.mf_fit, native, file, data, ffi.addressof(config))
        if out is not None:
            call(lib.mf_fit_write, found, encode(out))
        return _read(found)
    finally:
        if found is not None:
            lib.mf_fit_destroy(found)
        if data is not None:
            lib.mf_log_destroy(data)
        lib.mf_scene_file_destroy(file)


def _read(own: Any) -> Fit:
    parameters = {}
    for i in range(int(own.parameter_count)):
        one = own.parameters[i]
        parameters[text(one.name)] = FitParameter(
            float(one.value),
            float(one.interval),
            float(one.start),
            float(one.lower),
            float(one.upper),
            text(one.unit),
            bool(one.identified),
        )
    channels = {}
    for i in range(int(own.channel_count)):
        one = own.channels[i]
        channels[text(one.name)] = FitChannel(
            float(one.before),
            float(one.after),
            float(one.predicted_after),
            float(one.noise),
            text(one.unit),
        )
    notes = [text(own.notes[i]) for i in range(int(own.note_count))]
    return Fit(parameters, channels, float(own.delay), notes)
