"""The bridge ros2 in a process of its own, read and written by PyPI's `cyclonedds` here."""

from __future__ import annotations

import math
import pathlib
import xml.etree.ElementTree as xml
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
from cyclonedds.core import Policy
from dds_peer import RELIABLE, Peer, kind, new_domain

from conftest import Serve, Start

LATCHED = (RELIABLE, Policy.Durability.TransientLocal)
RAYS = "".join(
    f'<sensor name="ray{i}" type="ray" link="cart" xyz="0 0 0.06" rpy="0 0 {0.25 * i}" reach="5"/>'
    for i in (-2, -1, 0, 1, 2)
)
CART = f"""<robot name="cart">
<link name="cart"><inertial><mass value="2"/>
<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.3 0.2 0.1"/></geometry></collision></link>
<link name="mast"><inertial><mass value="0.1"/>
<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><sphere radius="0.05"/></geometry></visual></link>
<joint name="pan" type="revolute"><parent link="cart"/><child link="mast"/>
<origin xyz="0.1 0 0.1"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" effort="1" velocity="5"/></joint>
<mayfly>{RAYS}<sensor name="gyro" type="gyroscope" link="mast" xyz="0 0 0.02"/>
<sensor name="acc" type="accelerometer" link="mast" xyz="0 0 0.02" noise="0.001"/>
<camera name="eye" link="cart" xyz="0.2 0 0.1" width="64" height="48" fovy="0.9" rate="10"
 depth="true"/>
</mayfly></robot>"""
WALL = """<mujoco><worldbody><body name="wall"><freejoint/>
<geom type="box" size="0.1 3 0.5" mass="500"/></body></worldbody></mujoco>"""
SCENE = """
world: {step: 0.002}
groups:
- {name: robot, model: cart.urdf, motion: articulated, placement: {poses: [[1, 2, 0.5]]}}
"""


@pytest.fixture
def domain(monkeypatch: pytest.MonkeyPatch) -> int:
    return new_domain(monkeypatch)


@pytest.fixture
def bridge(serve: Serve, start: Start, tmp_path: pathlib.Path, domain: int) -> Callable[..., Peer]:
    """`bridge(scene, options)` serves a scene of robots of this file, with the bridge at it."""

    def run(scene: str, *options: str) -> Peer:
        (tmp_path / "cart.urdf").write_text(CART)
        (tmp_path / "wall.xml").write_text(WALL)
        (tmp_path / "scene.yaml").write_text(scene)
        address = serve(tmp_path / "scene.yaml")
        peer = Peer(domain)
        start("bridge", "ros2", address, "--domain", str(domain), *options)
        return peer

    return run


def stamp(header: Any) -> float:
    return float(header.stamp.sec + 1e-9 * header.stamp.nanosec)


def test_states_come_in_simulated_time(bridge: Callable[..., Peer]) -> None:
    peer = bridge(SCENE)
    clock = peer.reader("clock", "rosgraph_msgs/msg/Clock")
    joints = peer.reader("joint_states", "sensor_msgs/msg/JointState")
    moving = peer.reader("tf", "tf2_msgs/msg/TFMessage")
    fixed = peer.reader("tf_static", "tf2_msgs/msg/TFMessage", *LATCHED)
    odometry = peer.reader("odom", "nav_msgs/msg/Odometry")
    first = peer.wait(clock)
    second = peer.wait(clock, lambda c: c.clock != first.clock)
    passed = (second.clock.sec - first.clock.sec) * 10**9
    passed += second.clock.nanosec - first.clock.nanosec
    assert passed > 0 and passed % 10_000_000 == 0
    state = peer.wait(joints)
    assert state.name == ["pan"] and len(state.position) == len(state.velocity) == 1
    assert round(1e9 * stamp(state.header)) % 20_000_000 == 0
    place = peer.wait(odometry, lambda o: stamp(o.header) > 0.5)
    assert (place.header.frame_id, place.child_frame_id) == ("odom", "base_link")
    pose = place.pose.pose
    assert (pose.position.x, pose.position.y) == pytest.approx((1, 2), abs=1e-3)
    assert pose.position.z == pytest.approx(0.05, abs=2e-3)
    assert 2 * math.atan2(pose.orientation.z, pose.orientation.w) == pytest.approx(0.5, abs=1e-3)
    tree = {t.child_frame_id: t for t in peer.wait(moving).transforms}
    tree |= {t.child_frame_id: t for t in peer.wait(fixed).transforms}
    parents = {child: t.header.frame_id for child, t in tree.items()}
    assert parents == {
        "odom": "map",
        "base_link": "odom",
        "cart": "base_link",
        "mast": "base_link",
        "imu_link": "mast",
        "laser_link": "base_link",
    }
    assert tree["mast"].transform.translation.x == pytest.approx(0.1)


