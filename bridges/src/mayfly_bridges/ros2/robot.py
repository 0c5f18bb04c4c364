"""The topics of one robot."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import mayfly
from mayfly_bridges._dds.imu import TrueImu, find_imus
from mayfly_bridges._dds.links import BASE, Links, Pose
from mayfly_bridges._dds.node import Node, profile, take_all
from mayfly_bridges._rotation import IDENTITY, OPTICAL, angles
from mayfly_bridges.ros2 import encode, sensors
from mayfly_bridges.ros2.cameras import Camera, camera_info, find_cameras, image
from mayfly_bridges.ros2.commands import Inputs, Joints, Velocity
from mayfly_bridges.ros2.description import urdf
from mayfly_bridges.ros2.efforts import GAINS, Efforts
from mayfly_bridges.ros2.messages import HASHES, TYPES

_TRUTH = ("base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity")
_STATES = (*_TRUTH, "joint.angle", "joint.rate", "sensor.value")
_COMMANDED = ("joint.target", "joint.torque", "actuator.control")
_EFFORTS = ("actuator.force", *GAINS)
_FORWARD = {  # topics of ros2_control's forward command controllers
    "forward_position_controller/commands": "position",
    "forward_velocity_controller/commands": "velocity",
    "forward_effort_controller/commands": "effort",
}


@dataclasses.dataclass(frozen=True)
class Setup:
    """What all robots of a group have in common."""

    group: mayfly.RemoteGroup
    links: Links
    states: Any  # the subscription
    pictures: list[tuple[Camera, Any]]  # cameras with their subscriptions
    step: int  # [ns] of the world
    best_effort: bool
    wheelbase: float
    timeout: float


def pictures_of(
    links: Links, group: mayfly.RemoteGroup
) -> list[tuple[Camera, mayfly.Subscription]]:
    """The cameras of a group, and subscriptions of their pictures."""
    found = []
    for camera in find_cameras(links, group):
        names = [name for name, _ in camera.fields.values()]
        found.append((camera, group.subscribe(*names, period=camera.period)))
    return found


def state_fields(group: mayfly.RemoteGroup) -> list[str]:
    """The fields of a group that its robots' topics need."""
    names = (*_STATES, *_COMMANDED, *_EFFORTS)
    return [name for name in names if name in group.fields and group.fields[name].components]


