"""From the arguments of add_group to the calls of C: motion, sensors, controller, gaits."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mayfly._native import check, encode, ffi, fill, lib, read_struct, text
from mayfly.arrays import matrix, whole
from mayfly.model import Model

__all__ = ["MOTIONS", "Recipe", "add_group", "explain", "motion_settings", "set_up"]

MOTIONS = ("kinematic", "points", "rigid", "prescribed", "articulated")
_ALONE = ("external",)  # motions that robots do not switch to
_CONTROLLERS = ("gp", "oscillator", "network")
_SECTIONS = (*MOTIONS, *_ALONE, *_CONTROLLERS, "gait")
_MAKERS = {
    "kinematic": lib.mf_kinematic_config,
    "points": lib.mf_points_config,
    "rigid": lib.mf_rigid_config,
    "prescribed": lib.mf_prescribed_config,
    "articulated": lib.mf_articulated_config,
    "external": lib.mf_external_config,
    "gp": lib.mf_gp_config,
    "oscillator": lib.mf_oscillator_config,
    "network": lib.mf_network_config,
    "gait": lib.mf_gait_config,
}
_INTERVAL = 10_000_000  # [ns] how often joints are told where to be, about


def motion_settings(name: str) -> dict[str, Any]:
    """Settings of a motion, controller ("gp", "oscillator", "network") or "gait", with defaults."""
    if not isinstance(name, str) or name not in _MAKERS:
        raise ValueError(f"need one of {', '.join(_MAKERS)}, got {name!r}")
    return read_struct(_MAKERS[name]())


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Everything that add_group was told; enough to make the group again."""

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
    alone: bool = False  # links do not touch each other: too many pairs of shapes

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
        known = MOTIONS if len(self.motions) > 1 else (*MOTIONS, *_ALONE)
        for motion in self.motions:
            if not isinstance(motion, str) or motion not in known:
                near = difflib.get_close_matches(str(motion), known, 1)
                hint = f", did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"motion: need one of {', '.join(known)}, got {motion!r}{hint}")
        for section in self.settings:
            if section in _SECTIONS and section not in self._wanted_sections():
                raise TypeError(
                    f"{section}: are settings of something that the group does not have"
                )
        self._own_settings()

    def _wanted_sections(self) -> tuple[str, ...]:
        gait = ("gait",) if self.gaits else ()
        controller = (self.controller,) if self.controller is not None else ()
        return (*self.motions, *controller, *gait)

    @property
    def motions(self) -> tuple[str, ...]:
        if self.motion is None:
            return ()
        return (self.motion,) if isinstance(self.motion, str) else tuple(self.motion)

    @property
    def model_name(self) -> str:
        return "closed model" if self.model.closed else self.model.name

    def arguments(self) -> dict[str, Any]:
        """As add_group takes them."""
        values = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in ("settings", "alone")
        }
        return {**values, **self.settings}

    def for_one(self) -> Recipe:
        return dataclasses.replace(self, count=1)

    def attempts(self) -> Iterator[Recipe]:
        """As told; and without contacts between the links of a URDF file that has too many."""
        yield self
        chosen = self.section("articulated") | self._own_settings()
        urdf = self.model._use().body_count == 0
        if "articulated" in self.motions and urdf and "self_contacts" not in chosen:
            yield dataclasses.replace(self, alone=True)

    def _own_settings(self) -> dict[str, Any]:
        """Settings that are given without saying of what."""
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
        """Settings of one thing."""
        given = self.settings.get(name, {})
        if not isinstance(given, Mapping):
            raise TypeError(f"{name}: need a mapping of settings, got {given!r}")
        own = self._own_settings() if (name,) == self.motions else {}
        return {**own, **given}


# ---- what the robot's file says ------------------------------------------------------------------


def _step(group: Any) -> int:
    """[ns] of the group's world."""
    return int(lib.mf_world_settings(lib.mf_group_world(group)).step)


