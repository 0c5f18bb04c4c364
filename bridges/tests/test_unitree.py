"""The bridge unitree in a process of its own: classes and checksum of PyPI's `unitree-sdk2py-dimos`
at the other end."""

from __future__ import annotations

import json
import math
import os
import pathlib
import re
from collections.abc import Callable
from typing import Any

import pytest
from dds_peer import Peer, new_domain
from unitree_peer import CRC, api, go, hg, zero

from conftest import Serve, Start

SHARED = pathlib.Path(os.environ.get("MAYFLY_SHARED", "no such folder"))
GO2 = SHARED / "models" / "unitree_go2" / "go2.xml"
G1 = SHARED / "models" / "unitree_g1" / "g1.xml"
JOINTS = [
    f"{leg}_{part}_joint" for leg in ("FR", "FL", "RR", "RL") for part in ("hip", "thigh", "calf")
]


def small_robot() -> str:
    """Four legs of three links with the joints and motors of the SDK in another order, hanging."""
    legs = ""
    rod = '<geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.3"/>'
    for name, x, y in (("RL", -0.2, 0.1), ("FL", 0.2, 0.1), ("RR", -0.2, -0.1), ("FR", 0.2, -0.1)):
        legs += f"""<body name="{name}_hip" pos="{x} {y} 0">
<joint name="{name}_hip_joint" axis="1 0 0"/><geom type="sphere" size="0.03" mass="0.3"/>
<body name="{name}_thigh"><joint name="{name}_thigh_joint" axis="0 1 0"/>{rod}
<body name="{name}_calf" pos="0 0 -0.2"><joint name="{name}_calf_joint" axis="0 1 0"/>{rod}
</body></body></body>"""
    motors = "".join(
        f'<motor name="{name[:-6]}" joint="{name}" gear="2" ctrlrange="-10 10"/>'
        for name in reversed(JOINTS)
    )
    return f"""<mujoco><option timestep="0.002"/>
<default><geom contype="0" conaffinity="0"/></default><worldbody><body name="trunk" pos="0 0 1">
<geom type="box" size="0.25 0.1 0.05" mass="5"/><site name="imu"/>{legs}</body></worldbody>
<actuator>{motors}</actuator>
<sensor><gyro site="imu"/><accelerometer site="imu"/></sensor></mujoco>"""


def hanging_g1() -> str:
    """The robot of the file with motors instead of its servos, and its pelvis in the air."""
    text = G1.read_text().replace('<position kp="500" dampratio="1" inheritrange="1"/>', "")
    text = text.replace("<position class", "<motor class")
    text = text.replace('<freejoint name="floating_base_joint"/>', "")
    text = text.replace('meshdir="assets"', f'meshdir="{G1.parent}/assets"')
    return re.sub("<keyframe>.*</keyframe>", "", text, flags=re.DOTALL)


@pytest.fixture
def bridge(
    serve: Serve,
    start: Start,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Peer]:
    """`bridge(model file)` serves a robot, with the bridge at it."""

    def run(model: pathlib.Path, by_servos: bool = False) -> Peer:
        scene = tmp_path / "scene.yaml"
        keys = "servo: {inputs: true}" if by_servos else "motion: articulated"
        group = f"{{name: robot, model: {model}, {keys}}}"
        scene.write_text(f"world: {{step: 0.002}}\ngroups:\n- {group}\n")
        domain = new_domain(monkeypatch)
        address = serve(scene, "--root", "/")  # meshes of a robot that is elsewhere
        start("bridge", "unitree", address, "--domain", str(domain))
        return Peer(domain)

    return run


def go_command(targets: list[float], kp: float, kd: float) -> Any:
    command = zero("unitree_go/LowCmd")
    command.head[:], command.level_flag = [0xFE, 0xEF], 0xFF
    for motor, target in zip(command.motor_cmd, targets):
        motor.mode, motor.q, motor.kp, motor.kd = 1, target, kp, kd
    command.crc = CRC().Crc(command)
    return command


def arrived(targets: list[float], near: float, slow: float = math.inf) -> Callable[[Any], bool]:
    """Whether the motors of a state are there, and how fast they may be."""
    return lambda state: all(
        abs(motor.q - target) < near and abs(motor.dq) < slow
        for motor, target in zip(state.motor_state, targets)
    )


