"""RoboCup 3D: two teams of agents play in a world, in the dialect of `rcssservermj`."""

from __future__ import annotations

import argparse

import mayfly
from mayfly_bridges._options import port
from mayfly_bridges.robocup.field import FIELDS
from mayfly_bridges.robocup.match import Match
from mayfly_bridges.robocup.rules import BOOKS, Phase

NAME = "robocup"
SUMMARY = "Two teams of RoboCup 3D agents play in a world with groups of robots and a ball."


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `mayfly-bridge robocup`."""
    parser.add_argument("--host", default="127.0.0.1", help="address to bind (%(default)s)")
    parser.add_argument(
        "--agents", type=port, default=60000, help="port of agents, 0: a free one (%(default)s)"
    )
    parser.add_argument(
        "--monitors", type=port, default=60001, help="port of monitors, 0: a free one (%(default)s)"
    )
    parser.add_argument(
        "--old-agents",
        type=port,
        default=3100,
        help="port of agents of SimSpark, 0: a free one (%(default)s)",
    )
    parser.add_argument(
        "--old-monitors",
        type=port,
        default=3200,
        help="port of monitors of SimSpark, 0: a free one (%(default)s)",
    )
    parser.add_argument("--left", default="left", help="group of the left team (%(default)s)")
    parser.add_argument("--right", default="right", help="group of the right team (%(default)s)")
    parser.add_argument("--ball", default="ball", help="group of the ball (%(default)s)")
    parser.add_argument(
        "--scenery", default="field", help="group of goals that monitors see (%(default)s)"
    )
    parser.add_argument(
        "--field", choices=FIELDS, help="measures (those of the model of --scenery, by its name)"
    )
    parser.add_argument(
        "--sync", action="store_true", help="the world waits for the commands of all agents"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=5.0,
        metavar="S",
        help="with --sync: for an agent that does not answer (%(default)s)",
    )
    add_rules(parser)


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Options of the referee."""
    parser.add_argument(
        "--rules", choices=BOOKS, default="ssim", help="the league's book of rules (%(default)s)"
    )
    parser.add_argument(
        "--half-time", type=float, metavar="S", help="length of a half (as in --rules)"
    )
    parser.add_argument(
        "--extra-half-time", type=float, metavar="S", help="of an extra half (as in --rules)"
    )
    parser.add_argument("--extra-time", action="store_true", help="two extra halves after a draw")
    parser.add_argument(
        "--change-sides", action="store_true", help="teams change sides between halves"
    )
    parser.add_argument(
        "--phase",
        type=int,
        choices=[int(phase) for phase in Phase],
        default=0,
        help="of the start: 0, 1 halves, 2, 3 extra halves, 4 penalties (%(default)s)",
    )
    parser.add_argument(
        "--time", type=float, metavar="S", help="of play at the start (that of --phase)"
    )
    parser.add_argument(
        "--kick-off",
        type=float,
        default=-1.0,
        metavar="S",
        help="time before a kick-off with both teams there; below 0: a monitor decides",
    )


def run(world: mayfly.RemoteWorld, options: argparse.Namespace) -> None:
    """Plays until the world ends."""
    Match(world, options).run()
