"""Converts the arguments of add_group to a scene of one group, from which C equips it."""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mayfly._native import Native, call, encode, ffi, fill, lib, output, read_struct, text, texts
from mayfly.arrays import matrix, whole
from mayfly.bodies import kinds
from mayfly.context import Context
from mayfly.model import Model

__all__ = [
    "MOTIONS",
    "Recipe",
    "RobotFile",
    "add_group",
    "motion_settings",
    "overrides",
    "recipe_of",
    "set_up",
]

_NAMES = tuple(text(lib.mf_motion_name(i)) for i in range(lib.MF_MOTION_COUNT))
MOTIONS = _NAMES[: lib.MF_MOTION_LEVELS]
_ALONE = _NAMES[lib.MF_MOTION_LEVELS :]  # motions without switching
_MAKERS = {
    "gp": lib.mf_gp_config,
    "oscillator": lib.mf_oscillator_config,
    "network": lib.mf_network_config,
    "gait": lib.mf_gait_config,
}
_CONTROLLERS = ("gp", "oscillator", "network")
_SECTIONS = (*_NAMES, *_MAKERS)


def _motion_config(motions: Any, name: str) -> Any:
    """The settings of one motion in the settings of all motions."""
    return getattr(motions, f"{name}_config" if name in _VEHICLES else name)


_VEHICLES = tuple(text(lib.mf_vehicle_kind_name(kind)) for kind in range(lib.MF_VEHICLE_CAR + 1))


def motion_settings(name: str) -> dict[str, Any]:
    """Settings of a motion, controller ("gp", "oscillator", "network") or "gait", with defaults."""
    if not isinstance(name, str) or name not in _SECTIONS:
        raise ValueError(f"need one of {', '.join(_SECTIONS)}, got {name!r}")
    if name in _MAKERS:
        return read_struct(_MAKERS[name]())
    return read_struct(_motion_config(lib.mf_motions_config(), name))


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The arguments of add_group, sufficient to create the group again."""

    model: Model
    count: int
    name: str
    motion: str | Sequence[str] | None
    sensors: bool | Mapping[str, object]
    controller: str | None
    gaits: tuple[str, ...]
    precision: str
    isolated: bool
    pushable: bool
    fault_policy: str
    spacing: float
    settings: Mapping[str, Any]
    behavior: str | Mapping[str, object] = "hold"  # of vehicles
    models: tuple[Model, ...] = ()  # one for each robot; (): all are of `model`

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name: need text, got {self.name!r}")
        if not isinstance(self.precision, str):
            raise TypeError(f"precision: need 'float' or 'double', got {self.precision!r}")
        if self.controller is not None and not isinstance(self.controller, str):
            raise TypeError(f"controller: need a name or None, got {self.controller!r}")
        if self.motion is not None and not isinstance(self.motion, (str, list, tuple)):
            raise TypeError(f"motion: need a name, a list of names or None, got {self.motion!r}")
        if self.precision not in ("float", "double"):
            raise ValueError(f"precision: need 'float' or 'double', got {self.precision!r}")
        if self.controller is not None and self.controller not in _CONTROLLERS:
            raise ValueError(
                f"controller: need one of {', '.join(_CONTROLLERS)} or None, "
                f"got {self.controller!r}"
            )
        known = MOTIONS if len(self.motions) > 1 else _NAMES
        for motion in self.motions:
            if not isinstance(motion, str) or motion not in known:
                near = difflib.get_close_matches(str(motion), known, 1)
                hint = f", did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"motion: need one of {', '.join(known)}, got {motion!r}{hint}")
        self._check_vehicle()
        for section in self.settings:
            if section in _SECTIONS and section not in self._requested_sections():
                raise TypeError(
                    f"{section}: are settings of something that the group does not have"
                )
        self._own_settings()

    def _check_vehicle(self) -> None:
        kind = self.model.vehicle
        body, of = self.model._body, {m: k for k, kind in kinds().items() for m in kind._motions}
        for motion in self.motions:
            if body is not None and motion not in body._motions:
                known = " or ".join(body._motions)
                raise ValueError(f"motion: a {body._kind} moves by {known}, got {motion!r}")
            if body is None and motion in of:
                raise ValueError(f"motion: {motion} is for a {of[motion]}, the model is a robot")
            if kind is not None and motion != kind:
                raise ValueError(f"motion: a {kind} moves by {kind}, got {motion!r}")
            if kind is None and motion in _VEHICLES:
                raise ValueError(f"motion: {motion} is for a {motion}, the model is a robot")
        if kind is None and self.behavior != "hold":
            raise TypeError("behavior: is for vehicles, the model is a robot")

    def _requested_sections(self) -> tuple[str, ...]:
        gait = ("gait",) if self.gaits else ()
        controller = (self.controller,) if self.controller is not None else ()
        return (*self.motions, *controller, *gait)

    @property
    def motions(self) -> tuple[str, ...]:
        """Those that the group can switch to; empty: that of the model."""
        if self.motion is None:
            return ()
        return (self.motion,) if isinstance(self.motion, str) else tuple(self.motion)

    @property
    def model_name(self) -> str:
        """The model's name."""
        return "closed model" if self.model.closed else self.model.name

    @property
    def repeatable(self) -> bool:
        """Whether add_group can create the group again."""
        return True

    def arguments(self) -> dict[str, Any]:
        """The arguments of add_group."""
        values = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in ("settings", "models")
        }
        if self.models:
            values |= {"model": list(self.models), "count": 1}
        return {**values, **self.settings}

    def _own_settings(self) -> dict[str, Any]:
        """Settings that are not assigned to a motion or controller."""
        own = {name: value for name, value in self.settings.items() if name not in _SECTIONS}
        if own and len(self.motions) != 1:
            raise TypeError(
                f"{', '.join(own)}: say of which motion, such as articulated={{{next(iter(own))!r}:"
                " ...}"
                if self.motions
                else f"{', '.join(own)}: the group has no motion"
            )
        return own

    def section(self, name: str) -> dict[str, Any]:
        """Settings of one motion or controller."""
        given = self.settings.get(name, {})
        if not isinstance(given, Mapping):
            raise TypeError(f"{name}: need a mapping of settings, got {given!r}")
        own = self._own_settings() if (name,) == self.motions else {}
        return {**own, **given}


