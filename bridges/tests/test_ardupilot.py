"""The bridge to ArduPilot against a peer that is written from the interface's description."""

from __future__ import annotations

import json
import pathlib
import struct

import numpy as np
import pilots
import pytest
from json_peer import Peer, check

import mayfly
from conftest import ROOT, Serve, Start
from mayfly_bridges._flight import frames
from mayfly_bridges._flight.sample import Sample
from mayfly_bridges.ardupilot import link, wire

SCENE = """
world: {{step: 0.002}}
groups:
- {{name: quadrotor, model: {models}/quadrotor.xml}}
- {{name: held, model: {models}/sun2022.yaml, placement: {{grid: {{center: [9, 0, 5]}}}}}}
- name: wing
  model: {models}/aerosonde.yaml
  placement: {{grid: {{center: [0, 0, 100]}}}}
  behavior: {{program: {{mode: surfaces}}}}
"""
OFF = [1000] * 4


def bridge(start: Start, address: str, *options: str) -> list[int]:
    """Starts the bridge; the ports of the robots."""
    program = start("bridge", "ardupilot", address, "--port", "0", *options)
    with mayfly.connect(address) as world:
        return pilots.ports(program, next(iter(world.groups.values())).count)


# ---- packets ------------------------------------------------------------------------------------


def test_packets_of_sixteen_and_of_thirty_two_outputs_are_read() -> None:
    short = struct.pack("<HHI16H", 18458, 400, 7, *range(1000, 1016))
    assert wire.decode(short) == wire.Servos(400, 7, tuple(range(1000, 1016)))
    long = struct.pack("<HHI32H", 29569, 1200, 4294967295, *range(1000, 1032))
    assert wire.decode(long) == wire.Servos(1200, 4294967295, tuple(range(1000, 1032)))


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"hello",
        struct.pack("<HHI16H", 18459, 400, 7, *[1000] * 16),
        struct.pack("<HHI16H", 29569, 400, 7, *[1000] * 16),
        struct.pack("<HHI32H", 18458, 400, 7, *[1000] * 32),
        struct.pack("<HHI16H", 18458, 400, 7, *[1000] * 16)[:-1],
    ],
)
def test_other_datagrams_are_refused(packet: bytes) -> None:
    assert wire.decode(packet) is None


def test_a_state_has_what_is_known_and_nothing_else() -> None:
    zero = np.zeros(3)
    sample = Sample(1.5, zero + 1, zero + 2, np.array([1.0, 0, 0, 0]), zero + 3, zero + 4, zero)
    state = check(wire.encode(sample, True))
    assert state == {
        "timestamp": 1.5,
        "imu": {"gyro": [3.0] * 3, "accel_body": [4.0] * 3},
        "position": [1.0] * 3,
        "velocity": [2.0] * 3,
        "quaternion": [1.0, 0, 0, 0],
    }


def test_a_vane_shows_where_the_air_comes_from() -> None:
    zero, level = np.zeros(3), np.array([1.0, 0, 0, 0])  # facing north
    west_wind = np.array([0.0, 4.0, 0.0])  # blows to the east: it comes from the left
    sample = Sample(0.0, zero, zero, level, zero, zero, zero, 0.0, west_wind, (7.0, 8.0))
    state = check(wire.encode(sample, False))
    assert state["windvane"] == {"direction": pytest.approx(-np.pi / 2), "speed": 4.0}
    assert state["velocity_wind"] == [0.0, 4.0, 0.0]
    assert (state["rng_1"], state["rng_2"], state["no_lockstep"]) == (7.0, 8.0, True)


def test_pulses_are_parts_of_thrust_and_deflection() -> None:
    found = link.controls(wire.Servos(400, 0, (0, 1000, 1250, 1500, 2000)))
    assert [control.motor for control in found] == [0.0, 0.0, 0.25, 0.5, 1.0]
    assert [control.surface for control in found] == [0.0, -1.0, -0.5, 0.0, 1.0]


# ---- lock-step ----------------------------------------------------------------------------------


