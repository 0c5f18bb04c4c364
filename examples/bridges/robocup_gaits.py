"""Gaits of the RoboCup agent for Mayfly's humanoid: a walk, and the keyframes of its gait files."""

from __future__ import annotations

import functools
import math
import pathlib
import re

Angles = dict[str, float]  # [rad] by joint
THIGH = SHIN = 0.093  # [m] of Mayfly's humanoid
HIP_WIDTH = 0.037  # [m] hips from the middle
HEIGHT, WIDTH, OFFSET = 0.148, 0.043, 0.01  # [m] hips above ankles; feet from the middle; forward
PERIOD, LIFT, SWAY, SWING = 0.72, 0.027, 0.022, 0.305  # [s], [m], [m], share of the period
LEAN = 0.1  # [rad] of the trunk
MOST = (0.24, 0.1, 1.0)  # [m/s], [m/s], [rad/s] forward, left, turn: reached in 1 s
GAITS = pathlib.Path(__file__).resolve().parents[2] / "models" / "gaits" / "humanoid"


def clamp(x: float, least: float, most: float) -> float:
    """`x` in a range."""
    return max(least, min(most, x))


def leg(side: str, x: float, y: float, z: float, yaw: float) -> Angles:
    """Joint angles [rad] of a leg whose level foot is at x, y, z [m] from its hip."""
    x, z = x * math.cos(LEAN) - z * math.sin(LEAN), x * math.sin(LEAN) + z * math.cos(LEAN)
    x, y = x * math.cos(yaw) + y * math.sin(yaw), -x * math.sin(yaw) + y * math.cos(yaw)
    roll = math.atan2(y, -z)
    down = math.hypot(y, z)
    length = min(math.hypot(x, down), THIGH + SHIN - 1e-6)
    bend = (THIGH**2 + SHIN**2 - length**2) / (2 * THIGH * SHIN)
    knee = math.pi - math.acos(clamp(bend, -1.0, 1.0))
    hip = -math.atan2(x, down) - math.atan2(SHIN * math.sin(knee), THIGH + SHIN * math.cos(knee))
    return {
        f"{side}_hip_yaw": yaw,
        f"{side}_hip_roll": roll,
        f"{side}_hip_pitch": hip,
        f"{side}_knee": knee,
        f"{side}_ankle_pitch": -LEAN - hip - knee,
        f"{side}_ankle_roll": -roll,
    }


class Walk:
    """Joint angles of walk_agile.yaml, at velocities that change gently."""

    def __init__(self) -> None:
        self.phase = 0.0
        self.pace = [0.0, 0.0, 0.0]  # [m/s] forward, [m/s] left, [rad/s]
        self.strength = 0.0  # of steps: 0 stands

    def step(self, requested: tuple[float, float, float], seconds: float) -> Angles:
        """Angles [rad] after a time, for velocities forward and left [m/s] and a turn [rad/s]."""
        for i, most in enumerate(MOST):
            change = clamp(requested[i], -most, most) - self.pace[i]
            self.pace[i] += clamp(change, -most * seconds, most * seconds)
        goes = any(requested) or any(abs(pace) > 1e-3 for pace in self.pace)
        self.strength += clamp(float(goes) - self.strength, -seconds, seconds)
        if self.strength > 0:
            self.phase = (self.phase + seconds / PERIOD) % 1.0
        sway = self.strength * SWAY * math.cos(2 * math.pi * (self.phase - 0.25))
        angles = {}
        for side, sign, begin in (("left", 1, 0.25), ("right", -1, 0.75)):
            at = (self.phase - begin + 0.5 * SWING) % 1.0  # 0: this foot leaves the ground
            if at < SWING:
                part = at / SWING
                slope = SWING / (1 - SWING)  # of the ground, per swing
                progress = -0.5 - slope * part + (1 + slope) * part * part * (3 - 2 * part)
                lift = 0.5 * LIFT * self.strength * (1 - math.cos(2 * math.pi * part))
            else:
                progress = 0.5 - (at - SWING) / (1 - SWING)
                lift = 0.0
            ahead, aside, yaw = (pace * PERIOD * (1 - SWING) * progress for pace in self.pace)
            aside += sign * WIDTH
            x = math.cos(yaw) * ahead - math.sin(yaw) * aside + OFFSET
            y = math.sin(yaw) * ahead + math.cos(yaw) * aside + sway - sign * HIP_WIDTH
            angles |= leg(side, x, y, lift - HEIGHT, yaw)
        swing = 0.3 * self.pace[0] / MOST[0] * math.cos(2 * math.pi * (self.phase - 0.25))
        angles |= {"left_shoulder_pitch": swing, "right_shoulder_pitch": -swing}
        angles |= {"left_shoulder_roll": 0.15, "right_shoulder_roll": -0.15}
        return angles | {"left_elbow": -0.5, "right_elbow": -0.5, "waist": 0.0}


def mirrored(angles: Angles) -> Angles:
    """Angles with left and right exchanged: turns about the forward and the upward axis change
    their sign."""
    found = {}
    for name, angle in angles.items():
        side = {"left": "right_", "right": "left_"}.get(name.partition("_")[0], "")
        turns = name.endswith(("yaw", "roll", "waist"))
        found[side + name.partition("_")[2] if side else name] = -angle if turns else angle
    return found


@functools.cache
def frames_of(name: str) -> list[tuple[float, Angles]]:
    """Times [s] and angles of a file of keyframes; a frame has all joints of those before it."""
    text = (GAITS / f"{name}.yaml").read_text()
    mirror = re.search(r"mirror_of: (\w+)\.yaml", text)
    if mirror:
        return [(time, mirrored(angles)) for time, angles in frames_of(mirror[1])]
    frames, now = [], {}
    for time, angles in re.findall(r"time: ([\d.]+)\s+angles: \{([^}]*)\}", text):
        now = now | {name: float(a) for name, a in re.findall(r"(\w+): ([-\d.]+)", angles)}
        frames.append((float(time), now))
    return frames


class Move:
    """Joint angles of keyframes, cubic between them without overshoot (Fritsch, Butland 1984)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.frames = frames_of(name)
        self.time = 0.0  # [s]

    def step(self, seconds: float) -> Angles | None:
        """Angles [rad] after a time; None: it is over."""
        self.time += seconds
        frames = self.frames
        if self.time >= frames[-1][0]:
            return None
        if self.time <= frames[0][0]:
            return frames[0][1]
        f = next(i for i in range(len(frames) - 1) if self.time < frames[i + 1][0])
        (begin, before), (end, after) = frames[f : f + 2]
        length = end - begin
        u = (self.time - begin) / length
        angles = {}
        for joint, start in before.items():
            rise = after[joint] - start
            first, last = length * self._slope(f, joint), length * self._slope(f + 1, joint)
            rest = 3 * rise - 2 * first - last + u * (first + last - 2 * rise)
            angles[joint] = start + u * (first + u * rest)
        return angles

    def _slope(self, f: int, joint: str) -> float:
        """[rad/s] at a frame: the weighted harmonic mean of those on both sides."""
        if not 0 < f < len(self.frames) - 1:
            return 0.0
        (t0, a0), (t1, a1), (t2, a2) = self.frames[f - 1 : f + 2]
        one, two = (a1[joint] - a0[joint]) / (t1 - t0), (a2[joint] - a1[joint]) / (t2 - t1)
        if one * two <= 0:
            return 0.0
        weight = (t1 - t0 + 2 * (t2 - t1)) / (3 * (t2 - t0))
        return one * two / (weight * two + (1 - weight) * one)
