"""Worlds: one simulation with its ground, groups of robots and time."""

from __future__ import annotations

import math
import os
import time
import warnings
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from mayfly import errors
from mayfly._native import (
    Native,
    Turn,
    call,
    ffi,
    fill,
    in_turn,
    lib,
    output,
    text,
    time_from_seconds,
)
from mayfly._shown import table
from mayfly.arrays import whole
from mayfly.bodies import VertexBody
from mayfly.cameras import Camera, FreeCamera
from mayfly.context import Context, default_context
from mayfly.docks import Docks
from mayfly.drawings import ControlList
from mayfly.field import Field
from mayfly.group import Group
from mayfly.group_setup import Recipe, RobotFile, add_group, notes_of, set_up, start_notes
from mayfly.joints import Location, WorldJoint, fill_side, pose_in_robot
from mayfly.messages import Messages
from mayfly.model import Model
from mayfly.policies import PolicyRecipe
from mayfly.queries import (
    Body,
    Contact,
    Distance,
    RayHit,
    Robot,
    cast_ray,
    find_distance,
    list_contacts,
)
from mayfly.terrain import Terrain
from mayfly.varied import give_models, numbers_image, read_numbers
from mayfly.world_drawings import DrawnWorld

__all__ = ["World"]


_GROUND = "a level ground at height 0 is added"  # MF_MOTION_NOTE_GROUND
_CHUNK_TIME = 0.1  # [s] after which a long step looks for Ctrl-C


