"""What the bridges to autopilots share: several robots, stands, channels, ends."""

from __future__ import annotations

import os
import pathlib
import signal
from typing import Any

import json_peer
import mavlink_peer
import numpy as np
import pytest
from pilots import ports

import mayfly
from conftest import ROOT, Serve, Start
from mayfly_bridges._flight import outputs
from mayfly_bridges._flight.outputs import Control, Kind, Output

PAIR = """
world: {{step: 0.002}}
proximity: {{neighbors: {{detect: false}}}}
groups:
- {{name: pair, model: {models}/quadrotor.xml, count: 2, placement: {{line: {{distance: 2}}}}}}
- name: rotors
  model: {models}/sun2022.yaml
  placement: {{grid: {{center: [9, 0, 5]}}}}
  behavior: {{program: {{mode: rotors}}}}
"""


@pytest.fixture
def pair(serve: Serve, tmp_path: pathlib.Path) -> str:
    scene = tmp_path / "pair.yaml"
    scene.write_text(PAIR.format(models=ROOT / "models"))
    return serve(scene, "--speed", "0")


def heights(address: str, group: str) -> list[float]:
    with mayfly.connect(address) as world:
        state = world[group].subscribe("base.position")
        assert world.wait(state)
        return [float(z) for z in state["base.position"][:, 2]]


def test_each_robot_has_an_autopilot_of_ardupilot(pair: str, start: Start) -> None:
    program = start("bridge", "ardupilot", pair, "--port", "0")
    peers = [json_peer.Peer(port) for port in ports(program, 2)]
    for _ in range(150):
        for peer, pulse in zip(peers, (1000, 1900)):
            peer.send([pulse] * 4)
        states = [peer.receive() for peer in peers]
    assert states[0]["timestamp"] == states[1]["timestamp"] == pytest.approx(0.3)
    low, high = heights(pair, "pair")
    assert (low, high) == (-states[0]["position"][2], -states[1]["position"][2])
    assert low < 0.1 < 0.2 < high


def test_each_robot_has_an_autopilot_of_px4(pair: str, start: Start) -> None:
    program = start("bridge", "px4", pair, "--port", "0", "--patience", "30")
    peers = [mavlink_peer.Peer(port) for port in ports(program, 2)]
    for _ in range(75):
        for peer, control in zip(peers, (0.0, 0.9)):
            peer.act([control] * 4, peer.step().time_usec)
    times = [peer.step().time_usec for peer in peers]
    assert times[0] == times[1] == 1_300_000
    low, high = heights(pair, "pair")
    assert low < 0.1 < 0.2 < high


def test_a_vehicle_stands_until_its_thrust_exceeds_its_weight(pair: str, start: Start) -> None:
    program = start("bridge", "ardupilot", pair, "--port=0", "--group=rotors")
    peer = json_peer.Peer(ports(program, 1)[0])
    state = peer.exchange([1000] * 4)
    weight = 0.752 * 9.81 / (4 * 1.562522e-6 * 2000**2)  # as a part of the largest thrust
    control = (np.sqrt(0.35**2 + 4 * 0.65 * weight) - 0.35) / (2 * 0.65)
    below, above = (round(1000 + 1000 * (control + d)) for d in (-0.01, 0.01))
    for _ in range(100):
        state = peer.exchange([below] * 4)
        assert state["position"] == [0.0, 9.0, -5.0] and state["velocity"] == [0.0] * 3
        np.testing.assert_allclose(state["imu"]["accel_body"], [0, 0, -9.81], atol=1e-9)
    for _ in range(100):
        state = peer.exchange([above] * 4)
    assert state["velocity"][2] < -0.01  # climbs
    for _ in range(100):
        state = peer.exchange([below] * 4)  # in the air there is no stand
    assert state["imu"]["accel_body"][2] == pytest.approx(-9.81, abs=0.5)
    assert state["imu"]["accel_body"][2] > -9.81


