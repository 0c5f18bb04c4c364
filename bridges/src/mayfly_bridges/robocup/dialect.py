"""How an agent speaks: the league's present dialect, `rcssservermj`. `old.py` has the older one."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from mayfly_bridges.robocup import percepts
from mayfly_bridges.robocup.effectors import Action, Init, read_actions, read_init
from mayfly_bridges.robocup.vision import Detection, Seen

if TYPE_CHECKING:
    from mayfly_bridges.robocup.match import Agent, Match
    from mayfly_bridges.robocup.squad import Squad


class Dialect:
    """The dialect of `rcssservermj`."""

    drives_rates = False  # commands of motors are torques by PD control, not rates
    sees_every = 2  # cycles
    longest = 10  # [byte] of a message to others

    def read_init(self, data: bytes) -> Init | None:
        """Who an agent is; None: it says so later. Malformed if it never will."""
        return read_init(data)

    def read_actions(self, data: bytes) -> list[Action]:
        """What an agent wants; Malformed if that is no message."""
        return read_actions(data)

    def is_ready(self, inbox: deque[bytes]) -> bool:
        """With --sync: whether all has come that belongs to the present cycle."""
        return bool(inbox)

    def is_last(self, message: bytes) -> bool:
        """With --sync: whether a message is the last one of its cycle."""
        return True

    def wait(self, match: Match) -> str:
        """What an agent is sent that has not said yet who it is; "": nothing."""
        return ""

    def detection(self, match: Match, robots: list[Seen]) -> Detection:
        """What agents see in a cycle."""
        return Detection(match.flags, match.flags_at, match.ball.at, robots)

    def percepts(self, match: Match, agent: Agent, squad: Squad, seen: Detection | None) -> str:
        """What an agent is sent; `seen` is None in a cycle without a picture."""
        referee = match.referee
        text = percepts.time(match.now)
        left, right = match.teams
        text += percepts.game(referee.play_time, referee.mode.value, left, right, referee.score)
        text += body(squad, agent.seat)
        heard = match.heard(agent, squad)
        text += percepts.heard("hear", [(one.direction, one.message) for one in heard])
        if seen is not None:
            eye, rotation = squad.frame_pose(agent.seat, squad.robot.camera)
            text += seen.see(eye, rotation, agent.who)
        return text


def body(squad: Squad, seat: int) -> str:
    """What a robot feels of itself: its sensors, else its state."""
    robot, text = squad.robot, ""
    kinds = set()
    values = squad.sensed[seat]
    for sensor in robot.sensors if squad.has_sensors else []:
        value = values[sensor.address : sensor.address + sensor.count]
        kinds.add(sensor.kind)
        if sensor.kind == "framequat":
            text += percepts.rotation(sensor.name, value)
        elif sensor.kind == "framepos":
            text += percepts.position(sensor.name, value)
        elif sensor.kind == "gyro":
            text += percepts.gyroscope(sensor.name, value)
        elif sensor.kind == "accelerometer":
            text += percepts.accelerometer(sensor.name, value)
        elif sensor.kind in ("touch", "contact force"):
            text += percepts.touch(sensor.name, bool(value[0] > robot.touch_force))
    start = ""
    if "framequat" not in kinds:
        start += percepts.rotation("torso_quat", squad.orientation[seat])
    if "framepos" not in kinds:
        start += percepts.position("torso_pos", squad.position[seat])
    if "gyro" not in kinds:
        start += percepts.gyroscope("torso_gyro", squad.rate[seat])
    return start + text + percepts.joints(robot.joint_names, *squad.joints(seat))
