"""Models of robots: loaded from URDF or MJCF, then immutable."""

from __future__ import annotations

import math
import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from mayfly import errors, parts
from mayfly._native import (
    Native,
    call,
    check,
    encode,
    ffi,
    fill,
    lib,
    output,
    take_text,
    text,
    texts,
)
from mayfly._shown import table
from mayfly.bodies import VertexBody, kind_of_file
from mayfly.cloth import Cloth
from mayfly.context import Context, default_context
from mayfly.kinematics import Reach, solve
from mayfly.parts import (
    Actuator,
    AnyPart,
    Body,
    Dock,
    Fields,
    Joint,
    Keyframe,
    Link,
    Parts,
    Sensor,
    Vector,
    copied,
)
from mayfly.truss import Truss

__all__ = ["Model", "data_folder"]


def data_folder() -> pathlib.Path:
    """The folder with Mayfly's robots (`models`) and scenes."""
    return pathlib.Path(__file__).parent / "data"


_VEHICLES = ("quadrotor", "fixed_wing", "car")


def _load_vehicle(context: Context, path: str, settings: Mapping[str, object]) -> Native:
    if settings:
        raise TypeError(f"{', '.join(settings)}: a vehicle's file has no such settings")
    vehicle = Native()
    native = output(lib.mf_vehicle_load, context._use(), encode(path))
    vehicle._take(lib.MFPY_BODY, native, [context])
    return vehicle


def _kind_of(vehicle: Native) -> str:
    return text(lib.mf_vehicle_kind_name(vehicle._pointer.kind))