def test_a_vehicle_that_crashes_is_mentioned(pair: str, start: Start) -> None:
    program = start("bridge", "ardupilot", pair, "--port=0", "--group=rotors")
    peer = json_peer.Peer(ports(program, 1)[0])
    peer.exchange([1800] * 4)
    for _ in range(600):
        peer.exchange([1000] * 4)  # falls from 5 m
    program.send_signal(signal.SIGTERM)
    output, _ = program.communicate(timeout=20)
    assert program.returncode == 0
    assert output.count("the world froze it") == 1, output


@pytest.mark.parametrize("name", ["ardupilot", "px4"])
def test_bridges_end_while_they_wait(pair: str, start: Start, name: str) -> None:
    program = start("bridge", name, pair, "--port", "0")
    ports(program, 2)
    program.send_signal(signal.SIGTERM)
    output, _ = program.communicate(timeout=20)
    assert (program.returncode, output) == (0, "")


@pytest.mark.parametrize("name", ["ardupilot", "px4"])
def test_bridges_end_with_the_world(start: Start, tmp_path: pathlib.Path, name: str) -> None:
    scene = tmp_path / "pair.yaml"
    scene.write_text(PAIR.format(models=ROOT / "models"))
    address = str(tmp_path / "socket")
    server = start("serve", str(scene), "--unix", address)
    assert server.stdout is not None
    assert any("serving" in line for line in iter(server.stdout.readline, ""))
    program = start("bridge", name, address, "--port", "0")
    ports(program, 2)
    os.kill(server.pid, signal.SIGTERM)
    assert program.wait(20) in (0, 1)  # 1: the socket closed before the word of it
    assert server.wait(20) == 0


# ---- channels -----------------------------------------------------------------------------------


def quadrotor(**changes: Any) -> dict[str, Any]:
    return {
        "rotor_speed_min": 100,
        "rotor_speed_max": 2000,
        "rotor_x": [1, -1, -1, 1],
        "rotor_y": [1, 1, -1, -1],
        "rotor_direction": [-1, 1, -1, 1],
        **changes,
    }


def test_motors_are_those_of_the_x_frame() -> None:
    found = outputs.quadrotor_outputs(quadrotor())
    chosen = outputs.choose(None, found, outputs.QUADROTOR)
    # 1 front right, 2 rear left, 3 front left, 4 rear right.
    assert [one.component for one in chosen if one is not None] == [3, 1, 0, 2]
    swapped = outputs.quadrotor_outputs(quadrotor(rotor_direction=[1, -1, 1, -1]))
    with pytest.raises(mayfly.ArgumentError, match="X frame"):
        outputs.choose(None, swapped, outputs.QUADROTOR)
    named = outputs.choose("rotor_2,-,rotor_0", swapped, outputs.QUADROTOR)
    assert [one and one.component for one in named] == [2, None, 0]


def test_a_rotor_has_the_thrust_of_its_curve() -> None:
    rotor = Output("command.rotors", 0, 100.0, 2000.0, Kind.SPEED)
    for control, curve, thrust in (
        (0.5, 0.0, 0.5),
        (0.5, 1.0, 0.25),
        (0.5, 0.65, 0.3375),
        (1, 1, 1),
    ):
        speed = rotor.value(Control(control, 0.0), curve)
        assert (speed / 2000.0) ** 2 == pytest.approx(thrust)
    assert rotor.value(Control(-1.0, 0.0), 0.5) == 100.0
    assert rotor.value(Control(7.0, 0.0), 0.5) == 2000.0


def test_surfaces_have_the_signs_of_autopilots() -> None:
    vehicle = {f"{name}_limit": 0.5 for name in ("aileron", "elevator", "rudder")}
    found = outputs.fixed_wing_outputs(vehicle)
    values = {name: one.value(Control(0.3, 1.0), 0.65) for name, one in found.items()}
    assert values == {"aileron": 0.5, "elevator": -0.5, "throttle": 0.3, "rudder": -0.5}
    (reverse,) = outputs.choose("~elevator", found, outputs.FIXED_WING)
    assert reverse is not None and reverse.value(Control(0.0, 1.0), 0.0) == 0.5
    arm = Output("actuator.control", 2, -1.0, 3.0, Kind.SURFACE)
    assert [arm.value(Control(0, s), 0) for s in (-1.0, 0.0, 0.5, 9.0)] == [-1.0, 1.0, 2.0, 3.0]
