"""The messages that PX4 gets at a time: sensors at their rates, from a true state."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from mayfly_bridges._flight import earth, frames
from mayfly_bridges._flight.earth import Location
from mayfly_bridges._flight.frames import Vector
from mayfly_bridges._flight.sample import Sample
from mayfly_bridges.px4 import mavlink
from mayfly_bridges.px4.mavlink import Message, Value

START = 1_000_000  # [us] PX4's time at its start: 0 would mean that the time is not known
GRAVITY = 9.80665  # [m/s^2] of the unit mG
# Bits of HIL_SENSOR.fields_updated.
ACCELEROMETER, GYRO, MAGNETOMETER = 0b111, 0b111 << 3, 0b111 << 6
PRESSURE, DIFFERENCE, ALTITUDE, TEMPERATURE = 1 << 9, 1 << 10, 1 << 11, 1 << 12


@dataclasses.dataclass(frozen=True)
class Rates:
    """[Hz] of what does not come with every state."""

    magnetometer: float = 100.0
    barometer: float = 50.0
    gps: float = 10.0
    range: float = 50.0
    heartbeat: float = 1.0


@dataclasses.dataclass(frozen=True)
class Noise:
    """Standard deviations of white noise on each sample; the factor 0 switches it off."""

    factor: float = 0.0
    accelerometer: float = 0.05  # [m/s^2]
    gyro: float = 0.002  # [rad/s]
    magnetometer: float = 0.002  # [gauss]
    pressure: float = 0.02  # [hPa]
    difference: float = 0.01  # [hPa]
    level: float = 0.3  # [m] of GPS, north and east
    height: float = 0.5  # [m] of GPS
    velocity: float = 0.05  # [m/s] of GPS


def clip(value: float, bits: int, signed: bool) -> int:
    """The nearest integer of that type."""
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return min(high, max(low, round(value)))


def degrees(angle: float) -> int:
    """1e-7 degrees, as an int32."""
    return clip(1e7 * math.degrees(angle), 32, True)


class Sensors:
    """Of one robot."""

    def __init__(
        self, location: Location, rates: Rates, noise: Noise, seed: tuple[int, int]
    ) -> None:
        """`seed` is that of the noise: the user's, and the robot's number."""
        self._location, self._rates, self._noise = location, rates, noise
        self._seed = seed
        self.restart()

    def restart(self) -> None:
        """PX4 was started: the same noise again, and everything is due."""
        self._random = np.random.default_rng(self._seed)
        self._counts: dict[str, int] = {}

    def messages(self, sample: Sample) -> list[tuple[Message, dict[str, Value]]]:
        """What is due, HIL_SENSOR last: it moves PX4's time."""
        time = START + round(1e6 * sample.time)
        found: list[tuple[Message, dict[str, Value]]] = []
        if self._is_due("heartbeat", sample.time):
            found.append((mavlink.HEARTBEAT, {"autopilot": 8, "mavlink_version": 3}))
        if self._is_due("gps", sample.time):
            found.append((mavlink.HIL_GPS, self._gps(sample, time)))
        if sample.ranges and self._is_due("range", sample.time):
            found.extend(self._ranges(sample, time))
        found.append((mavlink.HIL_STATE_QUATERNION, self._truth(sample, time)))
        found.append((mavlink.HIL_SENSOR, self._sensor(sample, time)))
        return found

    def _is_due(self, name: str, time: float) -> bool:
        count = math.floor(time * float(getattr(self._rates, name)) + 1e-6)
        before = self._counts.get(name)
        self._counts[name] = count
        return count != before

    def _noisy(self, values: Vector, deviation: Vector | float) -> Vector:
        if self._noise.factor == 0:
            return values
        drawn = self._random.standard_normal(values.shape)
        return values + self._noise.factor * deviation * drawn

    def _sensor(self, sample: Sample, time: int) -> dict[str, Value]:
        noise, to_body = self._noise, frames.matrix(sample.attitude).T
        force = self._noisy(sample.force, noise.accelerometer)
        gyro = self._noisy(sample.gyro, noise.gyro)
        values: dict[str, Value] = {"time_usec": time}
        for axis, one, other in zip("xyz", force, gyro):
            values[f"{axis}acc"], values[f"{axis}gyro"] = float(one), float(other)
        updated = ACCELEROMETER | GYRO
        if self._is_due("magnetometer", sample.time):
            updated |= MAGNETOMETER
            field = self._noisy(to_body @ self._location.magnetic, noise.magnetometer)
            for axis, one in zip("xyz", field):
                values[f"{axis}mag"] = float(one)
        if self._is_due("barometer", sample.time):
            updated |= PRESSURE | ALTITUDE | TEMPERATURE
            altitude = self._location.altitude - float(sample.position[2])
            pressure = np.array([earth.pressure(altitude)])
            found = float(self._noisy(pressure, noise.pressure)[0])
            values["abs_pressure"] = found
            values["pressure_alt"] = earth.pressure_altitude(found)
            values["temperature"] = earth.temperature(altitude) - 273.15
            if sample.airspeed is not None:
                updated |= DIFFERENCE
                ram = 0.005 * earth.density(altitude) * sample.airspeed**2  # [hPa]
                values["diff_pressure"] = float(self._noisy(np.array([ram]), noise.difference)[0])
        values["fields_updated"] = updated
        return values

    def _gps(self, sample: Sample, time: int) -> dict[str, Value]:
        noise = self._noise
        deviation = np.array([noise.level, noise.level, noise.height])
        latitude, longitude, altitude = self._location.locate(
            self._noisy(sample.position, deviation)
        )
        velocity = self._noisy(sample.velocity, noise.velocity)
        north, east, down = (100.0 * float(value) for value in velocity)
        course = math.degrees(math.atan2(east, north)) % 360.0
        return {
            "time_usec": time,
            "fix_type": 3,
            "lat": degrees(latitude),
            "lon": degrees(longitude),
            "alt": clip(1000.0 * altitude, 32, True),
            "eph": 100,
            "epv": 100,
            "vel": clip(math.hypot(north, east), 16, False),
            "vn": clip(north, 16, True),
            "ve": clip(east, 16, True),
            "vd": clip(down, 16, True),
            "cog": round(100.0 * course) % 36000,
            "satellites_visible": 10,
        }

    def _truth(self, sample: Sample, time: int) -> dict[str, Value]:
        latitude, longitude, altitude = self._location.locate(sample.position)
        acceleration = frames.matrix(sample.attitude).T @ sample.acceleration / GRAVITY
        values: dict[str, Value] = {
            "time_usec": time,
            "attitude_quaternion": [float(value) for value in sample.attitude],
            "lat": degrees(latitude),
            "lon": degrees(longitude),
            "alt": clip(1000.0 * altitude, 32, True),
        }
        for name, rate in zip(("rollspeed", "pitchspeed", "yawspeed"), sample.gyro):
            values[name] = float(rate)
        for axis, speed, part in zip("xyz", sample.velocity, acceleration):
            values[f"v{axis}"] = clip(100.0 * float(speed), 16, True)
            values[f"{axis}acc"] = clip(1000.0 * float(part), 16, True)
        if sample.airspeed is not None:
            thin = math.sqrt(earth.density(altitude) / earth.density(0.0))
            values["true_airspeed"] = clip(100.0 * sample.airspeed, 16, False)
            values["ind_airspeed"] = clip(100.0 * sample.airspeed * thin, 16, False)
        return values

    def _ranges(self, sample: Sample, time: int) -> list[tuple[Message, dict[str, Value]]]:
        return [
            (
                mavlink.DISTANCE_SENSOR,
                {
                    "time_boot_ms": time // 1000,
                    "min_distance": 1,
                    "max_distance": clip(100.0 * limit, 16, False),
                    "current_distance": clip(100.0 * distance, 16, False),
                    "id": number,
                    "orientation": 25,  # down
                    "signal_quality": 100,
                },
            )
            for number, (distance, limit) in enumerate(zip(sample.ranges, sample.limits))
        ]
