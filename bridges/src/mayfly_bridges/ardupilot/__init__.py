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
from mayfly_bridges._flight.fleet import Autopilot, Fleet, complain
from mayfly_bridges._flight.outputs import Control
from mayfly_bridges.ardupilot.link import Link, controls
from mayfly_bridges.ardupilot.wire import Servos

NAME = "ardupilot"
SUMMARY = "ArduPilot's software in the loop flies quadrotors and fixed-wing aircraft (JSON, UDP)"

# The curve is the default of MOT_THST_EXPO, the ports are those of ArduPilot's instances.
PILOT = Autopilot("ArduPilot", rate=500.0, curve=0.65, port=9002, apart=10)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the bridge."""
    fleet.add_options(parser, PILOT)


def run(world: mayfly.RemoteWorld, options: argparse.Namespace) -> None:
    """Until the world ends."""
    robots = Fleet(world, options)
    with robots.open_links(
        options, PILOT, lambda own: Link(options.listen, own, not options.no_lock_step)
    ) as links:
        if options.no_lock_step:
            run_freely(robots, links)
        else:
            run_in_lock_step(robots, links)


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