class Robot:
    """Writers and readers of one robot; `space` is "" or "NAME/" before topics and frames."""

    def __init__(self, node: Node, setup: Setup, index: int, space: str) -> None:
        self._node, self._setup, self._index, self._space = node, setup, index, space
        self._links = setup.links
        has_sensors = "sensor.value" in setup.group.fields
        self._imu = next(iter(find_imus(self._links)), None) if has_sensors else None
        self._true_imu = TrueImu()
        self._scan = sensors.find_scan(self._links) if has_sensors else None
        self._efforts = Efforts(self._links)
        self._rows: Inputs = {}
        self._twist: Any = None
        self._twist_time = 0.0
        self._complained: set[str] = set()
        reliable = not setup.best_effort
        self._states = self._writer("joint_states", "sensor_msgs/JointState", profile(10))
        self._odometry = self._writer("odom", "nav_msgs/Odometry", profile(10))
        self._imus = self._writer("imu", "sensor_msgs/Imu", profile(10, reliable=reliable))
        self._scans = (
            self._writer("scan", "sensor_msgs/LaserScan", profile(10, reliable=reliable))
            if self._scan
            else None
        )
        self._images: dict[str, Any] = {}
        self._shown: dict[str, int] = {}  # [ns] when the last picture was taken
        for camera, _ in setup.pictures:
            for topic in camera.fields:
                name, lossy = f"{camera.name}/{topic}", profile(5, reliable=reliable)
                self._images[name] = self._writer(name, "sensor_msgs/Image", lossy)
                name = name.replace("image_raw", "camera_info")
                self._images[name] = self._writer(name, "sensor_msgs/CameraInfo", lossy)
        latched = profile(1, latched=True)
        description = self._writer("robot_description", "std_msgs/String", latched)
        self._description = description  # which offers it as long as it exists
        description.write(encode.text(urdf(self._links)))
        self._listen()

    def _writer(self, name: str, kind: str, policies: list[Any]) -> Any:
        topic = f"rt/{self._space}{name}"
        return self._node.writer(topic, TYPES.kind(kind), policies, f"RIHS01_{HASHES[kind]}")

    def _reader(self, name: str, kind: str) -> Any:
        return self._node.reader(f"rt/{self._space}{name}", TYPES.kind(kind), profile(10))

    def _listen(self) -> None:
        fields = self._setup.group.fields
        inputs = {name: f.components for name, f in fields.items() if f.is_writable}
        self._velocity = Velocity(inputs, self._setup.wheelbase)
        self._joints = Joints(self._links, inputs)
        self._twists = (
            self._reader("cmd_vel", "geometry_msgs/Twist") if self._velocity.mode else None
        )
        self._targets, self._forwards = None, {}
        if self._joints.fields():
            self._targets = self._reader("joint_command", "sensor_msgs/JointState")
            for topic in _FORWARD:
                self._forwards[topic] = self._reader(topic, "std_msgs/Float64MultiArray")

    def has_state(self) -> bool:
        """Whether a state of the robot has come."""
        return int(self._setup.states.states) > 0

    # ---- out -----------------------------------------------------------------------------------

    def frames(self) -> list[tuple[str, str]]:
        """Parents and children of the transforms in /tf."""
        found = [("odom", BASE)] + [(joint.parent, joint.child) for joint in self._links.joints]
        return [(self._space + parent, self._space + child) for parent, child in found]

    def publish_states(self, nanoseconds: int) -> list[Pose]:
        """Joint states and odometry; returns the poses of `frames` for /tf."""
        pose, velocity, rate = self._base()
        names = [joint.name for joint in self._links.joints]
        found, rates = self._row("joint.angle"), self._row("joint.rate")
        if names:
            order = [joint.index for joint in self._links.joints]
            efforts = self._efforts.read(self._row).tolist() if self._efforts.is_known else []
            own = ([values[i] for i in order] for values in (found, rates, efforts) if len(values))
            state = encode.joint_state(nanoseconds, names, *own)
            self._states.write(state)
        frames = (self._space + "odom", self._space + BASE)
        self._odometry.write(encode.odometry(nanoseconds, *frames, pose, velocity, rate))
        return [pose, *(joint.pose(found[joint.index]) for joint in self._links.joints)]

    def fixed_transforms(self, with_map: bool) -> list[Any]:
        """The transforms that never change, for /tf_static."""
        parts = []
        if with_map:
            here = Pose((0.0, 0.0, 0.0), IDENTITY)
            parts.append(encode.transform(0, "map", self._space + "odom", here))
        if self._links.base_name != BASE:
            same = Pose((0.0, 0.0, 0.0), IDENTITY)
            parts.append(self._transform(0, BASE, self._links.base_name, same))
        if self._imu:
            parts.append(self._transform(0, self._imu.link, "imu_link", self._imu.pose))
        if self._scan:
            parts.append(self._transform(0, self._scan.link, "laser_link", self._scan.pose))
        for camera, _ in self._setup.pictures:
            name, optical = camera.name, Pose((0.0, 0.0, 0.0), OPTICAL)
            parts.append(self._transform(0, camera.link, f"{name}_frame", camera.pose))
            parts.append(self._transform(0, f"{name}_frame", f"{name}_optical_frame", optical))
        return parts

    def publish_imu(self, nanoseconds: int) -> None:
        """The inertial unit: the robot's own, or the true state of the base."""
        pose, velocity, rate = self._base()
        if self._imu:
            truth = self._imu.orientation(self._links, pose.rotation, self._row("joint.angle"))
            reading, frame = self._imu.read(self._row("sensor.value"), truth), "imu_link"
            deviations = self._imu.deviations
        else:
            found = self._true_imu.read(nanoseconds, pose.rotation, rate, velocity)
            if found is None:
                return
            reading, frame, deviations = found, BASE, (0.0, 0.0, 0.0)
        self._imus.write(encode.imu(nanoseconds, self._space + frame, reading, deviations))

    def publish_scan(self, nanoseconds: int) -> None:
        """The laser scanner, if there is one."""
        if self._scan and self._scans:
            frame = self._space + "laser_link"
            self._scans.write(self._scan.message(nanoseconds, frame, self._row("sensor.value")))

    def publish_images(self) -> None:
        """The pictures that have come since the last time, stamped when they were taken."""
        for camera, subscription in self._setup.pictures:
            if not subscription.states:
                continue
            taken = camera.taken(round(1e9 * subscription.time), self._setup.step)
            if taken < 0 or self._shown.get(camera.name) == taken:
                continue
            self._shown[camera.name] = taken
            frame = f"{self._space}{camera.name}_optical_frame"
            for topic, (field, encoding) in camera.fields.items():
                name = f"{camera.name}/{topic}"
                row = subscription[field][self._index]
                self._images[name].write(image(taken, frame, camera.described, encoding, row))
                info = camera_info(taken, frame, camera.described)
                self._images[name.replace("image_raw", "camera_info")].write(info)

    # ---- in ------------------------------------------------------------------------------------

    def command(self, time: float, seconds: float) -> None:
        """Takes the commands that have come; `seconds` have passed since the last call."""
        touched: set[str] = set()
        if self._targets:
            for sample in take_all(self._targets):
                for kind in ("position", "velocity", "effort"):
                    touched |= self._set(kind, sample.name, getattr(sample, kind))
        for topic, reader in self._forwards.items():
            for sample in take_all(reader):
                touched |= self._set(_FORWARD[topic], self._joints.names, sample.data)
        for name in touched:
            self._write(name, self._rows[name])
        for text in self._joints.dropped - self._complained:
            self._complain(f"no input for {text}")
        self._complained |= self._joints.dropped
        self._drive(time, seconds)

    def _drive(self, time: float, seconds: float) -> None:
        for sample in take_all(self._twists) if self._twists else []:
            self._twist, self._twist_time = sample, time
        if self._twist is None:
            return
        timeout = self._setup.timeout
        if timeout > 0.0 and time - self._twist_time > timeout:
            self._twist, seconds = TYPES.new("geometry_msgs/Twist"), 0.0
        pose, _, _ = self._base()
        yaw = angles(pose.rotation)[2]
        try:
            inputs = self._velocity.update(self._twist, seconds, yaw, pose.position)
        except ValueError as error:
            self._complain(str(error))
            self._twist = None
            return
        for name, values in inputs.items():
            self._write(name, values)

    def _set(self, kind: str, names: list[str], values: list[float]) -> set[str]:
        for name in self._joints.fields() - self._rows.keys():
            self._rows[name] = list(self._row(name))
        return self._joints.update(kind, names, values, self._rows)

    def _write(self, name: str, values: list[float]) -> None:
        self._setup.group.write(name, [values], self._index, 1)

    def _complain(self, text: str) -> None:
        print(f"mayfly-bridge ros2: {self._space or '/'}: {text}", file=sys.stderr, flush=True)

    # ---- the state -----------------------------------------------------------------------------

    def _row(self, name: str) -> list[float]:
        if name not in self._setup.group.fields or not self._setup.group.fields[name].components:
            return []
        row: list[float] = self._setup.states[name][self._index].tolist()
        return row

    def _base(self) -> tuple[Pose, list[float], list[float]]:
        position, rotation, velocity, rate = (self._row(name) for name in _TRUTH)
        x, y, z = position
        w, i, j, k = rotation
        return Pose((x, y, z), (w, i, j, k)), velocity, rate

    def _transform(self, nanoseconds: int, parent: str, child: str, pose: Pose) -> Any:
        return encode.transform(nanoseconds, self._space + parent, self._space + child, pose)
