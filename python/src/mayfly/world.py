"""Worlds and their groups of robots."""

from __future__ import annotations

import math
import operator
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import Native, check, encode, ffi, fill, lib, text, time_from_seconds
from mayfly.arrays import Array, as_array
from mayfly.context import Context, default_context
from mayfly.field import Field
from mayfly.group_setup import Recipe, set_up
from mayfly.model import Model
from mayfly.terrain import Terrain

__all__ = ["Group", "GroupPart", "World"]


_CHUNK_TIME = 0.1  # [s] after which a long step looks for Ctrl-C
_FAULTS = {
    "nonfinite": lib.MF_FAULT_NONFINITE,
    "range": lib.MF_FAULT_RANGE,
    "input": lib.MF_FAULT_INPUT,
    "control": lib.MF_FAULT_CONTROL,
    "collision": lib.MF_FAULT_COLLISION,
    "terrain": lib.MF_FAULT_TERRAIN,
    "fence": lib.MF_FAULT_FENCE,
    "plugin": lib.MF_FAULT_PLUGIN,
}


class World(Native):
    """One simulation: ground, groups of robots, time.

    Args:
        step: [s] physics step, 1e-6 .. 1.
        seed: of everything random in the world.
        gravity: [m/s^2] downward.
        gravity_direction: where it pulls; motions other than "articulated" want it downward.
        terrain: the ground; None: flat, at height 0.
        threads: workers for this world alone; None: those of `context`.
        context: where memory and threads come from; None: the hidden default.
        isa: instruction set, "auto", "scalar", "baseline", "avx2" or "avx512".

    Results depend on neither threads nor instruction set. A world may be used from several Python
    threads; each call waits for the one that is going on. Other Python threads run while it steps.

    """

    def __init__(
        self,
        step: float = 0.01,
        seed: int = 0,
        gravity: float = 9.81,
        *,
        gravity_direction: Sequence[float] = (0.0, 0.0, -1.0),
        terrain: Terrain | None = None,
        threads: int | None = None,
        context: Context | None = None,
        isa: str = "auto",
    ) -> None:
        if threads is not None and context is not None:
            raise TypeError("threads and context: a context has its own threads, give one of them")
        if terrain is not None and not isinstance(terrain, Terrain):
            raise TypeError(f"terrain: need a Terrain or None, got {type(terrain).__name__}")
        self._lock = threading.RLock()
        self._settings: dict[str, Any] = {
            "step": step,
            "seed": seed,
            "gravity": gravity,
            "gravity_direction": gravity_direction,
            "isa": isa,
        }
        self._threads = threads
        self._broken = False
        self._groups: list[Group] = []
        self._collisions: dict[str, Any] | None = None
        self.terrain = terrain
        self._ground = ffi.NULL if terrain is None else terrain._use()
        if threads is not None:
            context = Context(threads)
        self._context = context if context is not None else default_context()
        self._take(lib.MFPY_WORLD, self._create(), [self._context])
        if terrain is not None:
            self._keep(terrain)

    @classmethod
    def for_model(cls, model: Model, *, seed: int = 0, **more: Any) -> World:
        """A world with the step, gravity and ground that a robot's file asks for."""
        pull = model.gravity
        size = math.sqrt(sum(g * g for g in pull))
        settings: dict[str, Any] = {"step": model.step, "gravity": size}
        if size > 0.0:
            settings["gravity_direction"] = pull
        if "terrain" not in more:
            settings["terrain"] = Terrain.from_model(model)
        return cls(seed=seed, **{**settings, **more})

    def _create(self) -> Any:
        config = lib.mf_world_config()
        fill(config, self._settings, "World")
        config.terrain = self._ground
        out, error = ffi.new("mf_World **"), ffi.new("mf_Error *")
        context = self._context._use()
        check(lib.mf_world_create(context, ffi.addressof(config), out, error), error)
        return out[0]

    def _use(self) -> Any:
        native = super()._use()
        if self._broken:
            raise errors.BusyError("a group of this world was left half made: make a new world")
        return native

    # ---- groups ----------------------------------------------------------------------------------

    def add_group(
        self,
        model: Model,
        count: int = 1,
        *,
        name: str = "robots",
        motion: str | Sequence[str] | None = "articulated",
        sensors: bool | Mapping[str, object] = False,
        controller: str | None = None,
        gaits: Sequence[str | os.PathLike[str]] = (),
        precision: str = "float",
        isolated: bool = True,
        pushable: bool = False,
        fault_policy: str = "freeze",
        spacing: float = 0.0,
        **settings: Any,
    ) -> Group:
        """Adds `count` robots of one model.

        Args:
            name: unique in the world.
            motion: by which physics they move: "kinematic", "points", "rigid", "prescribed" or
                "articulated"; several: the first is where robots start, `switch` changes it; None:
                they do not move.
            sensors: adds the sensors of the robot's file as the field sensor.value; a mapping gives
                their settings (`rate` [1/s], `noise`, `lenient`).
            controller: "gp" (programs in the field gp.program) or "oscillator" (fields
                oscillator.*); None: targets are yours to write.
            gaits: files of motions, or names of those beside the robot's file ("walk").
            precision: of the state, "float" or "double".
            isolated: each robot alone in its own copy of the ground; False: all in one place.
            pushable: robots of a shared group can be pushed by others; see World.add_collisions.
            fault_policy: "freeze" a robot that goes wrong, or "reset" it.
            spacing: [m] between the start places.
            settings: of the motion, by the names of the C header: `contact_time=0.01`. With several
                motions, and for others, a mapping by name: `points={"friction": "coupled"}`,
                `gp={"angle_per_move": 0.1}`, `oscillator=...`, `gait=...`. What is not given
                follows the robot's file, as in the command `mayfly run`.

        Nothing is added when it fails.

        """
        if not isinstance(model, Model):
            raise TypeError(f"model: need a Model, got {type(model).__name__}")
        if isinstance(gaits, (str, bytes)) or not isinstance(gaits, Sequence):
            raise TypeError(f"gaits: need a list of names or paths, got {gaits!r}")
        recipe = Recipe(
            model=model,
            count=_count(count),
            name=name,
            motion=motion,
            sensors=sensors,
            controller=controller,
            gaits=tuple(os.fspath(gait) for gait in gaits),
            precision=precision,
            isolated=isolated,
            pushable=pushable,
            fault_policy=fault_policy,
            spacing=spacing,
            settings=settings,
        )
        with self._lock:
            self._use()
            recipe = self._rehearse(recipe)
            self._keep(model)
            self._broken = True  # until all of it stands
            native = set_up(self._pointer, self._context._use(), recipe)
            self._broken = False
            group = Group(self, native, recipe)
            self._groups.append(group)
            return group

    def _rehearse(self, recipe: Recipe) -> Recipe:
        """Adds the group to a world of its own first: whatever is wrong shows there."""
        if any(group.name == recipe.name for group in self._groups):
            raise errors.ArgumentError(f"group {recipe.name}: the name is taken")
        for attempt in recipe.attempts():
            scratch = self._create()
            try:
                set_up(scratch, self._context._use(), attempt.for_one())
            except errors.LimitError as failure:
                last = failure
            else:
                return attempt
            finally:
                lib.mf_world_destroy(scratch)
        raise last

    def add_collisions(self, **settings: object) -> None:
        """Lets robots of shared groups push each other; call it after all groups are added.

        Settings as in the C structure mf_CollisionsConfig: `restitution`, `friction`, `depth`, ...
        """
        with self._lock:
            native = self._use()
            config = lib.mf_collisions_config()
            fill(config, settings, "collisions")
            out, error = ffi.new("mf_Collisions **"), ffi.new("mf_Error *")
            check(lib.mf_collisions_add(native, ffi.addressof(config), out, error), error)
            self._collisions = dict(settings)

    @property
    def groups(self) -> tuple[Group, ...]:
        """All groups, in order of creation."""
        return tuple(self._groups)

    def group(self, name: str) -> Group:
        """The group of that name."""
        for group in self._groups:
            if group.name == name:
                return group
        known = ", ".join(group.name for group in self._groups) or "none"
        raise errors.NotFoundError(f"there is no group {name!r}; there are: {known}")

    # ---- time ------------------------------------------------------------------------------------

    def step(self, count: int = 1) -> None:
        """Simulates `count` steps. Never fails: a robot that goes wrong raises its fault word.

        Other Python threads run meanwhile. Ctrl-C stops it between two steps.
        """
        steps = _whole(count, "step", 0, 2**62)
        with self._lock:
            native = self._use()
            if steps == 1:
                self._step(native, 1)
                return
            chunk = 64
            while steps > 0:
                now = min(steps, chunk)
                begin = time.monotonic()
                self._step(native, now)
                steps -= now
                if time.monotonic() - begin < _CHUNK_TIME:
                    chunk *= 2

    def _step(self, native: Any, steps: int) -> None:
        if not lib.mfpy_step(native, steps):
            raise errors.OperatingSystemError(
                "step: this thread's stack is small, and the system gives no thread with a large "
                "one: step from another thread, or see threading.stack_size"
            )

    def run(self, seconds: float) -> None:
        """Simulates for a time [s], rounded up to whole steps."""
        duration = time_from_seconds(seconds, "run")
        if duration < 0:
            raise ValueError(f"run: need a time >= 0, got {seconds!r}")
        step = int(lib.mf_world_settings(self._use()).step)
        self.step(-(-duration // step))

    @property
    def time(self) -> float:
        """[s] simulated so far."""
        return float(lib.mf_time_to_seconds(lib.mf_world_time(self._use())))

    @property
    def time_ns(self) -> int:
        """[ns] simulated so far, exactly."""
        return int(lib.mf_world_time(self._use()))

    @property
    def step_seconds(self) -> float:
        """[s] one physics step."""
        return float(lib.mf_time_to_seconds(lib.mf_world_settings(self._use()).step))

    @property
    def seed(self) -> int:
        """Of everything random in the world."""
        return int(lib.mf_world_settings(self._use()).seed)

    @property
    def threads(self) -> int:
        """Workers that a step uses, the calling thread included."""
        self._use()
        return self._context.threads

    @property
    def isa(self) -> str:
        """The instruction set in use, such as "avx2"."""
        return text(lib.mf_isa_name(lib.mf_world_isa(self._use())))

    @property
    def context(self) -> Context:
        """Where memory and threads come from."""
        return self._context

    # ---- state -----------------------------------------------------------------------------------

    def hash(self) -> int:
        """64 bits over the state of all robots: the same bits mean the same simulation."""
        with self._lock:
            return int(lib.mf_world_hash(self._use()))

    def snapshot(self) -> bytes:
        """The whole state, for restore()."""
        with self._lock:
            native = self._use()
            size = lib.mf_world_snapshot_size(native)
            image, error = ffi.new("uint8_t[]", size), ffi.new("mf_Error *")
            check(lib.mf_world_snapshot(native, image, size, error), error)
            return bytes(ffi.buffer(image))

    def restore(self, image: bytes | bytearray | memoryview) -> None:
        """Puts the world back to a snapshot; it then goes on to the same bits.

        Raises:
            CorruptError, VersionError, ArgumentError: it does not fit; the world is untouched.

        """
        data = ffi.from_buffer("uint8_t[]", image)
        error = ffi.new("mf_Error *")
        with self._lock:
            check(lib.mf_world_restore(self._use(), data, len(data), error), error)

    def reset(self) -> None:
        """Puts all robots back to their start. The world's time goes on."""
        for group in self._groups:
            group.reset()

    # ---- life ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Gives the memory back; arrays that look into it stay valid and keep it until they go."""
        with self._lock:
            super().close()
            self._groups = []

    def __enter__(self) -> World:
        self._use()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<World, closed>"
        robots = ", ".join(f"{group.count} {group.name}" for group in self._groups) or "empty"
        return f"<World: {robots}>"

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]:
        with self._lock:
            self._use()
            return _world_again, (
                {
                    "settings": self._settings,
                    "threads": self._threads,
                    "terrain": self.terrain,
                    "groups": [(group._recipe, group._places) for group in self._groups],
                    "collisions": self._collisions,
                    "state": self.snapshot(),
                },
            )


def _world_again(description: dict[str, Any]) -> World:
    """Unpickles: makes the same world, and puts it into the same state."""
    world = World(
        terrain=description["terrain"], threads=description["threads"], **description["settings"]
    )
    for recipe, places in description["groups"]:
        group = world.add_group(**recipe.arguments())
        for robot, place in places.items():
            group._place_one(robot, place)
    if description["collisions"] is not None:
        world.add_collisions(**description["collisions"])
    world.restore(description["state"])
    return world


class Group:
    """Robots of one model in a world; made by World.add_group.

    `group["base.position"]` is a field of all robots, `group["left_knee/joint.angle"]` the part of
    one that belongs to a joint.
    """

    def __init__(self, world: World, native: Any, recipe: Recipe) -> None:
        self.world = world
        self._native = native
        self._recipe = recipe
        self._places: dict[int, tuple[Any, Any, Any]] = {}
        self._found: dict[str, Field] = {}
        self._moving: frozenset[str] | None = None
        self.model = recipe.model
        self.count = recipe.count

    def _use(self) -> Any:
        self.world._use()
        return self._native

    @property
    def name(self) -> str:
        """Unique in the world."""
        return self._recipe.name

    @property
    def precision(self) -> str:
        """Of the state: "float" or "double"."""
        return self._recipe.precision

    @property
    def motions(self) -> tuple[str, ...]:
        """The motions that robots can move by, the one they start with first."""
        return self._recipe.motions

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        by = " or ".join(self.motions) or "nothing"
        return f"<Group {self.name}: {self.count} x {self._recipe.model_name}, moved by {by}>"

    def __reduce__(self) -> Any:
        return _group_again, (self.world, self.name)

    # ---- fields ----------------------------------------------------------------------------------

    @property
    def fields(self) -> dict[str, Field]:
        """All fields by name."""
        native = self._use()
        names = [
            text(lib.mf_group_field(native, i).info.name)
            for i in range(lib.mf_group_field_count(native))
        ]
        return {name: self.field(name) for name in names}

    def field(self, path: str) -> Field:
        """A field by name, or the part of one by its path within a robot.

        "joint.angle" is all joints; "left_knee/joint.angle" one of them; "base.position.z" one
        component.

        Raises:
            NotFoundError: which piece of the path means nothing, and what is near.

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
        self.field(path)[...] = value

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        try:
            self.field(path)
        except (errors.MayflyError, ValueError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

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
        out, error = ffi.new("mf_Property *"), ffi.new("mf_Error *")
        check(lib.mf_property_find_in(native, 0, encode(path), out, error), error)
        return out

    def constant(self, path: str) -> float | Array:
        """A constant of the model by its path: "left_leg/mass", "knee/upper"."""
        found = self._property(self._use(), path)
        if found.field != ffi.NULL:
            raise errors.ArgumentError(f"{path}: is a field; group.field({path!r}) has it")
        values = np.array([found.constant[i] for i in range(found.count)])
        return float(values[0]) if len(values) == 1 else values

    def find(self, pattern: str) -> dict[str, Field]:
        """Fields of all parts that match; * stands for any letters: "left_*/joint.rate"."""
        native = self._use()
        name = encode(pattern)
        room = int(lib.mfpy_properties(native, 0, name, ffi.NULL, 0))
        out = ffi.new("mf_Property[]", max(room, 1))
        lib.mfpy_properties(native, 0, name, out, room)
        letters = ffi.new("char[]", lib.MF_PROPERTY_PATH)
        made: dict[str, Field] = {}
        for i in range(room):
            if out[i].field == ffi.NULL:
                continue
            lib.mf_property_path(ffi.addressof(out, i), letters, lib.MF_PROPERTY_PATH)
            path = text(letters).split("/", 1)[-1]
            made[path] = self._part_of_field(out[i], path)
        return made

    def joint(self, name: str) -> GroupPart:
        """A joint by name: `.angle`, `.rate`, `.target` are its fields, `.model` what it is."""
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

    def _is_motion_state(self, name: str) -> bool:
        if self._moving is None:
            self._moving = frozenset(self._written_by_motions())
        return name in self._moving

    def _written_by_motions(self) -> Iterator[str]:
        for i in range(lib.mf_group_system_count(self._native)):
            system = lib.mf_group_system(self._native, i)
            names = system.writes
            if system.phase != lib.MF_PHASE_MOTION or names == ffi.NULL:
                continue
            n = 0
            while names[n] != ffi.NULL:
                yield text(names[n])
                n += 1

    # ---- robots ----------------------------------------------------------------------------------

    def _robots(self, robots: Any) -> npt.NDArray[np.uint32]:
        """Numbers of robots for None (all), an index, a slice, a list or a mask."""
        if robots is None:
            return np.arange(self.count, dtype=np.uint32)
        picked = np.arange(self.count, dtype=np.uint32)[robots]
        if picked.ndim > 1:
            raise IndexError("robots: need one index, a list of them, a slice or a mask")
        return np.ascontiguousarray(np.atleast_1d(picked))

    def _for_rows(self, call: Any, index: Any, *more: Any) -> None:
        rows = np.ascontiguousarray(index, dtype=np.uint32)
        data = ffi.from_buffer("uint32_t[]", rows)
        if not call(self._native, data, len(rows), *more):
            raise errors.OperatingSystemError("the system gives no thread with a large stack")

    def _refresh_rows(self, index: Any) -> None:
        self._for_rows(lib.mfpy_refresh, index)

    def reset(self, robots: Any = None) -> None:
        """Puts robots back to their start: None for all, a number, a list or a mask."""
        with self.world._lock:
            self._use()
            self._for_rows(lib.mfpy_reset, self._robots(robots))

    def refresh(self, robots: Any = None) -> None:
        """After state was written through a view: systems compute again what follows from it."""
        with self.world._lock:
            self._use()
            self._refresh_rows(self._robots(robots))

    def place(
        self,
        position: npt.ArrayLike,
        orientation: npt.ArrayLike | None = None,
        linear_velocity: npt.ArrayLike | None = None,
        robots: Any = None,
    ) -> None:
        """Gives robots a start of their own, which every later reset returns to, and resets them.

        Args:
            position: [m] of the base's origin, world frame: (3,) or one row per robot.
            orientation: (w, x, y, z) body to world, of length 1; None: no turn.
            linear_velocity: [m/s] world frame; None: at rest.
            robots: None for all, a number, a list or a mask.

        """
        with self.world._lock:
            self._use()
            index = self._robots(robots)
            rows = _rows(position, len(index), 3, "position")
            turns = _rows(orientation, len(index), 4, "orientation")
            speeds = _rows(linear_velocity, len(index), 3, "linear_velocity")
            for i, robot in enumerate(index.tolist()):
                self._place_one(robot, (rows[i], turns[i], speeds[i]))

    def _place_one(self, robot: int, place: tuple[Any, Any, Any]) -> None:
        values = [ffi.NULL if part is None else ffi.new("double[]", part) for part in place]
        error = ffi.new("mf_Error *")
        check(lib.mf_group_place(self._use(), robot, *values, error), error)
        self._places[robot] = place

    def set_state(
        self, position: npt.ArrayLike, velocity: npt.ArrayLike | None = None, robots: Any = None
    ) -> None:
        """Puts robots into the state of a position vector and a velocity vector of the model.

        One row for all of them or one per robot; velocity None: at rest. Targets become positions.
        """
        native = self.model._use()
        with self.world._lock:
            self._use()
            index = self._robots(robots)
            q = _matrix(position, len(index), int(native.position_count), "position")
            v = _matrix(
                np.zeros(native.velocity_count) if velocity is None else velocity,
                len(index),
                int(native.velocity_count),
                "velocity",
            )
            data = [ffi.from_buffer("double[]", values) for values in (q, v)]
            self._for_rows(lib.mfpy_set_state, index, *data)

    def state(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Position and velocity vectors of all robots, as set_state takes them."""
        model = self.model
        with self.world._lock:
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
        turn_rates = self._optional("ball.rate", 3)
        places, speeds = self._optional("free.position", 3), self._optional("free.velocity", 3)
        ball = floating = 0
        for joint in self.model.joints:
            at, to = joint.position_address, joint.velocity_address
            if joint.type in ("hinge", "slide"):
                q[:, at], v[:, to] = angle[:, joint.index], rate[:, joint.index]
                continue
            if joint.type == "floating":
                if places is not None and speeds is not None:
                    q[:, at : at + 3], v[:, to : to + 3] = places[:, floating], speeds[:, floating]
                floating, at, to = floating + 1, at + 3, to + 3
            if joint.type in ("floating", "ball"):
                q[:, at] = 1.0
                if turns is not None:
                    q[:, at : at + 4] = turns[:, ball]
                if turn_rates is not None:
                    v[:, to : to + 3] = turn_rates[:, ball]
                ball += 1

    def _optional(self, name: str, width: int) -> Array | None:
        if lib.mf_group_find_field(self._native, encode(name)) == ffi.NULL:
            return None
        return self[name].read().reshape(self.count, -1, width)

    # ---- motion ----------------------------------------------------------------------------------

    def switch(self, motion: str, robots: Any = None) -> None:
        """Lets robots move by another of the group's motions from the next step on."""
        out, error = ffi.new("mf_Motion *"), ffi.new("mf_Error *")
        if not isinstance(motion, str) or not lib.mf_motion_find(encode(motion), out):
            raise ValueError(f"motion: need one of {', '.join(self.motions)}, got {motion!r}")
        with self.world._lock:
            native = self._use()
            for robot in self._robots(robots).tolist():
                check(lib.mf_motion_switch(native, robot, out[0], error), error)

    def motion_of(self, robot: int) -> str | None:
        """By which motion a robot moves at present."""
        number = _whole(robot, "robot", 0, self.count)
        found = lib.mf_motion_of(self._use(), number)
        return None if found == lib.MF_MOTION_COUNT else text(lib.mf_motion_name(found))

    # ---- faults ----------------------------------------------------------------------------------

    @property
    def fault(self) -> npt.NDArray[np.uint32]:
        """Why each robot is out of order, as bits; 0: it is fine. fault_names() tells them."""
        return self["fault.word"].read()

    @property
    def faults(self) -> int:
        """How many robots are out of order."""
        return int(lib.mf_group_fault_total(self._use()))

    def fault_names(self, robot: int) -> tuple[str, ...]:
        """Why a robot is out of order: "nonfinite", "range", "input", "control", ..."""
        word = int(lib.mf_group_fault(self._use(), _whole(robot, "robot", 0, self.count)))
        return tuple(name for name, bit in _FAULTS.items() if word & bit)

    def instance_hash(self, robot: int) -> int:
        """64 bits over the state of one robot."""
        number = _whole(robot, "robot", 0, self.count)
        return int(lib.mf_group_instance_hash(self._use(), number))

    @property
    def bytes_per_robot(self) -> int:
        """[byte] of all fields of one robot."""
        return int(lib.mf_group_bytes_per_instance(self._use()))


def _group_again(world: World, name: str) -> Group:
    return world.group(name)


class GroupPart:
    """A joint, link, actuator or sensor of all robots of a group; its fields are attributes."""

    def __init__(self, group: Group, model: Any) -> None:
        self.group = group
        self.model = model
        self.name: str = model.name

    @property
    def fields(self) -> dict[str, Field]:
        """Its fields by name, such as "joint.angle"."""
        found = self.group.find(f"{self.name}/*")
        return {path.rsplit("/", 1)[-1]: field for path, field in found.items()}

    def __getitem__(self, field: str) -> Field:
        return self.group.field(f"{self.name}/{field}")

    def __getattr__(self, name: str) -> Field:
        if name.startswith("_"):
            raise AttributeError(name)
        fields = self.fields
        for field in fields:
            if field.rsplit(".", 1)[-1] == name:
                return fields[field]
        known = ", ".join(field.rsplit(".", 1)[-1] for field in fields) or "none"
        raise AttributeError(f"{self.name} has no field {name!r}; there are: {known}")

    def __repr__(self) -> str:
        return f"<{self.name} of {self.group.count} {self.group.name}>"


# ---- arguments -----------------------------------------------------------------------------------


def _whole(value: object, what: str, low: int, high: int) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{what}: need a whole number, got {value!r}") from None
    if not low <= number < high:
        raise ValueError(f"{what}: need {low} .. {high - 1}, got {number}")
    return number


def _count(value: object) -> int:
    return _whole(value, "count", 1, 2**26 + 1)


def _matrix(value: Any, rows: int, width: int, what: str) -> npt.NDArray[np.float64]:
    """Numbers of shape (rows, width), finite; one row is repeated."""
    given = as_array(value)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{what}: need real numbers, got {given.dtype}")
    if given.shape not in ((width,), (rows, width)):
        raise ValueError(f"{what}: need shape ({width},) or ({rows}, {width}), got {given.shape}")
    if not np.isfinite(given).all():
        raise errors.ArgumentError(f"{what}: need finite numbers; nothing was written")
    return np.array(np.broadcast_to(given, (rows, width)), np.float64, order="C")


def _rows(value: Any, rows: int, width: int, what: str) -> list[Any]:
    return [None] * rows if value is None else _matrix(value, rows, width, what).tolist()
