"""A bus of servos without a world: packets of the manufacturer's documentation to the byte, the
instructions, registers, and garbage."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import mayfly
from mayfly_bridges.dynamixel.bus import Bus
from mayfly_bridges.dynamixel.packets import Answers, crc, pack

SERVOS = 21
ALL = 0xFE
LIMP, GAIN, DAMPING, EFFORT = 3, 30.0, 0.6, 2.5


def robot(count: int, **changes: Any) -> dict[str, Any]:
    joint = {"type": "hinge", "mimic": None, "lower": -1.6, "upper": 1.6, **changes}
    servo = {"gain": GAIN, "damping": DAMPING, "effort": EFFORT}
    return {"joints": [joint] * count, "servos": [servo] * count}


class Program:
    """What drives the servos."""

    def __init__(self) -> None:
        self.bus = Bus(robot(SERVOS))
        self.clock = 0.0

    def say(self, number: int, instruction: int, data: bytes = b"") -> bytes:
        return self.bus.feed(pack(number, bytes([instruction]) + data), self.clock)

    def write(self, number: int, address: int, value: int, size: int) -> int:
        data = address.to_bytes(2, "little") + (value & (1 << 8 * size) - 1).to_bytes(
            size, "little"
        )
        return status(self.say(number, 3, data), number)[0]

    def read(self, number: int, address: int, size: int) -> int:
        answer = self.say(number, 2, address.to_bytes(2, "little") + size.to_bytes(2, "little"))
        error, data = status(answer, number)
        assert error == 0
        return int.from_bytes(data, "little", signed=size > 1)


def status(answer: bytes, number: int) -> tuple[int, bytes]:
    """Error and data of a status packet without stuffing."""
    assert answer[:5] == b"\xff\xff\xfd\x00" + bytes([number]) and answer[7] == 0x55
    assert int.from_bytes(answer[5:7], "little") == len(answer) - 7
    assert crc(answer[:-2]) == answer[-2:]
    return answer[8], answer[9:-2]


@pytest.fixture
def program() -> Program:
    return Program()


# ---- packets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "packet"),
    [
        ("01", "fffffd0001030001194e"),
        ("0284000400", "fffffd000107000284000400 1d15"),
        ("0374000002 0000", "fffffd0001090003740000020000ca89"),
        ("5500060426", "fffffd00010700550006042665 5d"),
    ],
)
def test_packets_of_the_documentation(body: str, packet: str) -> None:
    assert pack(1, bytes.fromhex(body)) == bytes.fromhex(packet)


def test_stuffing(program: Program) -> None:
    """FF FF FD within data is stuffed on the way out and accepted on the way in."""
    # Profile acceleration 0x00fdffff is beyond its limit: it came through whole, and is refused.
    assert program.write(4, 108, 0xFDFFFF, 4) == 6
    assert program.write(4, 20, -131073, 4) == 0  # homing offset: ff ff fd ff
    answer = program.say(4, 2, b"\x14\0\4\0")
    assert answer[5] == 9 and answer[9:14] == b"\xff\xff\xfd\xfd\xff"
    # FF FF FD FD has one more, too, and comes back as it was (indirect data).
    assert program.say(4, 3, b"\xe0\0\xff\xff\xfd\xfd")[8] == 0
    assert [program.read(4, 224 + k, 1) for k in range(4)] == [0xFF, 0xFF, 0xFD, 0xFD]


def test_answers_that_do_not_fit_are_dropped() -> None:
    answers = Answers()
    for _ in range(100):
        answers.status(1, 0, bytes(1000))
    assert len(answers.data) == 64 * 1011
    assert answers.begin_fast(1000) is None and answers.begin_fast(0x10000) is None


# ---- instructions --------------------------------------------------------------------------------


def test_ping_read_and_write(program: Program) -> None:
    assert status(program.say(3, 1), 3) == (0, bytes([0xFC, 3, 45]))
    pings = program.say(ALL, 1)
    assert len(pings) == 14 * SERVOS
    for k in range(SERVOS):
        assert status(pings[14 * k : 14 * (k + 1)], k + 1)[0] == 0
    assert program.say(SERVOS + 1, 1) == b""  # nobody is there
    assert status(program.say(1, 0x77), 1)[0] == 2  # no instruction
    for address, value, size, error in (
        (132, 5, 4, 7),  # read only
        (116, 5, 2, 5),  # half of it
        (400, 5, 2, 4),  # no such register
        (64, 2, 1, 6),
        (64, 1, 1, 0),
        (11, 4, 1, 7),  # not with its torque on
    ):
        assert program.write(1, address, value, size) == error
    assert program.write(2, 11, 4, 1) == 0
    assert program.write(2, 7, 3, 1) == 1  # the id of another one
    assert program.write(2, 7, 100, 1) == 0
    assert program.read(100, 11, 1) == 4
    assert program.say(2, 1) == b""
    assert program.write(5, 68, 1, 1) == 0
    assert program.say(5, 3, b"\x41\0\1") == b""  # written, and not answered
    assert program.read(5, 65, 1) == 1
    assert status(program.say(6, 6, b"\xff"), 6)[0] == 1  # all servos would get one id
    assert program.write(6, 20, 7, 4) == 0
    assert status(program.say(6, 6, b"\1"), 6)[0] == 0 and program.read(6, 20, 4) == 0


def test_registered_writes_wait_for_the_action(program: Program) -> None:
    assert status(program.say(6, 4, b"\x41\0\1"), 6)[0] == 0
    assert program.read(6, 65, 1) == 0 and program.read(6, 69, 1) == 1
    assert program.say(ALL, 5) == b""
    assert [program.read(n, 65, 1) for n in (6, 7)] == [1, 0]
    assert program.read(6, 69, 1) == 0
    assert status(program.say(6, 4, b"\x84\0\1\0\0\0"), 6)[0] == 7  # refused when it comes
    assert status(program.say(6, 8), 6)[0] == 0  # reboot
    assert program.read(6, 65, 1) == 0


def test_many_at_once(program: Program) -> None:
    assert program.say(ALL, 0x83, b"\x41\0\1\0\2\1\4\1\x63\1") == b""  # 99: nobody
    answer = program.say(ALL, 0x82, b"\x41\0\1\0\4\3\2\x63")
    parts = [status(answer[12 * k : 12 * k + 12], n) for k, n in enumerate((4, 3, 2))]
    assert parts == [(0, b"\1"), (0, b"\0"), (0, b"\1")]
    writes = bytes([9, 65, 0, 1, 0, 1, 8, 112, 0, 4, 0, 44, 1, 0, 0])
    assert program.say(ALL, 0x93, writes) == b""
    answer = program.say(ALL, 0x92, bytes([9, 65, 0, 1, 0, 8, 112, 0, 4, 0]))
    assert status(answer[:12], 9) == (0, b"\1")
    assert status(answer[12:], 8) == (0, (300).to_bytes(4, "little"))


def test_fast_reads(program: Program) -> None:
    """One packet with the parts of all servos, each with a checksum of the packet up to there, and
    without stuffing; it ends at a servo that is missing."""
    assert program.write(2, 20, -131073, 4) == 0  # ff ff fd ff
    answer = program.say(ALL, 0x8A, b"\x14\0\4\0\3\2")
    assert len(answer) == 8 + 2 * 8
    assert answer[:14] == b"\xff\xff\xfd\0\xfe\x11\0\x55\0\3\0\0\0\0"
    assert answer[14:16] == crc(answer[:14])
    assert answer[16:22] == b"\0\2\xff\xff\xfd\xff" and answer[22:] == crc(answer[:22])
    reads = bytes([9, 65, 0, 1, 0, 8, 31, 0, 1, 0, 7, 150, 0, 2, 0])
    answer = program.say(ALL, 0x9A, reads)
    assert len(answer) == 8 + 5 + 5 + 6 and answer[5] == 17
    assert answer[8:11] == b"\0\x09\0" and answer[13:16] == b"\0\x08\x50"
    assert answer[18:22] == b"\4\7\0\0" and answer[22:] == crc(answer[:22])  # no such register
    answer = program.say(ALL, 0x8A, b"\x14\0\4\0\3\x63\2")  # 99: nobody
    assert len(answer) == 8 + 8 and answer[5] == 25
    assert program.say(ALL, 0x8A, b"\x14\0\4\0\x63\2") == b""
    assert program.write(3, 68, 0, 1) == 0
    assert program.say(ALL, 0x8A, b"\x14\0\4\0\3\2") == b""  # answers no reads
    # As many as can be asked for do not fit, and are not begun.
    assert program.say(ALL, 0x8A, b"\x14\0\xff\xff" + b"\1" * 896) == b""


def test_indirect_addresses(program: Program) -> None:
    """LED and goal position through indirect data, and the present position behind them."""
    servo = program.bus.servos[3]
    assert program.read(4, 168, 2) == 224 and program.read(4, 632, 2) == 661
    assert program.write(4, 661, 77, 1) == 0 and program.read(4, 661, 1) == 77  # its own byte
    for k, register in enumerate([65, *range(116, 120), *range(132, 136)]):
        assert program.write(4, 168 + 2 * k, register, 2) == 0
    for value in (63, 170, 225):  # not volatile; an indirect address; data of another one
        assert program.write(4, 186, value, 2) == 6
    assert program.write(4, 169, 65, 1) == 4
    assert program.write(4, 64, 1, 1) == 0
    assert program.write(4, 186, 65, 2) == 7  # not with the torque on
    assert status(program.say(4, 3, b"\xe0\0\1\x34\x08\0\0"), 4)[0] == 0
    assert program.read(4, 65, 1) == 1 and program.read(4, 116, 4) == 0x834
    assert servo.target == pytest.approx(52 * math.tau / 4096)
    servo.angle = 0.05
    position = program.read(4, 132, 4)
    assert position == round(0.05 * 4096 / math.tau + 2048) == program.read(4, 229, 4)
    assert program.read(4, 225, 4) == 0x834
    for address, value, size, error in (
        (225, 7, 2, 5),  # half of a goal
        (226, 7, 1, 4),  # from its middle
        (229, 7, 4, 7),  # read only
        (225, 1 << 30, 4, 6),  # beyond its limit
    ):
        assert program.write(4, address, value, size) == error
    for data in (b"\x8c\0\x08\0", b"\xfb\0\2\0", b"\x2c\1\1\0"):  # beyond the registers
        assert status(program.say(4, 2, data), 4)[0] == 4
    assert status(program.say(4, 8), 4)[0] == 0  # after a restart all is as at first
    assert program.read(4, 168, 2) == 224 and program.read(4, 661, 1) == 0


# ---- joints --------------------------------------------------------------------------------------


def test_goals_profiles_and_velocities(program: Program) -> None:
    servo, unit = program.bus.servos[1], math.tau / 4096
    assert program.write(2, 116, 2148, 4) == 0
    assert servo.target == 0.0  # without torque it is not driven
    assert program.write(2, 64, 1, 1) == 0
    assert program.write(2, 116, 2148, 4) == 0
    assert servo.target == pytest.approx(100 * unit)
    assert program.read(2, 116, 4) == 2148
    upper, lower = program.read(2, 48, 4), program.read(2, 52, 4)
    assert (upper, lower) == (math.floor(1.6 / unit + 2048), math.ceil(-1.6 / unit + 2048))
    assert program.write(2, 116, upper + 1, 4) == 6 and program.write(2, 116, lower - 1, 4) == 6
    speed = 100 * 0.229 * math.tau / 60
    assert program.write(2, 112, 100, 4) == 0 and program.write(2, 116, 1948, 4) == 0
    servo.advance(0.02)
    assert servo.target == pytest.approx(100 * unit - 0.02 * speed)
    assert program.read(2, 116, 4) == 1948 and program.read(2, 136, 4) == -100
    servo.advance(1.0)
    assert servo.target == pytest.approx(-100 * unit) and program.read(2, 136, 4) == 0
    assert program.write(2, 116, 2148, 4) == 0
    servo.advance(-1.0)  # restored: the target holds
    servo.advance(1.0)
    assert servo.target == pytest.approx(-100 * unit)
    assert program.write(2, 64, 0, 1) == 0
    servo.angle = 0.3
    servo.advance(0.001)
    assert servo.target == 0.3 and program.read(2, 126, 2) == 0  # it gives way
    assert program.write(2, 11, 1, 1) == 0 and program.write(2, 64, 1, 1) == 0
    assert program.write(2, 104, 20, 4) == 0
    servo.advance(0.2)
    assert servo.target == pytest.approx(0.3 + 0.2 * 20 * 0.229 * math.tau / 60)


@pytest.mark.parametrize(("error", "rate"), [(0.02, 0.5), (-0.01, -1.0), (1.0, 0.0)])
def test_loads_are_those_of_the_motor(program: Program, error: float, rate: float) -> None:
    servo = program.bus.servos[0]
    servo.target, servo.rate, servo.milliseconds = error, rate, 40000
    torque = min(max(GAIN * error - DAMPING * rate, -EFFORT), EFFORT)
    unit = 0.00269 * 1.783
    assert abs(program.read(1, 126, 2) * unit - torque) <= 0.5001 * unit
    assert abs(program.read(1, 124, 2) - 885 * torque / EFFORT) <= 0.5001
    assert abs(program.read(1, 128, 4) * 0.229 * math.tau / 60 - rate) <= 0.5001 * 0.024
    assert program.read(1, 120, 2) == 40000 - 32768
    assert program.read(1, 122, 1) == (abs(program.read(1, 128, 4)) > 10)


@pytest.mark.parametrize(
    ("count", "changes"), [(0, {}), (253, {}), (3, {"type": "slide"}), (3, {"mimic": 0})]
)
def test_robots_without_servos_are_refused(count: int, changes: dict[str, Any]) -> None:
    with pytest.raises(mayfly.UnsupportedError, match="hinges that could be servos"):
        Bus(robot(count, **changes))


# ---- garbage -------------------------------------------------------------------------------------


def test_garbage_harms_nobody(program: Program) -> None:
    """Random bytes, damaged packets and halves: the next packet is answered."""
    instructions = [1, 2, 3, 4, 5, 6, 8, 0x82, 0x83, 0x92, 0x93, 0x10, 0x8A, 0x9A]
    rng = random.Random(3)
    for number in range(3000):
        data = rng.randbytes(rng.randrange(60))
        packet = bytearray(data)
        if number % 4:
            to = ALL if rng.random() < 0.125 else rng.randrange(1, 26)
            packet = bytearray(pack(to, bytes([rng.choice(instructions)]) + data))
        if number % 4 == 1:  # damaged
            packet[rng.randrange(len(packet))] ^= 1 << rng.randrange(8)
        if number % 8 == 6:  # half of one
            packet = packet[: rng.randrange(len(packet))]
        program.clock += 0.001
        program.bus.feed(bytes(packet), program.clock)
        if number % 100 == 99:
            program.clock += 1.0  # what has not come by now never does
            for servo in program.bus.servos:
                servo.advance(0.002)
                assert math.isfinite(servo.target)
                assert len(program.say(servo.table[7], 1)) == 14
    assert program.bus.reader.dropped > 10000


def test_half_a_packet_is_forgotten(program: Program) -> None:
    """Each prefix of a packet, then silence, then the packet; and the packet byte by byte."""
    packet = pack(2, b"\2\x84\0\4\0")
    for part in range(len(packet)):
        assert program.bus.feed(packet[:part], program.clock) == b""
        program.clock += 0.2
        assert len(program.bus.feed(packet, program.clock)) == 15
        answers = [program.bus.feed(bytes([byte]), program.clock + 0.05) for byte in packet]
        assert len(b"".join(answers)) == 15