def _defaults(name: str, recipe: Recipe, group: Any) -> dict[str, Any]:
    """What a motion is set to where nothing is said: as in the command `mayfly run`."""
    model, step = recipe.model._use(), _step(group)
    interval = step * max(_INTERVAL // step, 1) * 1e-9
    if name == "points":
        config = lib.mf_points_config()
        whole = step * max(int(config.joint_interval) // step, 1) * 1e-9
        return {"joint_interval": interval if recipe.gaits else whole}
    if name == "kinematic":
        return {"shapes": True}
    if name == "external":
        return {}
    off = lib.MF_DISABLE_LIMIT | lib.MF_DISABLE_CONSTRAINT
    contacts = bool(lib.mf_group_meets_ground(group))
    values: dict[str, Any] = {
        "shapes": True,
        "contacts": contacts,
        "limits": not model.physics.disabled & off,
    }
    if name != "articulated":
        return {**values, "control_interval": interval}
    # Runge-Kutta steps have contacts of MuJoCo's law only.
    files = model.body_count > 0
    if model.physics.integrator == lib.MF_PHYSICS_RK4 and (files or not contacts):
        values["integrator"] = "rk4"
    if recipe.alone:
        values["self_contacts"] = False
    return values


# ---- calls ---------------------------------------------------------------------------------------


def _config(name: str, recipe: Recipe, group: Any) -> tuple[Any, list[object]]:
    config = _MAKERS[name]()
    wanted = {**_defaults(name, recipe, group), **recipe.section(name)}
    servos = wanted.pop("servos", None)
    alive = fill(config, wanted, name)
    if servos is not None:
        alive += _servos(config, servos, int(recipe.model._use().joint_count))
    return config, alive


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


def _add_motion(group: Any, recipe: Recipe, error: Any) -> None:
    if len(recipe.motions) == 1:
        name = recipe.motions[0]
        config, alive = _config(name, recipe, group)
        add = getattr(lib, f"mf_{name}_add")
        check(add(group, ffi.addressof(config), error), error)
    elif recipe.motions:
        several = lib.mf_motions_config()
        alive = []
        several.start = _number(recipe.motions[0])
        for name in recipe.motions:
            config, more = _config(name, recipe, group)
            alive += more
            several.has[_number(name)] = True
            setattr(several, name, config)
        check(lib.mf_motions_add(group, ffi.addressof(several), error), error)


def _number(motion: str) -> int:
    out = ffi.new("mf_Motion *")
    lib.mf_motion_find(encode(motion), out)
    return int(out[0])


def _add_sensors(group: Any, recipe: Recipe, error: Any) -> None:
    if recipe.sensors is False or recipe.sensors is None:
        return
    config = lib.mf_instruments_config()
    if isinstance(recipe.sensors, Mapping):
        fill(config, recipe.sensors, "sensors")
    elif recipe.sensors is not True:
        raise TypeError(f"sensors: need True, False or a mapping, got {recipe.sensors!r}")
    check(lib.mf_instruments_add(group, ffi.addressof(config), error), error)


def _add_controller(group: Any, recipe: Recipe, error: Any) -> None:
    if recipe.controller is None:
        return
    config = _MAKERS[recipe.controller]()
    wanted = recipe.section(recipe.controller)
    arrays: dict[str, Any] = {
        name: wanted.pop(name) for name in ("hidden", "lower", "upper") if name in wanted
    }
    alive = fill(config, wanted, recipe.controller)
    if recipe.controller == "network":
        alive += _network_arrays(group, config, arrays)
        check(lib.mf_network_add(group, ffi.addressof(config), error), error)
    elif arrays:
        raise TypeError(f"{recipe.controller}: there is no setting {next(iter(arrays))!r}")
    elif recipe.controller == "gp":
        check(lib.mf_sensors_add(group, config.rate, error), error)
        check(lib.mf_gp_add(group, ffi.addressof(config), error), error)
    else:
        check(lib.mf_oscillator_add(group, ffi.addressof(config), error), error)


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


def _add_gaits(group: Any, context: Any, recipe: Recipe, step: int, error: Any) -> None:
    if not recipe.gaits:
        return
    config = lib.mf_gait_config()
    config.rate = lib.mf_rate_from_period(step * max(_INTERVAL // step, 1))
    fill(config, recipe.section("gait"), "gait")
    native = recipe.model._use()
    loaded = ffi.new("mf_Gait *[]", len(recipe.gaits))
    path, out = ffi.new("char[]", 4096), ffi.new("mf_Gait **")
    try:
        for i, gait in enumerate(recipe.gaits):
            check(lib.mf_gait_locate(native.file, encode(gait), path, 4096, error), error)
            check(lib.mf_gait_load(context, path, native, out, error), error)
            loaded[i] = out[0]
        table = ffi.cast("mf_Gait const * const *", loaded)
        check(
            lib.mf_gaits_add(group, table, len(recipe.gaits), ffi.addressof(config), error), error
        )
    finally:
        for gait in loaded:
            lib.mf_gait_destroy(gait)


def explain(recipe: Recipe) -> None:
    """Raises why a model cannot move by what was wanted, and by what it can; if that is why."""
    error = ffi.new("mf_Error *")
    for name in recipe.motions:
        check(lib.mf_motion_check(recipe.model._use(), _number(name), error), error)


def add_group(world: Any, recipe: Recipe) -> Any:
    """Adds a group without motion to a native world; the world is as before when it fails."""
    error = ffi.new("mf_Error *")
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
    out = ffi.new("mf_Group **")
    check(lib.mf_world_add_group(world, ffi.addressof(config), out, error), error)
    return out[0]


def notes_of(group: Any) -> tuple[str, ...]:
    """What motions and sensors of a group leave out of its model."""
    buffer = ffi.new("char[]", max(lib.MF_MOTION_NOTE, lib.MF_INSTRUMENTS_NOTE))
    made: list[str] = []
    for ask in (lib.mf_motion_group_note, lib.mf_instruments_note):
        index = 0
        while ask(group, index, buffer):
            made.append(text(buffer))
            index += 1
    return tuple(made)


def set_up(group: Any, context: Any, recipe: Recipe) -> None:
    """Adds what moves the group; what fails leaves a world that must not be used."""
    error = ffi.new("mf_Error *")
    step = _step(group)
    if recipe.pushable:
        check(lib.mf_collisions_prepare(group, error), error)
    _add_motion(group, recipe, error)
    _add_sensors(group, recipe, error)
    _add_controller(group, recipe, error)
    _add_gaits(group, context, recipe, step, error)
    lib.mf_group_reset_all(group)
