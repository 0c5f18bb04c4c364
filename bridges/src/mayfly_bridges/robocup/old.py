"""The older dialect, of SimSpark's `rcssserver3d`: robots called Nao, motors driven by rates.

Written from its user manual. Our robots stand in for its Nao: joints have its names and signs as
far as they have them.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mayfly_bridges.robocup import percepts, sexpr
from mayfly_bridges.robocup.dialect import Dialect
from mayfly_bridges.robocup.effectors import Action, Beam, Init, Rate, Say
from mayfly_bridges.robocup.field import Field
from mayfly_bridges.robocup.robot import Robot
from mayfly_bridges.robocup.vision import Detection, Seen

if TYPE_CHECKING:
    from mayfly_bridges.robocup.match import Agent, Match
    from mayfly_bridges.robocup.squad import Squad

Array = npt.NDArray[np.float64]

# Limb and number of Nao's joints, the end of the name of ours, and its sign: Nao turns about an
# axis to the right where ours turn about one to the left.
JOINTS = (
    ("h", 1, "neck_yaw", 1),
    ("h", 2, "neck_pitch", -1),
    ("la", 1, "left_shoulder_pitch", -1),
    ("la", 2, "left_shoulder_roll", 1),
    ("la", 4, "left_elbow", 1),
    ("ra", 1, "right_shoulder_pitch", -1),
    ("ra", 2, "right_shoulder_roll", 1),
    ("ra", 4, "right_elbow", -1),
    ("ll", 1, "left_hip_yaw", 1),
    ("ll", 2, "left_hip_roll", 1),
    ("ll", 3, "left_hip_pitch", -1),
    ("ll", 4, "left_knee", -1),
    ("ll", 5, "left_ankle_pitch", -1),
    ("ll", 6, "left_ankle_roll", 1),
    ("rl", 1, "right_hip_yaw", 1),
    ("rl", 2, "right_hip_roll", 1),
    ("rl", 3, "right_hip_pitch", -1),
    ("rl", 4, "right_knee", -1),
    ("rl", 5, "right_ankle_pitch", -1),
    ("rl", 6, "right_ankle_roll", 1),
)
MARKS = {"head": "head", "lfoot": "lfoot", "rfoot": "rfoot"}
MARKS |= {"lhand": "llowerarm", "rhand": "rlowerarm"}
FEET = {"left": "lf", "right": "rf"}


def flags(field: Field) -> dict[str, tuple[float, float, float]]:
    """Corners and posts: the first of each side has the positive y."""
    x, y, goal = field.length / 2, field.width / 2, field.goal_width / 2
    found = {}
    for side, sign in (("L", -1.0), ("R", 1.0)):
        for number, to in ((1, 1.0), (2, -1.0)):
            found[f"F{number}{side}"] = (sign * x, to * y, 0.0)
            found[f"G{number}{side}"] = (sign * x, to * goal, field.goal_height)
    return found


def joints(robot: Robot) -> list[tuple[str, str, int, int]]:
    """Names of motors and of percepts, joints, and signs."""
    found = []
    for limb, number, name, sign in JOINTS:
        if name in robot.joints:
            found.append((f"{limb}e{number}", f"{limb}j{number}", robot.joints.index(name), sign))
    if not found:  # other robots have no Nao's joints: their own names and directions
        found = [(name, name, index, 1) for index, name in enumerate(robot.joints)]
    return found


def _read(node: list[sexpr.Node]) -> Action | None:
    if len(node) == 4 and node[0] == "beam":
        x, y, theta = (sexpr.number(part) for part in node[1:])
        return Beam(x, y, math.radians(theta))
    if len(node) == 2 and node[0] == "say":
        return Say(1.0, sexpr.word(node[1]).encode())
    if len(node) == 2 and isinstance(node[0], str) and isinstance(node[1], str):
        return Rate(node[0], sexpr.number(node[1]))
    return None


class OldDialect(Dialect):
    """The dialect of SimSpark."""

    drives_rates = True
    sees_every = 3
    longest = 20

    def __init__(self, field: Field) -> None:
        positions = flags(field)
        self._flags: Sequence[str] = list(positions)
        self._flags_at: Array = np.array(list(positions.values()))

    def read_init(self, data: bytes) -> Init | None:
        """`(scene rsg/agent/nao/nao.rsg)`, then `(init (unum 1)(teamname Reds))`."""
        nodes = sexpr.parse(data)
        for node in nodes:
            if isinstance(node, list) and node[:1] == ["init"]:
                number, team = sexpr.find(node, "unum"), sexpr.find(node, "teamname")
                if number is None or team is None or len(number) != 2 or len(team) != 2:
                    raise sexpr.Malformed("expected (init (unum NUMBER)(teamname TEAM))")
                requested = sexpr.number(number[1])
                if requested != int(requested) or not 0 <= requested <= 99:
                    raise sexpr.Malformed("expected a number of 0 .. 99")
                return Init("", sexpr.word(team[1]), int(requested))
        known = {("scene",), ("syn",)}
        if not all(isinstance(node, list) and tuple(node[:1]) in known for node in nodes):
            raise sexpr.Malformed("expected (scene FILE) or (init (unum NUMBER)(teamname TEAM))")
        return None

    def read_actions(self, data: bytes) -> list[Action]:
        """`(he1 rate)`, `(beam x y theta)`, `(say message)`, `(syn)`."""
        found = (_read(node) for node in sexpr.parse(data) if isinstance(node, list) and node)
        return [action for action in found if action is not None]

    def is_ready(self, inbox: deque[bytes]) -> bool:
        """A cycle ends with `(syn)`."""
        return any(self.is_last(message) for message in inbox)

    def is_last(self, message: bytes) -> bool:
        """Effectors may come in several messages."""
        return b"(syn)" in message

    def wait(self, match: Match) -> str:
        """Time and game, as soon as there is a connection."""
        return percepts.time(match.now) + self._game(match, None)

    def _game(self, match: Match, agent: Agent | None) -> str:
        referee = match.referee
        who = ""
        if agent is not None:
            who = f"(unum {agent.who[1]})(team {('left', 'right')[agent.who[0]]})"
        score = f"(sl {referee.score[0]})(sr {referee.score[1]})"
        return f"(GS {who}(t {referee.play_time:.2f})(pm {referee.mode.value}){score})"

    def detection(self, match: Match, robots: list[Seen]) -> Detection:
        """With the flags and names of this dialect."""
        marked = [
            Seen(one.team, one.who, [MARKS.get(name, name) for name in one.names], one.at)
            for one in robots
        ]
        return Detection(self._flags, self._flags_at, match.ball.at, marked)

    def percepts(self, match: Match, agent: Agent, squad: Squad, seen: Detection | None) -> str:
        """Time, game, sensors, joints, voices, and each third time sight."""
        text = percepts.time(match.now) + self._game(match, agent) + self._body(squad, agent.seat)
        for one in match.heard(agent, squad):
            words = one.message.decode("ascii", "replace")
            text += f"(hear {one.team} {match.now:.2f} {one.direction:.1f} {words})"
        if seen is not None:
            eye, rotation = squad.frame_pose(agent.seat, squad.robot.camera)
            text += seen.see(eye, rotation, agent.who)
        return text

    def _body(self, squad: Squad, seat: int) -> str:
        robot, text = squad.robot, ""
        values = squad.sensed[seat]
        kinds = {"gyro": percepts.gyroscope, "accelerometer": percepts.accelerometer}
        for sensor in robot.sensors if squad.has_sensors else []:
            value = values[sensor.address : sensor.address + sensor.count]
            if sensor.kind in kinds:
                text += kinds[sensor.kind]("torso", value)
            elif sensor.kind in ("touch", "contact force") and value[0] > robot.touch_force:
                foot = FEET.get(sensor.name.partition("_")[0], sensor.name)
                text += f"(FRP (n {foot}) (c 0 0 0) (f 0 0 {percepts.cut(value[0], 2)[0]}))"
        angles, _ = squad.joints(seat)
        for _, name, joint, sign in joints(robot):
            angle = percepts.cut(np.degrees(sign * angles[joint]), 2)[0]
            text += f"(HJ (n {name}) (ax {angle}))"
        return text
