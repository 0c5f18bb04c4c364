"""Topics of Unitree's second SDK for a robot of the world, over the DDS code of the bridge ros2.

docs/how_to/bridges.md#unitrees-sdk lists the topics, robots and options.
"""

from __future__ import annotations

import argparse

import mayfly
from mayfly_bridges._dds.links import Links
from mayfly_bridges._dds.node import Node
from mayfly_bridges.unitree.robot import Robot, state_fields
from mayfly_bridges.unitree.robots import KINDS, find_kind
from mayfly_bridges.unitree.services import MotionSwitcher

NAME = "unitree"
SUMMARY = "topics of Unitree's second SDK over DDS: low-level commands and states of Go2 and G1"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the bridge."""
    add = parser.add_argument
    add("--group", help="the group of the robot (default: the first)")
    add("--index", type=int, default=0, help="of the robot in its group (default: %(default)s)")
    kinds = [kind.name for kind in KINDS]
    add("--robot", choices=kinds, help="kind of robot (default: by the names of its joints)")
    add("--domain", type=int, default=0, help="of DDS (default: %(default)s, as on the robot)")
    add("--rate", type=float, default=500.0, help="of states and motors [Hz] (%(default)s)")
    add("--no-checksum", action="store_true", help="take commands with a wrong checksum, too")


def run(world: mayfly.RemoteWorld, options: argparse.Namespace) -> None:
    """Runs the bridge until the world ends."""
    if not options.rate > 0.0:
        raise mayfly.ArgumentError(f"--rate must be above 0 Hz: {options.rate}")
    group = world[options.group or next(iter(world.groups))]
    if not 0 <= options.index < len(group):
        raise mayfly.ArgumentError(f"--index must be within 0 .. {len(group) - 1}")
    links = Links(group.describe())
    kind = find_kind(links, options.robot)
    period = 1.0 / options.rate
    states = group.subscribe(*state_fields(group), period=period)
    node = Node(options.domain)
    robot = Robot(node, group, options.index, kind, links, states, check=not options.no_checksum)
    switcher = MotionSwitcher(node)
    text = f"domain {options.domain}, group {group.name}: {kind.name} at {options.rate:g} Hz"
    print(f"mayfly-bridge {NAME}: {text}", flush=True)
    for turn in world.lock_step(period, limit=10.0):
        if robot.has_state():
            robot.publish(round(1e9 * turn.time))
            robot.command()
            switcher.serve()