class Model(Native):
    """A robot: immutable, and shared by any number of groups.

    Create one with Model.from_file or Model.from_string.
    """

    _sealed = True

    def __init__(self) -> None:
        raise TypeError("make a model with Model.from_file(path) or Model.from_string(text)")

    # ---- making ----------------------------------------------------------------------------------

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        packages: Mapping[str, str | os.PathLike[str]] | None = None,
        context: Context | None = None,
        **settings: object,
    ) -> Model:
        """Loads a robot (URDF or MJCF, detected by content), a vehicle, truss or cloth (YAML).

        Args:
            path: the file. A name without a folder that does not exist is searched among Mayfly's
                robots: "hexapod.urdf".
            packages: folders for package:// addresses.
            settings: `keep_fixed` keeps fixed joints as links of their own (False); `visual` loads
                visual meshes too (True); `mesh_points` contact points per mesh (8); `density`
                [kg/m^3] of links without mass (0); `base` of a URDF robot: "free", "fixed" or
                "auto" ("auto": fixed where the root link is `world` or has no mass); `lenient`
                drops unsupported elements, with a note, instead of rejecting the file (False).

        Raises:
            FileError: what is wrong, with file and line.

        """
        found = pathlib.Path(os.fsdecode(path))
        if len(found.parts) == 1 and not found.exists():
            shipped = data_folder() / "models" / found
            found = shipped if shipped.exists() else found
        recipe = {"path": str(found), "packages": dict(packages or {}), "settings": settings}
        return cls._load(str(found), packages or {}, settings, context, None, recipe)

    @classmethod
    def from_string(
        cls,
        source: str,
        *,
        assets: Mapping[str, bytes | str] | None = None,
        packages: Mapping[str, str | os.PathLike[str]] | None = None,
        context: Context | None = None,
        **settings: object,
    ) -> Model:
        """The same from a text; `assets` are the files that it refers to, by relative path."""
        if not isinstance(source, str):
            raise TypeError(f"need the text of a URDF or MJCF file, got {type(source).__name__}")
        recipe = {
            "source": source,
            "assets": dict(assets or {}),
            "packages": dict(packages or {}),
            "settings": settings,
        }
        # The importers read files, because meshes and includes are files too.
        with tempfile.TemporaryDirectory(prefix="mayfly-") as folder:
            root = pathlib.Path(folder).resolve()
            for name, content in (assets or {}).items():
                target = (root / name).resolve()
                if root not in target.parents:
                    raise ValueError(f"assets: need paths inside of the folder, got {name!r}")
                target.parent.mkdir(parents=True, exist_ok=True)
                data = content.encode() if isinstance(content, str) else bytes(content)
                target.write_bytes(data)
            main = root / "text.xml"
            while main.exists():
                main = main.with_name("_" + main.name)
            main.write_text(source, encoding="utf-8")
            instead = (str(main), "<text>")
            return cls._load(str(main), packages or {}, settings, context, instead, recipe)

    @classmethod
    def _load(
        cls,
        path: str,
        packages: Mapping[str, str | os.PathLike[str]],
        settings: Mapping[str, object],
        context: Context | None,
        instead: tuple[str, str] | None,
        recipe: dict[str, Any],
    ) -> Model:
        used = context if context is not None else default_context()
        config = lib.mf_import_config()
        if "packages" in settings or "package_count" in settings:
            raise TypeError("packages: need a mapping of names to folders")
        alive = fill(config, settings, "Model")
        pairs = [f"{name}={os.fspath(folder)}" for name, folder in packages.items()]
        config.packages, config.package_count = texts(pairs, alive), len(pairs)
        out, error = ffi.new("mf_Model **"), ffi.new("mf_Error *")
        is_yaml = path.endswith((".yaml", ".yml"))
        kind = kind_of_file(path) if is_yaml else None
        if settings and kind is not None:
            raise TypeError(f"{', '.join(settings)}: a {kind._kind}'s file has no such settings")
        if kind is not None:
            return cls._of_body(kind.from_file(path, context=used), recipe)
        vehicle = _load_vehicle(used, path, settings) if is_yaml else None
        if vehicle is None:
            status = lib.mf_model_load(used._use(), encode(path), ffi.addressof(config), out, error)
        else:
            status = lib.mf_vehicle_body_model(used._use(), vehicle._use(), out, error)
        check(status, error, instead)
        model = cls._made(recipe, out[0], [used])
        model._vehicle, model._text_name = vehicle, instead
        return model

    @classmethod
    def _of_body(cls, body: VertexBody, recipe: dict[str, Any]) -> Model:
        used = body._context
        native = output(lib.mf_body_model, used._use(), body._native_kind(), body._use())
        model = cls._made(recipe, native, [used, body])
        model._body = body
        return model

    @classmethod
    def _made(cls, recipe: dict[str, Any], pointer: Any, needs: list[Native]) -> Model:
        model = cls.__new__(cls)
        model._take(lib.MFPY_MODEL, pointer, needs)
        model._recipe, model._parts = recipe, {}
        return model

    @classmethod
    def _borrowed(cls, owner: Native, group: Any, recipe: dict[str, Any]) -> Model:
        """The model of a native group, which another object owns."""
        model = cls.__new__(cls)
        model._owner, model._process = owner._owner, owner._process
        model._pointer = ffi.cast("mf_Model *", lib.mf_group_model(group))
        model._recipe, model._parts = recipe, {}
        motion = lib.mf_motion_of(group, 0)
        name = "" if motion == lib.MF_MOTION_COUNT else text(lib.mf_motion_name(motion))
        model._kind = name if name in _VEHICLES else None
        return model

    _recipe: dict[str, Any]
    _parts: dict[type, Any]
    _ranges: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None  # of joints
    _text_name: tuple[str, str] | None = None
    _vehicle: Native | None = None  # None: no vehicle, or one that another object owns
    _kind: str | None = None  # of such a vehicle
    _body: VertexBody | None = None  # None: a robot of links or a vehicle

    def _use(self) -> Any:
        # A model is only read, which a forked process can do as well.
        if self._pointer is None:
            raise errors.ClosedError("Model is closed: load it again")
        return self._pointer

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The robot's name."""
        return text(self._use().name)

    @property
    def file(self) -> str:
        """The path of its file; "" if loaded from a text."""
        path = text(self._use().file)
        return "" if self._text_name is not None else path

    @property
    def vehicle(self) -> str | None:
        """The kind of a vehicle, "quadrotor", "fixed_wing" or "car"; None: a robot."""
        self._use()
        return self._kind if self._vehicle is None else _kind_of(self._vehicle)

    @property
    def own_motion(self) -> str:
        """The motion that a group of it has if nothing is said."""
        if self._body is not None:
            return self._body._motions[0]
        return self.vehicle or "articulated"

    @property
    def truss(self) -> Truss | None:
        """What the file of a truss describes; None: it is another kind of robot."""
        self._use()
        return self._body if isinstance(self._body, Truss) else None

    @property
    def cloth(self) -> Cloth | None:
        """What the file of a cloth describes; None: it is another kind of robot."""
        self._use()
        return self._body if isinstance(self._body, Cloth) else None

    @property
    def mass(self) -> float:
        """[kg] of everything in the file: for MJCF all bodies, also those fixed to the world, as
        MuJoCo's total mass; of a URDF all links. `moving_mass` is that of the links.
        """
        native = self._use()
        if native.body_count == 0:
            return float(native.mass)
        return math.fsum(native.bodies[i].mass for i in range(native.body_count))

    @property
    def moving_mass(self) -> float:
        """[kg] of all links: without bodies that are fixed to the world."""
        return float(self._use().mass)

    @property
    def rest_height(self) -> float:
        """[m] of the base's origin above flat ground, with all joints at their start."""
        return float(self._use().rest_height)

    @property
    def fixed_base(self) -> bool:
        """Whether link 0 is fixed to the world."""
        return bool(self._use().base == lib.MF_BASE_FIXED)

    @property
    def step(self) -> float:
        """[s] physics step of the file; default 0.002."""
        return float(self._use().physics.step)

    @property
    def gravity(self) -> Vector:
        """[m/s^2] gravity of the file, world frame; 0 if it is disabled."""
        model = self._use()
        if lib.mf_world_config_for(model).gravity == 0.0:
            return (0.0, 0.0, 0.0)
        return tuple(model.physics.gravity)

    @property
    def physics(self) -> Fields:
        """Settings of the file, as `<option>` of MJCF: `integrator`, `cone`, `step`, ..."""
        native = self._use()
        return parts.make_fields(native, lib.MF_ITEM_PHYSICS, native.physics)

    @property
    def position_count(self) -> int:
        """Length of a position vector: base (position, quaternion) if free, then the joints."""
        return int(self._use().position_count)

    @property
    def velocity_count(self) -> int:
        """Length of a velocity vector: base (velocity in world axes, rate in body axes), joints."""
        return int(self._use().velocity_count)

    @property
    def start_position(self) -> npt.NDArray[np.float64]:
        """The file's pose as a position vector."""
        native = self._use()
        return copied(native.start_position, native.position_count)

    def standing_position(self, shapes: bool = True) -> npt.NDArray[np.float64]:
        """The position vector in which the robot stands on flat ground at the world's origin.

        Joints at their start; the lowest collision shape, or without `shapes` contact point, is at
        height 0. A fixed base keeps its position of the file.
        """
        native = self._use()
        position = np.array(self.start_position)
        for joint in self.joints:
            if joint.type in ("hinge", "slide"):
                position[joint.position_address] = joint.start
        if not self.fixed_base:
            place = ffi.new("double[][3]", max(native.link_count, 1))
            turn = ffi.new("double[][4]", max(native.link_count, 1))
            lib.mf_model_pose_at(native, ffi.from_buffer("double[]", position), place, turn)
            lowest = lib.mf_model_lowest(native, place, turn, shapes)
            position[:2] = 0.0
            position[2] -= lowest if np.isfinite(lowest) else 0.0
        return position

    def inverse_kinematics(
        self,
        link: str,
        position: npt.ArrayLike,
        rotation: npt.ArrayLike | None = None,
        *,
        start: npt.ArrayLike | None = None,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        **settings: object,
    ) -> Reach:
        """Joint angles at which a point of a link is at a target.

        Args:
            link: that joints move.
            position: [m] of the target in the frame of the base.
            rotation: (w, x, y, z) that the link is to have there; None: any.
            start: [rad] or [m] of all joints, from which the search begins; None: the file's.
            point: [m] in the frame of the link.
            settings: `length`, `tolerance`, `rotation_tolerance`, `iterations`, `starts`,
                `seed` of mf_InverseKinematicsConfig.

        A target out of reach gives the nearest pose found: see Reach.reached.

        """
        native = self._use()
        first = [joint.start for joint in self.joints] if start is None else start
        index = self.link(link).index
        context = default_context()._use()  # for working memory
        return solve(context, native, index, position, rotation, first, point, settings)

    @property
    def links(self) -> Parts[Link]:
        """All links, the base first."""
        return self._cached(Link)

    @property
    def joints(self) -> Parts[Joint]:
        """All joints, in the order of joint fields."""
        return self._cached(Joint)

    @property
    def bodies(self) -> Parts[Body]:
        """Bodies of an MJCF file; none for URDF."""
        return self._cached(Body)

    @property
    def actuators(self) -> Parts[Actuator]:
        """All actuators, in the order of actuator.control."""
        return self._cached(Actuator)

    @property
    def sensors(self) -> Parts[Sensor]:
        """All sensors of the file."""
        return self._cached(Sensor)

    @property
    def docks(self) -> Parts[Dock]:
        """All docks of the file."""
        return self._cached(Dock)

    @property
    def keyframes(self) -> Parts[Keyframe]:
        """Stored states of the file."""
        return self._cached(Keyframe)

    def link(self, name: str) -> Link:
        """The link of that name."""
        return self.links[name]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return self.joints[name]

    def body(self, name: str) -> Body:
        """The body of that name."""
        return self.bodies[name]

    def actuator(self, name: str) -> Actuator:
        """The actuator of that name."""
        return self.actuators[name]

    def sensor(self, name: str) -> Sensor:
        """The sensor of that name."""
        return self.sensors[name]

    def dock(self, name: str) -> Dock:
        """The dock of that name."""
        return self.docks[name]

    def keyframe(self, name: str) -> Keyframe:
        """The stored state of that name."""
        return self.keyframes[name]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the importer dropped, changed or found suspicious, "line 7: ...", and what the
        motion "articulated" ignores; `notes_for` gives those of other motions."""
        native = self._use()
        made = []
        for i in range(native.note_count):
            note = native.notes[i]
            place = f"line {note.line}: " if note.line else ""
            made.append(place + text(note.text))
        return (*made, *self.notes_for("articulated"))

    def notes_for(self, motion: str) -> tuple[str, ...]:
        """Features of this model that a motion ignores with the settings of `mayfly run`;
        `Group.notes` is for the current settings."""
        native = self._use()
        names = [text(lib.mf_motion_name(i)) for i in range(lib.MF_MOTION_LEVELS)]
        if motion not in names:
            raise ValueError(f"motion: need one of {', '.join(names)}, got {motion!r}")
        made: list[str] = []
        buffer = ffi.new("char[]", lib.MF_MOTION_NOTE)
        while lib.mf_motion_note(native, names.index(motion), len(made), buffer):
            made.append(text(buffer))
        return tuple(made)

    def hash(self) -> int:
        """64-bit hash of everything that affects motion."""
        return int(lib.mf_model_hash(self._use()))

    def describe(self) -> str:
        """The model as text, as printed by `mayfly info`."""
        native = self._use()
        return take_text(native.context, lib.mf_model_describe, native)

    def export_mjcf(self, path: str | os.PathLike[str]) -> None:
        """Writes the model as one MJCF file; loading it gives a model of the same hash."""
        call(lib.mf_model_export_mjcf, self._use(), encode(path))

    # ---- parts -----------------------------------------------------------------------------------

    def _cached(self, kind: type[AnyPart]) -> Parts[AnyPart]:
        native = self._use()
        if kind not in self._parts:
            self._parts[kind] = parts.make_parts(native, kind)
        return cast(Parts[AnyPart], self._parts[kind])

    # ---- closing ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self.closed:
            return "<Model, closed>"
        native = self._use()
        return (
            f"<Model {self.name!r}: {native.link_count} links, {native.joint_count} joints, "
            f"{self.mass:.4g} kg>"
        )

    def _repr_html_(self) -> str:
        rows = [[one.name, one.type, one.lower, one.upper] for one in self.joints]
        return table(repr(self), ["joint", "type", "lower", "upper"], rows)

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any], int]]:
        return _model_again, (self._recipe, self.hash())


def _model_again(recipe: dict[str, Any], requested: int) -> Model:
    """Unpickles: loads the model again, and checks that it is the same."""
    if "body" in recipe:
        model = Model._of_body(recipe["body"], recipe)
    elif "source" in recipe:
        model = Model.from_string(
            recipe["source"],
            assets=recipe["assets"],
            packages=recipe["packages"],
            **recipe["settings"],
        )
    else:
        model = Model.from_file(recipe["path"], packages=recipe["packages"], **recipe["settings"])
    if model.hash() != requested:
        where = recipe.get("path", "the text")
        raise errors.CorruptError(f"{where}: it has changed since the model was pickled")
    return model
