"""The bridge to PX4 against pymavlink, which checks every message, and in closed loops."""

from __future__ import annotations

import math
import re
import subprocess
from typing import Any

import numpy as np
import pilots
import pytest
from mavlink_peer import HOME, Peer, common, local

import mayfly
from conftest import Serve, Start
from mayfly_bridges._flight import earth, frames
from mayfly_bridges._flight.sample import Sample
from mayfly_bridges.px4 import home as home_of
from mayfly_bridges.px4 import mavlink, sensors
from mayfly_bridges.px4.link import control

MESSAGES = [value for value in vars(mavlink).values() if isinstance(value, mavlink.Message)]
IDS = [message.name for message in MESSAGES]


def bridge(start: Start, address: str, *options: str) -> tuple[int, subprocess.Popen[str]]:
    """Starts the bridge; the port of robot 0."""
    program = start("bridge", "px4", address, "--port=0", "--patience=30", *options)
    return pilots.ports(program)[0], program


# ---- messages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("message", MESSAGES, ids=IDS)
def test_messages_are_those_of_pymavlink(message: mavlink.Message) -> None:
    theirs = common.mavlink_map[message.number]
    assert theirs.msgname == message.name
    assert theirs.crc_extra == message.seed
    assert theirs.ordered_fieldnames == [field.name for field in message.fields]


