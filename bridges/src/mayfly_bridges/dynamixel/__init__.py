"""Joints of robots answer as Dynamixel servos on serial ports (protocol 2.0, XM430-W350).

    mayfly serve models/humanoid.urdf
    mayfly-bridge dynamixel 127.0.0.1:8766 robot=/tmp/ttyUSB0

docs/how_to/hardware.md has the instructions and registers.
"""

from __future__ import annotations

import argparse
import re
import select
import time
from typing import Any

import numpy as np

import mayfly
from mayfly_bridges._options import port
from mayfly_bridges.dynamixel.bus import Bus
from mayfly_bridges.dynamixel.ports import Stream, Terminal

NAME = "dynamixel"
SUMMARY = "joints of robots answer as Dynamixel servos on serial ports"
FIELDS = ("joint.angle", "joint.rate", "joint.target")
_LATE = 3  # states that may not have a target yet that was written


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the bridge."""
    text = "GROUP or GROUP[2], with =PATH for a link to the port or =tcp:PORT for one over TCP"
    parser.add_argument("robots", nargs="*", metavar="ROBOT[=PLACE]", help=text)
    text = "between states of the robots [s] (default: %(default)s)"
    parser.add_argument("--period", type=float, default=0.001, help=text)


def run(world: mayfly.RemoteWorld, options: argparse.Namespace) -> None:
    """Until the world ends."""
    if not options.period >= 0.0:
        raise mayfly.ArgumentError(f"--period must be 0 s or more: {options.period}")
    ports: list[Port] = []
    states: dict[str, Any] = {}
    try:
        for text in options.robots or [next(iter(world.groups))]:
            ports.append(Port(world, text))
            group = ports[-1].group
            if group.name not in states:
                states[group.name] = group.subscribe(*FIELDS, period=options.period)
            print(f"serial port of {ports[-1].describe()}", flush=True)
        while True:
            files = [file for each in ports for file in each.place.files()]
            ready, _, _ = select.select([world.fileno(), *files], [], [])
            world.poll()
            for subscription in states.values():
                world.wait(subscription, 0.0)  # raises if another world is served
            for each in ports:
                each.serve(states[each.group.name], set(ready))
    finally:
        for each in ports:
            each.place.close()


class Port:
    """A robot of the world, its bus, and the port at which the bus answers."""

    def __init__(self, world: mayfly.RemoteWorld, text: str) -> None:
        """ArgumentError or NotFoundError: `text`, an argument of the command, is wrong."""
        found = re.fullmatch(r"([^\[=]+)(?:\[([0-9]+)\])?(?:=(.+))?", text)
        if found is None:
            raise mayfly.ArgumentError(f"{text}: expected GROUP, GROUP[2], or these with =PLACE")
        name, index, place = found.groups()
        self.group = world[name]
        self.robot = int(index or 0)
        if index is None and len(self.group) > 1:
            raise mayfly.ArgumentError(f"group {name} has {len(self.group)} robots: name {name}[0]")
        if self.robot >= len(self.group):
            raise mayfly.NotFoundError(f"group {name} has robots 0 .. {len(self.group) - 1}")
        for field in FIELDS:
            if field not in self.group.fields:
                raise mayfly.UnsupportedError(f"the motion of group {name} has no {field}")
        if not self.group.fields["joint.target"].is_writable:
            raise mayfly.UnsupportedError(
                f"joint.target of group {name} belongs to its gait or controller: need a group "
                "with `controller: none`"
            )
        self.bus = Bus(self.group.describe())
        self._joints = [servo.joint for servo in self.bus.servos]
        self._seen = 0  # states
        self._time = 0.0  # [s] of the newest one
        self._late = np.zeros(len(self._joints), int)  # states that may still have old targets
        self._row: Any = None  # all targets of the robot, as they are in the world
        self.place: Terminal | Stream
        if place is not None and place.startswith("tcp:"):
            try:
                self.place = Stream(port(place[4:]))
            except argparse.ArgumentTypeError as error:
                raise mayfly.ArgumentError(f"{text}: {error}") from error
        else:
            self.place = Terminal(place or "")

    def describe(self) -> str:
        """As "robot[0] at /dev/pts/3, 21 servos"."""
        count = len(self.bus.servos)
        return f"{self.group.name}[{self.robot}] at {self.place.name}, {count} servos"

    def serve(self, states: mayfly.Subscription, ready: set[Any]) -> None:
        """Takes a new state, and answers what has come; programs wait for the first state."""
        if states.states > self._seen:
            self._seen = states.states
            self._take(states)
        if self._row is None:
            return
        self._send_targets()
        if ready & set(self.place.files()):
            self.place.serve(self._answer, self.bus.reader.clear)

    def _answer(self, data: bytes) -> bytes:
        """What is answered acts already."""
        answers = self.bus.feed(data, time.monotonic())
        self._send_targets()
        return answers

    def _send_targets(self) -> None:
        targets = np.array([servo.target for servo in self.bus.servos], self._row.dtype)
        changed = targets != self._row[self._joints]
        if changed.any():
            self._late[changed] = _LATE
            self._row[self._joints] = targets
            self.group.write("joint.target", self._row[None, :], self.robot, 1)

    def _take(self, states: mayfly.Subscription) -> None:
        angles, rates, targets = (states[name][self.robot] for name in FIELDS)
        own = None if self._row is None else self._row[self._joints]
        self._row = targets.copy()
        passed, self._time = states.time - self._time, states.time
        for k, servo in enumerate(self.bus.servos):
            servo.angle, servo.rate = float(angles[servo.joint]), float(rates[servo.joint])
            servo.milliseconds = int(1000.0 * states.time + 0.5)
            self._late[k] -= self._late[k] > 0
            if own is not None and self._late[k] and passed >= 0.0:
                self._row[servo.joint] = own[k]  # a target on its way to the world
            servo.target = servo.target if self._late[k] else float(targets[servo.joint])
            if own is not None:
                servo.advance(passed)
