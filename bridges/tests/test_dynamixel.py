"""The bridge dynamixel against the manufacturer's own library: PyPI's dynamixel-sdk."""

from __future__ import annotations

import pathlib
import re
import socket
import subprocess
import time
from collections.abc import Callable
from typing import Any

import dynamixel_sdk as sdk
import numpy as np
import pytest

import mayfly
from conftest import ROOT, Serve, Start

sdk.port_handler.LATENCY_TIMER = 500  # [ms] a machine with much else to do answers late

SERVOS = 21
TORQUE, PROFILE, GOAL, VELOCITY, POSITION = 64, 112, 116, 128, 132
UNIT = 2 * np.pi / 4096  # [rad]
SCENE = """
world: {{step: 0.002}}
groups:
- name: robot
  model: {models}/humanoid.urdf
  motion: articulated
  controller: none
  count: {count}
  placement: {{grid: {{spacing: [2, 2, 2]}}}}
"""


class Bus:
    """A world, a port at it, and the socket for the truth."""

    def __init__(self, address: str, link: pathlib.Path) -> None:
        self.port = sdk.PortHandler(str(link))
        assert self.port.openPort() and self.port.setBaudRate(57600)
        self.packets = sdk.PacketHandler(2.0)
        self.world = mayfly.connect(address)
        self.robot = self.world["robot"]
        self.state = self.robot.subscribe("joint.angle", "joint.target", "base.position")
        self.world.wait(self.state, 20)

    def step(self, seconds: float) -> None:
        ticks = round(seconds / 0.002)
        goal = self.state.tick + ticks
        if ticks > 1:
            self.world.step(ticks - 1)
        self.world.step(1)  # the state of a step alone is not lost, also by a reader that is slow
        while self.state.tick < goal:
            assert self.world.wait(self.state, 20)
        now = round(2 * self.state.tick) % 32768  # [ms], when the bridge has this state, too
        while self.call("read2ByteTxRx", 1, 120) != now:
            pass

    def call(self, name: str, *words: Any) -> Any:
        *values, result, error = getattr(self.packets, name)(self.port, *words)
        assert result == sdk.COMM_SUCCESS, self.packets.getTxRxResult(result)
        assert error == 0, self.packets.getRxPacketError(error)
        return values[0] if values else None

    def targets(self) -> Any:
        """The targets after a step."""
        self.step(0.002)
        return self.state["joint.target"][0]


@pytest.fixture
def begin(
    serve: Serve, start: Start, tmp_path: pathlib.Path
) -> Callable[..., tuple[str, subprocess.Popen[str]]]:
    """`begin("robot=link")` serves a humanoid, with the bridge at it."""

    def run(*arguments: str, count: int = 1) -> tuple[str, subprocess.Popen[str]]:
        scene = tmp_path / "humanoid.yaml"
        scene.write_text(SCENE.format(models=ROOT / "models", count=count))
        address = serve(scene, "--speed", "0", "--paused")
        return address, start("bridge", "dynamixel", address, *arguments)

    return run


@pytest.fixture
def bus(begin: Callable[..., Any], tmp_path: pathlib.Path) -> Bus:
    link = tmp_path / "ttyUSB0"
    address, bridge = begin(f"robot={link}")
    line = bridge.stdout.readline()
    assert re.match(rf"serial port of robot\[0\] at /dev/pts/\d+ = .*, {SERVOS} servos", line)
    return Bus(address, link)


def test_servos_are_found_and_set_up(bus: Bus) -> None:
    found, result = bus.packets.broadcastPing(bus.port)
    assert result == sdk.COMM_SUCCESS
    assert found == {number: [1020, 45] for number in range(1, SERVOS + 1)}
    assert bus.call("ping", 5) == 1020
    assert bus.call("read2ByteTxRx", 5, 144) == 120  # 12 V
    bus.call("write1ByteTxRx", 5, 11, 4)
    bus.call("write1ByteTxRx", 5, TORQUE, 1)
    result, error = bus.packets.write1ByteTxRx(bus.port, 5, 11, 3)
    assert (result, error) == (sdk.COMM_SUCCESS, 7)  # not with its torque on
    result, _ = bus.packets.write1ByteTxRx(bus.port, 99, TORQUE, 1)  # nobody has this id
    assert result == sdk.COMM_RX_TIMEOUT


