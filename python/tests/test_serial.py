"""Virtual serial ports against the manufacturer's own library: PyPI's dynamixel-sdk."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import mayfly
from conftest import ROOT

COMMAND = os.environ.get("MAYFLY_COMMAND", "mayfly")
pytestmark = pytest.mark.skipif(shutil.which(COMMAND) is None, reason="needs the command")
sdk = pytest.importorskip("dynamixel_sdk")
sdk.port_handler.LATENCY_TIMER = 500  # [ms] a machine with much else to do answers late

SERVOS = 21
TORQUE, PROFILE, GOAL, CURRENT, VELOCITY, POSITION = 64, 112, 116, 126, 128, 132
UNIT = 2 * np.pi / 4096  # [rad]
SCENE = """
world: {{step: 0.002}}
groups:
- name: robot
  model: {models}/humanoid.urdf
  motion: articulated
  controller: none
"""


class Bus:
    """A server, a port at it, and the socket for the truth."""

    def __init__(self, folder: pathlib.Path) -> None:
        scene = folder / "humanoid.yaml"
        scene.write_text(SCENE.format(models=ROOT / "models"))
        self.link = folder / "ttyUSB0"
        words = [COMMAND, "serve", str(scene), "--unix", str(folder / "socket")]
        words += ["--speed", "0", "--paused", "--serial", f"robot={self.link}"]
        self.server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.server.stdout is not None
        lines = self.server.stdout
        assert re.match(r"serving at ", lines.readline())
        line = lines.readline()
        assert re.match(rf"serial port of robot\[0\] at /dev/pts/\d+ = .*, {SERVOS} servos", line)
        self.port = sdk.PortHandler(str(self.link))
        assert self.port.openPort() and self.port.setBaudRate(57600)
        self.packets = sdk.PacketHandler(2.0)
        self.world = mayfly.connect(str(folder / "socket"))
        self.robot = self.world["robot"]
        self.state = self.robot.subscribe("joint.angle", "joint.target", "base.position")

    def step(self, seconds: float) -> None:
        ticks = round(seconds / 0.002)
        goal = self.state.tick + ticks
        if ticks > 1:
            self.world.step(ticks - 1)
        self.world.step(1)  # the state of a step alone is not lost, also by a reader that is slow
        while self.state.tick < goal:
            assert self.world.wait(self.state, 20)

    def call(self, name: str, *words: Any) -> Any:
        *values, result, error = getattr(self.packets, name)(self.port, *words)
        assert result == sdk.COMM_SUCCESS, self.packets.getTxRxResult(result)
        assert error == 0, self.packets.getRxPacketError(error)
        return values[0] if values else None

    def close(self) -> None:
        self.port.closePort()
        self.world.close()
        self.server.send_signal(signal.SIGTERM)
        assert self.server.wait(20) == 0
        assert not self.link.is_symlink()


@pytest.fixture
def bus(tmp_path: pathlib.Path) -> Iterator[Bus]:
    made = Bus(tmp_path)
    made.world.wait(made.state, 20)
    yield made
    made.close()


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
    bus.step(0.01)
    assert bus.state["joint.target"][0, 1] == 0
    assert bus.packets.action(bus.port, sdk.BROADCAST_ID) == sdk.COMM_SUCCESS
    assert bus.call("read4ByteTxRx", 2, GOAL) == 2200
    bus.step(0.01)
    assert bus.state["joint.target"][0, 1] == pytest.approx(152 * UNIT, abs=1e-6)
    writer = sdk.GroupBulkWrite(bus.port, bus.packets)
    assert writer.addParam(2, PROFILE, 4, list((50).to_bytes(4, "little")))
    assert writer.addParam(4, GOAL, 4, list((2100).to_bytes(4, "little")))
    assert writer.txPacket() == sdk.COMM_SUCCESS
    reader = sdk.GroupBulkRead(bus.port, bus.packets)
    assert reader.addParam(2, PROFILE, 4) and reader.addParam(4, GOAL, 4)
    assert reader.txRxPacket() == sdk.COMM_SUCCESS
    assert reader.getData(2, PROFILE, 4) == 50 and reader.getData(4, GOAL, 4) == 2100
    bus.call("write4ByteTxRx", 2, GOAL, 2048)
    begin = bus.state["joint.target"][0, 1]
    bus.step(0.1)  # at 50 * 0.229 rev/min
    moved = begin - bus.state["joint.target"][0, 1]
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