def values_of(message: mavlink.Message, random: np.random.Generator) -> dict[str, mavlink.Value]:
    """Random values in the range of each field."""
    found: dict[str, mavlink.Value] = {}
    for field in message.fields:
        if field.type == "float":
            drawn = [float(np.float32(one)) for one in random.normal(size=field.length or 1)]
            found[field.name] = drawn if field.length else drawn[0]
        else:
            bits = int(re.sub(r"\D", "", field.type))
            low = 0 if field.type.startswith("u") else -(1 << (bits - 1))
            found[field.name] = low + int.from_bytes(random.bytes(bits // 8), "little")
    return found


@pytest.mark.parametrize("message", MESSAGES, ids=IDS)
def test_pymavlink_reads_what_we_write(message: mavlink.Message) -> None:
    random = np.random.default_rng(3)
    coder = common.MAVLink(None)
    writer = mavlink.Writer(1, 200)
    for turn in range(300):  # the sequence number wraps
        values = values_of(message, random) if turn else {}
        (found,) = coder.parse_buffer(writer.frame(message, values))
        assert (found.get_srcSystem(), found.get_srcComponent()) == (1, 200)
        assert found.get_seq() == turn % 256
        for field in message.fields:
            expected = values.get(field.name, [0] * field.length if field.length else 0)
            assert getattr(found, field.name) == expected, field.name


@pytest.mark.parametrize("message", MESSAGES, ids=IDS)
def test_we_read_what_pymavlink_writes(message: mavlink.Message) -> None:
    random = np.random.default_rng(4)
    coder = common.MAVLink(None, srcSystem=9)
    theirs = common.mavlink_map[message.number]
    stream, expected = b"", []
    for _ in range(20):
        values = values_of(message, random)
        expected.append(values)
        stream += theirs(**values).pack(coder) + b"\x01\xfd\x02"[: random.integers(3)]
    found = []
    reader = mavlink.Reader(MESSAGES)
    while stream:  # in pieces that cut frames anywhere
        size = int(random.integers(1, 40))
        found += [values for _, values in reader.feed(stream[:size])]
        stream = stream[size:]
    assert len(found) >= 18  # a lone 0xFD may hide one frame at the end
    plain = [{k: list(v) if isinstance(v, tuple) else v for k, v in one.items()} for one in found]
    assert all(one in expected for one in plain)


def test_damaged_and_foreign_frames_are_skipped() -> None:
    coder = common.MAVLink(None)
    good = common.MAVLink_hil_actuator_controls_message(5, [0.5] * 16, 129, 1).pack(coder)
    other = common.MAVLink_system_time_message(1, 2).pack(coder)
    reader = mavlink.Reader([mavlink.HIL_ACTUATOR_CONTROLS])
    for at in range(len(good)):
        broken = bytearray(good)
        broken[at] ^= 0x55
        found = list(reader.feed(bytes(broken) + other + bytes(300) + good + good))
        assert len(found) in (1, 2), at  # a wrong length may swallow what follows
        assert all(values["time_usec"] == 5 for _, values in found)
    assert reader.skipped > 0 and reader.unknown > 0


def test_outputs_that_are_no_number_are_off() -> None:
    assert control(math.nan).motor == 0 and control(math.nan).surface == 0
    assert control(-0.5).surface == -0.5


# ---- places and sensors -------------------------------------------------------------------------


def test_the_air_is_that_of_the_standard_atmosphere() -> None:
    for altitude, pressure, celsius in (
        (0, 1013.25, 15.0),
        (1000, 898.76, 8.5),
        (5000, 540.2, -17.5),
    ):
        assert earth.pressure(altitude) == pytest.approx(pressure, abs=0.05)
        assert earth.temperature(altitude) - 273.15 == pytest.approx(celsius)
        assert earth.pressure_altitude(earth.pressure(altitude)) == pytest.approx(altitude)
    assert earth.density(0) == pytest.approx(1.225, abs=1e-4)


def test_positions_are_where_a_globe_has_them() -> None:
    place = home_of("47,8,500", "0.5,60,0")
    for position in ([1000.0, 0, 0], [0, 1000.0, 0], [-20000.0, 30000.0, -100.0]):
        latitude, longitude, altitude = place.locate(np.array(position))
        half = (
            math.sin((latitude - place.latitude) / 2) ** 2
            + math.cos(latitude)
            * math.cos(place.latitude)
            * math.sin((longitude - place.longitude) / 2) ** 2
        )
        distance = 2 * earth.RADIUS * math.asin(math.sqrt(half))  # haversine
        assert distance == pytest.approx(math.hypot(*position[:2]), rel=1e-9)
        assert altitude == 500.0 - position[2]
    np.testing.assert_allclose(place.magnetic, [0.25, 0, 0.5 * math.sqrt(0.75)])


def still(time: float) -> Sample:
    zero = np.zeros(3)
    return Sample(time, zero, zero, np.array([1.0, 0, 0, 0]), zero, np.array([0, 0, -9.81]), zero)


def test_noise_is_off_unless_asked_for_and_then_repeats() -> None:
    place = home_of("47,8,500", "0.5,60,0")

    def series(factor: float, seed: int) -> list[float]:
        made = sensors.Sensors(place, sensors.Rates(), sensors.Noise(factor), (seed, 0))
        return [made.messages(still(0.004 * i))[-1][1]["xacc"] for i in range(2000)]

    assert set(series(0.0, 1)) == {0.0}
    noisy = series(1.0, 1)
    assert noisy == series(1.0, 1) != series(1.0, 2)
    assert np.std(noisy) == pytest.approx(0.05, rel=0.05)


def test_sensors_have_their_rates_and_say_what_is_new() -> None:
    made = sensors.Sensors(
        home_of("47,8,500", "0.5,60,0"), sensors.Rates(), sensors.Noise(), (1, 0)
    )
    names: list[str] = []
    bits: list[int] = []
    for i in range(250):
        for message, values in made.messages(still(0.004 * i)):
            names.append(message.name)
            if message is mavlink.HIL_SENSOR:
                bits.append(int(values["fields_updated"]))
    assert (names.count("HIL_GPS"), names.count("HEARTBEAT")) == (10, 1)
    assert all(one & 0b111111 == 0b111111 for one in bits)
    assert sum(one >> 6 & 7 == 7 for one in bits) == 100
    assert sum(one >> 9 & 1 for one in bits) == 50
    assert not any(one >> 10 & 1 for one in bits)  # no airspeed, no difference of pressure


# ---- lock-step ----------------------------------------------------------------------------------


def test_every_message_has_the_true_state(serve: Serve, start: Start) -> None:
    address = serve("scenes/quadrotor.yaml", "--speed", "0")
    peer = Peer(bridge(start, address)[0])
    sensor = peer.step()
    assert sensor.time_usec == 1_000_000
    assert peer.newest["HEARTBEAT"].type == common.MAV_TYPE_GENERIC
    for i in range(60):
        peer.act([0.8, 0.8, 0.8, 0.8] if i < 30 else [0.68, 0.72, 0.7, 0.65], sensor.time_usec)
        sensor = peer.step()
        assert sensor.time_usec == 1_000_000 + 4000 * (i + 1)
    names = ("position", "orientation", "linear_velocity", "angular_velocity")
    true = pilots.truth(address, "sensor.value", *(f"base.{name}" for name in names))
    state = peer.newest["HIL_STATE_QUATERNION"]
    attitude = frames.attitude(true["base.orientation"])
    velocity = frames.ned(true["base.linear_velocity"])
    np.testing.assert_allclose(state.attitude_quaternion, attitude, atol=1e-7)
    np.testing.assert_allclose(local(state), frames.ned(true["base.position"]), atol=0.01)
    np.testing.assert_allclose([state.vx, state.vy, state.vz], 100 * velocity, atol=0.51)
    rates = frames.frd(true["base.angular_velocity"])
    assert rates[0] > 0.1
    np.testing.assert_allclose(
        [state.rollspeed, state.pitchspeed, state.yawspeed], rates, rtol=1e-6
    )
    np.testing.assert_allclose([sensor.xgyro, sensor.ygyro, sensor.zgyro], rates, rtol=1e-6)
    force = [sensor.xacc, sensor.yacc, sensor.zacc]
    np.testing.assert_allclose(force, frames.frd(true["sensor.value"][:3]), atol=0.1)
    rotated = frames.matrix(attitude)
    felt = 9.80665e-3 * np.array([state.xacc, state.yacc, state.zacc])
    np.testing.assert_allclose(felt, force + rotated.T @ [0, 0, 9.81], atol=0.02)


def test_other_sensors_have_the_true_state(serve: Serve, start: Start) -> None:
    address = serve("scenes/quadrotor.yaml", "--speed", "0")
    peer = Peer(bridge(start, address)[0])
    sensor = peer.step()
    for _ in range(50):  # to 0.2 s, at which everything is due
        peer.act([0.8, 0.79, 0.81, 0.8], sensor.time_usec)
        sensor = peer.step()
    true = pilots.truth(
        address, "base.position", "base.orientation", "base.linear_velocity", "sensor.value"
    )
    gps, finder = peer.newest["HIL_GPS"], peer.newest["DISTANCE_SENSOR"]
    assert gps.time_usec == sensor.time_usec == 1_200_000
    height = true["base.position"][2]
    assert height > 0.1
    np.testing.assert_allclose(local(gps), frames.ned(true["base.position"]), atol=0.01)
    velocity = 100 * frames.ned(true["base.linear_velocity"])
    np.testing.assert_allclose([gps.vn, gps.ve, gps.vd], velocity, atol=0.51)
    assert (gps.fix_type, gps.id) == (3, 0)
    assert finder.time_boot_ms == 1200
    assert finder.current_distance == pytest.approx(100 * true["sensor.value"][9], abs=0.51)
    assert (finder.max_distance, finder.orientation) == (4000, common.MAV_SENSOR_ROTATION_PITCH_270)
    assert sensor.pressure_alt == pytest.approx(HOME[2] + height, abs=1e-2)
    assert sensor.abs_pressure == pytest.approx(earth.pressure(HOME[2] + height), abs=1e-3)
    assert sensor.temperature == pytest.approx(15 - 0.0065 * (HOME[2] + height), abs=1e-3)
    strength, inclination, declination = 0.482, math.radians(63), math.radians(3)
    level = strength * math.cos(inclination)
    field = [
        level * math.cos(declination),
        level * math.sin(declination),
        strength * math.sin(inclination),
    ]
    measured = [sensor.xmag, sensor.ymag, sensor.zmag]
    rotated = frames.matrix(frames.attitude(true["base.orientation"]))
    np.testing.assert_allclose(rotated @ measured, field, atol=1e-6)
    assert measured[1] < -0.2  # the robot faces east: north is on its left


def test_the_world_waits_and_a_new_px4_begins_anew(serve: Serve, start: Start) -> None:
    address = serve("scenes/quadrotor.yaml", "--speed", "0")
    port, program = bridge(start, address)
    for _ in range(2):
        peer = Peer(port)
        sensor = peer.step()
        assert sensor.time_usec == 1_000_000
        assert local(peer.newest["HIL_STATE_QUATERNION"])[2] == pytest.approx(-0.09, abs=2e-3)
        for _ in range(100):
            peer.act([0.9] * 4, sensor.time_usec)
            sensor = peer.step()
        with mayfly.connect(address) as world:
            before = world.statistics().time_ns
            assert world.statistics().time_ns == before
            peer.act([0.9] * 4, sensor.time_usec)
            sensor = peer.step()
            assert world.statistics().time_ns == before + 4_000_000
        assert local(peer.newest["HIL_GPS"])[2] < -0.5
        peer.close()
    assert program.poll() is None


def test_before_its_first_outputs_px4_gets_sensors_without_answers(
    serve: Serve, start: Start
) -> None:
    address = serve("scenes/quadrotor.yaml", "--speed", "0")
    port, _ = bridge(start, address)
    peer = Peer(port)
    times = [peer.step().time_usec for _ in range(50)]
    assert np.diff(times).tolist() == [4000] * 49


# ---- flights ------------------------------------------------------------------------------------


def fly(peer: Peer, sensor: Any, goal: list[float], steps: int) -> Any:
    """Towards a place north, east, down [m] with a heading of 0.5 rad; the last HIL_SENSOR."""
    for _ in range(steps):
        state = peer.newest["HIL_STATE_QUATERNION"]
        thrust = pilots.hover(
            local(state),
            [0.01 * state.vx, 0.01 * state.vy, 0.01 * state.vz],
            state.attitude_quaternion,
            [sensor.xgyro, sensor.ygyro, sensor.zgyro],
            goal,
            yaw=0.5,
        )
        peer.act([float(one) for one in thrust], sensor.time_usec)
        sensor = peer.step()
    return sensor


def test_a_quadrotor_takes_off_hovers_and_lands(serve: Serve, start: Start) -> None:
    address = serve("scenes/quadrotor.yaml", "--speed", "0")
    peer = Peer(bridge(start, address)[0])
    sensor = fly(peer, peer.step(), [1.0, -0.5, -2.0], 1750)
    true = pilots.truth(address, "base.position", "base.linear_velocity")
    np.testing.assert_allclose(true["base.position"], [-0.5, 1.0, 2.0], atol=0.03)
    np.testing.assert_allclose(true["base.linear_velocity"], 0.0, atol=0.05)
    yaw = pilots.angles(peer.newest["HIL_STATE_QUATERNION"].attitude_quaternion)[2]
    assert yaw == pytest.approx(0.5, abs=0.02)
    sensor = fly(peer, sensor, [1.0, -0.5, -0.1], 750)
    for _ in range(250):
        peer.act([0.0] * 4, sensor.time_usec)
        sensor = peer.step()
    true = pilots.truth(address, "base.position", "base.linear_velocity")
    np.testing.assert_allclose(true["base.position"], [-0.5, 1.0, 0.09], atol=0.03)
    np.testing.assert_allclose(true["base.linear_velocity"], 0.0, atol=1e-3)
    assert sensor.zacc == pytest.approx(-9.81, abs=0.01)  # it stands level


def test_an_aircraft_is_launched_and_flies_level(serve: Serve, start: Start) -> None:
    address = serve("scenes/aircraft.yaml", "--speed", "0")
    peer = Peer(bridge(start, address)[0])
    sensor = peer.step()
    for _ in range(2500):  # a second on the rail, 9 in the air
        state = peer.newest["HIL_STATE_QUATERNION"]
        controls = pilots.level(
            -local(state)[2] - 100.0,
            -0.01 * state.vz,
            0.01 * state.true_airspeed,
            state.attitude_quaternion,
            [sensor.xgyro, sensor.ygyro, sensor.zgyro],
        )
        peer.act(list(controls), sensor.time_usec)
        sensor = peer.step()
        if sensor.fields_updated >> 10 & 1:
            ram = sensor.diff_pressure
    true = pilots.truth(address, "base.position", "base.linear_velocity", "air.speed")
    assert true["base.position"][2] == pytest.approx(100.0, abs=2.0)
    assert true["base.linear_velocity"][2] == pytest.approx(0.0, abs=0.1)
    assert true["air.speed"] == pytest.approx(25.0, abs=1.0)
    air = earth.density(HOME[2] + 100.0)
    assert math.sqrt(200 * ram / air) == pytest.approx(float(true["air.speed"][0]), abs=0.1)


# ---- mistakes -----------------------------------------------------------------------------------


def test_mistakes_are_one_line(serve: Serve, start: Start) -> None:
    address = serve("scenes/quadrotor.yaml")
    mistakes = {
        "--home=here": "--home here: expected three numbers",
        "--home=91,0,0": "--home: expected +-90 deg",
        "--magnetic=nan,0,0": "expected finite numbers",
        "--port=70000": "expected a port, 0 .. 65535, found '70000'",
        "--patience=0": "--patience: expected",
        "--noise=-1": "--noise, --seed",
    }
    programs = {word: start("bridge", "px4", address, "--port", "0", word) for word in mistakes}
    for word, message in mistakes.items():
        output, _ = programs[word].communicate(timeout=60)
        assert programs[word].returncode == 2
        assert message in output and output.count("\n") == 1, output
