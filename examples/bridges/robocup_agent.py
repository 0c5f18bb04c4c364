"""A small RoboCup 3D agent: it stands, turns its head to the ball and walks behind it to the goal.

Nothing but sockets; it gets up by the gaits of models/gaits/humanoid. It plays Mayfly's humanoid.
With Booster's T1 (`--robot T1`) it stands and looks, also in the league's own server, because both
speak the same:

    mayfly serve scenes/robocup.yaml --allow-bridges
    python examples/bridges/robocup_agent.py --team Reds --number 2
"""

from __future__ import annotations

import argparse
import math
import pathlib
import re
import socket
import struct
from typing import Any

Vector = tuple[float, float]

THIGH = SHIN = 0.093  # [m] of Mayfly's humanoid
HEIGHT, WIDTH, OFFSET = 0.148, 0.043, 0.01  # [m] hips above ankles; feet from the middle; forward
PERIOD, LIFT, SWAY, SWING = 0.72, 0.027, 0.022, 0.305  # [s], [m], [m], share of the period
LEAN = 0.1  # [rad] of the trunk
GAITS = pathlib.Path(__file__).resolve().parents[2] / "models" / "gaits" / "humanoid"
FASTEST, FASTEST_YAW = 0.10, 0.5  # [m/s], [rad/s]
HIP_WIDTH = 0.037  # [m] hips from the middle
T1_STAND = {"lle1": -20, "lle4": 40, "lle5": -20, "rle1": -20, "rle4": 40, "rle5": -20}  # [deg]
T1_ARMS = {"lae2": -75, "rae2": 75}


def parse(text: str) -> list[Any]:
    """Expressions as lists of words and lists."""
    stack: list[list[Any]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", text):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return stack[0]


class Percepts:
    """What the agent knows, from the messages that came."""

    def __init__(self) -> None:
        self.now = 0.0  # [s]
        self.mode = "BeforeKickOff"
        self.teams = {"tl": "", "tr": ""}
        self.score = (0, 0)
        self.joints: dict[str, tuple[float, float]] = {}  # [deg], [deg/s]
        self.position = (0.0, 0.0, 0.0)  # [m]
        self.rotation = (1.0, 0.0, 0.0, 0.0)
        self.ball: tuple[float, float, float] | None = None  # [m], [deg], [deg] from the eyes
        self.seen: dict[str, tuple[float, float, float]] = {}

    def take(self, text: str) -> None:
        """Reads a message."""
        for node in parse(text):
            parts = {part[0]: part[1:] for part in node[1:] if isinstance(part, list)}
            if node[0] == "time":
                self.now = float(parts["now"][0])
            elif node[0] == "GS":
                self.mode = parts["pm"][0]
                self.teams = {key: parts[key][0] for key in ("tl", "tr") if key in parts}
                self.score = (int(parts["sl"][0]), int(parts["sr"][0]))
            elif node[0] == "HJ":
                self.joints[parts["n"][0]] = (float(parts["ax"][0]), float(parts["vx"][0]))
            elif node[0] == "pos":
                self.position = tuple(map(float, parts["p"]))
            elif node[0] == "quat":
                self.rotation = tuple(map(float, parts["q"]))
            elif node[0] == "See":
                seen = {n[0]: n[1][1:] for n in node[1:] if n[1][0] == "pol"}
                self.seen = {name: tuple(map(float, at)) for name, at in seen.items()}
                self.ball = self.seen.get("B")

    def heading(self) -> float:
        """[rad] of the body about the vertical."""
        w, x, y, z = self.rotation
        return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))

    def is_on_front(self) -> bool:
        """Whether the body's x axis points down."""
        w, x, y, z = self.rotation
        return x * z - w * y < 0

    def is_down(self) -> bool:
        """Whether the body lies."""
        return 1 - 2 * (self.rotation[1] ** 2 + self.rotation[2] ** 2) < 0.5


