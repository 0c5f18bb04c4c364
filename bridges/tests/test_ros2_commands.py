"""What `cmd_vel` and joint commands become, without a world and with robots that follow them."""

from __future__ import annotations

import math
import pathlib
from typing import Any

import pytest
from dds_peer import Peer, kind, new_domain

from conftest import ROOT, Serve, Start
from mayfly_bridges._dds.links import Links
from mayfly_bridges.ros2.commands import Joints, Velocity, wheelbase
from mayfly_bridges.ros2.efforts import FIELDS, Efforts

SCENE = f"""
groups:
- name: walker
  model: {ROOT}/models/humanoid.urdf
  motion: kinematic
  gaits: [walk]
  behavior: {{gait: {{name: walk, command: [0, 0, 0]}}}}
  placement: {{poses: [[0, 0, 1]]}}
- name: quad
  model: {ROOT}/models/sun2022.yaml
  placement: {{poses: [[0, 5, 1.5]]}}
  height: 2
- {{name: car, model: {ROOT}/models/car_full_size.yaml, placement: {{poses: [[0, 10, 0]]}}}}
- {{name: plane, model: {ROOT}/models/aerosonde.yaml, height: 100,
   placement: {{poses: [[0, 30, 0]]}}}}
"""


def twist(forward: float = 0, left: float = 0, up: float = 0, turn: float = 0) -> Any:
    vector = kind("geometry_msgs/msg/Vector3")
    return kind("geometry_msgs/msg/Twist")(vector(forward, left, up), vector(0, 0, turn))


def test_modes_are_those_of_the_inputs() -> None:
    assert Velocity(["gait.command", "base.force"], 0).mode == "gait"
    assert Velocity(["command.position", "command.yaw"], 0).mode == "position"
    assert Velocity(["command.speed", "command.steering"], 0).mode == ""  # no wheelbase
    assert Velocity(["joint.target"], 1).mode == ""


def test_car_turns_about_a_point() -> None:
    assert wheelbase({"vehicle": {"car": {"front": 1.1, "rear": 1.6}}}) == pytest.approx(2.7)
    assert wheelbase({"vehicle": {"quadrotor": {}}}) == wheelbase({"vehicle": None}) == 0
    car = Velocity(["command.speed", "command.steering"], wheelbase=2.5)
    inputs = car.update(twist(forward=10, turn=0.4), 0.01, 0, (0, 0, 0))
    assert inputs == {"command.speed": [10], "command.steering": [math.atan(2.5 * 0.4 / 10)]}
    assert car.update(twist(turn=1), 0.01, 0, (0, 0, 0))["command.steering"] == [0]


def test_quadrotor_flies_along_its_heading() -> None:
    quad = Velocity(["command.velocity", "command.yaw"], 0)
    inputs = quad.update(twist(1, 2, 3, 0.5), 0.1, math.pi / 2, (0, 0, 0))
    assert inputs["command.velocity"] == pytest.approx([-2, 1, 3])
    assert inputs["command.yaw"] == pytest.approx([math.pi / 2 + 0.05])
    hover = Velocity(["command.position", "command.yaw"], 0)
    hover.update(twist(), 0.1, 0, (1, 2, 3))
    inputs = hover.update(twist(1, 0, -1), 0.1, 0, (9, 9, 9))
    assert inputs["command.position"] == pytest.approx([1.1, 2, 2.9])


def test_what_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        Velocity(["gait.command"], 0).update(twist(forward=math.nan), 0.1, 0, (0, 0, 0))


def actuator(joint: int, gear: float, gain: float, bias: list[float]) -> dict[str, Any]:
    return {
        "joint": joint,
        "drive": "joint",
        "dynamics": "none",
        "gear": [gear, 0, 0, 0, 0, 0],
        "gain": [gain, 0, 0],
        "bias": bias,
    }


def test_joint_commands_go_where_the_actuators_want_them() -> None:
    joint = {"type": "hinge", "parent": 0, "child": 1, "axis": [0, 0, 1], "reference": 0}
    joint |= {"position": [0, 0, 0], "rotation": [1, 0, 0, 0]}
    joint |= {"lower": None, "upper": None, "effort": None, "speed": None}
    links = Links(
        {
            "links": [{"name": "base"}, {"name": "arm"}],
            "joints": [joint | {"name": name} for name in ("servo", "motor", "plain")],
            "actuators": [actuator(0, 2, 50, [0, -50, -1]), actuator(1, 5, 2, [0, 0, 0])],
        }
    )
    joints = Joints(links, {"actuator.control": 2, "joint.target": 3, "joint.torque": 3})
    rows = {"actuator.control": [0.0] * 2, "joint.target": [0.0] * 3, "joint.torque": [0.0] * 3}
    names = ["servo", "motor", "plain"]
    assert joints.update("position", names, [0.5, 9, 0.25], rows) == {
        "actuator.control",
        "joint.target",
    }
    assert joints.update("effort", ["motor"], [20.0], rows) == {"actuator.control"}
    assert rows["actuator.control"] == [1.0, 2.0]  # gear times angle; effort / (gear gain)
    assert rows["joint.target"] == [0, 0, 0.25]
    assert joints.dropped == {"position of motor"}
    assert joints.update("effort", ["plain"], [math.inf], rows) == set()


