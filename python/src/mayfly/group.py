"""Groups of robots: their fields by name, their starts, states, motions and faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import call, check, encode, ffi, in_turn, lib, output, text
from mayfly._sealed import Sealed
from mayfly._shown import table
from mayfly.arrays import Array, matrix, rows_or_none, whole
from mayfly.cameras import Picture, pictures
from mayfly.equations import Equations
from mayfly.field import Field
from mayfly.group_setup import Recipe, notes_of, start_notes
from mayfly.policies import Noise, PolicyRecipe, RobotPolicy, add_policy
from mayfly.truss import Truss
from mayfly.varied import Varied

if TYPE_CHECKING:
    from mayfly.model import Model
    from mayfly.world import World

__all__ = ["Group", "GroupPart"]

_FAULTS = {
    "nonfinite": lib.MF_FAULT_NONFINITE,
    "range": lib.MF_FAULT_RANGE,
    "input": lib.MF_FAULT_INPUT,
    "control": lib.MF_FAULT_CONTROL,
    "collision": lib.MF_FAULT_COLLISION,
    "terrain": lib.MF_FAULT_TERRAIN,
    "fence": lib.MF_FAULT_FENCE,
    "plugin": lib.MF_FAULT_PLUGIN,
    "trial": lib.MF_FAULT_TRIAL,
    "contacts": lib.MF_FAULT_CONTACTS,
}

_WARNINGS = tuple(1 << kind for kind in range(lib.MF_WARNING_KINDS))


class Group(Sealed, Equations, Varied):
    """Robots of one model, or of several of one tree, in a world; created by World.add_group.

    `group["base.position"]` is a field of all robots, `group["left_knee/joint.angle"]` the part of
    one that belongs to a joint.
    """

    def __init__(self, world: World, native: Any, recipe: Recipe) -> None:
        self.world = world
        self._lock = world._lock
        self._native = native
        self._recipe = recipe
        self._poses_set: dict[int, tuple[Any, Any, Any]] = {}
        self._trusses: dict[int, Truss] = {}
        self._found: dict[str, Field] = {}
        self._numbers: dict[tuple[int, str, int, int], npt.NDArray[np.float64]] = {}
        self._moving: frozenset[str] | None = None
        self._begin: tuple[str, ...] | None = None
        self.model = recipe.model
        self.count = recipe.count
        if not recipe.repeatable:
            self._note_start()
        self._seal()

    def _use(self) -> Any:
        self.world._use()
        return self._native

    @property
    def name(self) -> str:
        """Unique in the world."""
        return self._recipe.name

    @property
    def models(self) -> tuple[Model, ...]:
        """The model of each robot; `model` is that of the first."""
        return self._recipe.models or (self.model,) * self.count

    @property
    def precision(self) -> str:
        """Of the state: "float" or "double"."""
        return self._recipe.precision

    @property
    def motions(self) -> tuple[str, ...]:
        """The motions of the robots, the initial one first."""
        return self._recipe.motions

    @property
    @in_turn
    def notes(self) -> tuple[str, ...]:
        """What `mayfly run` prints at the start (the pose, the step, unlikely numbers of the file),
        then features of the model that motions and sensors ignore with the current settings."""
        native = self._use()
        if int(lib.mf_world_time(self.world._pointer)) == 0:
            self._note_start()  # the robots may have been placed elsewhere
        begin = self._begin
        if begin is None:
            begin = self._begin = _of_start(self.world._start_notes_of(self._recipe))
        return (*begin, *notes_of(native))

    def _note_start(self) -> None:
        self._begin = _of_start(start_notes(lib.mf_group_start_notes, self._native))

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        by = " or ".join(self.motions) or "nothing"
        return f"<Group {self.name}: {self.count} x {self._recipe.model_name}, moved by {by}>"

    def _repr_html_(self) -> str:
        fields = self.fields.values()
        rows = [
            [f.name, f.shape, f.unit, f.dtype, "" if f.writeable else "read only", f.doc]
            for f in fields
        ]
        return table(repr(self), ["field", "shape", "unit", "type", "", ""], rows)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.fields)

    def __reduce__(self) -> Any:
        return _group_again, (self.world, self.name)

    # ---- fields ----------------------------------------------------------------------------------

    @property
    @in_turn
    def fields(self) -> dict[str, Field]:
        """All fields by name."""
        native = self._use()
        names = [
            text(lib.mf_group_field(native, i).info.name)
            for i in range(lib.mf_group_field_count(native))
        ]
        return {name: self.field(name) for name in names}

    @in_turn
    def field(self, path: str) -> Field:
        """A field by name, or the part of one by its path within a robot.

        "joint.angle" is all joints; "left_knee/joint.angle" one of them; "base.position.z" one
        component.

        Raises:
            NotFoundError: names the component that does not match, and similar names.

        """
        native = self._use()
        if not isinstance(path, str):
            raise TypeError(f"need the name of a field, got {path!r}")
        found = self._found.get(path)
        if found is None:
            found = self._find(native, path)
            self._found[path] = found
        return found

    __getitem__ = field

    def __setitem__(self, path: str, value: object) -> None:
        field = self.field(path)
        if value is not field:  # else group[path] += 1 has written it
            field[...] = value

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        try:
            self.field(path)
        except (errors.MayflyError, ValueError):
            return False
        return True

    def _find(self, native: Any, path: str) -> Field:
        whole = lib.mf_group_find_field(native, encode(path))
        if whole != ffi.NULL:
            return Field(self, whole, path)
        found = self._property(native, path)
        if found.field == ffi.NULL:
            raise errors.ArgumentError(
                f"{path}: is a constant of the model; group.constant({path!r}) reads it"
            )
        return self._part_of_field(found, path)

    def _part_of_field(self, found: Any, path: str) -> Field:
        return Field(
            self,
            found.field,
            path,
            int(found.first),
            int(found.count),
            text(found.unit),
            text(found.frame),
            text(found.description),
        )

    def _property(self, native: Any, path: str) -> Any:
        return output(lib.mf_property_find_in, native, 0, encode(path))

    @in_turn
    def constant(self, path: str) -> float | Array:
        """A constant of the model by its path: "left_leg/mass", "knee/upper"."""
        found = self._property(self._use(), path)
        if found.field != ffi.NULL:
            raise errors.ArgumentError(f"{path}: is a field; group.field({path!r}) has it")
        values = np.array([found.constant[i] for i in range(found.count)])
        return float(values[0]) if len(values) == 1 else values

    @in_turn
    def find(self, pattern: str) -> dict[str, Field]:
        """Fields of all parts that match; * matches any characters: "left_*/joint.rate"."""
        native = self._use()
        name = encode(pattern)
        count = int(lib.mfpy_properties(native, 0, name, ffi.NULL, 0))
        out = ffi.new("mf_Property[]", max(count, 1))
        lib.mfpy_properties(native, 0, name, out, count)
        letters = ffi.new("char[]", lib.MF_PROPERTY_PATH)
        made: dict[str, Field] = {}
        for i in range(count):
            if out[i].field == ffi.NULL:
                continue
            lib.mf_property_path(ffi.addressof(out, i), letters, lib.MF_PROPERTY_PATH)
            path = text(letters).split("/", 1)[-1]
            made[path] = self._part_of_field(out[i], path)
        return made

    def pictures(self, camera: str) -> Picture:
        """The latest pictures of a camera of all robots, robots first, after world.add_cameras().

        Color (robots, height, width, 3), depth (robots, height, width) and segmentation (robots,
        height, width, 3) show the memory of the world and change with every picture; of more than
        16 robots they are copies.
        """
        return pictures(self, camera)

    def add_policy(
        self,
        function: Callable[[RobotPolicy], object],
        *,
        percepts: Iterable[str] = (),
        actions: Iterable[str] = (),
        noise: Mapping[str, float | Noise] | None = None,
        made: Mapping[str, Callable[[RobotPolicy], object]] | None = None,
        memory: int = 0,
        tick: float = 0.0,
        name: str = "policy",
    ) -> None:
        """Lets all robots act by a function, which is called for one robot at a time.

        It sees only what its robot senses, remembers and hears. To pickle the world, it must be a
        function of a module.

        Args:
            function: called with the RobotPolicy of a robot.
            percepts: fields of which it reads its robot's values.
            actions: fields that it may write, such as "joint.target" or "dock.enabled".
            noise: by action the standard deviation of what is added to commands, or, of an action
                or a percept, a function of the RobotPolicy and the values that returns others.
            made: percepts of any type, such as a dictionary: functions of the RobotPolicy, called
                at most once in a tick, by the names for which `percept` returns the results.
            memory: numbers that each robot remembers, in the field NAME.memory.
            tick: [s] between two calls; 0: every step.
            name: of the policy.

        """
        recipe = PolicyRecipe(
            function,
            tuple(percepts),
            tuple(actions),
            dict(noise or {}),
            dict(made or {}),
            memory,
            tick,
            name,
        )
        with self._lock:
            self._add_policy(recipe)

    def _add_policy(self, recipe: PolicyRecipe) -> None:
        if not callable(recipe.function):
            raise TypeError(f"policy: need something to call, got {recipe.function!r}")
        self.world._policies.append((self.name, recipe, add_policy(self, recipe)))

    def joint(self, name: str) -> GroupPart:
        """A joint by name: its fields `.angle`, `.rate`, `.target`, its description `.model`."""
        return GroupPart(self, self.model.joint(name))

    def link(self, name: str) -> GroupPart:
        """A link by name."""
        return GroupPart(self, self.model.link(name))

    def body(self, name: str) -> GroupPart:
        """A body by name."""
        return GroupPart(self, self.model.body(name))

    def actuator(self, name: str) -> GroupPart:
        """An actuator by name: `.control`, `.force`."""
        return GroupPart(self, self.model.actuator(name))

    def sensor(self, name: str) -> GroupPart:
        """A sensor by name: `.value`."""
        return GroupPart(self, self.model.sensor(name))

    @in_turn
    def _read_rows(self, name: str, components: int) -> Array:
        """A field that is known to have so many components of each robot, (robots, components)."""
        rows = np.empty((self.count, components))
        lib.mfpy_read(self._use(), name.encode(), ffi.from_buffer("double[]", rows))
        return rows

    @in_turn
    def _write_rows(self, name: str, rows: Array) -> None:
        """The opposite; of fields that are no state of a motion."""
        rows = np.ascontiguousarray(rows, np.float64)
        if not lib.mfpy_write(self._use(), name.encode(), ffi.from_buffer("double[]", rows)):
            raise ValueError(f"{name}: need numbers within {self[name].dtype}")

    def _is_motion_state(self, name: str) -> bool:
        if self._moving is None:
            self._moving = frozenset(self._written_by_motions())
        return name in self._moving

    def _written_by_motions(self) -> Iterator[str]:
        for system in self._systems():
            if system.phase == lib.MF_PHASE_MOTION and not _is_commands(system):
                yield from _writes(system)

    def _controller_of(self, field: str) -> str | None:
        """The system that replaces what is written into a field; None: none does."""
        controls = (s for s in self._systems() if s.phase == lib.MF_PHASE_CONTROL)
        return next((text(s.name) for s in controls if field in _writes(s)), None)

    def _systems(self) -> Iterator[Any]:
        for i in range(lib.mf_group_system_count(self._native)):
            yield lib.mf_group_system(self._native, i)

    # ---- robots ----------------------------------------------------------------------------------

    def _robots(self, robots: Any) -> npt.NDArray[np.uint32]:
        """Indices of robots for None (all), an index, a slice, a list or a mask."""
        if robots is None:
            return np.arange(self.count, dtype=np.uint32)
        picked = np.arange(self.count, dtype=np.uint32)[robots]
        if picked.ndim > 1:
            raise IndexError("robots: need one index, a list of them, a slice or a mask")
        return np.ascontiguousarray(np.atleast_1d(picked))

    def _for_rows(self, call: Any, index: Any, *more: Any) -> None:
        rows = np.ascontiguousarray(index, dtype=np.uint32)
        data = ffi.from_buffer("uint32_t[]", rows)
        call(self._native, data, len(rows), *more)

    def _refresh_rows(self, index: Any) -> None:
        self._for_rows(lib.mfpy_refresh, index)

    def _start_rows(self, index: Any, position: Array) -> None:
        """Resets robots, and puts them at rest to positions, a row each as of set_state."""
        self._for_rows(lib.mfpy_reset, index)
        still = np.zeros((len(index), self.model._use().velocity_count))
        data = [ffi.from_buffer("double[]", values) for values in (position, still)]
        self._for_rows(lib.mfpy_set_state, index, *data)

    def set_truss(self, index: int, truss: Truss) -> None:
        """Makes a robot another truss, at its start, with the network of that one; it must fit into
        the capacity of the group (settings `vertices`, `bars`, `actuators`; without them as
        many as the group's truss has; for neurons and synapses always so).
        """
        error = ffi.new("mf_Error *")
        with self._lock:
            group, native = self._use(), truss._use()
            thinks = lib.mf_group_find_field(group, b"neuron.state") != ffi.NULL
            if native.neuron_count > 0 and not thinks:
                raise ValueError("truss: has a network, the group's own truss has none")
            if thinks:
                check(lib.mf_neurons_set_truss(group, index, native, error), error)
            status = lib.mf_quasistatic_set(group, index, native, error)
            before = self._trusses.get(index, self.model.truss)
            if thinks and status != lib.MF_OK and before is not None:
                lib.mf_neurons_set_truss(group, index, before._use(), ffi.new("mf_Error *"))
            check(status, error)
            self._trusses[index] = truss
            self._poses_set.pop(index, None)

    def reset(self, robots: Any = None) -> None:
        """Resets robots to their start: None for all, a number, a list or a mask."""
        with self._lock:
            self._use()
            self._for_rows(lib.mfpy_reset, self._robots(robots))

    def refresh(self, robots: Any = None) -> None:
        """Recomputes derived values after state was written through a view."""
        with self._lock:
            self._use()
            self._refresh_rows(self._robots(robots))

    def measure(self, robots: Any = None) -> None:
        """Measures the sensors of robots in their present state, as a reset does.

        After set_state and writes of state; steps measure by themselves.

        Args:
            robots: None for all, a number, a list or a mask.

        """
        with self._lock:
            self._use()
            self._for_rows(lib.mfpy_measure, self._robots(robots))

    def set_start(
        self,
        position: npt.ArrayLike,
        orientation: npt.ArrayLike | None = None,
        linear_velocity: npt.ArrayLike | None = None,
        robots: Any = None,
    ) -> None:
        """Sets start poses of robots for all later resets, and resets the robots.

        Args:
            position: [m] of the base's origin, world frame: (3,) or one row per robot.
            orientation: (w, x, y, z) body to world, of length 1; None: identity.
            linear_velocity: [m/s] world frame; None: at rest.
            robots: None for all, a number, a list or a mask.

        """
        with self._lock:
            self._use()
            index = self._robots(robots)
            rows = matrix(position, len(index), 3, "position").tolist()
            turns = rows_or_none(orientation, len(index), 4, "orientation")
            speeds = rows_or_none(linear_velocity, len(index), 3, "linear_velocity")
            for i, robot in enumerate(index.tolist()):
                self._set_pose(robot, (rows[i], turns[i], speeds[i]))

    def _set_pose(self, robot: int, place: tuple[Any, Any, Any]) -> None:
        values = [ffi.NULL if part is None else ffi.new("double[]", part) for part in place]
        call(lib.mf_group_set_start, self._use(), robot, *values)
        self._poses_set[robot] = place

    def set_state(
        self, position: npt.ArrayLike, velocity: npt.ArrayLike | None = None, robots: Any = None
    ) -> None:
        """Sets the state of robots from position and velocity vectors of the model.

        One row for all of them or one per robot; velocity None: at rest. Targets become positions.
        """
        native = self.model._use()
        with self._lock:
            self._use()
            index = self._robots(robots)
            q = matrix(position, len(index), int(native.position_count), "position")
            v = matrix(
                np.zeros(native.velocity_count) if velocity is None else velocity,
                len(index),
                int(native.velocity_count),
                "velocity",
            )
            data = [ffi.from_buffer("double[]", values) for values in (q, v)]
            self._for_rows(lib.mfpy_set_state, index, *data)

    def state(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Position and velocity vectors of all robots, in the form of set_state."""
        model = self.model
        with self._lock:
            self._use()
            q = np.zeros((self.count, model.position_count))
            v = np.zeros((self.count, model.velocity_count))
            if not model.fixed_base:
                q[:, :3], q[:, 3:7] = self["base.position"].read(), self["base.orientation"].read()
                v[:, :3] = self["base.linear_velocity"].read()
                v[:, 3:6] = self["base.angular_velocity"].read()
            self._joint_state(q, v)
        return q, v

    def _joint_state(self, q: Array, v: Array) -> None:
        angle, rate = self["joint.angle"].read(), self["joint.rate"].read()
        turns = self._optional("ball.orientation", 4)
        yaw_rates = self._optional("ball.rate", 3)
        positions, speeds = self._optional("free.position", 3), self._optional("free.velocity", 3)
        ball = floating = 0
        for joint in self.model.joints:
            at, to = joint.position_address, joint.velocity_address
            if joint.type in ("hinge", "slide"):
                q[:, at], v[:, to] = angle[:, joint.index], rate[:, joint.index]
                continue
            if joint.type == "floating":
                if positions is not None and speeds is not None:
                    q[:, at : at + 3], v[:, to : to + 3] = (
                        positions[:, floating],
                        speeds[:, floating],
                    )
                floating, at, to = floating + 1, at + 3, to + 3
            if joint.type in ("floating", "ball"):
                q[:, at] = 1.0
                if turns is not None:
                    q[:, at : at + 4] = turns[:, ball]
                if yaw_rates is not None:
                    v[:, to : to + 3] = yaw_rates[:, ball]
                ball += 1

    def _optional(self, name: str, width: int) -> Array | None:
        if lib.mf_group_find_field(self._native, encode(name)) == ffi.NULL:
            return None
        return self[name].read().reshape(self.count, -1, width)

    # ---- motion ----------------------------------------------------------------------------------

    def switch(self, motion: str, robots: Any = None) -> None:
        """Switches robots to another of the group's motions from the next step on."""
        out = ffi.new("mf_Motion *")
        if not isinstance(motion, str) or not lib.mf_motion_find(encode(motion), out):
            raise ValueError(f"motion: need one of {', '.join(self.motions)}, got {motion!r}")
        with self._lock:
            native = self._use()
            for robot in self._robots(robots).tolist():
                call(lib.mf_motion_switch, native, robot, out[0])

    @in_turn
    def motion_of(self, robot: int) -> str | None:
        """The current motion of a robot."""
        number = whole(robot, "robot", 0, self.count)
        found = lib.mf_motion_of(self._use(), number)
        return None if found == lib.MF_MOTION_COUNT else text(lib.mf_motion_name(found))

    # ---- faults ----------------------------------------------------------------------------------

    @property
    def fault(self) -> npt.NDArray[np.uint32]:
        """Fault bits of each robot; 0: none. fault_names() gives their names."""
        return self["fault.word"].read()

    @property
    @in_turn
    def faults(self) -> int:
        """Number of robots with a fault."""
        return int(lib.mf_group_fault_total(self._use()))

    @in_turn
    def fault_names(self, robot: int) -> tuple[str, ...]:
        """Names of a robot's faults: "nonfinite", "range", "input", "control", ..."""
        word = int(lib.mf_group_fault(self._use(), whole(robot, "robot", 0, self.count)))
        return tuple(name for name, bit in _FAULTS.items() if word & bit)

    # ---- warnings --------------------------------------------------------------------------------

    @property
    def warning(self) -> npt.NDArray[np.uint32]:
        """Warning bits of each robot since its start (reduced accuracy); 0: none.

        The robots continue. warning_names() gives their names, `warnings` a summary, and the fields
        warning.steps and warning.residual have a column for each.
        """
        if "warning.word" not in self:
            return np.zeros(self.count, np.uint32)
        return self["warning.word"].read()

    @property
    @in_turn
    def warnings(self) -> dict[str, tuple[int, int, float]]:
        """Per kind of warning: number of robots, their steps, largest residual."""
        native = self._use()
        found: dict[str, tuple[int, int, float]] = {}
        for bit in _WARNINGS:
            sum_ = lib.mf_group_warning_sum(native, bit)
            if sum_.robots > 0:
                name = text(lib.mf_warning_name(bit))
                found[name] = (int(sum_.robots), int(sum_.steps), float(sum_.residual))
        return found

    @in_turn
    def warning_names(self, robot: int) -> tuple[str, ...]:
        """Names of a robot's warnings: "solver", "contacts", "shapes", ..."""
        word = int(lib.mf_group_warning(self._use(), whole(robot, "robot", 0, self.count)))
        return tuple(text(lib.mf_warning_name(bit)) for bit in _WARNINGS if word & bit)

    @in_turn
    def instance_hash(self, robot: int) -> int:
        """64 bits over the state of one robot."""
        number = whole(robot, "robot", 0, self.count)
        return int(lib.mf_group_instance_hash(self._use(), number))

    @property
    @in_turn
    def bytes_per_robot(self) -> int:
        """[byte] of all fields of one robot."""
        return int(lib.mf_group_bytes_per_instance(self._use()))


def _of_start(notes: list[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(note for kind, note in notes if kind not in ("feature", "level"))


def _writes(system: Any) -> tuple[str, ...]:
    """The fields that a system declares to write."""
    return () if system.writes == ffi.NULL else tuple(_texts(system.writes))


def _texts(names: Any) -> Iterator[str]:
    n = 0
    while names[n] != ffi.NULL:
        yield text(names[n])
        n += 1


def _is_commands(system: Any) -> bool:
    """Whether the system passes joint.target to actuators: it does not write a motion's state."""
    return text(system.name) == "commands"


def _group_again(world: World, name: str) -> Group:
    return world.group(name)


class GroupPart:
    """A joint, link, actuator or sensor of all robots of a group; its fields are attributes."""

    group: Group
    model: Any
    name: str

    def __init__(self, group: Group, model: Any) -> None:
        self.__dict__.update(group=group, model=model, name=model.name)

    @property
    def fields(self) -> dict[str, Field]:
        """Its fields by name, such as "joint.angle"."""
        found = self.group.find(f"{self.name}/*")
        return {path.rsplit("/", 1)[-1]: field for path, field in found.items()}

    def __getitem__(self, field: str) -> Field:
        return self.group.field(f"{self.name}/{field}")

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("group", "model", "name", "fields"):
            raise AttributeError(f"{self.name}: {name!r} cannot be set")
        field = self.__getattr__(name)
        if value is not field:  # else += has written it
            field[...] = value

    def __setitem__(self, field: str, value: object) -> None:
        self.group[f"{self.name}/{field}"] = value

    def __getattr__(self, name: str) -> Field:
        if name.startswith("_"):
            raise AttributeError(name)
        fields = self.fields
        for field in fields:
            if field.rsplit(".", 1)[-1] == name:
                return fields[field]
        known = ", ".join(field.rsplit(".", 1)[-1] for field in fields) or "none"
        raise AttributeError(f"{self.name} has no field {name!r}; there are: {known}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name.rsplit(".", 1)[-1] for name in self.fields)]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.fields)

    def __repr__(self) -> str:
        return f"<{self.name} of {self.group.count} {self.group.name}>"