def leg(side: str, x: float, y: float, z: float, yaw: float) -> dict[str, float]:
    """Joint angles [rad] of a leg whose level foot is at x, y, z [m] from its hip."""
    x, z = x * math.cos(LEAN) - z * math.sin(LEAN), x * math.sin(LEAN) + z * math.cos(LEAN)
    x, y = x * math.cos(yaw) + y * math.sin(yaw), -x * math.sin(yaw) + y * math.cos(yaw)
    roll = math.atan2(y, -z)
    down = math.hypot(y, z)
    length = min(math.hypot(x, down), THIGH + SHIN - 1e-6)
    bend = (THIGH**2 + SHIN**2 - length**2) / (2 * THIGH * SHIN)
    knee = math.pi - math.acos(max(-1.0, min(1.0, bend)))
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
    """Joint angles of a walk, at speeds that change gently."""

    def __init__(self) -> None:
        self.phase = 0.0
        self.speed = self.turn = 0.0
        self.strength = 0.0  # of steps: 0 stands

    def step(self, requested: float, target_yaw: float, seconds: float) -> dict[str, float]:
        """Angles [rad] after a time, for a speed [m/s] and a turn [rad/s] to the left."""
        most = seconds * FASTEST
        self.speed += max(-most, min(most, requested - self.speed))
        self.turn += max(-seconds, min(seconds, 0.5 * (target_yaw - self.turn)))
        goes = requested != 0 or target_yaw != 0 or abs(self.speed) > 1e-3
        self.strength += max(-seconds, min(seconds, float(goes) - self.strength))
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
            stance = PERIOD * (1 - SWING)
            yaw = self.turn * stance * progress
            ahead = self.speed * stance * progress
            x = math.cos(yaw) * ahead - math.sin(yaw) * sign * WIDTH + OFFSET
            y = math.sin(yaw) * ahead + math.cos(yaw) * sign * WIDTH + sway - sign * HIP_WIDTH
            angles |= leg(side, x, y, lift - HEIGHT, yaw)
        swing = 0.3 * self.speed / FASTEST * math.cos(2 * math.pi * (self.phase - 0.25))
        angles |= {"left_shoulder_pitch": swing, "right_shoulder_pitch": -swing}
        return angles | {"left_elbow": -0.5, "right_elbow": -0.5, "waist": 0.0}


class GetUp:
    """Joint angles of a gait of keyframes: models/gaits/humanoid/get_up_front.yaml or _back."""

    def __init__(self, is_on_front: bool, joints: dict[str, tuple[float, float]]) -> None:
        text = (GAITS / f"get_up_{'front' if is_on_front else 'back'}.yaml").read_text()
        now = {name: math.radians(angle) for name, (angle, _) in joints.items()}
        self.frames = [(0.0, now)]
        for time, angles in re.findall(r"time: ([\d.]+)\s+angles: \{([^}]*)\}", text):
            now = now | {name: float(a) for name, a in re.findall(r"(\w+): ([-\d.]+)", angles)}
            self.frames.append((float(time), now))
        self.time = 0.0  # [s]

    def step(self, seconds: float) -> dict[str, float] | None:
        """Angles [rad] after a time; None: it is over."""
        self.time += seconds
        for (begin, before), (end, after) in zip(self.frames, self.frames[1:]):
            if self.time < end:
                part = (self.time - begin) / (end - begin)
                return {name: before[name] + part * (after[name] - before[name]) for name in after}
        return None


