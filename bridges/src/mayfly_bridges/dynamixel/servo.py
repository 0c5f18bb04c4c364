"""A joint as a servo: the control table of an XM430-W350, and what its registers mean.

docs/how_to/hardware.md lists them. Quantities that the simulation does not have, such as voltage
and temperature, keep their nominal values.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from mayfly_bridges.dynamixel.packets import SERVOS

ROTATION = 4096  # positions of a rotation
MIDDLE = 2048  # position of angle 0
RADIAN = ROTATION / math.tau
SPEED = 0.229 * math.tau / 60.0  # [rad/s] of a unit of velocity: 0.229 rev/min
AMPERE = 0.00269  # [A] of a unit of current
TORQUE_CONSTANT = 1.783  # [N m/A] 4.1 N m at 2.3 A
PWM_MOST = 885.0
REACHED = 20.0  # positions between joint and target
MODEL, FIRMWARE = 1020, 45
SIZE = 662  # [byte] of the table, with gaps
DIRECT = 147  # registers end here,
VOLATILE = 64  # and begin to be volatile here
INDIRECT = ((168, 224), (578, 634))  # addresses of the first pointers and data
POINTERS = 28  # of each of them


class Error(enum.IntEnum):
    """The error of a status packet."""

    OK = 0
    FAIL = 1
    BAD_INSTRUCTION = 2
    BAD_RANGE = 4
    BAD_LENGTH = 5
    BEYOND_LIMIT = 6
    NO_ACCESS = 7


class Item(NamedTuple):
    """A register. LASTING ones outlive a restart; they and RESTING ones cannot change while the
    torque is on."""

    address: int
    size: int
    flags: int = 0
    initial: int = 0
    least: int = 0
    most: int = 0


READ_ONLY, LASTING, RESTING = 1, 2, 4
ID, MODE, OFFSET, THRESHOLD, FASTEST, UPPER, LOWER = 7, 11, 20, 24, 44, 48, 52
TORQUE, RETURN_LEVEL, REGISTERED, GOAL_VELOCITY, PROFILE, GOAL = 64, 68, 69, 104, 112, 116
TICK, MOVING, STATUS, PWM, CURRENT, VELOCITY, POSITION = 120, 122, 123, 124, 126, 128, 132
PLANNED_VELOCITY, PLANNED_POSITION = 136, 140
BY_VELOCITY, BY_POSITION = 1, 3
MODES = (BY_VELOCITY, BY_POSITION, 4, 5)

ITEMS = {
    item.address: item
    for item in (
        Item(0, 2, READ_ONLY | LASTING, MODEL),
        Item(2, 4, READ_ONLY | LASTING),  # model information
        Item(6, 1, READ_ONLY | LASTING, FIRMWARE),
        Item(ID, 1, LASTING, 1, 0, SERVOS),
        Item(8, 1, LASTING, 1, 0, 7),  # baud rate
        Item(9, 1, LASTING, 250, 0, 254),  # return delay
        Item(10, 1, LASTING),  # drive mode: not reversed
        Item(MODE, 1, LASTING, BY_POSITION, 0, 16),
        Item(12, 1, LASTING, 255, 0, 255),  # shadow id
        Item(13, 1, LASTING, 2, 2, 2),  # protocol
        Item(OFFSET, 4, LASTING, 0, -1044479, 1044479),
        Item(THRESHOLD, 4, LASTING, 10, 0, 1023),
        Item(31, 1, LASTING, 80, 0, 100),  # temperature limit
        Item(32, 2, LASTING, 160, 95, 160),  # voltage limits
        Item(34, 2, LASTING, 95, 95, 160),
        Item(36, 2, LASTING, 885, 0, 885),  # PWM limit
        Item(38, 2, LASTING, 1193, 0, 1193),  # current limit
        Item(FASTEST, 4, LASTING, 1023, 0, 1023),
        Item(UPPER, 4, LASTING, ROTATION - 1, 0, ROTATION - 1),
        Item(LOWER, 4, LASTING, 0, 0, ROTATION - 1),
        Item(60, 1, LASTING, 0, 0, 3),  # startup configuration
        Item(63, 1, LASTING, 52, 0, 63),  # shutdown
        Item(TORQUE, 1, 0, 0, 0, 1),
        Item(65, 1, 0, 0, 0, 1),  # LED
        Item(RETURN_LEVEL, 1, 0, 2, 0, 2),
        Item(REGISTERED, 1, READ_ONLY),
        Item(70, 1, READ_ONLY),  # hardware errors
        Item(76, 2, 0, 1920, 0, 16383),  # gains, which are stored and not used
        Item(78, 2, 0, 100, 0, 16383),
        Item(80, 2, 0, 0, 0, 16383),
        Item(82, 2, 0, 0, 0, 16383),
        Item(84, 2, 0, 800, 0, 16383),
        Item(88, 2, 0, 0, 0, 16383),
        Item(90, 2, 0, 0, 0, 16383),
        Item(98, 1, 0, 0, 0, 127),  # bus watchdog, stored
        Item(100, 2, 0, 885, -885, 885),  # goal PWM, stored
        Item(102, 2, 0, 1193, -1193, 1193),  # goal current, stored
        Item(GOAL_VELOCITY, 4, 0, 0, -1023, 1023),
        Item(108, 4, 0, 0, 0, 32767),  # profile acceleration, stored
        Item(PROFILE, 4, 0, 0, 0, 32767),
        Item(GOAL, 4, 0, 0, -1048575, 1048575),
        Item(TICK, 2, READ_ONLY),
        Item(MOVING, 1, READ_ONLY),
        Item(STATUS, 1, READ_ONLY),
        Item(PWM, 2, READ_ONLY),
        Item(CURRENT, 2, READ_ONLY),
        Item(VELOCITY, 4, READ_ONLY),
        Item(POSITION, 4, READ_ONLY),
        Item(PLANNED_VELOCITY, 4, READ_ONLY),
        Item(PLANNED_POSITION, 4, READ_ONLY),
        Item(144, 2, READ_ONLY, 120),  # 12 V
        Item(146, 1, READ_ONLY, 25),  # 25 degrees Celsius
    )
}


def _number(data: bytes | bytearray) -> int:
    return int.from_bytes(data, "little", signed=len(data) > 1)


def _whole(value: float, most: float) -> int:
    """The nearest whole number, at most `most` from 0; halves away from 0."""
    if not abs(value) <= most:
        return int(math.copysign(most, value))
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def _is_there(address: int, size: int) -> bool:
    """Whether registers from `address` on are there without a gap."""
    ends = ((0, DIRECT), *((pointers, data + POINTERS) for pointers, data in INDIRECT))
    return size > 0 and any(begin <= address and address + size <= end for begin, end in ends)


class Servo:
    """The registers of a joint. `angle`, `rate` and `target` are the joint's at `time`."""

    def __init__(
        self, number: int, joint: int, described: dict[str, Any], is_taken: Callable[[int], bool]
    ) -> None:
        """`described`: the robot's model (RemoteGroup.describe); `is_taken`: whether a servo has an
        id."""
        found, motor = described["joints"][joint], described["servos"][joint]
        self.joint, self._is_taken = joint, is_taken
        self._lower = -math.inf if found["lower"] is None else found["lower"]
        self._upper = math.inf if found["upper"] is None else found["upper"]
        self._gain, self._damping = motor["gain"], motor["damping"]
        self._effort = math.inf if motor["effort"] is None else motor["effort"]
        self.table = bytearray(SIZE)
        self.angle = self.rate = self.target = 0.0
        self.milliseconds = 0
        self.is_limp = False  # its torque was turned off: the target follows the angle
        self._is_moving = False  # the target is on its way to the goal
        self._goal = 0.0  # [rad]
        self.registered: tuple[int, bytes] | None = None  # a registered write
        self.reset(True)
        self._put(ID, 1, number)

    def get(self, address: int) -> int:
        """The number in a register."""
        return _number(self.table[address : address + ITEMS[address].size])

    def _put(self, address: int, size: int, value: int) -> None:
        self.table[address : address + size] = (value & (1 << 8 * size) - 1).to_bytes(
            size, "little"
        )

    def _set_target(self, angle: float) -> None:
        self.target = min(max(angle, self._lower), self._upper)

    # ---- time ----------------------------------------------------------------------------------

    def _has_velocity(self) -> bool:
        return self.get(MODE) == BY_VELOCITY and self.get(TORQUE) != 0

    def advance(self, passed: float) -> None:
        """Moves the target, `passed` [s] later; below 0: the world was restored, and it holds."""
        if passed < 0.0:
            self._is_moving = False
        elif self.is_limp:
            self._set_target(self.angle)
        elif self._has_velocity():
            self._set_target(self.target + passed * SPEED * self.get(GOAL_VELOCITY))
        elif self._is_moving:
            distance = passed * SPEED * self.get(PROFILE)
            left = self._goal - self.target
            self._is_moving = abs(left) > distance
            self._set_target(
                self.target + math.copysign(distance, left) if self._is_moving else self._goal
            )

    # ---- reading -------------------------------------------------------------------------------

    def _torque(self) -> float:
        """[N m] that the motor gives for its error."""
        if self.is_limp:
            return 0.0
        torque = self._gain * (self.target - self.angle) - self._damping * self.rate
        return float(min(max(torque, -self._effort), self._effort))

    def _position(self, angle: float) -> int:
        return _whole(angle * RADIAN + MIDDLE + self.get(OFFSET), 1e9)

    def _refresh(self) -> None:
        velocity, torque = _whole(self.rate / SPEED, 1e6), self._torque()
        planned = self.get(PROFILE) if self._is_moving else 0
        near = abs(self.target - self.angle) * RADIAN < REACHED
        has_effort = 0.0 < self._effort < 1e6
        for address, value in (
            (TICK, self.milliseconds % 32768),
            (MOVING, abs(velocity) > self.get(THRESHOLD)),
            (STATUS, near and not self._is_moving),
            (PWM, _whole(PWM_MOST * torque / self._effort, PWM_MOST) if has_effort else 0),
            (CURRENT, _whole(torque / TORQUE_CONSTANT / AMPERE, 32767)),
            (VELOCITY, velocity),
            (POSITION, self._position(self.angle)),
            (PLANNED_VELOCITY, -planned if self._goal < self.target else planned),
            (PLANNED_POSITION, self._position(self.target)),
        ):
            self._put(address, ITEMS[address].size, int(value))
        if not self._is_moving and not self.is_limp:  # another program may have set the target
            self._put(GOAL, 4, self._position(self.target))
        for _, data in INDIRECT:
            for at in range(data, data + POINTERS):
                self.table[at] = self.table[self._stored(at)]

    def read(self, address: int, size: int) -> bytes | None:
        """`size` bytes at `address`; None: there are no such registers."""
        if not _is_there(address, size):
            return None
        self._refresh()
        return bytes(self.table[address : address + size])

    # ---- writing -------------------------------------------------------------------------------

    def _stored(self, address: int) -> int:
        """Where a byte is stored: an indirect one at its register, or, initially, at itself."""
        for pointers, data in INDIRECT:
            if 0 <= address - data < POINTERS:
                at = pointers + 2 * (address - data)
                return _number(self.table[at : at + 2])
        return address

    def _item(self, address: int) -> Item | None:
        """The register whose first byte is at `address`, where it is stored."""
        at = self._stored(address)
        for pointers, data in INDIRECT:
            if 0 <= at - pointers < 2 * POINTERS and (at - pointers) % 2 == 0:
                return Item(at, 2, RESTING, 0, VOLATILE, SIZE - 1)
            if 0 <= at - data < POINTERS:
                return Item(at, 1, 0, 0, 0, 255)
        return ITEMS.get(at)

    def _check(self, item: Item, value: int) -> Error:
        is_on = self.get(TORQUE) != 0
        if item.flags & READ_ONLY or (item.flags & (LASTING | RESTING) and is_on):
            return Error.NO_ACCESS
        least, most = item.least, item.most
        if item.address == GOAL and self.get(MODE) == BY_POSITION:
            least, most = self.get(LOWER), self.get(UPPER)
        if item.address == GOAL_VELOCITY:
            least, most = -self.get(FASTEST), self.get(FASTEST)
        is_right = least <= value <= most and (item.address != MODE or value in MODES)
        for pointers, data in INDIRECT:  # points to a volatile register or to its own data
            index = item.address - pointers
            if 0 <= index < 2 * POINTERS:
                is_right = is_right and (value < DIRECT or value == data + index // 2)
        if not is_right:
            return Error.BEYOND_LIMIT
        is_other = item.address == ID and value != self.table[ID] and self._is_taken(value)
        return Error.FAIL if is_other else Error.OK

    def _apply(self, item: Item, value: int) -> None:
        self._put(item.address, item.size, value)
        if item.address == TORQUE:
            if value and self.is_limp:
                self._set_target(self.angle)  # without a jump
            self.is_limp, self._is_moving = not value, False
        if item.address == GOAL and self.get(MODE) != BY_VELOCITY and self.get(TORQUE):
            self._goal = (value - self.get(OFFSET) - MIDDLE) / RADIAN
            self._is_moving = self.get(PROFILE) > 0
            if not self._is_moving:
                self._set_target(self._goal)

    def _locate(self, address: int, size: int) -> tuple[Item | None, Error]:
        """The register at `address`, of which `size` bytes are written; None: between registers."""
        item = self._item(address)
        if item is None:
            return None, Error.OK
        whole = all(self._stored(address + k) == item.address + k for k in range(1, item.size))
        return item, Error.OK if item.size <= size and whole else Error.BAD_LENGTH

    def write(self, address: int, data: bytes, dry: bool = False) -> Error:
        """Writes registers; nothing changes unless all is right. `dry`: only checks."""
        if not _is_there(address, len(data)):
            return Error.BAD_RANGE
        for is_last in (False,) if dry else (False, True):
            at = 0
            while at < len(data):
                item, error = self._locate(address + at, len(data) - at)
                if error:
                    return error
                if item is None:
                    if at == 0 or address >= DIRECT:
                        return Error.BAD_RANGE
                    at += 1
                    continue
                value = _number(data[at : at + item.size])
                # Again where this write may have changed what indirect data is.
                if not is_last or address >= DIRECT:
                    error = self._check(item, value)
                    if error:
                        return error
                if is_last:
                    self._apply(item, value)
                at += item.size
        return Error.OK

    # ---- restarts ------------------------------------------------------------------------------

    def reset(self, everything: bool) -> None:
        """Sets registers to their initial values; `everything`: LASTING ones too, but the id."""
        for item in ITEMS.values():
            if item.address != ID if everything else not item.flags & LASTING:
                self._put(item.address, item.size, item.initial)
        for pointers, data in INDIRECT:
            for k in range(POINTERS):
                self._put(pointers + 2 * k, 2, data + k)
                self.table[data + k] = 0
        self.registered, self._is_moving = None, False
        if everything:
            for address, angle, towards in (
                (LOWER, self._lower, math.ceil),
                (UPPER, self._upper, math.floor),
            ):
                bound = min(max(angle * RADIAN + MIDDLE, 0.0), ROTATION - 1.0)
                self._put(address, 4, towards(bound))

    def restart(self, everything: bool) -> Error:
        """After Reboot and Factory Reset the torque is off."""
        self.reset(everything)
        self.is_limp = True
        return Error.OK