def test_every_field_is_the_true_state_in_their_frames(serve: Serve, start: Start) -> None:
    address = serve("scenes/quadrotor.yaml", "--speed", "0")
    peer = Peer(bridge(start, address)[0])
    for _ in range(40):
        peer.exchange([1850, 1850, 1850, 1850])
    for _ in range(30):  # rolls right, pitches up and turns right meanwhile
        state = peer.exchange([1700, 1760, 1720, 1650])
    names = ("position", "orientation", "linear_velocity", "angular_velocity")
    true = pilots.truth(address, "sensor.value", *(f"base.{name}" for name in names))
    np.testing.assert_array_equal(state["position"], frames.ned(true["base.position"]))
    np.testing.assert_array_equal(state["velocity"], frames.ned(true["base.linear_velocity"]))
    np.testing.assert_array_equal(state["quaternion"], frames.attitude(true["base.orientation"]))
    gyro = state["imu"]["gyro"]
    np.testing.assert_array_equal(gyro, frames.frd(true["base.angular_velocity"]))
    assert gyro[0] > 0.1 and gyro[2] > 0.005  # left motors push more, and the first pair
    # The model's own accelerometer has the force of an instant, ours the mean of a step.
    np.testing.assert_allclose(
        state["imu"]["accel_body"], frames.frd(true["sensor.value"][:3]), atol=0.05
    )
    np.testing.assert_allclose(gyro, frames.frd(true["sensor.value"][3:6]), atol=1e-6)
    assert state["rng_1"] == true["sensor.value"][9]
    assert state["timestamp"] == pytest.approx(70 * 0.002, abs=1e-9)


def test_the_world_waits_for_each_packet(serve: Serve, start: Start) -> None:
    address = serve("scenes/quadrotor.yaml", "--speed", "0")
    peer = Peer(bridge(start, address)[0])
    times = [peer.exchange(OFF)["timestamp"] for _ in range(20)]
    np.testing.assert_allclose(np.diff(times), 0.002, atol=1e-9)
    with mayfly.connect(address) as world:
        before = world.statistics().time_ns
        assert world.statistics().time_ns == before
        peer.exchange(OFF)
        assert world.statistics().time_ns == before + 2_000_000


def test_repeated_packets_get_the_same_answer_and_do_not_step(serve: Serve, start: Start) -> None:
    address = serve("scenes/quadrotor.yaml", "--speed", "0")
    peer = Peer(bridge(start, address)[0])
    peer.exchange(OFF)
    first = peer.exchange(OFF)
    peer.frame -= 1
    assert peer.exchange(OFF) == first
    peer.socket.send(b"not of ArduPilot")
    peer.frame += 3  # lost packets
    assert peer.exchange(OFF)["timestamp"] == pytest.approx(first["timestamp"] + 0.002)


def test_an_autopilot_that_starts_again_finds_its_robot_at_the_start(
    serve: Serve, start: Start
) -> None:
    address = serve("scenes/quadrotor.yaml", "--speed", "0")
    port = bridge(start, address)[0]
    peer = Peer(port)
    first = peer.exchange(OFF)
    for _ in range(200):
        high = peer.exchange([1900] * 4)
    assert high["position"][2] < -0.5
    for again in (peer, Peer(port)):  # the same socket, another one
        again.frame = 0
        state = again.exchange(OFF)
        assert state == first
        for _ in range(50):
            again.exchange([1900] * 4)


# ---- flights ------------------------------------------------------------------------------------


def pulse(thrust: float) -> int:
    """[us] for a part of the largest thrust, with ArduPilot's curve of 0.65."""
    return round(1000 + 1000 * (np.sqrt(0.35**2 + 4 * 0.65 * thrust) - 0.35) / (2 * 0.65))


def test_a_quadrotor_takes_off_and_hovers(serve: Serve, start: Start) -> None:
    address = serve("scenes/quadrotor.yaml", "--speed", "0")
    peer = Peer(bridge(start, address, "--rate", "250")[0])
    state = peer.exchange(OFF)
    for _ in range(250):  # stands and finds its attitude
        state = peer.exchange(OFF)
    np.testing.assert_allclose(state["imu"]["accel_body"], [0, 0, -9.81], atol=1e-3)
    for _ in range(1750):
        thrust = pilots.hover(
            state["position"],
            state["velocity"],
            state["quaternion"],
            state["imu"]["gyro"],
            [1.0, -0.5, -2.0],
            yaw=0.5,
        )
        state = peer.exchange([pulse(one) for one in thrust])
    true = pilots.truth(address, "base.position", "base.linear_velocity")
    np.testing.assert_allclose(true["base.position"], [-0.5, 1.0, 2.0], atol=0.02)
    np.testing.assert_allclose(true["base.linear_velocity"], 0.0, atol=0.02)
    assert pilots.angles(state["quaternion"])[2] == pytest.approx(0.5, abs=0.02)


