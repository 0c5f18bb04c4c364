"""From a scene of UniSim to a model of Mayfly, and the columns of its state."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

import mayfly

__all__ = ["TRACKED", "Columns", "load", "padded", "state_columns"]

Array = npt.NDArray[Any]
_BLOCK = 16  # robots that a field stores side by side

# Sensors of bodies, named as those that UniSim's backend "mujoco" adds: type, values.
TRACKED = {
    "track_pos_w": ("framepos", 3),
    "track_quat_w": ("framequat", 4),
    "track_linvel_w": ("framelinvel", 3),
    "track_angvel_w": ("frameangvel", 3),
}
_RELATIVE = {"track_pos_b": "framepos", "track_quat_b": "framequat"}


def load(
    scene: Any, iterations: int | None, bodies: Sequence[str] | None, base: str | None
) -> tuple[mayfly.Model, tuple[str, ...]]:
    """The model of a SceneCfg, and the bodies that sensors track.

    Args:
        scene: with the MJCF file and fragments to be merged into it.
        iterations: of the constraint solver instead of the file's; None: the file's.
        bodies: to be tracked by sensors; empty: all that have names; None: none.
        base: the body in whose frame the tracked bodies are measured, too; None: none is.

    """
    for name, what in (("terrain", "generated terrain"), ("fixed_variant_plan", "variants")):
        if getattr(scene, name) is not None:
            raise NotImplementedError(f"mayfly: scene.{name}: {what} are not supported")
    if not scene.model_file:
        raise ValueError("mayfly: scene.model_file: need the path of an MJCF file")
    path, made = pathlib.Path(scene.model_file), None
    try:
        if scene.fragment_files:
            from unisim.backend.mujoco.xml import materialize_scene_fragments

            made = materialize_scene_fragments(str(path), fragment_files=scene.fragment_files)
        source = pathlib.Path(made or path)
        model = mayfly.Model.from_file(source)
        tracked: tuple[str, ...] = ()
        if bodies is not None:
            named = [body.name for body in model.bodies if body.name]
            missing = sorted(set(bodies) - set(named))
            if missing:
                raise ValueError(f"mayfly: tracked_body_names: the scene has no body {missing}")
            tracked = tuple(dict.fromkeys(bodies)) or tuple(named)
        if tracked or iterations is not None:
            model = _wrapped(source, iterations, tracked, base)
        return model, tracked
    finally:
        if made is not None:
            os.unlink(made)


def _wrapped(
    source: pathlib.Path, iterations: int | None, tracked: tuple[str, ...], base: str | None
) -> mayfly.Model:
    """The file with other options and more sensors; beside it, since its paths are relative."""
    lines = [f"<mujoco><include file={quoteattr(source.name)}/>"]
    if iterations is not None:
        lines.append(f'<option iterations="{int(iterations)}"/>')
    lines += ["<sensor>", *_sensors(tracked, base), "</sensor></mujoco>"]
    handle, name = tempfile.mkstemp(suffix=".xml", dir=source.resolve().parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        return mayfly.Model.from_file(name)
    finally:
        os.unlink(name)


def _sensors(tracked: tuple[str, ...], base: str | None) -> Iterator[str]:
    for prefix, (kind, _) in TRACKED.items():
        for body in tracked:
            yield _sensor(kind, prefix, body)
    for prefix, kind in _RELATIVE.items() if base in tracked else ():
        for body in tracked:
            yield _sensor(kind, prefix, body, f' reftype="xbody" refname={quoteattr(str(base))}')


def _sensor(kind: str, prefix: str, body: str, more: str = "") -> str:
    name = quoteattr(f"{prefix}_{body}")
    return f'<{kind} name={name} objtype="xbody" objname={quoteattr(body)}{more}/>'


# ---- columns -------------------------------------------------------------------------------------


def padded(count: int) -> int:
    """Robots with those that fill the last block."""
    return -(-count // _BLOCK) * _BLOCK


class Columns:
    """Copies components of fields into columns of a table, one row per robot.

    Args:
        parts: (field, its first component, number of components, first column).

    """

    def __init__(self, parts: Sequence[tuple[mayfly.Field, int, int, int]]) -> None:
        self._parts = _merged(parts)
        self.width = max((to + count for _, _, count, to in self._parts), default=0)

    def copy(self, out: Array, first: int = 0) -> None:
        """Writes columns `first` .. `first + width` of (padded robots, columns)."""
        blocks = out.reshape(-1, _BLOCK, out.shape[1])
        for field, start, count, to in self._parts:
            blocks[:, :, first + to : first + to + count] = _flat(field)[
                :, :, start : start + count
            ]

    def rows(self, robots: npt.NDArray[np.intp], out: Array, first: int = 0) -> None:
        """The same of some robots, into (robots, columns)."""
        block, lane = robots // _BLOCK, robots % _BLOCK
        for field, start, count, to in self._parts:
            values = _flat(field)[:, :, start : start + count]
            out[:, first + to : first + to + count] = values[block, lane]

    def read(self, robots: int, dtype: Any) -> Array:
        """A table of its own of all robots."""
        out = np.empty((padded(robots), self.width), dtype)
        self.copy(out)
        return out[:robots]


def _flat(field: mayfly.Field) -> Array:
    """(blocks, 16, components)."""
    view = field.view
    return view if view.ndim == 3 else view.reshape(*view.shape[:2], -1)


def _merged(
    parts: Sequence[tuple[mayfly.Field, int, int, int]],
) -> list[tuple[mayfly.Field, int, int, int]]:
    """Neighbors in the field and in the table are one part."""
    made: list[tuple[mayfly.Field, int, int, int]] = []
    for field, start, count, to in parts:
        if made:
            last, begin, length, column = made[-1]
            if last is field and begin + length == start and column + length == to:
                made[-1] = (field, begin, length + count, column)
                continue
        made.append((field, start, count, to))
    return made


def state_columns(group: mayfly.Group) -> tuple[Columns, Columns]:
    """Of qpos and of qvel, in MuJoCo's order."""
    model, q, v = group.model, [], []
    if not model.fixed_base:
        q += [(group["base.position"], 0, 3, 0), (group["base.orientation"], 0, 4, 3)]
        v += [(group["base.linear_velocity"], 0, 3, 0), (group["base.angular_velocity"], 0, 3, 3)]
    ball = floating = 0
    for joint in model.joints:
        at, to = joint.position_address, joint.velocity_address
        if joint.type in ("hinge", "slide"):
            q.append((group["joint.angle"], joint.index, 1, at))
            v.append((group["joint.rate"], joint.index, 1, to))
            continue
        if joint.type == "floating":
            q.append((group["free.position"], 3 * floating, 3, at))
            v.append((group["free.velocity"], 3 * floating, 3, to))
            floating, at, to = floating + 1, at + 3, to + 3
        q.append((group["ball.orientation"], 4 * ball, 4, at))
        v.append((group["ball.rate"], 3 * ball, 3, to))
        ball += 1
    return Columns(q), Columns(v)