# ---- calls ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Given(Recipe):
    """A group that exists already."""

    def __post_init__(self) -> None:
        """C has checked it."""

    @property
    def repeatable(self) -> bool:
        return False


def recipe_of(native: Any, model: Model) -> Recipe:
    """The arguments of a group that C has made, of a scene or a task."""
    config = lib.mf_group_config_of(native)
    motions = (i for i in range(lib.MF_MOTION_COUNT) if lib.mf_motion_in(native, i))
    return _Given(
        model=model,
        count=int(config.count),
        name=text(config.name),
        motion=tuple(text(lib.mf_motion_name(motion)) for motion in motions),
        sensors=False,
        controller=None,
        gaits=(),
        precision="double" if config.double_precision else "float",
        isolated=bool(config.isolated),
        pushable=False,
        fault_policy="freeze",
        spacing=0.0,
        settings={},
    )


def yaml(value: object) -> str:
    """A value in the syntax of scenes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_quoted(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_quoted(item) for item in value) + "]"
    return repr(value) if isinstance(value, float) else str(value)


def _quoted(value: object) -> str:
    """The same inside a list, where text may contain commas and brackets."""
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return yaml(value)


def overrides(settings: Mapping[str, object]) -> tuple[Any, list[object]]:
    """Settings of a scene for C, and the objects that must stay alive until C has read them."""
    pairs = [
        (ffi.new("char[]", encode(name)), ffi.new("char[]", encode(yaml(value))))
        for name, value in settings.items()
    ]
    table = ffi.new("mf_Override[]", max(len(pairs), 1))
    for i, (name, value) in enumerate(pairs):
        table[i].path, table[i].value = name, value
    return table, list(pairs)


def _lines(path: str, value: object) -> Iterator[tuple[str, object]]:
    """Groups of keys as lines with their paths."""
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from _lines(f"{path}.{name}", item)
    elif isinstance(value, Mapping):  # only its name
        yield path.rpartition(".")[0], path.rpartition(".")[2]
    else:
        yield path, value


class RobotFile(Native):
    """The scene of one robot with the default of every key, read once for all groups of a world."""

    _defaults: Any = None
    _nameless: Any = ffi.new("char[]", b"robot")

    def of(self, context: Context, model: Any) -> Any:
        """The file as mf_scene_file_of_model makes it of a native model; until the next call."""
        if self._pointer is None:
            made = output(lib.mf_scene_file_of_model, context._use(), model, ffi.NULL, 0)
            self._take(lib.MFPY_SCENE_FILE, made, [context])
            self._defaults = ffi.new("mf_SceneGroup *", made.groups[0])
        file = self._use()
        file.groups[0] = self._defaults[0]
        file.groups[0].model = model
        file.file = model.file if text(model.file) else self._nameless
        file.groups[0].model_path = file.file
        return file


def _body_file(context: Any, recipe: Recipe) -> Any:
    """The file of a scene of this one body; to be destroyed."""
    body = recipe.model._body
    if body is not None:
        kind, native = body._native_kind(), body._use()
        return output(lib.mf_scene_file_of_body, context, kind, native, ffi.NULL, 0)
    if recipe.model._vehicle is None:
        file = text(recipe.model.file) or "its file"
        raise TypeError(
            f"model: this {recipe.model.vehicle} belongs to a scene or task: load {file}"
        )
    table, alive = overrides(dict(_lines("group.behavior", recipe.behavior)))
    kind, native = lib.mf_body_kind_named(b"vehicle"), recipe.model._vehicle._use()
    return output(lib.mf_scene_file_of_body, context, kind, native, table, len(alive))


def _describe(file: Any, recipe: Recipe) -> list[object]:
    """Motion, gaits and controller; returns the objects that C borrows until it has read them."""
    group = file.groups[0]
    name = ffi.new("char[]", encode(recipe.name))
    alive: list[object] = [name]
    group.name, group.gait_count = name, len(recipe.gaits)
    group.gaits = texts(map(_gait_path, recipe.gaits), alive)
    group.motion = _number(recipe.motions[0]) if recipe.motions else lib.MF_MOTION_COUNT
    if recipe.controller == "gp":
        group.controller = lib.MF_CONTROLLER_GP
        alive += fill(group.gp, recipe.section("gp"), "gp")
    elif recipe.controller == "oscillator":
        group.controller = lib.MF_CONTROLLER_OSCILLATOR
        alive += fill(group.oscillator, recipe.section("oscillator"), "oscillator")
    return alive


def _gait_path(gait: str) -> str:
    """Paths are relative to the current folder, names to the robot's file."""
    return os.path.abspath(gait) if "/" in gait or gait.endswith(".yaml") else gait


