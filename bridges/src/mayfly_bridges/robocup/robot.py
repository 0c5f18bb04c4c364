"""What a robot's file says: joints and motors by the names of the wire, sensors, eyes, marks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import mayfly
from mayfly_bridges._rotation import matrix

Array = npt.NDArray[np.float64]

# The joints of Booster's T1: limb and number of the league's names, of motors and of percepts.
BOOSTER_T1 = {
    "AAHead_yaw": ("h", 1),
    "Head_pitch": ("h", 2),
    "Left_Shoulder_Pitch": ("la", 1),
    "Left_Shoulder_Roll": ("la", 2),
    "Left_Elbow_Pitch": ("la", 3),
    "Left_Elbow_Yaw": ("la", 4),
    "Right_Shoulder_Pitch": ("ra", 1),
    "Right_Shoulder_Roll": ("ra", 2),
    "Right_Elbow_Pitch": ("ra", 3),
    "Right_Elbow_Yaw": ("ra", 4),
    "Waist": ("t", 1),
    "Left_Hip_Pitch": ("ll", 1),
    "Left_Hip_Roll": ("ll", 2),
    "Left_Hip_Yaw": ("ll", 3),
    "Left_Knee_Pitch": ("ll", 4),
    "Left_Ankle_Pitch": ("ll", 5),
    "Left_Ankle_Roll": ("ll", 6),
    "Right_Hip_Pitch": ("rl", 1),
    "Right_Hip_Roll": ("rl", 2),
    "Right_Hip_Yaw": ("rl", 3),
    "Right_Knee_Pitch": ("rl", 4),
    "Right_Ankle_Pitch": ("rl", 5),
    "Right_Ankle_Roll": ("rl", 6),
}
MARKS = "-vismarker"  # ends the names of sites that others see
PARTS_SEEN = {"foot": "foot", "hand": "hand", "forearm": "hand"}  # of robots without such sites
TOUCHES = 0.1  # [1] share of the robot's weight that a sole must carry to be touched


@dataclass(frozen=True)
class LinkFrame:
    """A place on a link: `position` [m] and `rotation`, a matrix, in the link's frame."""

    link: int
    position: Array
    rotation: Array


@dataclass(frozen=True)
class Sensor:
    """A sensor whose values are `sensor.value[address : address + count]`."""

    name: str
    kind: str
    address: int
    count: int


def rotation_about(axes: Array, angles: Array) -> Array:
    """Rotation matrices (..., n, 3, 3) about n axes by angles (..., n)."""
    half = 0.5 * angles[..., None]
    return matrix(np.concatenate((np.cos(half), np.sin(half) * axes), axis=-1))


def _frame_of(frame: dict[str, Any]) -> LinkFrame:
    return LinkFrame(frame["link"] or 0, np.array(frame["position"]), matrix(frame["rotation"]))


