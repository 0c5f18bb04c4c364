"""Mayfly: a robot simulator for evolution, learning and planning.

    import mayfly

    model = mayfly.Model.from_file("hexapod.urdf")
    with mayfly.World(step=0.01) as world:
        robots = world.add_group(model, 8, motion="points", controller="oscillator")
        robots["oscillator.amplitude"] = 0.3
        robots["oscillator.frequency"] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2]
        world.run(10)
        print(robots["base.position"].array)

Units are SI and radians; the world's z axis points up; quaternions are (w, x, y, z).
"""

from mayfly import learn, mdp, mdp_bipeds, mdp_objects, search, task_models, tasks
from mayfly._native import lib as _lib
from mayfly._native import text as _text
from mayfly.cameras import Camera, FreeCamera, Picture
from mayfly.client import (
    Event,
    RemoteCamera,
    RemoteField,
    RemoteGroup,
    RemotePhoto,
    RemoteStatistics,
    RemoteWorld,
    Subscription,
    Turn,
    connect,
)
from mayfly.client_async import AsyncGroup, AsyncWorld, connect_async
from mayfly.cloth import Cloth
from mayfly.context import Context, default_context
from mayfly.controllers import MLP, Controllers, Linear, Oscillators, Policy, Programs
from mayfly.docks import Docks
from mayfly.engines import Engine, WorkError
from mayfly.errors import (
    ArgumentError,
    BusyError,
    ClosedError,
    CorruptError,
    FileError,
    ForkError,
    LimitError,
    MayflyError,
    MissingFileError,
    NoMemoryError,
    NotFoundError,
    OperatingSystemError,
    StoppedError,
    UnsupportedError,
    VersionError,
)
from mayfly.evaluate import Evaluation, evaluate
from mayfly.export import Export, export
from mayfly.field import Field
from mayfly.fit import Fit, FitChannel, FitParameter, fit
from mayfly.group import Group
from mayfly.group_setup import MOTIONS, motion_settings
from mayfly.joints import WorldJoint
from mayfly.kinematics import Reach
from mayfly.messages import Message, Messages
from mayfly.model import Model, data_folder
from mayfly.patches import TerrainPatches
from mayfly.photos import Photographer
from mayfly.policies import RobotPolicy
from mayfly.poses import PoseStream
from mayfly.queries import Contact, Distance, RayHit, ShapeOwner
from mayfly.records import Archive, Recorder, Recording
from mayfly.scene import Scene
from mayfly.show import Film, Page, show
from mayfly.task import Task
from mayfly.terrain import Terrain
from mayfly.truss import Truss
from mayfly.viewer import Viewer
from mayfly.world import World

try:
    import gymnasium as _gymnasium  # noqa: F401
except ImportError:
    pass
else:
    from mayfly.envs.registration import register as _register

    _register()

__version__: str = _text(_lib.mf_version())

__all__ = [
    "MLP",
    "MOTIONS",
    "Archive",
    "ArgumentError",
    "AsyncGroup",
    "AsyncWorld",
    "BusyError",
    "Camera",
    "ClosedError",
    "Cloth",
    "Contact",
    "Context",
    "Controllers",
    "CorruptError",
    "Distance",
    "Docks",
    "Engine",
    "Evaluation",
    "Export",
    "Event",
    "Field",
    "FileError",
    "Film",
    "Fit",
    "FitChannel",
    "FitParameter",
    "ForkError",
    "FreeCamera",
    "Group",
    "LimitError",
    "Linear",
    "MayflyError",
    "Message",
    "Messages",
    "RobotPolicy",
    "MissingFileError",
    "Model",
    "NoMemoryError",
    "NotFoundError",
    "OperatingSystemError",
    "Oscillators",
    "Page",
    "Photographer",
    "Picture",
    "Policy",
    "PoseStream",
    "Programs",
    "RayHit",
    "Reach",
    "Recorder",
    "Recording",
    "RemoteCamera",
    "RemoteField",
    "RemoteGroup",
    "RemotePhoto",
    "RemoteStatistics",
    "RemoteWorld",
    "Scene",
    "ShapeOwner",
    "StoppedError",
    "Task",
    "Subscription",
    "Terrain",
    "TerrainPatches",
    "Truss",
    "Turn",
    "UnsupportedError",
    "VersionError",
    "Viewer",
    "WorkError",
    "World",
    "WorldJoint",
    "connect",
    "connect_async",
    "data_folder",
    "default_context",
    "evaluate",
    "export",
    "fit",
    "learn",
    "mdp",
    "mdp_bipeds",
    "mdp_objects",
    "motion_settings",
    "search",
    "show",
    "task_models",
    "tasks",
]
