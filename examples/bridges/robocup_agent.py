"""A RoboCup 3D agent: its players shoot at the other goal and keep their own.

Nothing but sockets. Its tactics are those of scenes/soccer.lua, from what each player sees, feels
and hears alone; its gaits are those of models/gaits/humanoid. It plays Mayfly's humanoid. With
Booster's T1 (`--robot T1`) it stands and looks, also in the league's own server, because both speak
the same:

    mayfly serve scenes/robocup.yaml --allow-bridges
    python examples/bridges/robocup_agent.py --team Reds --number 1 2 3 4
"""

from __future__ import annotations

import argparse
import base64
import math
import re
import select
import socket
import struct
import zlib
from typing import Any

from robocup_gaits import GAITS, Angles, Move, Walk, clamp

Vector = tuple[float, float]

WAIST, CHEST, NECK, EYE = 0.02, 0.125, 0.02, (0.045, 0.055)  # [m] from the base to the eyes
BLEND, SETTLE, REST = 0.4, 0.4, 0.4  # [s] between gaits; of standing before a shot, and after
T1_STAND = {"lle1": -20, "lle4": 40, "lle5": -20, "rle1": -20, "rle4": 40, "rle5": -20}  # [deg]
T1_ARMS = {"lae2": -75, "rae2": 75}

# Tactics, as in scenes/soccer.lua. Players see the field with the own goal at -x.
GOAL, RADIUS, CIRCLE = 2.6, 0.07, 0.75  # [m] between the posts, of the ball, that others keep
FORWARD, LEFT, YAW = 0.21, 0.085, 1.0  # [m/s], [m/s], [rad/s] most that is walked
SHARED = 1.1  # [1] most sum of the parts of these that are walked at once: beyond, it falls
SMOOTH = 0.25  # [s] in which commands change
REACH, SLOWS = 5.0, 0.17  # [m] that a shot rolls, [m/s^2] that slow the ball
LANE = 0.28  # [m] to a robot beside the way of a shot
NEAR, FAR, ASIDE = 0.13, 0.18, 0.055  # [m] where the ball lies for a shot, from the base
BESIDE = 0.025  # [m] beside the middle, where it is best
OUTWARD = 0.08  # [rad] by which a ball leaves towards the other foot
STANCE, ROUND = 0.16, 0.34  # [m] to the ball before a shot, and on the way round it
SPACING = 0.75  # [m] that robots keep from each other; a striker from its own team: 0.4
POST = 0.35  # [m] from posts of goals
GUARD = 1.0  # [m] from the ball while the other team has the right of way
KEEPER = 0.4  # [m] from the goal line
WORDS = struct.Struct(">BBbbbbBH")  # of a message to the mates
FORGET = 3.0  # [s] for which others are remembered
# Starts (x, y [m], heading [deg]) by number: of the team that kicks off, whose player 2 passes to
# player 3, of a player that has no mates, and of the other team. The keeper is in the goal.
KICK_OFF = ((0.0, 0.0, 0), (-0.004, -0.196, 83), (-0.05, 1.18, 0), (-1.5, -1.2, 0))
ALONE = (-0.4, 0.0, 0)
WAITING = ((0.0, 0.0, 0), (-1.3, 0.0, 0), (-2.0, 1.2, 0), (-2.0, -1.2, 0))


def wrap(angle: float) -> float:
    """An angle [rad] in -pi .. pi."""
    return math.remainder(angle, math.tau)


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


# ---- what a player knows -------------------------------------------------------------------------