def test_a_standing_humanoid_is_read_and_moved(bus: Bus) -> None:
    bus.step(1.0)
    height = bus.state["base.position"][0, 2]
    for number in range(1, SERVOS + 1):
        bus.call("write1ByteTxRx", number, TORQUE, 1)
    reader = sdk.GroupSyncRead(bus.port, bus.packets, VELOCITY, 8)
    assert all(reader.addParam(number) for number in range(1, SERVOS + 1))
    assert reader.txRxPacket() == sdk.COMM_SUCCESS
    angle = bus.state["joint.angle"][0]
    for number in range(1, SERVOS + 1):
        raw = reader.getData(number, POSITION, 4)
        assert abs((raw - 2048) * UNIT - angle[number - 1]) <= 0.5001 * UNIT
    # Both arms and the neck to new places, in one packet.
    goals = {2: 2300, 4: 1800, 7: 1900}
    writer = sdk.GroupSyncWrite(bus.port, bus.packets, GOAL, 4)
    for number, goal in goals.items():
        assert writer.addParam(number, list(goal.to_bytes(4, "little")))
    assert writer.txPacket() == sdk.COMM_SUCCESS
    bus.call("read4ByteTxRx", 2, GOAL)  # an answer: the packet before it was handled
    bus.step(1.0)
    for number, goal in goals.items():
        target = bus.state["joint.target"][0, number - 1]
        assert target == pytest.approx((goal - 2048) * UNIT, abs=1e-6)
        present = bus.call("read4ByteTxRx", number, POSITION)
        assert abs(present - goal) < 20
        assert abs((present - 2048) * UNIT - bus.state["joint.angle"][0, number - 1]) < UNIT
    assert bus.state["base.position"][0, 2] > height - 0.02  # it still stands


def test_registered_and_bulk(bus: Bus) -> None:
    for number in (2, 4):
        bus.call("write1ByteTxRx", number, TORQUE, 1)
    bus.call("regWriteTxRx", 2, GOAL, 4, list((2200).to_bytes(4, "little")))
    assert bus.targets()[1] == 0
    assert bus.packets.action(bus.port, sdk.BROADCAST_ID) == sdk.COMM_SUCCESS
    assert bus.call("read4ByteTxRx", 2, GOAL) == 2200
    assert bus.targets()[1] == pytest.approx(152 * UNIT, abs=1e-6)
    writer = sdk.GroupBulkWrite(bus.port, bus.packets)
    assert writer.addParam(2, PROFILE, 4, list((50).to_bytes(4, "little")))
    assert writer.addParam(4, GOAL, 4, list((2100).to_bytes(4, "little")))
    assert writer.txPacket() == sdk.COMM_SUCCESS
    reader = sdk.GroupBulkRead(bus.port, bus.packets)
    assert reader.addParam(2, PROFILE, 4) and reader.addParam(4, GOAL, 4)
    assert reader.txRxPacket() == sdk.COMM_SUCCESS
    assert reader.getData(2, PROFILE, 4) == 50 and reader.getData(4, GOAL, 4) == 2100
    bus.call("write4ByteTxRx", 2, GOAL, 2048)
    begin = bus.targets()[1]
    moved = begin - [bus.targets()[1] for _ in range(50)][-1]  # at 50 * 0.229 rev/min
    assert moved == pytest.approx(0.1 * 50 * 0.229 * 2 * np.pi / 60, rel=0.05)
    bus.call("reboot", 2)


def test_fast_reads_and_indirect_addresses(bus: Bus) -> None:
    bus.step(0.1)
    everybody = range(1, SERVOS + 1)
    fast = sdk.GroupSyncRead(bus.port, bus.packets, VELOCITY, 8)
    assert all(fast.addParam(number) for number in everybody)
    assert fast.fastSyncRead() == sdk.COMM_SUCCESS
    positions = {number: fast.getData(number, POSITION, 4) for number in everybody}
    assert positions == {
        number: bus.call("read4ByteTxRx", number, POSITION) for number in everybody
    }
    bulk = sdk.GroupBulkRead(bus.port, bus.packets)
    assert bulk.addParam(20, POSITION, 4) and bulk.addParam(21, 144, 2)
    assert bulk.fastBulkRead() == sdk.COMM_SUCCESS
    assert bulk.getData(20, POSITION, 4) == positions[20] and bulk.getData(21, 144, 2) == 120
    # Goal and LED of two servos in one packet, as the library's example does it.
    for number in (2, 4):
        for index, register in enumerate(
            [*range(GOAL, GOAL + 4), 65, *range(POSITION, POSITION + 4)]
        ):
            bus.call("write2ByteTxRx", number, 168 + 2 * index, register)
        bus.call("write1ByteTxRx", number, TORQUE, 1)
    writer = sdk.GroupSyncWrite(bus.port, bus.packets, 224, 5)
    for number, goal in {2: 2200, 4: 2100}.items():
        assert writer.addParam(number, [*goal.to_bytes(4, "little"), 1])
    assert writer.txPacket() == sdk.COMM_SUCCESS
    assert bus.call("read4ByteTxRx", 4, GOAL) == 2100 and bus.call("read1ByteTxRx", 2, 65) == 1
    bus.step(1.0)
    reader = sdk.GroupSyncRead(bus.port, bus.packets, 229, 4)
    assert reader.addParam(2) and reader.addParam(4)
    assert reader.txRxPacket() == sdk.COMM_SUCCESS
    assert abs(reader.getData(2, 229, 4) - 2200) < 20 and abs(reader.getData(4, 229, 4) - 2100) < 20


