"""A place on the Earth: position, air and magnetic field for sensors that need them.

Position: azimuthal equidistant projection about home on a sphere. Air: the lower layer of the ICAO
standard atmosphere. Magnetic field: the same everywhere.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from mayfly_bridges._flight.frames import Vector

RADIUS = 6371000.0  # [m]
SEA_PRESSURE, SEA_TEMPERATURE = 1013.25, 288.15  # [hPa], [K]
LAPSE = 0.0065  # [K/m]
EXPONENT = 5.25588  # g M / (R LAPSE)
GAS = 287.053  # [J/(kg K)]


@dataclasses.dataclass(frozen=True)
class Location:
    """Home: what lies at the origin of the world."""

    latitude: float  # [rad]
    longitude: float  # [rad]
    altitude: float  # [m] above the sea, at z = 0
    magnetic: Vector  # [gauss] north, east, down

    def locate(self, position: Vector) -> tuple[float, float, float]:
        """Latitude [rad], longitude [rad] and altitude [m] of a place north, east, down [m]."""
        north, east, down = (float(value) for value in position)
        distance = math.hypot(north, east)
        angle = distance / RADIUS
        if distance == 0:
            return self.latitude, self.longitude, self.altitude - down
        sine, cosine = math.sin(self.latitude), math.cos(self.latitude)
        latitude = math.asin(math.cos(angle) * sine + north / distance * math.sin(angle) * cosine)
        longitude = self.longitude + math.atan2(
            east * math.sin(angle),
            distance * cosine * math.cos(angle) - north * sine * math.sin(angle),
        )
        return latitude, math.remainder(longitude, 2 * math.pi), self.altitude - down


def magnetic(strength: float, inclination: float, declination: float) -> Vector:
    """North, east, down from a strength and two angles [rad]: down from level, east from north."""
    level = strength * math.cos(inclination)
    return np.array(
        [
            level * math.cos(declination),
            level * math.sin(declination),
            strength * math.sin(inclination),
        ]
    )


def temperature(altitude: float) -> float:
    """[K] at an altitude [m] above the sea."""
    return SEA_TEMPERATURE - LAPSE * altitude


def pressure(altitude: float) -> float:
    """[hPa] at an altitude [m] above the sea, below 11 km."""
    return SEA_PRESSURE * float((temperature(altitude) / SEA_TEMPERATURE) ** EXPONENT)


def pressure_altitude(hectopascals: float) -> float:
    """[m] above the sea at which the air has that pressure."""
    ratio = float((hectopascals / SEA_PRESSURE) ** (1 / EXPONENT))
    return SEA_TEMPERATURE / LAPSE * (1.0 - ratio)


def density(altitude: float) -> float:
    """[kg/m^3] at an altitude [m] above the sea."""
    return 100.0 * pressure(altitude) / (GAS * temperature(altitude))
