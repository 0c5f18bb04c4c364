"""The messages of the bridge ros2 on the wire, against PyPI's `rosbags`: its definitions of ROS 2's
messages, its decoder, its type hashes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from dds_peer import STORE

from mayfly_bridges._dds.imu import Reading, TrueImu
from mayfly_bridges._dds.links import Pose
from mayfly_bridges._rotation import from_angles
from mayfly_bridges.ros2 import Ticker, encode
from mayfly_bridges.ros2.cameras import Camera, camera_info, image
from mayfly_bridges.ros2.messages import HASHES, TYPES

NANOSECONDS = 3_000_000_007


def decode(sample: Any, name: str) -> Any:
    return STORE.deserialize_cdr(sample.serialize(), name)


def form(kind: str, count: int | None) -> tuple[str, str, int]:
    """A member's type in the words of rosbags."""
    inner = kind.replace("/", "/msg/")
    node = "NAME" if "/" in kind else "BASE"
    if count is None:
        return (node, inner, 0)
    return ("SEQUENCE" if count < 0 else "ARRAY", inner, max(count, 0))


def plain(definition: Any) -> tuple[str, str, int]:
    node, inner = definition
    if node.name in ("ARRAY", "SEQUENCE"):
        (_, element), length = inner
        return (node.name, element if isinstance(element, str) else element[0], length)
    return (node.name, inner if isinstance(inner, str) else inner[0], 0)


@pytest.mark.parametrize("name", sorted(TYPES.members))
def test_definitions_are_those_of_ros(name: str) -> None:
    own = [(m.name, form(m.kind, m.count)) for m in TYPES.members[name]]
    other = STORE.fielddefs[name.replace("/", "/msg/")][1]
    assert own == [(field, plain(definition)) for field, definition in other]


@pytest.mark.parametrize("name", sorted(HASHES))
def test_hashes_are_those_of_ros(name: str) -> None:
    assert f"RIHS01_{HASHES[name]}" == STORE.hash_rihs01(name.replace("/", "/msg/"))


@pytest.mark.parametrize("name", sorted(TYPES.members))
def test_types_have_the_names_of_ros_and_no_key(name: str) -> None:
    kind = TYPES.kind(name)
    kind.__idl__.populate()
    package, short = name.split("/")
    assert kind.__idl__.idl_transformed_typename == f"{package}::msg::dds_::{short}_"
    assert kind.__idl__.keyless


def test_joint_states_are_read() -> None:
    sample = encode.joint_state(NANOSECONDS, ["hip", "a"], [0.5, -1.0], [2.0, 3.0])
    found = decode(sample, "sensor_msgs/msg/JointState")
    assert (found.header.stamp.sec, found.header.stamp.nanosec) == (3, 7)
    assert found.name == ["hip", "a"] and found.effort.size == 0
    np.testing.assert_array_equal(found.position, [0.5, -1.0])
    np.testing.assert_array_equal(found.velocity, [2.0, 3.0])


def test_odometry_has_the_twist_of_the_child() -> None:
    pose = Pose((1.0, 2.0, 3.0), from_angles(0.0, 0.0, math.pi / 2))
    sample = encode.odometry(NANOSECONDS, "odom", "base_link", pose, [0.0, 2.0, 0.0], [0, 0, 1])
    found = decode(sample, "nav_msgs/msg/Odometry")
    assert (found.header.frame_id, found.child_frame_id) == ("odom", "base_link")
    assert found.pose.pose.position.z == 3.0
    assert found.pose.pose.orientation.z == pytest.approx(math.sqrt(0.5), abs=1e-15)
    twist = found.twist.twist
    assert (twist.linear.x, twist.linear.y) == pytest.approx((2.0, 0.0), abs=1e-15)
    assert twist.angular.z == 1.0 and not found.twist.covariance.any()


def test_inertial_unit_has_variances() -> None:
    sample = encode.imu(
        0, "imu_link", Reading((1, 0, 0, 0), (1, 2, 3), (4, 5, 9.81)), (0.1, 0.2, 0.3)
    )
    found = decode(sample, "sensor_msgs/msg/Imu")
    assert found.orientation.w == 1.0 and found.linear_acceleration.z == 9.81
    for matrix, deviation in (
        (found.orientation_covariance, 0.1),
        (found.angular_velocity_covariance, 0.2),
        (found.linear_acceleration_covariance, 0.3),
    ):
        np.testing.assert_allclose(matrix.reshape(3, 3), deviation**2 * np.eye(3), rtol=1e-15)


