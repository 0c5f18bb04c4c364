"""The servos of one robot on a bus: instructions of Dynamixel protocol 2.0.

The bus knows nothing of ports: bytes go in, answers come out. What is no packet is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mayfly
from mayfly_bridges.dynamixel.packets import BROADCAST, SERVOS, Answers, FastAnswer, Reader
from mayfly_bridges.dynamixel.servo import (
    FIRMWARE,
    ID,
    MODEL,
    REGISTERED,
    RETURN_LEVEL,
    Error,
    Servo,
)

PING, READ, WRITE, REG_WRITE, ACTION, FACTORY_RESET, REBOOT = 1, 2, 3, 4, 5, 6, 8
SYNC_READ, SYNC_WRITE, FAST_SYNC_READ = 0x82, 0x83, 0x8A
BULK_READ, BULK_WRITE, FAST_BULK_READ = 0x92, 0x93, 0x9A


def _word(data: bytes, at: int = 0) -> int:
    return int.from_bytes(data[at : at + 2], "little")


class Bus:
    """Hinges that mimic no other joint are servos; ids are 1, 2, ... in the model's order."""

    def __init__(self, described: dict[str, Any]) -> None:
        """UnsupportedError: the robot (RemoteGroup.describe) has no such joints, or too many."""
        hinges = [
            number
            for number, joint in enumerate(described["joints"])
            if joint["type"] == "hinge" and joint["mimic"] is None
        ]
        if not 1 <= len(hinges) <= SERVOS:
            raise mayfly.UnsupportedError(
                f"the robot has {len(hinges)} hinges that could be servos, need 1 .. {SERVOS}"
            )
        self.servos = [
            Servo(number + 1, hinge, described, lambda taken: self._find(taken) is not None)
            for number, hinge in enumerate(hinges)
        ]
        self.reader = Reader()
        self._answers = Answers()

    def feed(self, data: bytes, clock: float) -> bytes:
        """Handles bytes that came at `clock` [s], and returns the answers."""
        for number, instruction, parameters in self.reader.feed(data, clock):
            servo = self._find(number)
            if number == BROADCAST:
                self._answer_all(instruction, parameters)
            elif servo is not None:
                self._answer_one(servo, instruction, parameters)
        answers = bytes(self._answers.data)
        self._answers.data.clear()
        return answers

    def _find(self, number: int) -> Servo | None:
        return next((servo for servo in self.servos if servo.table[ID] == number), None)

    # ---- one servo -----------------------------------------------------------------------------

    def _status(self, servo: Servo, level: int, error: int, data: bytes = b"") -> None:
        """Answers if the servo's return level is at least `level`."""
        if servo.table[RETURN_LEVEL] >= level:
            self._answers.status(servo.table[ID], error, data)

    def _ping(self, servo: Servo) -> None:
        self._status(servo, 0, Error.OK, MODEL.to_bytes(2, "little") + bytes([FIRMWARE]))

    def _read(self, servo: Servo, address: int, size: int) -> None:
        data = servo.read(address, size)
        self._status(servo, 1, Error.BAD_RANGE if data is None else Error.OK, data or b"")

    def _change(self, servo: Servo, instruction: int, data: bytes) -> Error:
        """An instruction that changes a servo, and is answered with an error alone."""
        if instruction in (WRITE, REG_WRITE):
            if len(data) <= 2:
                return Error.BAD_LENGTH
            error = servo.write(_word(data), data[2:], instruction == REG_WRITE)
            if instruction == REG_WRITE and not error:
                servo.registered = (_word(data), data[2:])
                servo.table[REGISTERED] = 1
            return error
        if instruction == ACTION:
            if servo.registered is None:
                return Error.OK
            (address, rest), servo.registered = servo.registered, None
            servo.table[REGISTERED] = 0
            return servo.write(address, rest)
        if instruction == REBOOT:
            return servo.restart(False)
        if instruction == FACTORY_RESET:  # all of it would give all servos of a bus one id
            return servo.restart(True) if len(data) == 1 and data[0] != 0xFF else Error.FAIL
        return Error.BAD_INSTRUCTION

    def _answer_one(self, servo: Servo, instruction: int, data: bytes) -> None:
        number, level = servo.table[ID], servo.table[RETURN_LEVEL]  # before they change
        if instruction == PING:
            self._ping(servo)
        elif instruction != READ:
            error = self._change(servo, instruction, data)
            if level >= 2:
                self._answers.status(number, error)
        elif len(data) == 4:
            self._read(servo, _word(data), _word(data, 2))
        else:
            self._status(servo, 1, Error.BAD_LENGTH)

    # ---- several servos ------------------------------------------------------------------------

    def _answer_all(self, instruction: int, data: bytes) -> None:
        if instruction == PING:
            for servo in self.servos:
                self._ping(servo)
        elif instruction in (SYNC_READ, BULK_READ):
            for number, address, size in _reads(instruction == BULK_READ, data):
                found = self._find(number)
                if found is not None:
                    self._read(found, address, size)
        elif instruction in (FAST_SYNC_READ, FAST_BULK_READ):
            self._fast_read(list(_reads(instruction == FAST_BULK_READ, data)))
        elif instruction in (SYNC_WRITE, BULK_WRITE):
            for number, address, rest in _writes(instruction == BULK_WRITE, data):
                found = self._find(number)
                if found is not None:
                    found.write(address, rest)
        elif instruction != READ:  # which all of them would answer at once
            for servo in self.servos:
                self._change(servo, instruction, data)

    def _fast_read(self, reads: list[tuple[int, int, int]]) -> None:
        """One packet, to which each servo appends its part: it ends at the first that is missing or
        answers no reads."""
        answer: FastAnswer | None = None
        for number, address, size in reads:
            servo = self._find(number)
            if servo is None or servo.table[RETURN_LEVEL] < 1:
                return
            if answer is None:
                answer = self._answers.begin_fast(sum(4 + size for _, _, size in reads))
            if answer is None:
                return
            data = servo.read(address, size)
            error = Error.BAD_RANGE if data is None else Error.OK
            answer.append(number, error, bytes(size) if data is None else data)


def _reads(bulk: bool, data: bytes) -> Iterator[tuple[int, int, int]]:
    """Id, address and size of the reads of a packet: Sync Read has one address and size."""
    if bulk:
        for at in range(0, len(data) - 4, 5):
            yield data[at], _word(data, at + 1), _word(data, at + 3)
    else:
        for number in data[4:]:
            yield number, _word(data), _word(data, 2)


def _writes(bulk: bool, data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Id, address and bytes of the writes of a packet, up to one that is not complete."""
    at = 0 if bulk else 4
    while True:
        head = data[at : at + 5] if bulk else data[at : at + 1] + data[:4]
        at += 5 if bulk else 1
        size = _word(head, 3)
        if len(head) < 5 or size == 0 or size > len(data) - at:
            return
        yield head[0], _word(head, 1), data[at : at + size]
        at += size