def test_an_aircraft_is_launched_and_flies_level(serve: Serve, start: Start) -> None:
    address = serve("scenes/aircraft.yaml", "--speed", "0")
    peer = Peer(bridge(start, address, "--rate", "250")[0])
    state = peer.exchange([1500, 1500, 1000, 1500])
    for _ in range(100):
        state = peer.exchange([1500, 1500, 1000, 1500])
    assert state["velocity"] == [0.0] * 3 and state["airspeed"] == 0.0
    heights = []
    for _ in range(2500):  # a second on the rail, 9 in the air
        aileron, elevator, throttle, rudder = pilots.level(
            -state["position"][2] - 100.0,
            -state["velocity"][2],
            state["airspeed"],
            state["quaternion"],
            state["imu"]["gyro"],
        )
        surfaces = [round(1500 + 500 * one) for one in (aileron, elevator, rudder)]
        state = peer.exchange([*surfaces[:2], round(1000 + 1000 * throttle), surfaces[2]])
        heights.append(-state["position"][2])
    true = pilots.truth(address, "base.position", "base.linear_velocity", "air.speed", "fault.word")
    assert true["fault.word"] == 0
    assert np.ptp(heights) < 5.0
    assert true["base.position"][2] == pytest.approx(100.0, abs=2.0)
    assert true["base.linear_velocity"][2] == pytest.approx(0.0, abs=0.1)
    assert true["air.speed"] == pytest.approx(25.0, abs=1.0)
    np.testing.assert_array_equal(state["position"], frames.ned(true["base.position"]))
    assert true["base.position"][0] > 200.0


def test_a_world_that_does_not_wait_says_so(serve: Serve, start: Start) -> None:
    address = serve("scenes/quadrotor.yaml")
    peer = Peer(bridge(start, address, "--no-lock-step", "--rate", "100")[0])
    peer.send(OFF)
    times = []
    for _ in range(10):  # without a packet from here
        state = peer.receive()
        assert state["no_lockstep"] is True
        times.append(state["timestamp"])
    assert (np.diff(times) > 0).all()


# ---- mistakes -----------------------------------------------------------------------------------


def test_mistakes_are_one_line(serve: Serve, start: Start, tmp_path: pathlib.Path) -> None:
    scene = tmp_path / "scene.yaml"
    scene.write_text(SCENE.format(models=ROOT / "models"))
    address = serve(scene)
    mistakes = {
        "--group=held": "group held: expected a writable field command.rotors",
        "--group=wing --launch=-1": "--launch: expected 0 .. 60 s",
        "--rate=333": "no multiple of the world's step",
        "--channels=motor_9": "there is no 'motor_9'",
        "--channels=~motor_1": "has no reverse",
        "--port=-1": "expected a port, 0 .. 65535, found '-1'",
        "--group=bees": "there is no group bees",
        "--thrust-curve=2": "--thrust-curve: expected 0 .. 1",
    }
    programs = {
        words: start("bridge", "ardupilot", address, "--port", "0", *words.split())
        for words in mistakes
    }
    for words, message in mistakes.items():
        output, _ = programs[words].communicate(timeout=60)
        assert programs[words].returncode == 2
        assert message in output and output.count("\n") == 1, output


def test_json_is_plain() -> None:
    """Python writes NaN, which is no JSON: a state never has one."""
    sample = Sample(0.0, *[np.full(3, np.nan)] * 2, np.ones(4), *[np.zeros(3)] * 3)
    with pytest.raises(ValueError):
        wire.encode(sample, True)
    json.loads(wire.encode(Sample(0.0, *[np.zeros(3)] * 2, np.ones(4), *[np.zeros(3)] * 3), True))