class World(DrawnWorld):
    """One simulation: ground, groups of robots, time.

    Args:
        step: [s] physics step, 1e-6 .. 1.
        seed: of all random numbers of the world.
        gravity: [m/s^2] downward.
        gravity_direction: direction of gravity; motions other than "articulated" need it downward.
        terrain: the ground; None: flat, at height 0.
        threads: workers for this world alone; None: those of `context`.
        context: memory and threads; None: the default context.
        isa: instruction set, "auto", "scalar", "avx2" or "avx512".

    Results depend on neither threads nor instruction set. A world may be used from several Python
    threads; calls are serialized. The GIL is released during steps.

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
        self._lock = Turn(type(self).__name__)
        self._fields: weakref.WeakSet[Field] = weakref.WeakSet()
        self._settings: dict[str, Any] = {
            "step": step,
            "seed": seed,
            "gravity": gravity,
            "gravity_direction": gravity_direction,
            "isa": isa,
        }
        self._threads = threads
        self._start_without_parts()
        self.terrain = terrain
        self._ground = ffi.NULL if terrain is None else terrain._use()
        if threads is not None:
            context = Context(threads)
        self._context = context if context is not None else default_context()
        self._take(lib.MFPY_WORLD, self._create(), [self._context])
        if terrain is not None:
            self._keep(terrain)
        self._seal()

    def _start_without_parts(self) -> None:
        self._groups: list[Group] = []
        self._robot_file = RobotFile()
        self._collisions: dict[str, Any] | None = None
        self._cloths = False
        self._ranges = False
        self._cameras = False
        self._joints: dict[str, Any] | None = None
        self._native_joints: Any = None
        self._joint_slots: list[tuple[str, int]] = []
        self._docks: dict[str, Any] | None = None
        self._messages: dict[str, Any] | None = None
        self._policies: list[tuple[str, PolicyRecipe, Any]] = []
        self._failures: list[BaseException] = []  # of policies
        self._pusher: Native | None = None  # of pages
        self._controls = ControlList()

    @classmethod
    def for_model(cls, model: Model, *, seed: int = 0, **more: Any) -> World:
        """A world with the step, gravity and ground of a robot's file."""
        config = lib.mf_world_config_for(model._use())
        settings: dict[str, Any] = {
            "step": model.step,
            "gravity": config.gravity,
            "gravity_direction": tuple(config.gravity_direction),
        }
        if "terrain" not in more:
            settings["terrain"] = Terrain.from_model(model)
        return cls(seed=seed, **{**settings, **more})

    def _create(self) -> Any:
        config = lib.mf_world_config()
        fill(config, self._settings, "World")
        config.terrain = self._ground
        return output(lib.mf_world_create, self._context._use(), ffi.addressof(config))

    # ---- groups ----------------------------------------------------------------------------------

    def add_group(
        self,
        model: Model | VertexBody | Sequence[Model],
        count: int = 1,
        *,
        name: str = "robots",
        motion: str | Sequence[str] | None = "auto",
        behavior: str | Mapping[str, object] = "hold",
        sensors: bool | Mapping[str, object] = False,
        controller: str | None = None,
        gaits: Sequence[str | os.PathLike[str]] = (),
        precision: str | None = None,
        isolated: bool = True,
        pushable: bool = False,
        fault_policy: str = "freeze",
        spacing: float = 0.0,
        strict: bool = False,
        **settings: Any,
    ) -> Group:
        """Adds `count` robots of one model, or of each of several.

        Args:
            model: the robot; or a list of models of the same tree, which differ in nothing but
                real numbers: lengths, masses, limits, gains. The group has `count` robots of the
                first one, then of the second; each moves as one of a group of its model, and they
                cost little more than as many robots of one model. Motions: "points" and
                "articulated", of isolated groups. Shapes that may touch other links differ in
                positions and sizes, not in friction and softness, or with `self_contacts=False`;
                sensors are those of contacts, joints and motions of links, at the same places of
                these. Materials and meshes are the first model's.
            name: unique in the world.
            motion: the level of physics: "kinematic", "points", "rigid", "prescribed" or
                "articulated"; several: the first is the initial one, `switch` changes
                it; "external": moved by fields of velocities or targets; None: they do not move;
                "auto": a vehicle's own, "quasistatic" for trusses, which also move by "elastic",
                "cloth" for cloths, else "articulated".
            behavior: behavior of vehicles, as the key of scenes: "hold", `{"orbit": {"radius":
                5.0}}`; `{"program": {"mode": "velocity"}}` leaves the command fields to the
                program.
            sensors: adds the sensors of the robot's file as the field sensor.value; a mapping gives
                their settings (`rate` [1/s], `noise`, `lenient`).
            controller: "gp" (programs in the field gp.program) or "oscillator" (fields
                oscillator.*); None: the program writes targets.
            gaits: files of gaits, or names of gaits of the robot ("walk").
            precision: of the state, "float" or "double"; None: double for trusses, else float.
            isolated: each robot on its own copy of the ground; False: all in one space.
            pushable: robots of a shared group take external wrenches; see World.add_collisions.
            fault_policy: "freeze" a robot with a fault, or "reset" it.
            spacing: [m] between the start positions.
            strict: reject a model with features that are ignored (`Group.notes`).
            settings: of the motion, by the names of the C header: `contact_time=0.01`. With several
                motions, and for others, a mapping by name: `points={"friction": "coupled"}`,
                `gp={"angle_per_move": 0.1}`, `oscillator=...`, `gait=...`. Defaults follow the
                robot's file, as in the command `mayfly run`.

        On failure nothing is added.

        Raises:
            UnsupportedError: names the model of the list that has another tree, and how.

        """
        robots = whole(count, "count", 1, 2**26 + 1)
        models: tuple[Model, ...] = ()
        if isinstance(model, Sequence) and not isinstance(model, (str, bytes)):
            models, robots = _models_of(model, robots), robots * len(model)
            model = models[0]
        if isinstance(model, VertexBody):
            model = Model._of_body(model, {"body": model})
        if not isinstance(model, Model):
            hint = (
                "; Model.from_file(path) reads one" if isinstance(model, (str, os.PathLike)) else ""
            )
            raise TypeError(f"model: need a Model, got {type(model).__name__}{hint}")
        if isinstance(gaits, (str, bytes)) or not isinstance(gaits, Sequence):
            raise TypeError(f"gaits: need a list of names or paths, got {gaits!r}")
        recipe = Recipe(
            model=model,
            models=models,
            count=robots,
            name=name,
            motion=model.own_motion if motion == "auto" else motion,
            behavior=behavior,
            sensors=sensors,
            controller=controller,
            gaits=tuple(os.fspath(gait) for gait in gaits),
            precision=(model._body or VertexBody)._precision if precision is None else precision,
            isolated=isolated,
            pushable=pushable,
            fault_policy=fault_policy,
            spacing=spacing,
            settings=settings,
        )
        with self._lock:
            if lib.mf_world_find_group(self._use(), recipe.name.encode()) != ffi.NULL:
                raise errors.ArgumentError(f"group {recipe.name}: the name is used already")
            self._keep(model)
            native = add_group(self._pointer, recipe)
            try:
                touching = set_up(native, self._context, self._robot_file, recipe)
                if strict:
                    _refuse_notes(native, recipe)
                if models:
                    for own in dict.fromkeys(models):
                        self._keep(own)
                    give_models(native, models)
            except BaseException:
                lib.mf_world_drop_group(self._pointer)
                raise
            group = Group(self, native, recipe)
            self._groups.append(group)
        if not touching:
            warnings.warn(
                f"group {recipe.name}: the model has too many pairs of shapes; "
                "links do not touch each other",
                stacklevel=2,
            )
        return group

    def _start_notes_of(self, recipe: Recipe) -> list[tuple[str, str]]:
        """What is to be said of a group as it was added, before its robots moved."""
        scratch = self._create()
        try:
            native = add_group(scratch, recipe)
            set_up(native, self._context, self._robot_file, recipe)
            return start_notes(lib.mf_group_start_notes, native)
        finally:
            lib.mf_world_destroy(scratch)

    def add_collisions(self, **settings: object) -> None:
        """Enables collisions between robots of shared groups; call it after all groups are added.

        Settings as in the C structure mf_CollisionsConfig: `restitution`, `friction`, `depth`, ...
        """
        with self._lock:
            self._add(lib.mf_collisions_add, lib.mf_collisions_config(), settings, "collisions")
            self._collisions = dict(settings)

    def _add(self, add: Any, config: Any, settings: Mapping[str, object], what: str) -> Any:
        """Adds a system of the world with settings of its configuration."""
        native = self._use()
        fill(config, settings, what)
        return output(add, native, ffi.addressof(config))

    def add_cloths(self) -> None:
        """Lets cloths of shared groups touch the robots of shared groups; all threads step them.

        Call it after all groups are added, and after add_collisions where there are any.

        Groups with `pushable` are pushed back, and `pin.link` lets cloths hang from links.
        """
        with self._lock:
            call(lib.mf_cloths_add, self._use())
            self._cloths = True

    def add_ranges(self) -> None:
        """Lets range sensors of shared groups see the shapes of all robots of shared groups.

        Without it they see the ground only. Call it once, after all groups with their `sensors`
        are added and their robots placed.
        """
        with self._lock:
            call(lib.mf_ranges_add, self._use())
            self._ranges = True

    # ---- questions -------------------------------------------------------------------------------

    def ray(
        self,
        start: Sequence[float],
        direction: Sequence[float] = (0.0, 0.0, -1.0),
        *,
        reach: float = math.inf,
        ground: bool = True,
        without: Robot | None = None,
        alone: Robot | None = None,
    ) -> RayHit | None:
        """The first hit of a ray with the ground and the robots' shapes; None: none.

        Args:
            start: [m] world.
            direction: of any length.
            reach: [m] length of the ray.
            ground: whether the ground counts.
            without: (group, robot) that is ignored.
            alone: (group, robot) of an isolated group: the ray is cast in its copy of the ground.
                Without it robots of isolated groups are not seen.

        """
        with self._lock:
            native = self._use()
            return cast_ray(native, self._groups, start, direction, reach, ground, without, alone)

    def distance(
        self, a: Body, b: Body | None = None, *, reach: float = math.inf
    ) -> Distance | None:
        """Distance of the shapes of two bodies; None: more than `reach` [m], or none is there.

        Args:
            a: (group, robot) or (group, robot, link), the link by name or number.
            b: likewise; None: all other robots of shared groups.
            reach: [m] largest distance.

        """
        with self._lock:
            return find_distance(self._use(), self._groups, a, b, reach)

    def contacts(self) -> list[Contact]:
        """The contacts of the last step: between robots, then with the ground."""
        with self._lock:
            return list_contacts(self._use(), self._groups)

    def add_joints(self, **settings: object) -> None:
        """Enables run-time joints; `join` does it automatically.

        A snapshot can be restored only in worlds with joints enabled as in its own world. Settings
        as in the C structure mf_WorldJointsConfig: `rounds`, `tolerance`.
        """
        with self._lock:
            config = lib.mf_world_joints_config()
            self._native_joints = self._add(lib.mf_world_joints_add, config, settings, "joints")
            self._joints = dict(settings)

    def add_docks(self, **settings: object) -> Docks:
        """Lets the docks of all shared groups that exist now act, and returns them.

        Groups must be `pushable`. Settings as in the C structure mf_WorldDocksConfig: `time`.
        """
        with self._lock:
            if self._native_joints is None:
                self.add_joints()
            self._add(lib.mf_world_docks_add, lib.mf_world_docks_config(), settings, "docks")
            self._docks = dict(settings)
            return Docks(self)

    @property
    @in_turn
    def docks(self) -> Docks | None:
        """The docks of the world; None: there are none."""
        return Docks(self) if lib.mf_world_docks_of(self._use()) != ffi.NULL else None

    def camera(self, camera: Camera | None = None, **settings: Any) -> FreeCamera:
        """A camera for pictures of this world from any position, between two steps.

        It sees the groups that exist now.

        Args:
            camera: its size, lens and chip; None: Camera(**settings).
            settings: of Camera.

        """
        return FreeCamera(self, camera if camera is not None else Camera(**settings))

    def add_cameras(self) -> None:
        """Lets the cameras of all robots that exist now take pictures while the world runs.

        At their own rates and delays; `group.pictures(name)` shows them. Takes the first ones.
        """
        with self._lock:
            call(lib.mf_cameras_add, self._use())
            self._cameras = True
            call(lib.mf_cameras_take, self._use())

    def take_pictures(self) -> None:
        """Takes pictures with all cameras now, whatever their rates and delays."""
        with self._lock:
            call(lib.mf_cameras_take, self._use())

    def add_messages(self, **settings: object) -> Messages:
        """Lets docks send messages, and returns these. Call it after add_docks.

        Settings as in the C structure mf_MessagesConfig: `size` [byte], `capacity`, `loss`,
        `delay` and `jitter` [steps], `range` [m], `angle` [rad].
        """
        with self._lock:
            self._add(lib.mf_messages_add, lib.mf_messages_config(), settings, "messages")
            self._messages = dict(settings)
            return Messages(self)

    @property
    @in_turn
    def messages(self) -> Messages | None:
        """The messages of the world; None: there are none."""
        return Messages(self) if lib.mf_messages_of(self._use()) != ffi.NULL else None

    def _raise_failures(self) -> None:
        if self._failures:
            failure = self._failures[0]
            self._failures.clear()
            raise failure

    def add_joint_slots(self, group: Group, count: int = 1) -> None:
        """Gives each robot of a group slots for joints that are made by requests in its fields.

        Write `group["joint_slot.request"]` and the other fields joint_slot.* (mayfly/joints.h says
        what they hold); requests are carried out in the next step. Groups that are added later can
        be joined after a further call.
        """
        with self._lock:
            native = self._use()
            if not isinstance(group, Group) or group.world is not self:
                raise errors.ArgumentError("add_joint_slots: need a group of this world")
            if self._native_joints is None:
                self.add_joints()
            number = whole(count, "add_joint_slots: count", 1, 17)
            joints = lib.mf_world_joints_of(native)
            call(lib.mf_joint_slots_add, joints, group._use(), number)
            self._joint_slots.append((group.name, number))
            call(lib.mf_joint_slots_ready, joints)

    @property
    @in_turn
    def joint_requests(self) -> tuple[int, int, str]:
        """Requests carried out, requests refused, and why the first one was refused."""
        self._use()
        seen = lib.mf_joint_request_statistics(self._native_joints or ffi.NULL)
        return int(seen.carried_out), int(seen.refused), text(seen.reason)

    def join(
        self,
        first: Location | None,
        second: Location | None,
        *,
        kind: str = "fixed",
        at: Sequence[float] | None = None,
        axis: Sequence[float] | None = None,
        frames: Sequence[tuple[Sequence[float], Sequence[float]]] | None = None,
        **settings: object,
    ) -> WorldJoint:
        """Joins two links while the world runs.

        Args:
            first: a link: (group, robot) for the robot's base, or (group, robot, link) with the
                link's name or number; None: the world.
            second: likewise.
            kind: "fixed", "ball" or "hinge".
            at: [m] the joint's point, world; the links are joined in their current pose.
            axis: of a hinge, world; default: the world's z axis.
            frames: instead of `at`: (position [m], orientation) of the joint on both links, in
                their axes. They need not coincide yet.
            settings: as in the C structure mf_WorldJointConfig: `stiffness`, `damping`,
                `angular_stiffness`, `angular_damping`, `time`, `force_limit`, `moment_limit`; of a
                hinge `lower_angle`, `upper_angle` [rad], `motor_rate`, `motor_torque`.

        Groups must be shared (`isolated=False`) and `pushable`; robots of "kinematic" need not be
        pushable and are not affected.
        """
        if (at is None) == (frames is None):
            found = "neither" if at is None else "both"
            raise TypeError(
                f"join: need `at`, the joint's point in the world, or `frames`; got {found}"
            )
        with self._lock:
            self._use()
            if self._native_joints is None:
                self.add_joints()
            config = ffi.new("mf_WorldJointConfig *", lib.mf_world_joint_config())
            fill(config[0], {"kind": kind, **settings}, "join")
            for number, place in enumerate((first, second)):
                fill_side(self, config.sides[number], place, ("first", "second")[number])
            pose_in_robot(config, at, axis, frames)
            handle = output(lib.mf_world_joint_create, self._native_joints, config)
            return WorldJoint(self, int(handle))

    @property
    @in_turn
    def joints(self) -> tuple[WorldJoint, ...]:
        """The run-time joints that exist."""
        self._use()
        native, found = self._native_joints or ffi.NULL, []
        last = lib.mf_world_joint_next(native, 0)
        while last != 0:
            found.append(WorldJoint(self, int(last)))
            last = lib.mf_world_joint_next(native, last)
        return tuple(found)

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
        """Simulates `count` steps. Errors of a robot are reported in its fault word.

        The GIL is released. Ctrl-C stops it between two steps. What the function of a policy raises
        is raised after these steps, and its robot has a fault.
        """
        steps = whole(count, "step", 0, 2**62)
        with self._lock:
            native = self._use()
            if steps == 1:
                self._advance(native, 1)
                self._raise_failures()
                return
            chunk = 64
            while steps > 0:
                now = min(steps, chunk)
                begin = time.monotonic()
                self._advance(native, now)
                steps -= now
                self._raise_failures()
                if time.monotonic() - begin < _CHUNK_TIME:
                    chunk *= 2

    def _advance(self, native: Any, steps: int) -> None:
        if self._pusher is None:
            lib.mf_world_step(native, steps)
        else:
            lib.mf_pusher_step(self._pusher._use(), steps)

    def _hand(self) -> Any:
        """What pulls robots for pages, in all steps once it is made."""
        if self._pusher is None:
            pusher = Native()
            pusher._take(lib.MFPY_PUSHER, output(lib.mf_pusher_create, self._use()), [self])
            self._pusher = pusher
        return self._pusher._use()

    @in_turn
    def run(self, seconds: float) -> None:
        """Simulates for a time [s], rounded up to whole steps."""
        duration = time_from_seconds(seconds, "run")
        if duration < 0:
            raise ValueError(f"run: need a time >= 0, got {seconds!r}")
        step = int(lib.mf_world_config_of(self._use()).step)
        self.step(-(-duration // step))

    @property
    @in_turn
    def time(self) -> float:
        """[s] simulated so far, including the settling of a scene."""
        return float(lib.mf_time_to_seconds(lib.mf_world_time(self._use())))

    @property
    @in_turn
    def time_ns(self) -> int:
        """[ns] simulated so far, exactly."""
        return int(lib.mf_world_time(self._use()))

    @property
    @in_turn
    def step_seconds(self) -> float:
        """[s] one physics step."""
        return float(lib.mf_time_to_seconds(lib.mf_world_config_of(self._use()).step))

    @property
    @in_turn
    def seed(self) -> int:
        """Of everything random in the world."""
        return int(lib.mf_world_config_of(self._use()).seed)

    @property
    def threads(self) -> int:
        """Worker threads of a step, including the calling thread."""
        self._use()
        return self._context.threads

    @property
    @in_turn
    def isa(self) -> str:
        """The instruction set in use, such as "avx2"."""
        return text(lib.mf_isa_name(lib.mf_world_isa(self._use())))

    @property
    def context(self) -> Context:
        """The context of memory and threads."""
        return self._context

    # ---- state -----------------------------------------------------------------------------------

    def hash(self) -> int:
        """64-bit hash of the state of all robots."""
        with self._lock:
            return int(lib.mf_world_hash(self._use()))

    def snapshot(self) -> bytes:
        """The whole state, for restore()."""
        with self._lock:
            native = self._use()
            size = lib.mf_world_snapshot_size(native)
            image = ffi.new("uint8_t[]", size)
            call(lib.mf_world_snapshot, native, image, size)
            return bytes(ffi.buffer(image)) + numbers_image(self._groups)

    def restore(self, image: bytes | bytearray | memoryview) -> None:
        """Restores a snapshot; the simulation then continues with the same bits.

        Raises:
            CorruptError, VersionError, ArgumentError: it does not match; the world is unchanged.

        """
        with self._lock:
            native = self._use()
            state, numbers = read_numbers(bytes(image), self._groups)
            call(lib.mf_world_restore, native, ffi.from_buffer("uint8_t[]", state), len(state))
            for group, own in zip(self._groups, numbers, strict=True):
                group._numbers.clear()
                group._numbers.update(own)

    def reset(self) -> None:
        """Resets all robots to their start. The world's time continues."""
        for group in self._groups:
            group.reset()

    # ---- closing ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Releases the memory; arrays that refer to it stay valid and keep it alive."""
        if self._process == os.getpid():
            with self._lock:
                self._forget()
        else:  # a lock of the parent may never be released
            self._forget()

    def _forget(self) -> None:
        for field in list(self._fields):
            field._cached = None
        self._robot_file.close()
        super().close()
        self._groups = []
        self._native_joints = None
        self._pusher = None

    def __repr__(self) -> str:
        if self.closed:
            return "<World, closed>"
        robots = ", ".join(f"{group.count} {group.name}" for group in self._groups) or "empty"
        return f"<World: {robots}>"

    def _repr_html_(self) -> str:
        rows = [
            [
                g.name,
                g.count,
                g._recipe.model_name,
                " or ".join(g.motions),
                sum(word != 0 for word in g.fault),
            ]
            for g in self._groups
        ]
        title = repr(self) if self.closed else f"{self!r} at {self.time:g} s"
        return table(title, ["group", "robots", "model", "motion", "faulty"], rows)

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]:
        with self._lock:
            self._use()
            return _world_again, (
                {
                    "settings": self._settings,
                    "threads": self._threads,
                    "terrain": self.terrain,
                    "groups": [(g._recipe, g._trusses, g._poses_set) for g in self._groups],
                    "collisions": self._collisions,
                    "cloths": self._cloths,
                    "ranges": self._ranges,
                    "joints": self._joints,
                    "joint_slots": list(self._joint_slots),
                    "docks": self._docks,
                    "messages": self._messages,
                    "links": [g.name for g in self._groups if "link.pose" in g],
                    "cameras": self._cameras,
                    "policies": [(name, recipe) for name, recipe, _ in self._policies],
                    "state": self.snapshot(),
                },
            )


def _models_of(models: Sequence[Any], count: int) -> tuple[Model, ...]:
    """The model of each robot, `count` of each of them."""
    for i, model in enumerate(models):
        if not isinstance(model, Model):
            raise TypeError(f"model: need a list of Models, got {type(model).__name__} at {i}")
    if not models:
        raise ValueError("model: need one or more")
    return tuple(model for model in models for _ in range(count))


def _refuse_notes(group: Any, recipe: Recipe) -> None:
    notes = [note for note in notes_of(group) if not note.endswith(_GROUND)]
    if notes:
        raise errors.UnsupportedError(f"group {recipe.name}: strict: {notes[0]}")


def _world_again(description: dict[str, Any]) -> World:
    """Unpickles: builds the same world and restores its state."""
    world = World(
        terrain=description["terrain"], threads=description["threads"], **description["settings"]
    )
    for recipe, trusses, poses_set in description["groups"]:
        group = world.add_group(**recipe.arguments())
        for robot, truss in trusses.items():
            group.set_truss(robot, truss)
        for robot, place in poses_set.items():
            group._set_pose(robot, place)
    if description["collisions"] is not None:
        world.add_collisions(**description["collisions"])
    if description["cloths"]:
        world.add_cloths()
    if description["joints"] is not None:
        world.add_joints(**description["joints"])
    for name, count in description["joint_slots"]:
        world.add_joint_slots(next(g for g in world.groups if g.name == name), count)
    if description["docks"] is not None:
        world.add_docks(**description["docks"])
    if description["ranges"]:
        world.add_ranges()
    if description["messages"] is not None:
        world.add_messages(**description["messages"])
    if description["cameras"]:
        world.add_cameras()
    for group in world.groups:
        if group.name in description["links"]:
            call(lib.mf_group_derive_links, group._use())
    for name, recipe in description["policies"]:
        next(g for g in world.groups if g.name == name)._add_policy(recipe)
    world.restore(description["state"])
    return world
