"""The robots that a bridge gives to autopilots, one autopilot each."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import math
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import mayfly
from mayfly_bridges._flight import outputs
from mayfly_bridges._flight.outputs import Control
from mayfly_bridges._flight.sample import Sample, Sampler, range_finders
from mayfly_bridges._flight.stand import Rules, Stand
from mayfly_bridges._options import check_ports, port

PATIENCE = 3600.0  # [s] that the world waits for an autopilot, the most that the server allows


class Link(Protocol):
    """A port at which an autopilot finds its robot."""

    port: int

    def close(self) -> None:
        """Frees the port."""


AnyLink = TypeVar("AnyLink", bound=Link)


@dataclasses.dataclass(frozen=True)
class Autopilot:
    """What its options have as defaults: rate [Hz], thrust curve, port of robot 0, and how many
    ports apart the robots are."""

    name: str
    rate: float
    curve: float
    port: int
    apart: int


def add_options(parser: argparse.ArgumentParser, pilot: Autopilot) -> None:
    """The options of all autopilots."""
    add, rate, curve = parser.add_argument, pilot.rate, pilot.curve
    add("--group", help="group of the robots (default: the first)")
    add("--channels", metavar="A,B,..", help="what channels 1, 2, .. drive; -: nothing; ~: reverse")
    add("--rate", type=float, default=rate, metavar="HZ", help=f"states a second ({rate:g})")
    text = f"a motor's thrust is (1 - E) u + E u^2 of its largest one ({curve:g})"
    add("--thrust-curve", type=float, default=curve, metavar="E", help=text)
    text = "time on the rail that launches an aircraft (1 s)"
    add("--launch", type=float, default=1.0, metavar="S", help=text)
    add("--launch-throttle", type=float, default=0.3, help="that lets the rail pull (0.3)")
    add("--listen", default="127.0.0.1", metavar="ADDRESS", help="to bind (127.0.0.1)")
    text = f"of robot 0, {pilot.port}; others: {pilot.apart} more each; 0: free"
    add("--port", type=port, default=pilot.port, help=text)
    text = f"the world does not wait for {pilot.name}"
    add("--no-lock-step", action="store_true", help=text)


def complain(text: str) -> None:
    """A line for the user."""
    print(text, file=sys.stderr, flush=True)


class Fleet:
    """Robots, what their autopilots measure, and what they command."""

    def __init__(self, world: mayfly.RemoteWorld, options: argparse.Namespace) -> None:
        """Resets the group's robots and keeps those without ground on stands."""
        _check(options)
        self._world = world
        self.group = world[options.group] if options.group else next(iter(world.groups.values()))
        kind = outputs.kind_of(self.group)
        self.period = _period(world, options.rate)
        model = self.group.describe()
        gravity = math.dist((0.0, 0.0, 0.0), model["world_gravity"])
        rules = None
        if kind == outputs.ROBOT:
            found = outputs.robot_outputs(model)
        elif kind == outputs.FIXED_WING:
            found = outputs.fixed_wing_outputs(model["vehicle"][kind])
            rules = Rules(options.launch_throttle, options.launch)
        else:
            vehicle = model["vehicle"][kind]
            found = outputs.quadrotor_outputs(vehicle)
            speed, coefficient = vehicle["rotor_speed_max"], vehicle["thrust_coefficient"]
            rules = Rules(vehicle["mass"] * gravity / (4 * coefficient * speed * speed))
        channels = outputs.choose(options.channels, found, kind)
        self._driver = outputs.Driver(self.group, channels, options.thrust_curve)
        self._begin(gravity, model, rules)

    def _begin(self, gravity: float, model: dict[str, Any], rules: Rules | None) -> None:
        world = self._world
        self._was_paused = world.statistics().is_paused
        world.pause()  # until the bridge takes part, so that no robot falls before
        self.group.reset()
        self._sampler = Sampler(self.group, self.period, gravity, range_finders(model))
        while not world.wait(self._sampler.state):
            pass
        self._sampler.now = self._sampler.state.time
        self._stands = [
            Stand(self.group, robot, self._sampler, rules, gravity) for robot in range(self.count)
        ]
        self._offsets = [self._sampler.now] * self.count
        self._faults = [0] * self.count

    @property
    def count(self) -> int:
        """Robots."""
        return self.group.count

    @contextlib.contextmanager
    def open_links(
        self, options: argparse.Namespace, pilot: Autopilot, make: Callable[[int], AnyLink]
    ) -> Iterator[list[AnyLink]]:
        """What `make` opens at the port of each robot; closed at the end."""
        check_ports(options.port, self.count, pilot.apart)
        links: list[AnyLink] = []
        try:
            for robot in range(self.count):
                links.append(make(options.port + pilot.apart * robot if options.port else 0))
                where = f"{options.listen}:{links[-1].port}"
                complain(f"{self.group.name}[{robot}] listens at {where}")
            yield links
        finally:
            for link in links:
                link.close()

    def turns(self) -> Generator[None, None, None]:
        """The turns of the world in lock-step, each after its states, a period apart."""
        step = self._world.step_ns
        period = round(1e9 * self.period)
        turns = self._world.lock_step(self.period, PATIENCE)
        try:
            for turn in turns:
                self._sampler.now = turn.time
                self._go_on()
                if turn.tick * step % period == 0:  # the first one comes at any time
                    yield
        finally:
            with contextlib.suppress(mayfly.MayflyError):  # the world may have ended before
                turns.close()

    def _go_on(self) -> None:
        if not self._was_paused:
            self._world.pause(False)
            self._was_paused = True  # once

    def wait(self) -> None:
        """Waits for the next state of a world that runs by itself."""
        self._go_on()
        while not self._world.wait(self._sampler.state):
            pass
        self._sampler.now = self._sampler.state.time

    def check(self) -> None:
        """Raises an error if the world has ended."""
        self._world.poll()

    def sample(self, robot: int) -> Sample:
        """The state of a robot; time counts from the start of its autopilot."""
        fault = self._sampler.fault(robot)
        if fault and not self._faults[robot]:
            complain(f"{self.group.name}[{robot}] has the fault {fault:#x}: the world froze it")
        self._faults[robot] = fault
        sample = self._stands[robot].sample()
        return dataclasses.replace(sample, time=round(sample.time - self._offsets[robot], 9))

    def command(self, robot: int, controls: Sequence[Control]) -> None:
        """Channels of a robot's autopilot."""
        self._stands[robot].update(self._driver.thrust(controls))
        self._driver.write(robot, controls)

    def restart(self, robot: int) -> None:
        """Its autopilot was started: the robot is reset and its time is 0."""
        self._stands[robot].reset()
        self._offsets[robot] = self._sampler.now


def _check(options: argparse.Namespace) -> None:
    if not 0 <= options.thrust_curve <= 1:
        raise mayfly.ArgumentError("--thrust-curve: expected 0 .. 1")
    if not 0 < options.rate <= 1e5:
        raise mayfly.ArgumentError("--rate: expected more than 0 Hz, at most 100000")
    if not 0 <= options.launch <= 60:
        raise mayfly.ArgumentError("--launch: expected 0 .. 60 s")


def _period(world: mayfly.RemoteWorld, rate: float) -> float:
    nanoseconds = round(1e9 / rate)
    if nanoseconds % world.step_ns:
        step = 1e-9 * world.step_ns
        raise mayfly.ArgumentError(
            f"--rate {rate:g}: 1/rate is no multiple of the world's step of {step:g} s"
        )
    return 1e-9 * nanoseconds
