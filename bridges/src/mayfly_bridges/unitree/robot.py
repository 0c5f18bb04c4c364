"""The topics of one robot: its state out, low-level commands and the remote control in."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import mayfly
from mayfly_bridges._dds.fixed import Fixed
from mayfly_bridges._dds.imu import Imu, Reading, TrueImu, find_imus
from mayfly_bridges._dds.links import BASE, Links
from mayfly_bridges._dds.node import Node, profile, take_all
from mayfly_bridges._rotation import Quaternion, angles
from mayfly_bridges.unitree.checksum import checksum
from mayfly_bridges.unitree.messages import TYPES
from mayfly_bridges.unitree.motors import Array, Motors, read_law
from mayfly_bridges.unitree.remote import remote_bytes
from mayfly_bridges.unitree.robots import Kind

_TRUTH = ("base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity")
_FIELDS = (*_TRUTH, "joint.angle", "joint.rate", "sensor.value")
_SLOW = 50_000_000  # [ns] period of rt/lf/lowstate
_LOADS = ("touch", "contact force")


class Robot:
    """One robot of a group, as the SDK sees it."""

    def __init__(
        self,
        node: Node,
        group: mayfly.RemoteGroup,
        index: int,
        kind: Kind,
        links: Links,
        states: Any,
        check: bool,
    ) -> None:
        self._group, self._index, self._kind, self._links = group, index, kind, links
        self._subscription, self._check = states, check
        inputs = {n: f.components for n, f in group.fields.items() if f.is_writable}
        self._motors = Motors(kind, links, inputs)
        imus = find_imus(links) if "sensor.value" in group.fields else []
        imus.sort(key=lambda imu: imu.link != BASE)  # the first one is in the trunk
        self._imu = imus[0] if imus else None
        self._second = imus[1] if len(imus) > 1 else None
        self._true_imu = TrueImu()
        self._feet = self._find_feet() if "sensor.value" in group.fields else []
        self._rates: tuple[int, Array] | None = None
        self._given = np.zeros(len(kind.motors))
        self.refused = 0  # commands with a wrong checksum
        self._complained: set[str] = set()
        package = kind.package
        self._state_type = Fixed(TYPES, f"{package}/LowState")
        self._command_type = Fixed(TYPES, f"{package}/LowCmd")
        self._command: Any = self._command_type.new()["motor_cmd"]  # all motors off
        self._sport_type = Fixed(TYPES, "unitree_go/SportModeState")
        self._remote_type = Fixed(TYPES, "unitree_go/WirelessController")
        self._state = self._state_type.new()
        self._sport = self._sport_type.new()
        if package == "unitree_go":
            self._state["head"], self._state["level_flag"] = (0xFE, 0xEF), 0xFF
        self._open(node)

    def _open(self, node: Node) -> None:
        own = profile(1)
        self._states = node.writer("rt/lowstate", self._state_type.kind, own)
        self._slow_states = node.writer("rt/lf/lowstate", self._state_type.kind, own)
        self._sports = node.writer("rt/sportmodestate", self._sport_type.kind, own)
        self._commands = node.reader("rt/lowcmd", self._command_type.kind, own)
        self._remotes = node.reader("rt/wirelesscontroller", self._remote_type.kind, own)
        self._seconds = None
        if self._second is not None and self._kind.package == "unitree_hg":
            self._second_type = Fixed(TYPES, "unitree_hg/IMUState")
            self._seconds = node.writer("rt/secondary_imu", self._second_type.kind, own)

    def publish(self, nanoseconds: int) -> None:
        """Writes the state."""
        rotation = self._quaternion()
        values = self._row("sensor.value")
        reading = self._read(self._imu, values, rotation)
        if reading is None:
            rate, velocity = self._row("base.angular_velocity"), self._row("base.linear_velocity")
            reading = self._true_imu.read(nanoseconds, rotation, rate, velocity)
        if reading is not None:
            _fill_imu(self._state["imu_state"], reading)
        self._fill_motors(nanoseconds)
        self._fill_feet(values)
        self._state["tick"] = (nanoseconds // 1_000_000) & 0xFFFFFFFF
        for sample in take_all(self._remotes):
            self._state["wireless_remote"] = np.frombuffer(remote_bytes(sample.record), np.uint8)
        self._state["crc"] = checksum(self._state)
        message = self._state_type.sample(self._state)
        self._states.write(message)
        if nanoseconds % _SLOW == 0:
            self._slow_states.write(message)
        self._publish_sport(nanoseconds)
        second = self._read(self._second, values, rotation)
        if second is not None and self._seconds is not None:
            record = self._second_type.new()
            _fill_imu(record, second)
            self._seconds.write(self._second_type.sample(record))

    def command(self) -> None:
        """Takes the newest command, and drives the motors by it; none so far: no torque."""
        for sample in take_all(self._commands):
            if self._accepts(sample.record):
                self._command = sample.record["motor_cmd"]
        found, rates = self._angles()
        count = len(found)
        self._given, rows = self._motors.drive(read_law(self._command, count), found, rates)
        self._state["motor_state"]["mode"][:count] = self._command["mode"][:count]
        for name, row in rows.items():
            self._group.write(name, row[None, :], self._index, 1)

    def has_state(self) -> bool:
        """Whether a state of the robot has come."""
        return int(self._subscription.states) > 0

    def _accepts(self, command: Any) -> bool:
        if self._check and int(command["crc"]) != checksum(command):
            self.refused += 1
            self._complain("commands with a wrong checksum are refused (--no-checksum takes them)")
            return False
        if self._kind.package == "unitree_hg":
            if command["mode_pr"] != 0:
                self._complain("mode_pr 1 (ankles and waist by motors A, B) is not supported")
                return False
            self._state["mode_pr"] = command["mode_pr"]
        return True

    def _publish_sport(self, nanoseconds: int) -> None:
        sport = self._sport
        sport["stamp"]["sec"] = nanoseconds // 1_000_000_000
        sport["stamp"]["nanosec"] = nanoseconds % 1_000_000_000
        sport["position"] = self._row("base.position")
        sport["velocity"] = self._row("base.linear_velocity")
        sport["body_height"] = sport["position"][2]
        sport["yaw_speed"] = self._row("base.angular_velocity")[2]
        for name in ("quaternion", "gyroscope", "accelerometer", "rpy"):
            sport["imu_state"][name] = self._state["imu_state"][name]
        if self._kind.package == "unitree_go":
            sport["foot_force"] = self._state["foot_force"]
        self._sports.write(self._sport_type.sample(sport))

    def _fill_motors(self, nanoseconds: int) -> None:
        found, rates = self._angles()
        motors = self._state["motor_state"]
        count = len(found)
        motors["q"][:count], motors["dq"][:count] = found, rates
        motors["tau_est"][:count] = self._given
        before, self._rates = self._rates, (nanoseconds, rates)
        if before is not None and before[0] < nanoseconds:
            motors["ddq"][:count] = (rates - before[1]) / (1e-9 * (nanoseconds - before[0]))

    def _fill_feet(self, values: list[float]) -> None:
        if self._feet and self._kind.package == "unitree_go":
            loads = [round(values[address]) if address >= 0 else 0 for address in self._feet]
            self._state["foot_force"] = np.clip(loads, 0, 32767)

    def _find_feet(self) -> list[int]:
        """Where in sensor.value the load of each foot is, -1 without a sensor."""
        children = {joint.name: joint.child for joint in self._links.joints}
        loads = {
            self._links.name(
                sensor["frame"]["link"] if sensor["link"] is None else sensor["link"]
            ): int(sensor["address"])
            for sensor in self._links.sensors(*_LOADS)
        }
        return [loads.get(children.get(joint, ""), -1) for joint in self._kind.feet]

    def _read(self, imu: Imu | None, values: list[float], base: Quaternion) -> Reading | None:
        if imu is None:
            return None
        return imu.read(values, imu.orientation(self._links, base, self._row("joint.angle")))

    def _angles(self) -> tuple[Array, Array]:
        found, rates = (np.array(self._row(name)) for name in ("joint.angle", "joint.rate"))
        return self._motors.pick(found), self._motors.pick(rates)

    def _quaternion(self) -> Quaternion:
        w, x, y, z = self._row("base.orientation")
        return (w, x, y, z)

    def _row(self, name: str) -> list[float]:
        if name not in self._group.fields or not self._group.fields[name].components:
            return []
        row: list[float] = self._subscription[name][self._index].tolist()
        return row

    def _complain(self, text: str) -> None:
        if text not in self._complained:
            self._complained.add(text)
            print(f"mayfly-bridge unitree: {text}", file=sys.stderr, flush=True)


def state_fields(group: mayfly.RemoteGroup) -> list[str]:
    """The fields of a group that its robots' topics need."""
    return [n for n in _FIELDS if n in group.fields and group.fields[n].components]


def _fill_imu(record: Any, reading: Reading) -> None:
    record["quaternion"] = reading.orientation
    record["gyroscope"] = reading.rate
    record["accelerometer"] = reading.acceleration
    record["rpy"] = angles(reading.orientation)