# Arguments of add_group, which may be mistyped as settings of the motion.
ARGUMENTS = tuple(
    field.name for field in dataclasses.fields(Recipe) if field.name not in ("settings", "models")
)


def _fill_parts(parts: Any, recipe: Recipe) -> list[object]:
    """Overrides C's results by the program's arguments."""
    alive: list[object] = []
    for name in recipe.motions:
        config, requested = _motion_config(parts.motions, name), recipe.section(name)
        servos = requested.pop("servos", None)
        alive += fill(config, requested, name, ARGUMENTS)
        if servos is not None:
            alive += _servos(config, servos, int(recipe.model._use().joint_count))
        if len(recipe.motions) > 1:
            parts.motions.has[_number(name)] = True
        parts.drops_contacts = parts.drops_contacts and "self_contacts" not in requested
    parts.gaits.first = lib.mf_gait_config().first
    alive += fill(parts.gaits, recipe.section("gait"), "gait")
    parts.sensors = lib.mf_sensors_config()
    parts.measures = recipe.sensors is not False and recipe.sensors is not None
    if isinstance(recipe.sensors, Mapping):
        alive += fill(parts.sensors, recipe.sensors, "sensors")
    elif parts.measures and recipe.sensors is not True:
        raise TypeError(f"sensors: need True, False or a mapping, got {recipe.sensors!r}")
    return alive


def _servos(config: Any, servos: Any, joints: int) -> list[object]:
    rows = list(servos) if isinstance(servos, (list, tuple)) else []
    if len(rows) != joints or not all(isinstance(row, Mapping) for row in rows):
        raise ValueError(f"servos: need one mapping of settings for each of the {joints} joints")
    table = ffi.new("mf_Servo[]", max(joints, 1))
    for i, row in enumerate(rows):
        table[i] = lib.mf_servo()
        fill(table[i], row, f"servos[{i}]")
    config.servos = table
    return [table]


def _number(motion: str) -> int:
    out = ffi.new("mf_Motion *")
    lib.mf_motion_find(encode(motion), out)
    return int(out[0])