def test_efforts_are_those_of_servos_and_actuators() -> None:
    joint = {"type": "hinge", "parent": 0, "child": 0, "axis": [0, 0, 1], "reference": 0}
    joint |= {"position": [0, 0, 0], "rotation": [1, 0, 0, 0]}
    joint |= dict.fromkeys(("lower", "upper", "effort", "speed"))
    servo = {"gain": 10, "damping": 2, "effort": 3, "speed": 1, "backlash": 0.2}
    free = {"gain": 0, "damping": 0, "effort": None, "speed": None, "backlash": 0}
    described = {
        "links": [{"name": ""}],
        "joints": [joint | {"name": name} for name in ("a", "b", "c", "d")],
        "servos": [servo, servo, servo, free],
        "actuators": [actuator(3, 5.0, 1.0, [0, 0, 0])],
    }
    efforts = Efforts(Links(described))
    state: dict[str, list[float]] = {
        "joint.target": [0.25, 0.05, 9, 1],
        "joint.angle": [0, 0, 0, 0],
        "joint.rate": [0.5, 0, 0, 1],
        "actuator.force": [0.5],
    }
    # 10 (0.25 - half of the play) - 2 * 0.5; within the play; at the speed's limit, 2 * 1.
    found = efforts.read(lambda name: state.get(name, []))
    assert found == pytest.approx([0.5, 0, 2, 2.5])
    state |= {"servo.gain": [20, 0, 0, 0], "servo.damping": [0, 1, 0, 0]}
    state |= {"servo.target_rate": [0, 1.5, 0, 0], "servo.torque": [0, 1, 9, 0]}
    assert set(state) == set(FIELDS)
    assert efforts.read(lambda name: state[name]) == pytest.approx([3, 2.5, 3, 2.5])


def means(first: Any, last: Any) -> tuple[float, float, float]:
    """Speed along an arc [m/s], turn [rad/s] and climb [m/s] between two states."""
    time = last.header.stamp.sec - first.header.stamp.sec
    time += 1e-9 * (last.header.stamp.nanosec - first.header.stamp.nanosec)
    a, b = first.pose.pose.position, last.pose.pose.position
    quaternions = [odom.pose.pose.orientation for odom in (first, last)]
    yaws = [2 * math.atan2(q.z, q.w) for q in quaternions]
    angle = math.remainder(yaws[1] - yaws[0], math.tau)
    arc = math.dist((a.x, a.y), (b.x, b.y)) * (angle / 2) / math.sin(angle / 2)
    return arc / time, angle / time, (b.z - a.z) / time


def test_cmd_vel_moves_walkers_and_vehicles(
    serve: Serve,
    start: Start,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "scene.yaml").write_text(SCENE)
    domain = new_domain(monkeypatch)
    address = serve(tmp_path / "scene.yaml", "--speed", "4")
    peer = Peer(domain)
    start("bridge", "ros2", address, "--domain", str(domain))
    orders = {
        "walker": twist(forward=0.08, turn=0.1),
        "quad": twist(forward=0.5, up=0.25, turn=0.2),
        "car": twist(forward=4, turn=0.3),
        "plane": twist(forward=27, up=1, turn=0.1),
    }
    odometry = {name: peer.reader(f"{name}/odom", "nav_msgs/msg/Odometry") for name in orders}
    for name, order in orders.items():
        writer = peer.writer(f"{name}/cmd_vel", "geometry_msgs/msg/Twist")
        peer.wait_for_reader(writer)
        writer.write(order)
    methods: dict[str, list[Any]] = {}
    begin = peer.wait(odometry["plane"]).header.stamp.sec
    for seconds in (begin + 12, begin + 16):  # from when all follow steadily
        for name, reader in odometry.items():
            odom = peer.wait(reader, lambda o, t=seconds: o.header.stamp.sec >= t)
            methods.setdefault(name, []).append(odom)
    for name, (first, last) in methods.items():
        speed, turn, climb = means(first, last)
        order = orders[name]
        tolerance = 0.2 if name == "walker" else 0.02
        assert speed == pytest.approx(order.linear.x, rel=tolerance), name
        assert turn == pytest.approx(order.angular.z, rel=tolerance), name
        if order.linear.z:
            assert climb == pytest.approx(order.linear.z, rel=0.05), name