def test_motors_follow_the_sdk(bridge: Callable[..., Peer], tmp_path: pathlib.Path) -> None:
    (tmp_path / "small.xml").write_text(small_robot())
    peer = bridge(tmp_path / "small.xml")
    states = peer.reader("lowstate", go.LowState_)
    sports = peer.reader("sportmodestate", go.SportModeState_)
    commands = peer.writer("lowcmd", go.LowCmd_)
    remote = peer.writer("wirelesscontroller", go.WirelessController_)
    first = peer.wait(states)
    assert list(first.head) == [0xFE, 0xEF] and first.crc == CRC().Crc(first)
    assert first.motor_state[0].mode == 0 and first.imu_state.quaternion == [1, 0, 0, 0]
    later = peer.wait(states, lambda s: s.tick > first.tick)
    assert (later.tick - first.tick) % 2 == 0  # 500 Hz, ticks of 1 ms
    assert later.imu_state.accelerometer[2] == pytest.approx(9.81, abs=1e-3)
    targets = [0.02 * number - 0.1 for number in range(12)]
    peer.wait_for_reader(commands)
    wrong = go_command([1.0] * 12, 40.0, 0.5)
    wrong.crc ^= 1
    commands.write(wrong)
    commands.write(go_command(targets, 40.0, 0.5))

    state = peer.wait(states, arrived(targets, 0.02, 0.05))
    assert state.motor_state[3].mode == 1 and state.motor_state[12].mode == 0
    # FL_thigh carries its leg: kp (q - angle) is what is left, and what was applied.
    left = 40.0 * (targets[4] - state.motor_state[4].q)
    assert state.motor_state[4].tau_est == pytest.approx(left, abs=0.1)
    peer.wait_for_reader(remote)
    remote.write(go.WirelessController_(0.5, 0.0, 0.0, 0.0, 4))
    state = peer.wait(states, lambda s: s.wireless_remote[2] == 4)
    assert bytes(state.wireless_remote[4:8]) == b"\0\0\0\x3f"
    requests = peer.writer("api/motion_switcher/request", api.Request_)
    responses = peer.reader("api/motion_switcher/response", api.Response_)
    peer.wait_for_reader(requests)
    for number, code, data in ((1001, 0, {"form": "0", "name": ""}), (1002, 3203, None)):
        identity, lease = api.RequestIdentity_(77, number), api.RequestLease_(0)
        header = api.RequestHeader_(identity, lease, api.RequestPolicy_(0, False))
        requests.write(api.Request_(header, "{}", []))
        response = peer.wait(responses, lambda r, n=number: r.header.identity.api_id == n)
        assert response.header.identity.id == 77 and response.header.status.code == code
        assert (json.loads(response.data) if response.data else None) == data
    sport = peer.wait(sports)
    assert sport.stamp.sec >= 0 and sport.stamp.nanosec % 2_000_000 == 0


def test_servos_are_refused(serve: Serve, start: Start, tmp_path: pathlib.Path) -> None:
    text = small_robot().replace("<motor ", "<position ").replace('gear="2"', 'kp="9"')
    (tmp_path / "small.xml").write_text(text)
    program = start("bridge", "unitree", serve(tmp_path / "small.xml"))
    assert program.stdout is not None
    assert "is no motor: the SDK commands torques" in program.stdout.read()
    assert program.wait() == 2  # so that `mayfly serve` does not start it again


def test_the_world_computes_the_law(bridge: Callable[..., Peer], tmp_path: pathlib.Path) -> None:
    """At a gain at which torques from turn to turn are far from stable."""
    (tmp_path / "small.xml").write_text(small_robot())
    peer = bridge(tmp_path / "small.xml", by_servos=True)
    states = peer.reader("lowstate", go.LowState_)
    commands = peer.writer("lowcmd", go.LowCmd_)
    peer.wait_for_reader(commands)
    targets = [0.02 * number - 0.1 for number in range(12)]
    commands.write(go_command(targets, 20000.0, 200.0))

    state = peer.wait(states, arrived(targets, 1e-3, 0.01))
    assert all(abs(motor.tau_est) <= 20.0 for motor in state.motor_state)  # gear times ctrlrange
    # FL_thigh carries its leg, by the torque that acted at the end of the step.
    motor = state.motor_state[4]
    law = 20000.0 * (targets[4] - motor.q) - 200.0 * motor.dq
    assert motor.tau_est == pytest.approx(law, abs=0.1)
    commands.write(go_command([0.0] * 12, 0.0, 0.0))  # limp: the legs swing
    peer.wait(states, lambda s: abs(s.motor_state[4].dq) > 0.1 and s.motor_state[4].tau_est == 0.0)


@pytest.mark.skipif(not GO2.exists(), reason="needs MAYFLY_SHARED")
def test_go2_stands_up(bridge: Callable[..., Peer]) -> None:
    peer = bridge(GO2)
    states = peer.reader("lowstate", go.LowState_)
    sports = peer.reader("sportmodestate", go.SportModeState_)
    commands = peer.writer("lowcmd", go.LowCmd_)
    peer.wait_for_reader(commands)
    stand = [0.0, 0.67, -1.3] * 4  # the pose of the SDK's example go2_stand_example.py
    commands.write(go_command(stand, 60.0, 5.0))

    seen = peer.wait(states, arrived(stand, 0.2))
    sport = peer.wait(sports, lambda s: s.stamp.sec >= 3)
    assert sport.position[2] > 0.28
    assert max(abs(angle) for angle in seen.imu_state.rpy[:2]) < 0.2


@pytest.mark.skipif(not G1.exists(), reason="needs MAYFLY_SHARED")
def test_g1_bends_its_knee(bridge: Callable[..., Peer], tmp_path: pathlib.Path) -> None:
    (tmp_path / "g1.xml").write_text(hanging_g1())
    peer = bridge(tmp_path / "g1.xml")
    states = peer.reader("lowstate", hg.LowState_)
    seconds = peer.reader("secondary_imu", hg.IMUState_)
    commands = peer.writer("lowcmd", hg.LowCmd_)
    peer.wait_for_reader(commands)
    command = zero("unitree_hg/LowCmd")
    for motor, gain in zip(command.motor_cmd, [100] * 15 + [40] * 14):
        motor.mode, motor.kp, motor.kd = 1, gain, 2
    command.motor_cmd[3].q = 0.5  # LeftKnee of the SDK's examples
    command.crc = CRC().Crc(command)
    commands.write(command)

    def arrived(state: Any) -> bool:
        return all(abs(m.q - c.q) < 0.1 for m, c in zip(state.motor_state, command.motor_cmd))

    state = peer.wait(states, arrived)
    assert state.crc == CRC().Crc(state) and state.motor_state[3].q > 0.4
    assert state.imu_state.accelerometer[2] == pytest.approx(9.81, abs=0.3)
    peer.wait(seconds, lambda imu: abs(imu.accelerometer[2] - 9.81) < 0.5)