class Player:
    """Decides what to do from percepts."""

    def __init__(self, robot: str, team: str, number: int, length: float = 9.0) -> None:
        self.robot, self.team, self.number = robot, team, number
        self.length = length  # [m] of the field
        self.percepts = Percepts()
        self.walk = Walk()
        self.head = [0.0, 0.2]  # [rad] yaw, pitch
        self.beamed = ""  # mode in which it was put on its place
        self.before = 0.0
        self.placement = (0.0, 0.0, 0.0)
        self.get_up: GetUp | None = None
        self.down = 0.0  # [s] for which it has been lying

    def act(self, message: str) -> str:
        """The answer to a message."""
        percepts = self.percepts
        percepts.take(message)
        seconds = min(max(percepts.now - self.before, 0.0), 0.1)
        self.before = percepts.now
        answer = ""
        if self.beamed != percepts.mode and percepts.mode in (
            "BeforeKickOff",
            "Goal_Left",
            "Goal_Right",
        ):
            answer = f"(beam {-0.6 - 0.9 * (self.number - 1):.2f} {0.7 * (self.number % 3 - 1)} 0)"
        self.beamed = percepts.mode
        if math.dist(self.placement, percepts.position) > 0.2:  # it was put somewhere else
            self.walk, self.get_up = Walk(), None
        self.placement = percepts.position
        self.look(seconds)
        if self.robot != "humanoid":
            return answer + self.stand_t1()
        return answer + "".join(
            f"({name} {math.degrees(angle):.2f} 0 30 0.6 0)"
            for name, angle in self.move(seconds).items()
        )

    def move(self, seconds: float) -> dict[str, float]:
        """Joint angles [rad] of the humanoid: it gets up, walks or stands."""
        percepts = self.percepts
        self.down = self.down + seconds if percepts.is_down() else 0.0
        if self.down > 1 and self.get_up is None and GAITS.exists():
            self.get_up = GetUp(percepts.is_on_front(), percepts.joints)
        if self.get_up is not None:
            angles = self.get_up.step(seconds)
            if angles is not None:
                return angles
            self.get_up, self.walk = None, Walk()
        speed, turn = self.decide() if percepts.mode == "PlayOn" or self.is_ours() else (0.0, 0.0)
        angles = self.walk.step(speed, turn, seconds)
        angles |= {"neck_yaw": self.head[0], "neck_pitch": self.head[1]}
        return angles | {"left_shoulder_roll": 0.15, "right_shoulder_roll": -0.15}

    def is_ours(self) -> bool:
        """Whether a restart of play is this team's."""
        side = "left" if self.percepts.teams.get("tl") == self.team else "right"
        return self.percepts.mode.lower().endswith(side) and "Goal_" not in self.percepts.mode

    def look(self, seconds: float) -> None:
        """Turns the head to the ball, or to and fro while it is out of sight."""
        ball = self.percepts.ball
        if ball is None:
            self.head = [math.sin(2.0 * self.percepts.now), 0.3]
            return
        self.head[0] += 4.0 * seconds * math.radians(ball[1])
        self.head[1] -= 4.0 * seconds * math.radians(ball[2])
        self.head[0] = max(-1.5, min(1.5, self.head[0]))
        self.head[1] = max(-0.3, min(0.8, self.head[1]))

    def ball_at(self) -> Vector | None:
        """Where the ball is [m] on the field."""
        ball = self.percepts.ball
        if ball is None:
            return None
        direction = self.percepts.heading() + self.head[0] + math.radians(ball[1])
        flat = ball[0] * math.cos(math.radians(ball[2]) - self.head[1])
        x, y, _ = self.percepts.position
        return x + flat * math.cos(direction), y + flat * math.sin(direction)

    def decide(self) -> tuple[float, float]:
        """Speed [m/s] and turn [rad/s]: round the ball, then through it to the goal."""
        ball = self.ball_at()
        if ball is None or self.percepts.is_down():
            return 0.0, 0.0 if self.percepts.is_down() else 0.3
        is_left = self.percepts.teams.get("tl") == self.team
        goal = (0.5 * self.length if is_left else -0.5 * self.length, 0.0)
        x, y, _ = self.percepts.position
        aim = math.atan2(goal[1] - ball[1], goal[0] - ball[0])
        to_ball = math.atan2(ball[1] - y, ball[0] - x)
        if abs(math.remainder(to_ball - aim, math.tau)) > 0.6:
            ball = (ball[0] - 0.35 * math.cos(aim), ball[1] - 0.35 * math.sin(aim))
        bearing = math.atan2(ball[1] - y, ball[0] - x) - self.percepts.heading()
        bearing = math.remainder(bearing, math.tau)
        turn = max(-FASTEST_YAW, min(FASTEST_YAW, 1.5 * bearing))
        return FASTEST * max(0.0, 1 - abs(bearing) / 0.8), turn

    def stand_t1(self) -> str:
        """Booster's T1 stands with bent knees."""
        targets = T1_STAND | T1_ARMS
        targets |= {"he1": math.degrees(self.head[0]), "he2": math.degrees(self.head[1])}
        text = ""
        for limb in ("he", "lae", "rae", "te", "lle", "rle"):
            for number in range(1, {"he": 3, "te": 2, "lae": 5, "rae": 5}.get(limb, 7)):
                name = f"{limb}{number}"
                gains = "150 3" if limb in ("lle", "rle") else "30 1"
                text += f"({name} {targets.get(name, 0):.2f} 0 {gains} 0)"
        return text


def receive(link: socket.socket) -> str:
    """A message; EOFError when the server is gone."""
    data = b""
    size = 4
    while len(data) < size:
        got = link.recv(size - len(data))
        if not got:
            raise EOFError
        data += got
        if len(data) == 4:
            size = 4 + struct.unpack(">I", data)[0]
    return data[4:].decode()


def send(link: socket.socket, text: str) -> None:
    """Sends a message."""
    data = text.encode()
    link.sendall(struct.pack(">I", len(data)) + data)


def main() -> None:
    """Plays until the server ends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=60000)
    parser.add_argument("--team", default="Reds")
    parser.add_argument("--number", type=int, default=2)
    parser.add_argument("--robot", default="humanoid", help="humanoid or T1")
    parser.add_argument("--length", type=float, default=9.0, help="of the field, goal to goal [m]")
    options = parser.parse_args()
    player = Player(options.robot, options.team, options.number, options.length)
    with socket.create_connection((options.host, options.port)) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        send(link, f"(init {options.robot} {options.team} {options.number})")
        try:
            while True:
                send(link, player.act(receive(link)) or "(syn)")
        except (EOFError, ConnectionError):
            print(f"{options.team} {options.number}: the server is gone")


if __name__ == "__main__":
    main()