class Percepts:
    """What the agent knows, from the messages that came."""

    def __init__(self) -> None:
        self.now = 0.0  # [s]
        self.play_time = 0.0  # [s]
        self.mode = "BeforeKickOff"
        self.teams = {"tl": "", "tr": ""}
        self.score = (0, 0)
        self.joints: dict[str, tuple[float, float]] = {}  # [deg], [deg/s]
        self.position = (0.0, 0.0, 0.0)  # [m]
        self.rotation = (1.0, 0.0, 0.0, 0.0)
        self.ball: tuple[float, float, float] | None = None  # [m], [deg], [deg] from the eyes
        self.seen: dict[str, tuple[float, float, float]] = {}
        self.players: dict[tuple[str, int], tuple[float, float, float]] = {}  # as the ball
        self.heard: list[bytes] = []
        self.is_looking = False  # the message had a picture

    def take(self, text: str) -> None:
        """Reads a message."""
        self.heard, self.is_looking = [], False
        for node in parse(text):
            parts = {part[0]: part[1:] for part in node[1:] if isinstance(part, list)}
            if node[0] == "time":
                self.now = float(parts["now"][0])
            elif node[0] == "GS":
                self.mode, self.play_time = parts["pm"][0], float(parts["t"][0])
                self.teams = {key: parts[key][0] for key in ("tl", "tr") if key in parts}
                self.score = (int(parts["sl"][0]), int(parts["sr"][0]))
            elif node[0] == "HJ":
                self.joints[parts["n"][0]] = (float(parts["ax"][0]), float(parts["vx"][0]))
            elif node[0] == "pos":
                self.position = tuple(map(float, parts["p"]))
            elif node[0] == "quat":
                self.rotation = tuple(map(float, parts["q"]))
            elif node[0] == "MIC":
                self.heard = [base64.b64decode(part[1]) for part in node[2:]]
            elif node[0] == "See":
                self._see(node[1:])

    def _see(self, nodes: list[Any]) -> None:
        def polar(node: Any) -> tuple[float, float, float]:
            return float(node[1]), float(node[2]), float(node[3])

        self.is_looking = True
        self.seen = {n[0]: polar(n[1]) for n in nodes if n[1][0] == "pol"}
        self.ball = self.seen.get("B")
        self.players = {  # by the first of their marks, the head where it is seen
            (n[1][1], int(n[2][1])): polar(n[3][1]) for n in nodes if n[0] == "P" and len(n) > 3
        }

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
        return 1 - 2 * (self.rotation[1] ** 2 + self.rotation[2] ** 2) < 0.6

    def point(self, polar: tuple[float, float, float], height: float | None = None) -> Vector:
        """Where [m] on the field something is that the eyes see. `height`: of its middle, which
        places what is near more exactly than distances of whole centimeters."""
        far, azimuth, elevation = polar[0] + 0.005, math.radians(polar[1]), math.radians(polar[2])
        level = far * math.cos(elevation)
        eye = self._from_eyes(0.0, 0.0, 0.0)
        at = self._from_eyes(
            level * math.cos(azimuth), level * math.sin(azimuth), far * math.sin(elevation)
        )
        part, fall = 1.0, eye[2] - at[2]
        if height is not None and fall > 0.35 * far:
            part = (eye[2] - height) / fall
        return eye[0] + part * (at[0] - eye[0]), eye[1] + part * (at[1] - eye[1])

    def _from_eyes(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        """A point in the axes of the eyes in those of the world [m]."""

        def angle(name: str) -> float:
            return math.radians(self.joints.get(name, (0.0, 0.0))[0])

        x, z = x + EYE[0], z + EYE[1]
        s, c = math.sin(angle("neck_pitch")), math.cos(angle("neck_pitch"))
        x, z = x * c + z * s, z * c - x * s
        s, c = (f(angle("neck_yaw") + angle("waist")) for f in (math.sin, math.cos))
        x, y, z = x * c - y * s, x * s + y * c, z + NECK + CHEST + WAIST
        w, i, j, k = self.rotation
        a, b, d = 2 * (j * z - k * y), 2 * (k * x - i * z), 2 * (i * y - j * x)
        at = self.position
        return (
            at[0] + x + w * a + j * d - k * b,
            at[1] + y + w * b + k * a - i * d,
            at[2] + z + w * d + i * b - j * a,
        )


# ---- what a player remembers ---------------------------------------------------------------------


class Other:
    """Another player: where it was last seen or said to be, on the field as this player sees it."""

    def __init__(self, x: float, y: float, when: float) -> None:
        self.x, self.y, self.when = x, y, when  # [m], [m], [s]
        self.time = math.inf  # [s] until it can shoot, as it said


class Memory:
    """The ball and the other players, on a field whose own goal is at -x."""

    def __init__(self, team: str, number: int, scale: float) -> None:
        self.team, self.number = team, number
        self.scale = scale  # [m] largest coordinate in messages
        self.side = 1.0  # -1: the right team, which sees the field rotated by 180 degrees
        self.x = self.y = self.heading = 0.0  # [m], [m], [rad] of this player
        self.ball: Vector | None = None
        self.velocity = (0.0, 0.0)  # [m/s] of the ball
        self.ball_when = -math.inf  # [s] when it was seen
        self._balls: list[tuple[float, float, float]] = []  # [s], [m], [m]
        self.mates: dict[int, Other] = {}
        self.others: dict[int, Other] = {}

    def update(self, percepts: Percepts) -> None:
        """Takes what has just been perceived."""
        side = 1.0 if percepts.teams.get("tl") == self.team else -1.0
        if side != self.side:
            self.ball, self._balls = None, []
            self.mates, self.others = {}, {}
        self.side = side
        self.x, self.y = side * percepts.position[0], side * percepts.position[1]
        self.heading = wrap(percepts.heading() + (math.pi if side < 0 else 0.0))
        if percepts.is_looking:
            self._look(percepts)
        for message in percepts.heard:
            self._hear(message, percepts.now)
        for known in (self.mates, self.others):
            for number in [n for n, one in known.items() if percepts.now - one.when > FORGET]:
                del known[number]

    def _look(self, percepts: Percepts) -> None:
        now, side = percepts.now, self.side
        for (team, number), polar in percepts.players.items():
            x, y = percepts.point(polar)
            known = self.mates if team == self.team else self.others
            one = known.setdefault(number, Other(0.0, 0.0, 0.0))
            one.x, one.y, one.when = side * x, side * y, now
        if percepts.ball is None:
            return
        x, y = percepts.point(percepts.ball, RADIUS)
        x, y = side * x, side * y
        if self.ball is not None and math.dist(self.ball, (x, y)) > 0.3 + 4 * (
            now - self.ball_when
        ):
            self._balls = []  # it was put somewhere else
        self._balls = [one for one in self._balls if now - one[0] < 0.3] + [(now, x, y)]
        then, past_x, past_y = self._balls[0]
        passed = max(0.1, now - then)
        self.velocity = ((x - past_x) / passed, (y - past_y) / passed)
        self.ball, self.ball_when = (x, y), now

    def words(self, now: float, time: float) -> str:
        """A message to the mates: who is where, can shoot after which time [s], and saw the ball
        when and where."""
        places = [part / self.scale * 127 for part in (self.x, self.y, *(self.ball or (0, 0)))]
        numbers = [round(clamp(part, -127, 127)) for part in places]
        since = round(clamp(10 * (now - self.ball_when), 0, 255))
        tenths = round(clamp(10 * time, 0, 65535))
        team = zlib.crc32(self.team.encode()) & 255
        text = base64.b64encode(WORDS.pack(team, self.number, *numbers, since, tenths))
        return f"(SPK say 100 {text.decode()})"

    def _hear(self, message: bytes, now: float) -> None:
        if len(message) != WORDS.size or message[0] != zlib.crc32(self.team.encode()) & 255:
            return
        _, number, *numbers, since, tenths = WORDS.unpack(message)
        if number == self.number:
            return
        places = [self.scale * part / 127 for part in numbers]
        one = self.mates.setdefault(number, Other(0.0, 0.0, 0.0))
        one.x, one.y, one.when, one.time = places[0], places[1], now, tenths / 10
        if since < 255 and now - since / 10 > self.ball_when + 0.3:  # it has seen it later
            self.ball, self.velocity = (places[2], places[3]), (0.0, 0.0)
            self.ball_when, self._balls = now - since / 10, []

    def rest_of_ball(self) -> Vector | None:
        """Where [m] the ball comes to rest, if nobody touches it."""
        if self.ball is None:
            return None
        speed = math.hypot(*self.velocity)
        time = speed / (2 * SLOWS) if speed > 0.1 else 0.0
        x, y = (at + time * v for at, v in zip(self.ball, self.velocity))
        return clamp(x, -self.scale, self.scale), clamp(y, -self.scale, self.scale)

    def everybody(self) -> list[Other]:
        """All others that are known."""
        return [*self.mates.values(), *self.others.values()]


# ---- what a player does --------------------------------------------------------------------------


class Player:
    """Decides what to do from percepts."""

    def __init__(self, robot: str, team: str, number: int, length: float = 9.0) -> None:
        self.robot, self.team, self.number = robot, team, number
        self.goal = 0.5 * length  # [m] x of the other goal
        self.percepts = Percepts()
        self.memory = Memory(team, number, 0.6 * length)
        self.head = [0.0, 0.2]  # [rad] yaw, pitch
        self.before = self.mode_since = 0.0  # [s]
        self.mode = ""
        self.first_side = ""  # of the field, which this team had at first
        self.start: tuple[float, float, float] | None = None  # where it was put
        self.placement = (0.0, 0.0, 0.0)
        self.walk = Walk()
        self.move: Move | None = None
        self.doing, self.since = "stand", 0.0  # gait, and from when on [s]
        self.command = [0.0, 0.0, 0.0]  # forward [m/s], left [m/s], turn [rad/s]
        self.targets: Angles = {}
        self.blend_from: Angles = {}
        self.rests = 0.0  # [s] until then it stands still after a move
        self.down = 0.0  # [s] for which it has been lying
        self.falls = self.shots = 0
        self.travels = self.is_striker = False
        self.came = 0.0  # [s] to the ball
        self.foot = 1  # that shoots: 1 left, -1 right
        self.way = 0  # round the ball: 1 counterclockwise
        self.aim, self.time = 0.0, math.inf  # [rad] of the next shot, [s] until then
        self.far = math.inf  # [m] to the ball
        self.decided = -1.0  # [s]
        self.passes = False  # it stands where it kicks off
        self.kicked = -math.inf  # [s] when it restarted play: another one must touch the ball next

    def __str__(self) -> str:
        """How the match ended, for people."""
        own, theirs = self.percepts.score[:: int(self.memory.side)]
        return (
            f"{self.team} {self.number}: {own} : {theirs} after {self.percepts.play_time:.0f} s, "
            f"{self.shots} shots, {self.falls} falls"
        )

    def act(self, message: str) -> str:
        """The answer to a message."""
        percepts = self.percepts
        percepts.take(message)
        now = percepts.now
        seconds = clamp(now - self.before, 0.0, 0.1)
        self.before = now
        self.memory.update(percepts)
        answer = self.note_mode()
        if math.dist(self.placement, percepts.position) > 0.2:  # it was put somewhere else
            self.walk, self.move, self.doing, self.since = Walk(), None, "stand", now - 1
            self.targets, self.blend_from = {}, {}
        self.placement = percepts.position
        self.look(seconds)
        if self.robot != "humanoid":
            return answer + self.stand_t1()
        # One after the other, as at most three are heard in a cycle.
        if round(50 * now) % 16 == (2 * self.number + (self.memory.side < 0)) % 16:
            answer += self.memory.words(now, self.time)
        was_down, is_down = self.down > 0, percepts.is_down()
        self.down = self.down + seconds if is_down else 0.0
        self.falls += is_down and not was_down
        self.decide()
        self.targets = self.step(seconds)
        return answer + "".join(
            f"({name} {math.degrees(angle):.2f} 0 30 0.6 0)" for name, angle in self.targets.items()
        )

    def note_mode(self) -> str:
        """Notes a new play mode; the text that puts the player on its start, if there is one."""
        percepts, mode = self.percepts, self.percepts.mode
        side = "left" if percepts.teams.get("tl") == self.team else "right"
        self.first_side = self.first_side or side
        if self.mode != mode:
            if mode == "PlayOn" and self.is_ours(self.mode) and self.move is not None:
                self.kicked = percepts.now
            elif mode != "PlayOn":
                self.kicked = -math.inf
            self.passes = mode.startswith("KickOff") and self.start == KICK_OFF[1]
            self.mode, self.mode_since, self.start = mode, percepts.now, None
        if mode == "BeforeKickOff":  # the left team begins, the others after the first half
            is_second = percepts.play_time > 0 and side == self.first_side
            is_ours = (side == "left") != is_second
        elif mode.startswith("Goal_"):
            is_ours = not mode.lower().endswith(side)
        else:
            return ""
        starts, index = KICK_OFF if is_ours else WAITING, self.number - 1
        start = starts[index] if index < len(starts) else (-3.0, 0.7 * (index - 5), 0)
        if index == 0:
            start = (KEEPER - self.goal, 0.0, 0)
        if self.robot != "humanoid":
            start = (-0.6 - 0.9 * index, 0.7 * (self.number % 3 - 1), 0)
        elif not self.memory.mates and percepts.now - self.mode_since > 1:  # it is alone
            start = ALONE if is_ours else WAITING[1]
        if start == self.start:
            return ""
        self.start = start
        # The league rotates x and the heading for the right team, but not y.
        return f"(beam {start[0]} {self.memory.side * start[1]} {start[2]})"

    def is_ours(self, mode: str) -> bool:
        """Whether a restart of play is this team's."""
        side = "left" if self.memory.side > 0 else "right"
        return mode.lower().endswith(side) and "Goal_" not in mode

    # ---- moves ---------------------------------------------------------------------------------

    def follow(self, gait: str, *command: float) -> None:
        """Follows a gait; for `walk` velocities forward and left [m/s] and a turn [rad/s]."""
        if self.doing != gait:
            self.doing, self.since, self.blend_from = gait, self.percepts.now, self.targets
            self.move = None if gait in ("walk", "stand") else Move(gait)
            if gait == "walk":
                self.walk = Walk()
        part = 0.02 / SMOOTH
        for i in range(3):
            old = self.command[i]
            self.command[i] = old + part * (command[i] - old) if command else 0.0

    def step(self, seconds: float) -> Angles:
        """Joint angles [rad] after a time."""
        if self.move is not None:
            angles = self.move.step(seconds)
            if angles is None:  # over
                self.follow("stand")
                self.rests = self.percepts.now + REST
        if self.move is None:
            walks = self.doing == "walk"
            goes = (self.command[0], self.command[1], self.command[2]) if walks else (0.0, 0.0, 0.0)
            angles = (self.walk if walks else Walk()).step(goes, seconds)
            angles |= {"neck_yaw": self.head[0], "neck_pitch": self.head[1]}
        assert angles is not None
        blend = 0.6 if self.move is not None else BLEND
        part = (self.percepts.now - self.since) / blend
        if part < 1:
            part *= part * (3 - 2 * part)
            start = angles | self.blend_from
            angles = {name: start[name] + part * (a - start[name]) for name, a in angles.items()}
        return self.targets | angles

    def keep_apart(self, x: float, y: float) -> Vector:
        """A velocity [m/s] that leads away from robots and posts that are too near."""
        me = self.memory
        near = [(o.x, o.y, 0.4 if self.is_striker else SPACING) for o in me.mates.values()]
        near += [(o.x, o.y, SPACING) for o in me.others.values()]
        near += [(u * self.goal, v * GOAL / 2, POST) for u in (-1, 1) for v in (-1, 1)]
        for ax, ay, least in near:
            ax, ay = me.x - ax, me.y - ay
            far = math.hypot(ax, ay)
            if 0 < far < least:
                ax, ay = ax / far, ay / far
                away = max(0.0, -(x * ax + y * ay)) + 2 * FORWARD * (1 - far / least)
                x, y = x + away * ax, y + away * ay
        return x, y

    def walk_to(self, x: float, y: float, heading: float, exact: bool = False) -> None:
        """To a point [m], where it faces `heading` [rad]; `exact`: it does not stand before."""
        me = self.memory
        x, y = x - me.x, y - me.y
        far, stands = math.hypot(x, y), self.doing == "stand"
        pace = min(2.0, FORWARD / far) if far > 0 else 0.0
        vx, vy = self.keep_apart(pace * x, pace * y)
        near = min((math.dist((o.x, o.y), (me.x, me.y)) for o in me.everybody()), default=9.0)
        self.travels = far > (0.3 if self.travels else 0.45) and near > 0.5  # facing the way
        angle = wrap((math.atan2(vy, vx) if self.travels else heading) - me.heading)
        if not exact and far < (0.2 if stands else 0.06) and abs(angle) < (0.4 if stands else 0.15):
            self.follow("stand")
            return
        s, c = math.sin(me.heading), math.cos(me.heading)
        forward, left = vx * c + vy * s, vy * c - vx * s
        if self.travels and abs(angle) > 0.7:  # turns first
            forward = left = 0.0
        yaw = 0.7 * clamp(angle, -YAW, YAW)
        rest = SHARED - 0.85 * abs(yaw) / YAW
        over = max(1.0, (abs(forward) / FORWARD + abs(left) / LEFT) / rest)
        self.follow("walk", forward / over, left / over, yaw)

    def look(self, seconds: float) -> None:
        """Turns the head to the ball, or to and fro while it is out of sight."""
        ball = self.percepts.ball
        if ball is None:
            self.head = [math.sin(2.0 * self.percepts.now), 0.3]
            return
        self.head[0] += 4.0 * seconds * math.radians(ball[1])
        self.head[1] -= 4.0 * seconds * math.radians(ball[2])
        self.head[0] = clamp(self.head[0], -1.5, 1.5)
        self.head[1] = clamp(self.head[1], -0.3, 0.8)

    # ---- the striker ---------------------------------------------------------------------------

    def cost_of(self, angle: float, ball: Vector) -> float:
        """[m] from the goal after a shot in a direction, more behind robots and for turns; less
        than 0: a goal."""
        s, c = math.sin(angle), math.cos(angle)
        far = (self.goal - ball[0]) / c if c > 0.01 else math.inf
        cost = -1.0
        if far > REACH or abs(ball[1] + far * s) > 0.5 * GOAL - 0.15 - 0.05 * far:
            far = REACH
            x, y = ball[0] + far * c, ball[1] + far * s
            cost = math.hypot(self.goal - x, y)
            cost += 2 * max(0.0, abs(x) - self.goal + 0.3)
            cost += 2 * max(0.0, abs(y) - self.goal * 2 / 3 + 0.3)
        for other in self.memory.everybody():
            x, y = other.x - ball[0], other.y - ball[1]
            ahead, aside = x * c + y * s, abs(y * c - x * s)
            if 0 < ahead < far and aside < LANE:
                cost += 2 - aside / LANE
        return cost + 0.6 * abs(wrap(angle - self.memory.heading))

    def choose(self, ball: Vector) -> None:
        """The best shot, within 70 degrees of the direction to the goal, and who is striker."""
        me, now = self.memory, self.percepts.now
        to_goal = math.atan2(-ball[1], self.goal - ball[0])
        angles = [to_goal + i * math.pi / 36 for i in range(-15, 16)]
        costs = [self.cost_of(angle, ball) for angle in angles]
        # With those beside it, as shots are not exact.
        best = min(range(1, 30), key=lambda i: costs[i - 1] + costs[i] + costs[i + 1])
        self.aim = angles[best]
        x, y = ball[0] - ROUND * math.cos(self.aim), ball[1] - ROUND * math.sin(self.aim)
        self.time = math.dist((x, y), (me.x, me.y)) / FORWARD
        if self.far < 0.6:
            self.time += abs(self.round_of(ball)) * ROUND / LEFT
        self.time += abs(wrap(self.aim - me.heading)) / YAW + (15.0 if self.down > 0 else 0.0)
        if now - self.kicked < 30 and me.mates:  # not twice
            near = [o for o in me.everybody() if math.dist((o.x, o.y), ball) < 0.25]
            self.time += 0 if near else 60
            self.kicked = -math.inf if near else self.kicked
        if self.number == 1 and self.far > 1.5:
            self.time += 100
        others = [other.time for other in me.mates.values()]
        self.is_striker = self.time - (2 if self.is_striker else 0) < min(others, default=math.inf)

    def is_as_good(self, angle: float, ball: Vector) -> bool:
        """Whether a shot in a direction is about as good as the best one."""
        return self.cost_of(angle, ball) < self.cost_of(self.aim, ball) + 0.3

    def round_of(self, ball: Vector) -> float:
        """Angle [rad] from the robot round the ball to the place behind it."""
        me = self.memory
        return wrap(self.aim + math.pi - math.atan2(me.y - ball[1], me.x - ball[0]))

    def attack(self, ball: Vector) -> None:
        """Round the ball until it lies between the feet and the goal; stands, and shoots."""
        me = self.memory
        s, c = math.sin(me.heading), math.cos(me.heading)
        x, y = ball[0] - me.x, ball[1] - me.y
        ahead, aside = x * c + y * s, y * c - x * s
        if abs(aside) > 0.03:
            self.foot = 1 if aside > 0 else -1
        heading = self.aim + self.foot * OUTWARD
        turn = abs(wrap(heading - me.heading))
        if self.far > 0.3:
            self.came = self.percepts.now
        # It becomes less exact when it stands already, or takes long.
        stands = self.doing == "stand"
        slack = 0.012 * stands + min(0.02, 0.004 * (self.percepts.now - self.came))
        if (
            NEAR - slack < ahead < FAR + slack
            and -slack < self.foot * aside < ASIDE + slack
            and math.hypot(*me.velocity) < 0.15
            and (
                turn < 0.1 + 6 * slack
                or (turn < 0.5 and self.is_as_good(me.heading - self.foot * OUTWARD, ball))
            )
        ):
            if not stands:
                self.follow("stand")
            elif self.percepts.now - self.since > SETTLE:
                self.shots += 1
                self.follow("shoot_left" if self.foot > 0 else "shoot_right")
            return
        way = self.round_of(ball)
        if abs(way) < 2:  # on the far side it stays with the way that it has taken
            self.way = 1 if way > 0 else -1
        elif way * self.way < 0:
            way += math.tau * self.way
        at, radius = self.aim + math.pi, ROUND
        if abs(way) > 0.3:
            at += clamp(way, -0.9, 0.9) - way
        elif turn < 0.35:
            radius = STANCE
        x, y = ball[0] + radius * math.cos(at), ball[1] + radius * math.sin(at)
        if radius == STANCE:
            x, y = x + BESIDE * self.foot * s, y - BESIDE * self.foot * c
        self.walk_to(x, y, heading, True)

    # ---- the others ----------------------------------------------------------------------------

    def guard(self, ball: Vector, distance: float) -> None:
        """Between the ball and the own goal, at a distance [m] from the ball."""
        x, y = -self.goal - ball[0], -ball[1]
        part = min(0.8, distance / max(0.1, math.hypot(x, y)))
        self.walk_to(ball[0] + part * x, ball[1] + part * y, self.to_ball(ball))

    def to_ball(self, ball: Vector) -> float:
        """[rad] direction of the ball."""
        return math.atan2(ball[1] - self.memory.y, ball[0] - self.memory.x)

    def support(self, ball: Vector) -> None:
        """One player stays between the ball and the own goal, one where the ball will go."""
        me = self.memory
        field = [(o.x, n) for n, o in me.mates.items() if n != 1 and o.time > self.time - 1]
        if all((me.x, self.number) <= one for one in field):
            self.walk_to(0.45 * ball[0] - 0.55 * self.goal, 0.45 * ball[1], self.to_ball(ball))
        else:
            y = -0.8 if ball[1] > 0 else 0.8
            self.walk_to(clamp(ball[0] + 3, -3, 3), y, self.to_ball(ball))

    def rival(self, ball: Vector) -> bool:
        """Whether a player of the other team is near and has the right of way."""
        me = self.memory

        def time(x: float, y: float, goal: float) -> float:
            aim = math.atan2(-ball[1], goal - ball[0])
            far = math.dist(
                (x, y), (ball[0] - ROUND * math.cos(aim), ball[1] - ROUND * math.sin(aim))
            )
            return far / FORWARD

        own = time(me.x, me.y, self.goal) + (15 if self.down > 0 else 0)
        return any(
            time(o.x, o.y, -self.goal) < own and math.dist((o.x, o.y), ball) < 0.9
            for o in me.others.values()
        )

    def decide(self) -> None:
        """Chooses a gait and its command."""
        me, now, mode = self.memory, self.percepts.now, self.percepts.mode
        ball = me.rest_of_ball()
        if self.move is not None or (now < self.rests and self.down == 0):
            return
        if self.down > 0:
            if self.down > 1 and GAITS.exists():
                self.follow("get_up_front" if self.percepts.is_on_front() else "get_up_back")
            return
        if ball is not None and now >= self.decided + 0.1:
            self.decided, self.far = now, math.dist(ball, (me.x, me.y))
            self.choose(ball)
        plays = mode == "PlayOn" or self.is_ours(mode)
        if mode in ("BeforeKickOff", "GameOver") or mode.startswith("Goal_"):
            self.follow("stand")
        elif ball is None or now - me.ball_when > 5:
            self.follow("walk", 0.0, 0.0, 0.5)
        elif not plays:
            self.stay_away(ball)
        elif mode.startswith("KickOff") and me.mates and now - self.mode_since < 5:
            self.follow("stand")
            if self.passes and now - self.mode_since > 0.1:
                self.passes = False
                self.follow("kick_left")
        elif self.is_striker:
            if self.number != 1 and self.rival(ball) and mode == "PlayOn":
                self.guard(ball, GUARD)
            else:
                self.attack(ball)
        elif self.number == 1:
            far = max(0.1, math.hypot(ball[0] + self.goal, ball[1]))
            self.walk_to(-self.goal + KEEPER, KEEPER * ball[1] / far, 0.0)
        else:
            self.support(ball)

    def stay_away(self, ball: Vector) -> None:
        """While the others restart play."""
        me = self.memory
        if self.far < CIRCLE + 0.3:
            self.guard(ball, CIRCLE + 0.5)
        elif self.is_striker and me.x < self.goal - 1.5:
            self.guard(ball, CIRCLE + 0.4)
        else:
            self.follow("stand")

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


# ---- the connection ------------------------------------------------------------------------------


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
    parser.add_argument("--number", type=int, nargs="+", default=[2], help="of each player")
    parser.add_argument("--robot", default="humanoid", help="humanoid or T1")
    parser.add_argument("--length", type=float, default=9.0, help="of the field, goal to goal [m]")
    options = parser.parse_args()
    players = {}
    for number in options.number:
        link = socket.create_connection((options.host, options.port))
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        send(link, f"(init {options.robot} {options.team} {number})")
        players[link] = Player(options.robot, options.team, number, options.length)
    while players:
        for link in select.select(players, [], [])[0]:
            try:
                send(link, players[link].act(receive(link)) or "(syn)")
            except (EOFError, ConnectionError):
                print(players.pop(link))


if __name__ == "__main__":
    main()
