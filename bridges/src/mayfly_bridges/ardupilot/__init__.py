"""ArduPilot's software in the loop flies robots of a Mayfly world (its JSON interface over UDP).

    mayfly serve scenes/quadrotor.yaml --speed 0
    mayfly-bridge ardupilot 127.0.0.1:8766
    sim_vehicle.py -v ArduCopter -f quad --model JSON:127.0.0.1

docs/how_to/autopilots.md has the frames, units and channels.
"""

from __future__ import annotations

import argparse

import mayfly
from mayfly_bridges._flight import fleet
from mayfly_bridges._flight.fleet import Fleet, complain
from mayfly_bridges._flight.outputs import Control
from mayfly_bridges._options import check_ports, port
from mayfly_bridges.ardupilot.link import Link, controls
from mayfly_bridges.ardupilot.wire import Servos

NAME = "ardupilot"
SUMMARY = "ArduPilot's software in the loop flies quadrotors and fixed-wing aircraft (JSON, UDP)"

RATE, CURVE = 500.0, 0.65  # the curve is ArduPilot's default of MOT_THST_EXPO
INSTANCE = 10  # between the ports of ArduPilot's instances


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the bridge."""
    fleet.add_options(parser, RATE, CURVE)
    add = parser.add_argument
    add("--listen", default="127.0.0.1", metavar="ADDRESS", help="to bind (127.0.0.1)")
    add("--port", type=port, default=9002, help="of robot 0, 9002; others: 10 more each; 0: free")
    add("--no-lock-step", action="store_true", help="the world does not wait for ArduPilot")


def run(world: mayfly.RemoteWorld, options: argparse.Namespace) -> None:
    """Until the world ends."""
    robots = Fleet(world, options)
    check_ports(options.port, robots.count, INSTANCE)
    links: list[Link] = []
    try:
        for robot in range(robots.count):
            own = options.port + INSTANCE * robot if options.port else 0
            links.append(Link(options.listen, own, not options.no_lock_step))
            complain(f"{robots.group.name}[{robot}] listens at {options.listen}:{links[-1].port}")
        if options.no_lock_step:
            run_freely(robots, links)
        else:
            run_in_lock_step(robots, links)
    finally:
        for link in links:
            link.close()


def run_in_lock_step(robots: Fleet, links: list[Link]) -> None:
    """Each state answers one packet of each ArduPilot, and the world waits for the next one."""
    for _ in robots.turns():
        for robot, link in enumerate(links):
            link.send(robots.sample(robot))
        for robot, link in enumerate(links):
            servos = link.wait(robots.check)
            if link.has_restarted:
                begin(robots, robot, link, servos)
            robots.command(robot, controls(servos))


def run_freely(robots: Fleet, links: list[Link]) -> None:
    """States at their rate; of the packets that came the newest one acts."""
    newest: list[list[Control]] = [[] for _ in links]
    while True:
        robots.wait()
        for robot, link in enumerate(links):
            while (servos := link.take()) is not None:
                newest[robot] = controls(servos)
                if link.has_restarted:
                    begin(robots, robot, link, servos)
            robots.command(robot, newest[robot])
            link.send(robots.sample(robot))


def begin(robots: Fleet, robot: int, link: Link, servos: Servos) -> None:
    """An ArduPilot was just started."""
    robots.restart(robot)
    name = f"{robots.group.name}[{robot}]"
    complain(f"{name}: ArduPilot has started, with {len(servos.pulses)} outputs")
    if servos.rate and abs(servos.rate * robots.period - 1) > 1e-3:
        requested = f"{servos.rate} Hz (SIM_RATE_HZ)"
        complain(f"{name}: it wants {requested}, this is {1 / robots.period:g} Hz (--rate)")