def test_commands_move_joints(bridge: Callable[..., Peer]) -> None:
    peer = bridge(SCENE)
    joints = peer.reader("joint_states", "sensor_msgs/msg/JointState")
    moving = peer.reader("tf", "tf2_msgs/msg/TFMessage")
    named = peer.writer("joint_command", "sensor_msgs/msg/JointState")
    numbered = peer.writer("forward_position_controller/commands", "std_msgs/msg/Float64MultiArray")
    header = kind("std_msgs/msg/Header")(kind("builtin_interfaces/msg/Time")(0, 0), "")
    peer.wait_for_reader(named)
    names = ["nobody", "pan"]
    named.write(kind("sensor_msgs/msg/JointState")(header, names, [9.0, 0.75], [], []))
    peer.wait(joints, lambda s: abs(s.position[0] - 0.75) < 0.01 and abs(s.velocity[0]) < 0.1)

    def has_rotated(message: Any) -> bool:
        mast = next(t for t in message.transforms if t.child_frame_id == "mast")
        return abs(2 * math.asin(mast.transform.rotation.z) - 0.75) < 0.02

    peer.wait(moving, has_rotated)
    layout = kind("std_msgs/msg/MultiArrayLayout")([], 0)
    peer.wait_for_reader(numbered)
    numbered.write(kind("std_msgs/msg/Float64MultiArray")(layout, [-0.5]))
    peer.wait(joints, lambda s: abs(s.position[0] + 0.5) < 0.01)
    pushed = peer.writer("forward_effort_controller/commands", "std_msgs/msg/Float64MultiArray")
    peer.wait_for_reader(pushed)
    pushed.write(kind("std_msgs/msg/Float64MultiArray")(layout, [0.25]))
    peer.wait(joints, lambda s: abs(s.effort[0] + 0.25) < 1e-3)  # the servo holds against it


def test_inertial_unit_feels_weight(bridge: Callable[..., Peer]) -> None:
    peer = bridge(SCENE)
    imu = peer.reader("imu", "sensor_msgs/msg/Imu", Policy.Reliability.BestEffort)
    felt = peer.wait(imu, lambda i: stamp(i.header) > 0.5)
    assert felt.header.frame_id == "imu_link"
    push, turn = felt.linear_acceleration, felt.orientation
    assert (push.x, push.y, push.z) == pytest.approx((0, 0, 9.81), abs=0.02)
    assert 2 * math.atan2(turn.z, turn.w) == pytest.approx(0.5, abs=1e-3)
    assert felt.linear_acceleration_covariance[4] == pytest.approx(1e-6)


def test_scan_sees_a_wall(bridge: Callable[..., Peer]) -> None:
    peer = bridge(
        """
world: {step: 0.002}
groups:
- {name: robot, model: cart.urdf, motion: articulated, placement: {poses: [[0, 0, 0]]}}
- {name: wall, model: wall.xml, motion: articulated, placement: {poses: [[2.1, 0, 0]]}}
""",
        "--group",
        "robot",
    )
    scans = peer.reader("scan", "sensor_msgs/msg/LaserScan")
    scan = peer.wait(scans, lambda s: stamp(s.header) > 0.5)
    assert scan.header.frame_id == "laser_link"
    assert (scan.angle_min, scan.angle_increment) == pytest.approx((-0.5, 0.25))
    angles = scan.angle_min + scan.angle_increment * np.arange(5)
    np.testing.assert_allclose(scan.ranges, 2.0 / np.cos(angles), atol=0.01)


