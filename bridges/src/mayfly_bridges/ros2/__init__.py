"""ROS 2 without ROS: a participant of DDS whose topics ROS 2's tools and nodes understand.

docs/how_to/bridges.md#ros-2 lists the topics, frames and options.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import mayfly
from mayfly_bridges._dds.links import Links
from mayfly_bridges._dds.node import Node, domain_of_environment, profile
from mayfly_bridges.ros2 import encode
from mayfly_bridges.ros2.commands import wheelbase
from mayfly_bridges.ros2.messages import HASHES, TYPES
from mayfly_bridges.ros2.robot import Robot, Setup, pictures_of, state_fields

NAME = "ros2"
SUMMARY = "topics of ROS 2 over DDS: clock, joints, transforms, odometry, sensors and commands"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the bridge."""
    add = parser.add_argument
    add("--group", action="append", help="a group of robots; may be repeated (default: all)")
    add("--robots", type=int, default=16, help="of each group, at most (default: %(default)s)")
    add("--namespace", help="before topics and frames (default: none for a single robot)")
    add("--domain", type=int, default=domain_of_environment(), help="default: ROS_DOMAIN_ID or 0")
    add("--rate", type=float, default=50.0, help="joints, transforms, odometry [Hz] (%(default)s)")
    add("--imu-rate", type=float, default=100.0, help="inertial unit [Hz] (%(default)s)")
    add("--scan-rate", type=float, default=10.0, help="laser scanner [Hz] (%(default)s)")
    add("--clock-rate", type=float, default=100.0, help="clock and commands [Hz] (%(default)s)")
    add("--timeout", type=float, default=0.0, help="of cmd_vel [s]; 0: it stays (%(default)s)")
    add("--wheelbase", type=float, default=0.0, help="of cars [m] (default: their file's)")
    add("--best-effort", action="store_true", help="offer sensors without repeats")
    add("--no-map", action="store_true", help="no transform from map to odom")


class Ticker:
    """Says when a message of a rate is due."""

    def __init__(self, rate: float) -> None:
        if not rate > 0.0:
            raise mayfly.ArgumentError(f"a rate must be above 0 Hz: {rate}")
        self.period = round(1e9 / rate)  # [ns]
        self._next: int | None = None

    def due(self, nanoseconds: int) -> bool:
        """At multiples of the period, or at the first call behind one; time may jump."""
        period, before = self.period, self._next
        self._next = (nanoseconds // period + 1) * period
        if nanoseconds % period == 0:
            return True
        return before is not None and self._next != before


def spaces(options: argparse.Namespace, groups: list[mayfly.RemoteGroup]) -> list[list[str]]:
    """The namespaces of the robots of each group, "" or with a slash at the end."""
    own = f"{options.namespace.strip('/')}/" if options.namespace else ""
    if len(groups) == 1 and min(len(groups[0]), options.robots) == 1:
        return [[own]]
    found = []
    for group in groups:
        count = min(len(group), options.robots)
        several = count > 1
        found.append([f"{own}{group.name}{f'_{i}' if several else ''}/" for i in range(count)])
    return found


def _robots(world: mayfly.RemoteWorld, node: Node, options: Any, period: float) -> list[Robot]:
    names = options.group or list(world.groups)
    groups = [world[name] for name in names]
    robots = []
    for group, own in zip(groups, spaces(options, groups)):
        if len(group) > len(own):
            text = f"group {group.name}: the first {len(own)} of {len(group)} robots (--robots)"
            print(f"mayfly-bridge {NAME}: {text}", file=sys.stderr, flush=True)
        links = Links(group.describe())
        if links.left_out:
            text = f"group {group.name}: not connected: {', '.join(links.left_out)}"
            print(f"mayfly-bridge {NAME}: {text}", file=sys.stderr, flush=True)
        states = group.subscribe(*state_fields(group), period=period)
        setup = Setup(
            group,
            links,
            states,
            pictures_of(links, group),
            world.step_ns,
            options.best_effort,
            options.wheelbase or wheelbase(links.described),
            options.timeout,
        )
        robots += [Robot(node, setup, index, space) for index, space in enumerate(own)]
    return robots


def run(world: mayfly.RemoteWorld, options: argparse.Namespace) -> None:
    """Runs the bridge until the world ends."""
    clock, states, imu, scan = (
        Ticker(rate)
        for rate in (options.clock_rate, options.rate, options.imu_rate, options.scan_rate)
    )
    period = min(ticker.period for ticker in (clock, states, imu, scan)) * 1e-9
    node = Node(options.domain)

    def writer(name: str, kind: str, policies: list[Any]) -> Any:
        return node.writer(f"rt/{name}", TYPES.kind(kind), policies, f"RIHS01_{HASHES[kind]}")

    clocks = writer("clock", "rosgraph_msgs/Clock", profile(1))
    moving = writer("tf", "tf2_msgs/TFMessage", profile(100))
    fixed = writer("tf_static", "tf2_msgs/TFMessage", profile(1, latched=True))
    robots = _robots(world, node, options, period)
    parts = [part for robot in robots for part in robot.fixed_transforms(not options.no_map)]
    fixed.write(encode.transforms(parts))
    template = encode.Transforms([frames for robot in robots for frames in robot.frames()])
    print(f"mayfly-bridge {NAME}: domain {options.domain}, {len(robots)} robots", flush=True)
    before: float | None = None
    for turn in world.lock_step(period, limit=10.0):
        if not all(robot.has_state() for robot in robots):
            continue
        now = round(1e9 * turn.time)
        if clock.due(now):
            clocks.write(encode.clock(now))
        if states.due(now):
            poses = [pose for robot in robots for pose in robot.publish_states(now)]
            moving.write(template.message(now, poses))
        for ticker, publish in ((imu, Robot.publish_imu), (scan, Robot.publish_scan)):
            if ticker.due(now):
                for robot in robots:
                    publish(robot, now)
        for robot in robots:
            robot.publish_images()
        seconds = 0.0 if before is None else max(turn.time - before, 0.0)
        for robot in robots:
            robot.command(turn.time, seconds)
        before = turn.time
