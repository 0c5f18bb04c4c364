"""RoboCup 3D: two teams of agents play in a world, in the dialect of `rcssservermj`."""

from __future__ import annotations

import argparse
import math

import mayfly
from mayfly_bridges._options import port
from mayfly_bridges.robocup.field import FIELDS
from mayfly_bridges.robocup.match import Match
from mayfly_bridges.robocup.rules import BOOKS, Phase

NAME = "robocup"
SUMMARY = "Two teams of RoboCup 3D agents play in a world with groups of robots and a ball."
PORTS = (
    ("--agents", 60000, "agents"),
    ("--monitors", 60001, "monitors"),
    ("--old-agents", 3100, "agents of SimSpark"),
    ("--old-monitors", 3200, "monitors of SimSpark"),
)
GROUPS = (
    ("--left", "left", "the left team"),
    ("--right", "right", "the right team"),
    ("--ball", "ball", "the ball"),
    ("--scenery", "field", "goals that monitors see"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `mayfly-bridge robocup`."""
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to bind (%(default)s)")
    for name, number, whose in PORTS:
        text = f"port of {whose}, 0: a free one (%(default)s)"
        add(name, type=port, default=number, help=text)
    for name, group, what in GROUPS:
        add(name, default=group, help=f"group of {what} (%(default)s)")
    add("--field", choices=FIELDS, help="measures (those of the model of --scenery, by its name)")
    add("--sync", action="store_true", help="the world waits for the commands of all agents")
    text = "with --sync: for an agent that does not answer (as long as it takes)"
    add("--patience", type=float, default=math.inf, metavar="S", help=text)
    text = "the world stands still until so many agents have connected (%(default)s)"
    add("--players", type=int, default=0, metavar="N", help=text)
    add_rules(parser)


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Options of the referee."""
    add = parser.add_argument
    add("--rules", choices=BOOKS, default="ssim", help="the league's book of rules (%(default)s)")
    add("--half-time", type=float, metavar="S", help="length of a half (as in --rules)")
    add("--extra-half-time", type=float, metavar="S", help="of an extra half (as in --rules)")
    add("--extra-time", action="store_true", help="two extra halves after a draw")
    add("--change-sides", action="store_true", help="teams change sides between halves")
    phases = [int(phase) for phase in Phase]
    text = "of the start: 0, 1 halves, 2, 3 extra halves, 4 penalties (%(default)s)"
    add("--phase", type=int, choices=phases, default=0, help=text)
    add("--time", type=float, metavar="S", help="of play at the start (that of --phase)")
    text = "time before a kick-off with both teams there; below 0: a monitor decides"
    add("--kick-off", type=float, default=-1.0, metavar="S", help=text)


def run(world: mayfly.RemoteWorld, options: argparse.Namespace) -> None:
    """Plays until the world ends."""
    Match(world, options).run()