def test_names_types_and_quality_are_those_of_ros(bridge: Callable[..., Peer]) -> None:
    peer = bridge(SCENE)
    peer.wait(peer.reader("clock", "rosgraph_msgs/msg/Clock"))
    reader = BuiltinDataReader(peer._participant, BuiltinTopicDcpsPublication)
    found = {}
    for sample in reader.take(100):
        if sample.sample_info.valid_data:
            found[sample.topic_name] = sample
    assert {name: sample.type_name for name, sample in found.items()} == {
        "rt/clock": "rosgraph_msgs::msg::dds_::Clock_",
        "rt/tf": "tf2_msgs::msg::dds_::TFMessage_",
        "rt/tf_static": "tf2_msgs::msg::dds_::TFMessage_",
        "rt/joint_states": "sensor_msgs::msg::dds_::JointState_",
        "rt/robot_description": "std_msgs::msg::dds_::String_",
        "rt/odom": "nav_msgs::msg::dds_::Odometry_",
        "rt/imu": "sensor_msgs::msg::dds_::Imu_",
        "rt/scan": "sensor_msgs::msg::dds_::LaserScan_",
    }
    for name, sample in found.items():
        latched = name in ("rt/tf_static", "rt/robot_description")
        expected = Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile
        assert expected in sample.qos, name
        assert sample.qos[Policy.Userdata].data.startswith(b"typehash=RIHS01_"), name


def test_description_is_a_urdf(bridge: Callable[..., Peer]) -> None:
    peer = bridge(SCENE)
    reader = peer.reader("robot_description", "std_msgs/msg/String", *LATCHED)
    robot = xml.fromstring(peer.wait(reader).data)
    assert [link.get("name") for link in robot.iter("link")] == ["base_link", "mast"]
    joint = robot.find("joint")
    assert joint is not None and joint.get("type") == "revolute"
    limit, box = joint.find("limit"), robot.find("link/collision/geometry/box")
    assert limit is not None and float(limit.get("upper", "0")) == 2.0
    assert box is not None and box.get("size") == "0.3 0.2 0.1"


def test_several_robots_have_namespaces(bridge: Callable[..., Peer]) -> None:
    peer = bridge(
        """
world: {step: 0.002}
groups:
- {name: cart, model: cart.urdf, count: 2, placement: {poses: [[0, 0, 0], [0, 2, 0]]}}
""",
        "--namespace",
        "team",
    )
    positions = [
        peer.wait(peer.reader(f"team/cart_{i}/odom", "nav_msgs/msg/Odometry")) for i in (0, 1)
    ]
    assert [place.child_frame_id for place in positions] == [
        "team/cart_0/base_link",
        "team/cart_1/base_link",
    ]
    assert [place.pose.pose.position.y for place in positions] == pytest.approx([0, 2], abs=1e-3)
    moving = peer.wait(peer.reader("tf", "tf2_msgs/msg/TFMessage"))
    assert len({t.child_frame_id for t in moving.transforms}) == 4


def test_cameras_see_a_wall(bridge: Callable[..., Peer]) -> None:
    peer = bridge(
        """
world: {step: 0.002}
groups:
- name: robot
  model: cart.urdf
  cameras: true
  placement: {poses: [[0, 0, 0]]}
- {name: wall, model: wall.xml, placement: {poses: [[2.1, 0, 0]]}}
""",
        "--group",
        "robot",
    )
    pictures = peer.reader("eye/image_raw", "sensor_msgs/msg/Image")
    depths = peer.reader("eye/depth/image_raw", "sensor_msgs/msg/Image")
    infos = peer.reader("eye/camera_info", "sensor_msgs/msg/CameraInfo")
    fixed = peer.reader("tf_static", "tf2_msgs/msg/TFMessage", *LATCHED)
    picture = peer.wait(pictures, lambda p: stamp(p.header) > 0.3)
    assert round(1e9 * stamp(picture.header)) % 100_000_000 == 0
    assert picture.header.frame_id == "eye_optical_frame" and picture.encoding == "rgb8"
    pixels = np.array(picture.data).reshape(48, 64, 3)
    middle, corner = pixels[24, 32].astype(int), pixels[0, 32].astype(int)
    assert abs(middle - corner).max() > 10  # the wall, and the sky above it
    depth = peer.wait(depths)
    found = np.frombuffer(bytes(depth.data), "<f4").reshape(48, 64)
    assert found[24, 32] == pytest.approx(1.8, abs=0.01)
    assert found[47, 32] < 0.5 < 1.7 < found[0, 32]  # the ground is below
    info = peer.wait(infos)
    assert (info.width, info.height, info.distortion_model) == (64, 48, "plumb_bob")
    assert info.k[0] == pytest.approx(24 / math.tan(0.45))
    tree = {t.child_frame_id: t for t in peer.wait(fixed).transforms}
    turn = tree["eye_optical_frame"].transform.rotation
    assert (turn.w, turn.x, turn.y, turn.z) == (0.5, -0.5, 0.5, -0.5)
    assert tree["eye_frame"].transform.translation.x == 0.2
