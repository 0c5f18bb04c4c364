"""PX4's software in the loop flies robots of a Mayfly world (MAVLink messages HIL_* over TCP).

    mayfly serve scenes/quadrotor.yaml --speed 0
    mayfly-bridge px4 127.0.0.1:8766
    make px4_sitl none_iris

docs/how_to/autopilots.md has the frames, units, rates and channels.
"""

from __future__ import annotations

import argparse
import math
import time

import mayfly
from mayfly_bridges._flight import earth, fleet
from mayfly_bridges._flight.fleet import Autopilot, Fleet, complain
from mayfly_bridges.px4.link import Link
from mayfly_bridges.px4.sensors import Noise, Rates, Sensors

NAME = "px4"
SUMMARY = "PX4's software in the loop flies quadrotors and fixed-wing aircraft (MAVLink, TCP)"

# The curve is the default of THR_MDL_FAC.
PILOT = Autopilot("PX4", rate=250.0, curve=0.0, port=4560, apart=1)
HOME = "47.397742,8.545594,488"  # [deg], [deg], [m]: the usual one of PX4's simulators
MAGNETIC = "0.482,63,3"  # [gauss], [deg], [deg]: about that of Zurich


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the bridge."""
    fleet.add_options(parser, PILOT)
    add = parser.add_argument
    add("--patience", type=float, default=1.0, metavar="S", help="that lock-step waits (1 s)")
    add("--home", default=HOME, metavar="LAT,LON,ALT", help=f"[deg, deg, m] of the origin ({HOME})")
    text = f"strength [gauss], inclination, declination [deg] ({MAGNETIC})"
    add("--magnetic", default=MAGNETIC, metavar="F,I,D", help=text)
    add("--noise", type=float, default=0.0, metavar="FACTOR", help="of the sensors (0: none)")
    add("--seed", type=int, default=1, help="of the noise (1)")


def run(world: mayfly.RemoteWorld, options: argparse.Namespace) -> None:
    """Until the world ends."""
    if not 0 < options.patience <= fleet.PATIENCE:
        raise mayfly.ArgumentError("--patience: expected more than 0 s, at most an hour")
    if not 0 <= options.noise < math.inf or options.seed < 0:
        raise mayfly.ArgumentError("--noise, --seed: expected 0 or more")
    place = home(options.home, options.magnetic)
    robots = Fleet(world, options)
    noise = Noise(options.noise)
    sensors = [
        Sensors(place, Rates(), noise, (options.seed, robot)) for robot in range(robots.count)
    ]
    with robots.open_links(options, PILOT, lambda own: Link(options.listen, own)) as links:
        if options.no_lock_step:
            run_freely(robots, links, sensors)
        else:
            run_in_lock_step(robots, links, sensors, options.patience)


def run_in_lock_step(
    robots: Fleet, links: list[Link], sensors: list[Sensors], patience: float
) -> None:
    """The world waits for the outputs that answer each state. Before PX4's first outputs, while it
    boots, the world keeps real time."""
    for _ in robots.turns():
        due = time.monotonic() + robots.period
        for robot, link in enumerate(links):
            if link.synchronize(robots.check):
                begin(robots, robot, sensors[robot])
            link.send(sensors[robot].messages(robots.sample(robot)))
        for robot, link in enumerate(links):
            wait = patience if link.has_answered else max(0.0, due - time.monotonic())
            if not link.take(wait) and link.has_answered and link.is_connected:
                complain(f"{robots.group.name}[{robot}]: no outputs of PX4 within {wait:g} s")
            robots.command(robot, link.controls)


def run_freely(robots: Fleet, links: list[Link], sensors: list[Sensors]) -> None:
    """States at their rate; the newest outputs act."""
    while True:
        robots.wait()
        for robot, link in enumerate(links):
            if link.synchronize(None):
                begin(robots, robot, sensors[robot])
            link.send(sensors[robot].messages(robots.sample(robot)))
            link.take(0.0)
            robots.command(robot, link.controls)


def begin(robots: Fleet, robot: int, sensors: Sensors) -> None:
    """A PX4 has connected."""
    robots.restart(robot)
    sensors.restart()
    complain(f"{robots.group.name}[{robot}]: PX4 has connected")


def home(place: str, field: str) -> earth.Location:
    """Of --home and --magnetic."""
    latitude, longitude, altitude = numbers("--home", place)
    strength, inclination, declination = numbers("--magnetic", field)
    if not (abs(latitude) < 90 and abs(longitude) <= 180 and -500 <= altitude <= 10000):
        raise mayfly.ArgumentError("--home: expected +-90 deg, +-180 deg, -500 .. 10000 m")
    return earth.Location(
        math.radians(latitude),
        math.radians(longitude),
        altitude,
        earth.magnetic(strength, math.radians(inclination), math.radians(declination)),
    )


def numbers(option: str, text: str) -> tuple[float, float, float]:
    """Three of them, with commas."""
    try:
        first, second, third = (float(part) for part in text.split(","))
    except ValueError as error:
        raise mayfly.ArgumentError(f"{option} {text}: expected three numbers") from error
    if not all(map(math.isfinite, (first, second, third))):
        raise mayfly.ArgumentError(f"{option} {text}: expected finite numbers")
    return first, second, third