def test_rays_that_hit_nothing_are_infinite() -> None:
    sample = encode.laser_scan(0, "laser_link", -0.5, 0.25, 0.1, 5.0, [-1.0, 5.0, 1.5])
    found = decode(sample, "sensor_msgs/msg/LaserScan")
    assert found.angle_max == 0.0 and found.range_max == 5.0
    np.testing.assert_array_equal(found.ranges, np.float32([np.inf, np.inf, 1.5]))


def test_what_ros_writes_is_read() -> None:
    point = STORE.types["geometry_msgs/msg/Vector3"]
    twist = STORE.types["geometry_msgs/msg/Twist"](point(1, 2, 3), point(4, 5, 6))
    data = STORE.serialize_cdr(twist, "geometry_msgs/msg/Twist").tobytes()
    found = TYPES.kind("geometry_msgs/Twist").deserialize(data)
    assert (found.linear.x, found.angular.z) == (1.0, 6.0)


def test_messages_are_due_at_multiples_of_their_period() -> None:
    ticker = Ticker(100.0)
    times = (3, 9, 10, 12, 25, 30, 5, 6, 10)  # [ms]; 5: the world was reset
    assert [ms for ms in times if ticker.due(ms * 1_000_000)] == [10, 25, 30, 5, 10]


def test_true_inertial_unit_feels_what_accelerates_it() -> None:
    unit, rotated = TrueImu(), from_angles(0.0, 0.0, math.pi / 2)
    assert unit.read(0, rotated, (0, 0, 1), (0, 0, 0)) is None
    reading = unit.read(10_000_000, rotated, (0, 0, 1), (0, 0.02, 0))
    assert reading is not None and reading.acceleration == pytest.approx((2, 0, 9.81), abs=1e-12)
    falling = unit.read(20_000_000, rotated, (0, 0, 1), (0, 0.02, -0.0981))
    assert falling is not None and falling.acceleration == pytest.approx((0, 0, 0), abs=1e-12)


def described(**values: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"width": 3, "height": 2, "focal": [100.0, 101.0], "center": [1.0, 0.5]}
    made |= {"lens": "brown", "coefficients": [0.1, 0.2, 0.3, 0.4, 0.5, 0.0]}
    return made | {"rate": {"numerator": 20, "denominator": 1}, "delay": 0} | values


def test_pictures_are_read() -> None:
    words = np.uint32([0xFF000000 + 1 + 256 * 2 + 65536 * (3 + pixel) for pixel in range(6)])
    found = decode(image(NANOSECONDS, "eye", described(), "rgb8", words), "sensor_msgs/msg/Image")
    assert (found.height, found.width, found.step, found.encoding) == (2, 3, 9, "rgb8")
    pixels = found.data.reshape(2, 3, 3)
    assert pixels[1, 2].tolist() == [1, 2, 8] and found.header.stamp.nanosec == 7
    far = np.linspace(0.5, 3, 6, dtype=np.float32)
    found = decode(image(0, "eye", described(), "32FC1", far), "sensor_msgs/msg/Image")
    assert found.step == 12 and (found.data.view(np.float32) == far).all()


def test_lenses_have_the_models_of_ros() -> None:
    name = "sensor_msgs/msg/CameraInfo"
    found = decode(camera_info(0, "eye", described()), name)
    assert found.distortion_model == "plumb_bob" and found.d.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert found.k.tolist() == [100, 0, 1, 0, 101, 0.5, 0, 0, 1]
    found = decode(camera_info(0, "eye", described(lens="fisheye")), name)
    assert found.distortion_model == "equidistant" and found.d.size == 4
    assert decode(camera_info(0, "eye", described(lens="angle")), name).distortion_model == ""


def test_pictures_have_the_time_when_they_were_taken() -> None:
    here = Pose((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    rate = {"numerator": 125, "denominator": 2}  # each 16 ms
    camera = Camera("eye", "head", here, described(rate=rate, delay=9_500_000), {})
    times = [camera.taken(ms * 1_000_000, 3_000_000) for ms in (9, 12, 27, 30, 60)]
    # Visible after 12 ms, four steps; the tick at 16 ms falls into the step that ends at 18 ms.
    assert times == [-15_000_000, 0, 0, 18_000_000, 48_000_000]


def test_transforms_of_the_same_frames_have_the_same_bytes() -> None:
    frames = [("odom", "base_link"), ("base_link", "a"), ("a", "longer_name")]
    template = encode.Transforms(frames)
    for now in (5, NANOSECONDS):
        poses = [
            Pose((now * 1e-9 + i, -2.0, 0.5 * i), from_angles(0.1 * i, 0.2, now * 1e-9))
            for i in range(3)
        ]
        parts = [encode.transform(now, *pair, pose) for pair, pose in zip(frames, poses)]
        expected = encode.transforms(parts).serialize(use_version_2=False)
        assert template.message(now, poses).serialize(use_version_2=False) == expected
