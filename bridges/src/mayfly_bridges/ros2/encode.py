"""States as messages of ROS 2: SI units, frames of REP 103 and 105, simulated time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mayfly_bridges._dds.imu import Reading
from mayfly_bridges._dds.links import Pose
from mayfly_bridges._rotation import conjugate, rotate
from mayfly_bridges.ros2.messages import TYPES

_new = TYPES.new
_MARK, _STAMP = 0x7E00_0000_0000_0000, 0x7D00_0000  # numbers that occur in no real message


def stamp(nanoseconds: int) -> Any:
    """A time of ROS 2."""
    return _new(
        "builtin_interfaces/Time",
        sec=nanoseconds // 1_000_000_000,
        nanosec=nanoseconds % 1_000_000_000,
    )


def header(nanoseconds: int, frame: str) -> Any:
    """When and in which frame."""
    return _new("std_msgs/Header", stamp=stamp(nanoseconds), frame_id=frame)


def clock(nanoseconds: int) -> Any:
    """rosgraph_msgs/Clock"""
    return _new("rosgraph_msgs/Clock", clock=stamp(nanoseconds))


def text(data: str) -> Any:
    """std_msgs/String"""
    return _new("std_msgs/String", data=data)


def joint_state(
    nanoseconds: int,
    names: Sequence[str],
    angles: Iterable[float],
    rates: Iterable[float],
    efforts: Iterable[float] = (),
) -> Any:
    """sensor_msgs/JointState: rad or m, per second, N m or N; no efforts: unknown."""
    return _new(
        "sensor_msgs/JointState",
        header=header(nanoseconds, ""),
        name=list(names),
        position=[float(angle) for angle in angles],
        velocity=[float(rate) for rate in rates],
        effort=[float(effort) for effort in efforts],
    )


def transform(nanoseconds: int, parent: str, child: str, pose: Pose) -> Any:
    """geometry_msgs/TransformStamped: the child's frame in the parent's."""
    return _new(
        "geometry_msgs/TransformStamped",
        header=header(nanoseconds, parent),
        child_frame_id=child,
        transform=_new(
            "geometry_msgs/Transform",
            translation=_vector(pose.position),
            rotation=_quaternion(pose.rotation),
        ),
    )


def transforms(parts: Sequence[Any]) -> Any:
    """tf2_msgs/TFMessage"""
    return _new("tf2_msgs/TFMessage", transforms=list(parts))


class Transforms:
    """tf2_msgs/TFMessage of the same frames again and again: only its numbers are written anew.

    Objects for 180 transforms and their bytes took 8 ms. Where the numbers are in the bytes follows
    from one message with a different number in each position.
    """

    def __init__(self, frames: Sequence[tuple[str, str]]) -> None:
        """`frames` are pairs of parent and child."""
        self._count = len(frames)
        marks = np.arange(7 * self._count, dtype="<u8") + _MARK
        values = marks.view("<f8").reshape(-1, 7)
        parts = []
        for index, (parent, child) in enumerate(frames):
            x, y, z, i, j, k, w = (float(value) for value in values[index])
            part = transform(0, parent, child, Pose((x, y, z), (w, i, j, k)))
            part.header.stamp.sec = _STAMP + index
            parts.append(part)
        self._sample = transforms(parts)
        wire = self._sample.serialize(use_version_2=False)
        self._head, body = wire[:4], wire[4:].ljust(-(-len(wire[4:]) // 8) * 8, b"\0")
        self._body = np.frombuffer(body, "<u8").copy()
        self._indices = np.array([np.flatnonzero(self._body == mark)[0] for mark in marks], int)
        words = self._body.view("<u4")
        stamps = [np.flatnonzero(words == _STAMP + index)[0] for index in range(self._count)]
        self._stamps = np.array(stamps, int)

    def message(self, nanoseconds: int, poses: Sequence[Pose]) -> Any:
        """The message with these poses, in the order of the frames."""
        words = self._body.view("<u4")
        words[self._stamps] = nanoseconds // 1_000_000_000
        words[self._stamps + 1] = nanoseconds % 1_000_000_000
        numbers = [(*p.position, *p.rotation[1:], p.rotation[0]) for p in poses]
        self._body.view("<f8")[self._indices] = np.array(numbers).ravel()
        wire = self._head + self._body.tobytes()
        self._sample.serialize = lambda **_: wire
        return self._sample


def odometry(
    nanoseconds: int,
    parent: str,
    child: str,
    pose: Pose,
    velocity: Sequence[float],
    rate: Sequence[float],
) -> Any:
    """nav_msgs/Odometry from the velocity [m/s] in the parent's axes and the body's rate [rad/s].

    The twist is in the axes of the child, as the message wants it; the covariances are zero,
    because the pose is the true one.
    """
    body = rotate(conjugate(pose.rotation), velocity)
    place = _new(
        "geometry_msgs/Pose",
        position=_new("geometry_msgs/Point", **_named(pose.position)),
        orientation=_quaternion(pose.rotation),
    )
    return _new(
        "nav_msgs/Odometry",
        header=header(nanoseconds, parent),
        child_frame_id=child,
        pose=_new("geometry_msgs/PoseWithCovariance", pose=place),
        twist=_new(
            "geometry_msgs/TwistWithCovariance",
            twist=_new("geometry_msgs/Twist", linear=_vector(body), angular=_vector(rate)),
        ),
    )


def imu(nanoseconds: int, frame: str, reading: Reading, deviations: Sequence[float]) -> Any:
    """sensor_msgs/Imu; `deviations` are the standard deviations, in rad, rad/s and m/s^2."""
    attitude, spin, push = (_covariance(deviation) for deviation in deviations)
    return _new(
        "sensor_msgs/Imu",
        header=header(nanoseconds, frame),
        orientation=_quaternion(reading.orientation),
        orientation_covariance=attitude,
        angular_velocity=_vector(reading.rate),
        angular_velocity_covariance=spin,
        linear_acceleration=_vector(reading.acceleration),
        linear_acceleration_covariance=push,
    )


def laser_scan(
    nanoseconds: int,
    frame: str,
    first: float,
    increment: float,
    period: float,
    reach: float,
    ranges: Iterable[float],
) -> Any:
    """sensor_msgs/LaserScan, counterclockwise about z from the angle `first` [rad].

    Readings [m] below 0 and at the reach or beyond are infinite: nothing was hit (REP 117).
    """
    values = [float(r) if 0.0 <= r < reach else float("inf") for r in ranges]
    return _new(
        "sensor_msgs/LaserScan",
        header=header(nanoseconds, frame),
        angle_min=first,
        angle_max=first + increment * (len(values) - 1),
        angle_increment=increment,
        scan_time=period,
        range_max=reach,
        ranges=values,
    )


def _named(values: Sequence[float]) -> dict[str, float]:
    return {name: float(value) for name, value in zip("xyz", values)}


def _vector(values: Sequence[float]) -> Any:
    return _new("geometry_msgs/Vector3", **_named(values))


def _quaternion(values: Sequence[float]) -> Any:
    w, x, y, z = (float(value) for value in values)
    return _new("geometry_msgs/Quaternion", x=x, y=y, z=z, w=w)


def _covariance(deviation: float) -> list[float]:
    square = deviation * deviation
    return [square, 0.0, 0.0, 0.0, square, 0.0, 0.0, 0.0, square]