class Robot:
    """A robot's file as `RemoteGroup.describe` tells it."""

    def __init__(self, info: dict[str, Any]) -> None:
        self.name: str = info["name"]
        self.rest_height: float = info["rest_height"]
        self.links: list[str] = [link["name"] for link in info["links"]]
        self.parents: list[int | None] = [link["parent"] for link in info["links"]]
        self.joint_of: list[int | None] = [link["joint"] for link in info["links"]]
        self.info = info
        joints = info["joints"]
        for joint in joints:
            if joint["type"] not in ("hinge", "slide", "fixed"):
                raise mayfly.UnsupportedError(f"robot {self.name}: a joint of type {joint['type']}")
        self.joints: list[str] = [joint["name"] for joint in joints]
        self.effort = np.array([_or_inf(joint["effort"]) for joint in joints])
        self.servo_gain = np.array([joint["servo"]["gain"] for joint in joints])
        self.servo_damping = np.array([joint["servo"]["damping"] for joint in joints])
        servo_effort = np.array([_or_inf(joint["servo"]["effort"]) for joint in joints])
        self.effort = np.minimum(self.effort, servo_effort)
        self.start = np.array(info["start_angle"])
        self.lower = np.array([-_or_inf(_negated(joint["lower"])) for joint in joints])
        self.upper = np.array([_or_inf(joint["upper"]) for joint in joints])
        self.axes = np.array([joint["axis"] for joint in joints]).reshape(-1, 3)
        self.offsets = np.array([joint["position"] for joint in joints]).reshape(-1, 3)
        self.rest_rotations = matrix(
            np.array([joint["rotation"] for joint in joints]).reshape(-1, 4)
        )
        self._hinges = np.array([joint["type"] == "hinge" for joint in joints], bool)
        self._slides = np.array([joint["type"] == "slide" for joint in joints], bool)
        self.anchors = np.array([joint["anchor"] for joint in joints]).reshape(-1, 3)
        self.references = np.array([joint["reference"] for joint in joints])
        self.sensors = [
            Sensor(s["name"].replace(" ", "_"), s["type"], s["address"], s["count"])
            for s in info["sensors"]
        ]
        self.touch_force = TOUCHES * 9.81 * info["mass"]
        self.motors = self._motors()
        self.joint_names, self.angle_at, self.rate_at = self._percepts()
        self.camera = self._camera()
        self.marks = self._marks()

    def _motors(self) -> dict[str, int]:
        """Joints by the names of their motors: the league's, those of actuators, their own."""
        found = {name: index for index, name in enumerate(self.joints)}
        for actuator in self.info["actuators"]:
            name, _, kind = actuator["name"].rpartition("_")
            if kind == "tau" and actuator["joint"] is not None:
                found[name] = actuator["joint"]
        for name, (limb, number) in BOOSTER_T1.items():
            if name in self.joints:
                found[f"{limb}e{number}"] = self.joints.index(name)
        return found

    def _percepts(self) -> tuple[list[str], Array, Array]:
        """Names of joints in percepts; addresses of their sensors in sensor.value, -1: none."""
        names = []
        for name in self.joints:
            limb, number = BOOSTER_T1.get(name, ("", 0))
            names.append(f"q_{limb}j{number}" if limb else name)
        addresses = {"jointpos": np.full(len(names), -1), "jointvel": np.full(len(names), -1)}
        for sensor in self.info["sensors"]:
            joint = sensor["joint"]
            if sensor["type"] in addresses and joint is not None:
                addresses[sensor["type"]][joint] = sensor["address"]
                if sensor["type"] == "jointpos":
                    names[joint] = sensor["name"].replace(" ", "_")
        return names, addresses["jointpos"], addresses["jointvel"]

    def _head(self) -> int:
        """The link `head`, that behind the last joint of a head or neck, or the base."""
        if "head" in self.links:
            return self.links.index("head")
        behind = [
            joint["child"]
            for joint in self.info["joints"]
            if "head" in joint["name"].lower() or "neck" in joint["name"].lower()
        ]
        return behind[-1] if behind else 0

    def _middle(self, link: int) -> LinkFrame:
        return LinkFrame(link, np.array(self.info["links"][link]["center"]), np.eye(3))

    def _camera(self) -> LinkFrame:
        """Where the eyes are: the site `camera`, the first camera, or the middle of the head."""
        for site in self.info["sites"]:
            if site["name"] == "camera":
                return _frame_of(site["frame"])
        for camera in self.info["cameras"]:
            return _frame_of(camera["frame"])
        return self._middle(self._head())

    def _marks(self) -> list[tuple[str, LinkFrame]]:
        """What others see of the robot."""
        sites = [
            (site["name"].removesuffix(MARKS), _frame_of(site["frame"]))
            for site in self.info["sites"]
            if site["name"].endswith(MARKS)
        ]
        if sites:
            return sites
        found = {"head": self._middle(self._head())}
        for link, name in enumerate(self.links):
            side = {"left": "l", "right": "r"}.get(name.lower().partition("_")[0])
            part = next((PARTS_SEEN[word] for word in PARTS_SEEN if word in name.lower()), None)
            if side is not None and part is not None:
                found.setdefault(side + part, self._middle(link))
        return list(found.items())

    def poses(self, position: Array, quaternion: Array, angle: Array) -> tuple[Array, Array]:
        """Positions (n, links, 3) [m] and rotations (n, links, 3, 3) of the links of n robots."""
        count, links = len(position), len(self.links)
        at = np.empty((count, links, 3))
        rotated = np.empty((count, links, 3, 3))
        local_at, local_yaw = self.local(angle)
        for link in range(links):
            parent = self.parents[link]
            if parent is None:
                at[:, link], rotated[:, link] = position, matrix(quaternion)
                continue
            joint = self.joint_of[link]
            above = rotated[:, parent]
            at[:, link] = at[:, parent] + (above @ local_at[:, joint, :, None])[:, :, 0]
            rotated[:, link] = above @ local_yaw[:, joint]
        return at, rotated

    def local(self, angle: Array) -> tuple[Array, Array]:
        """Positions (n, joints, 3) [m] and rotations (n, joints, 3, 3) of the links behind joints,
        each in the frame of its parent link."""
        moved = angle - self.references
        about = rotation_about(self.axes, np.where(self._hinges, moved, 0.0))
        shift = np.where(self._slides, moved, 0.0)[..., None] * self.axes
        shift = shift + self.anchors - (about @ self.anchors[:, :, None])[..., 0]
        at = self.offsets + (self.rest_rotations @ shift[..., None])[..., 0]
        return at, self.rest_rotations @ about

    def mesh_file(self, mesh: int) -> str:
        """The name of a mesh's file."""
        path: str = self.info["meshes"][mesh]["path"]
        return os.path.basename(path)


def _or_inf(value: float | None) -> float:
    return np.inf if value is None else value


def _negated(value: float | None) -> float | None:
    return None if value is None else -value