def test_garbage_and_halves_of_packets(bus: Bus) -> None:
    rng = np.random.default_rng(5)
    ping = bytes.fromhex("fffffd000103000119 4e")
    writes: list[Callable[[], bytes]] = [
        lambda: rng.bytes(rng.integers(1, 200)),
        lambda: ping[: rng.integers(1, len(ping))],
        lambda: ping[:-1] + b"\0",
        lambda: b"\xff" * 500,
    ]
    for _ in range(40):
        bus.port.writePort(writes[rng.integers(len(writes))]())
    time.sleep(0.3)  # what has not come by now never does
    bus.port.clearPort()
    assert bus.call("ping", 1) == 1020
    bus.step(0.1)
    assert np.isfinite(bus.state["joint.target"]).all()


def test_a_servo_without_torque_gives_way(bus: Bus) -> None:
    bus.call("write1ByteTxRx", 4, TORQUE, 1)
    bus.call("write4ByteTxRx", 4, GOAL, 2248)
    bus.step(0.02)
    assert bus.call("read2ByteTxRx", 4, 126) != 0  # current
    bus.call("write1ByteTxRx", 4, TORQUE, 0)
    assert bus.call("read2ByteTxRx", 4, 126) == 0
    bus.step(0.1)
    angle = bus.state["joint.angle"][0, 3]
    assert bus.targets()[3] == pytest.approx(angle, abs=1e-6)
    assert bus.call("read2ByteTxRx", 4, 120) == 2 * bus.state.tick  # [ms]


def test_programs_come_and_go(begin: Callable[..., Any], tmp_path: pathlib.Path) -> None:
    link = tmp_path / "port"
    _, bridge = begin(f"robot[1]={link}", "robot[0]=tcp:0", count=2)
    assert f"= {link}, 21 servos" in bridge.stdout.readline()
    line = bridge.stdout.readline()
    port = int(re.search(r"robot\[0\] at tcp 127.0.0.1:(\d+)", line)[1])
    ping = bytes.fromhex("fffffd000103000119 4e")
    pong = bytes.fromhex("fffffd000107005500fc032d")
    for _ in range(3):
        with link.open("r+b", buffering=0) as file:
            file.write(ping)
            answer = b""
            while len(answer) < 14:
                answer += file.read(14)
            assert answer[:12] == pong
    before: socket.socket | None = None
    for _ in range(3):  # the last one has the bus
        now = socket.create_connection(("127.0.0.1", port), 20)
        now.sendall(ping)
        assert now.recv(14)[:12] == pong
        if before is not None:
            assert before.recv(1) == b""
            before.close()
        before = now
    assert before is not None
    before.close()
    bridge.terminate()
    assert bridge.wait(20) == 0
    assert not link.is_symlink()


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("nobody", "there is no group nobody"),
        ("robot", r"name robot\[0\]"),
        ("robot[2]", "has robots 0 .. 1"),
        ("robot[-1]", "expected GROUP"),
        ("robot[1]x", "expected GROUP"),
        ("robot[1]=tcp:70000", "expected a port"),
        ("robot[1]=/tmp", "is no link"),
    ],
)
def test_wrong_ports_are_one_line(begin: Callable[..., Any], argument: str, message: str) -> None:
    _, bridge = begin(argument, count=2)
    lines = bridge.stdout.read().splitlines()
    assert bridge.wait(20) == 2
    assert len(lines) == 1 and re.search(message, lines[0])


def test_a_robot_with_a_controller_is_refused(serve: Serve, start: Start) -> None:
    bridge = start("bridge", "dynamixel", serve("scenes/oscillator.yaml", "--paused"))
    assert "belongs to its gait or controller" in bridge.stdout.read()