def _add_network(group: Any, recipe: Recipe) -> None:
    config = lib.mf_network_config()
    requested = recipe.section("network")
    arrays: dict[str, Any] = {
        name: requested.pop(name) for name in ("hidden", "lower", "upper") if name in requested
    }
    alive = fill(config, requested, "network")
    alive += _network_arrays(group, config, arrays)
    call(lib.mf_network_add, group, ffi.addressof(config))
    lib.mf_group_reset_all(group)


def _network_arrays(group: Any, config: Any, arrays: Mapping[str, Any]) -> list[object]:
    """Units of hidden layers, and the range of each component of the output."""
    alive: list[object] = []
    if "hidden" in arrays:
        units = [whole(size, "network: hidden", 1, 2**32) for size in _list(arrays, "hidden")]
        sizes = ffi.new("uint32_t[]", units or [0])
        config.hidden, config.hidden_count = sizes, len(units)
        alive.append(sizes)
    field = lib.mf_group_find_field(group, config.output)
    width = 0 if field == ffi.NULL else int(field.components)
    for name in ("lower", "upper"):
        if name in arrays:
            row = matrix(_list(arrays, name), 1, width, f"network: {name}")
            ends = ffi.new("double[]", row[0].tolist())
            setattr(config, name, ends)
            alive.append(ends)
    return alive


def _list(arrays: Mapping[str, Any], name: str) -> list[Any]:
    values = arrays[name]
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"network: {name}: need a list, got {values!r}")
    return list(values)


def add_group(world: Any, recipe: Recipe) -> Any:
    """Adds a group without motion to a native world; on failure the world is unchanged."""
    config = lib.mf_group_config()
    name = ffi.new("char[]", recipe.name.encode())
    config.name, config.model, config.count = name, recipe.model._use(), recipe.count
    config.double_precision = recipe.precision == "double"
    chosen = {
        "isolated": recipe.isolated,
        "fault_policy": recipe.fault_policy,
        "spacing": recipe.spacing,
    }
    fill(config, chosen, "group")
    return output(lib.mf_world_add_group, world, ffi.addressof(config))


def notes_of(group: Any) -> tuple[str, ...]:
    """Features of its model that a group's motions and sensors ignore."""
    buffer = ffi.new("char[]", max(lib.MF_MOTION_NOTE, lib.MF_SENSORS_NOTE))
    made: list[str] = []
    for ask in (lib.mf_motion_group_note, lib.mf_sensors_note):
        index = 0
        while ask(group, index, buffer):
            made.append(text(buffer))
            index += 1
    return tuple(made)


NOTE_KINDS = ("scene", "file", "feature", "pose", "step", "level")  # of mf_NoteKind


def start_notes(ask: Any, subject: Any) -> list[tuple[str, str]]:
    """Kind and text of what `mayfly run` prints before it begins, of a group or a scene."""
    capacity = int(ask(subject, ffi.NULL, 0))
    notes = ffi.new("mf_StartNote[]", max(capacity, 1))
    count = min(int(ask(subject, notes, capacity)), capacity)
    return [(NOTE_KINDS[int(notes[i].kind)], text(notes[i].text)) for i in range(count)]


def set_up(group: Any, context: Context, robots: RobotFile, recipe: Recipe) -> bool:
    """Adds motions and controllers; after a failure the group must be dropped.

    Returns whether self-collision is enabled as requested: some models have too many pairs of
    shapes.
    """
    if recipe.pushable:
        call(lib.mf_collisions_prepare, group)
    if recipe.model._body is None and recipe.model._kind is None and recipe.model._vehicle is None:
        touching = _equip(group, robots.of(context, recipe.model._use()), recipe)
    else:
        recipe.model._use()
        file = _body_file(context._use(), recipe)
        try:
            touching = _equip(group, file, recipe)
        finally:
            lib.mf_scene_file_destroy(file)
    if recipe.controller == "network":
        _add_network(group, recipe)
    return touching


def _equip(group: Any, file: Any, recipe: Recipe) -> bool:
    try:
        alive = _describe(file, recipe)
        parts = output(lib.mf_scene_parts, group, file)
        alive += _fill_parts(parts, recipe)
        touching = bool(parts.motions.articulated.self_contacts)
        call(lib.mf_scene_equip, group, file, parts)
        return touching == bool(parts.motions.articulated.self_contacts)
    finally:
        file.groups[0].gaits, file.groups[0].gait_count = ffi.NULL, 0  # are Python's
