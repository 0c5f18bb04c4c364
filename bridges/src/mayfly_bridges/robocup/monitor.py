"""Monitors: RSMP 1.0 and SimSpark's protocol, the state of the game and the scene, and the commands
of a human referee."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mayfly_bridges._rotation import matrix
from mayfly_bridges.robocup import sexpr
from mayfly_bridges.robocup.discipline import Who
from mayfly_bridges.robocup.framing import Gone, Listener, Peer
from mayfly_bridges.robocup.graph import Body, agent_bodies, move_agent, shapes, transform
from mayfly_bridges.robocup.rules import Mode

if TYPE_CHECKING:
    from mayfly_bridges.robocup.field import Field
    from mayfly_bridges.robocup.match import Match
    from mayfly_bridges.robocup.referee import Referee

EVERY = 2  # cycles from message to message
FULL_EVERY = 250  # cycles from one full graph to the next


def environment(field: Field, referee: Referee, radius: float) -> str:
    """Measures and rules."""
    numbers = {
        "FieldLength": field.length,
        "FieldWidth": field.width,
        "FieldHeight": 40,
        "GoalWidth": field.goal_width,
        "GoalDepth": field.goal_depth,
        "GoalHeight": field.goal_height,
        "BorderSize": field.border,
        "FreeKickDistance": field.circle,
        "BallRadius": radius,
        "RuleGoalPauseTime": referee.rules.goal_pause,
        "RuleHalfTime": referee.rules.half_time,
        "CenterCircleRadius": field.circle,
        "GoalieAreaLength": field.goal_area_length,
        "GoalieAreaWidth": field.goal_area_width,
        "PenaltySpotDistance": field.penalty_mark,
        "PenaltyAreaLength": field.penalty_area_length,
        "PenaltyAreaWidth": field.penalty_area_width,
    }
    texts = "".join(f"({name} {number:g})" for name, number in numbers.items())
    return f"{texts}(play_modes {' '.join(mode.value for mode in Mode)})"


def game(referee: Referee, teams: list[str | None], full: bool) -> str:
    """Clock, score, mode and fouls."""
    mode = list(Mode).index(referee.mode)
    text = f"(time {referee.play_time:.2f})(half {referee.half})"
    text += f"(score_left {referee.score[0]})(score_right {referee.score[1]})(play_mode {mode})"
    if full:
        text += f"(team_left {teams[0] or '<LEFT>'})(team_right {teams[1] or '<RIGHT>'})"
    for foul, (side, number) in referee.fouls:
        text += f"(foul {foul.value} {side + 1} {number})"
    return text


class Monitors:
    """Those who watch, and what they are told: RSMP."""

    colors = True  # of shapes; else named materials

    def __init__(self, match: Match, host: str, port: int) -> None:
        self.match = match
        self.listener = Listener(host, port)
        self.port = self.listener.port
        self._peers: list[Peer] = []
        self._new: list[Peer] = []
        self._wants_all = False
        self._root = Body()
        self._agents: dict[tuple[str, Who], list[Body]] = {}
        radius = match.ball.radius
        material = "ball" if self.colors else "matWhite"
        ball = shapes(match.ball.info["shapes"], 0, None, material)
        self._ball = Body("ball", ball)
        self._goals = Body(shapes=shapes(match.scenery, 0, None, "", self.colors))
        self._environment = environment(match.field, match.referee, radius)

    def update(self) -> None:
        """Takes commands and tells the state, in each cycle of the match."""
        self._new += self.listener.accept()
        for peer in self._peers + self._new:
            try:
                peer.poll()
                peer.flush()
            except Gone:
                self._drop(peer)
                continue
            while peer.inbox:
                self._obey(peer.inbox.popleft())
        if self.match.cycle % EVERY == 0 and self._peers + self._new:
            self._report()

    def _drop(self, peer: Peer) -> None:
        peer.close()
        for peers in (self._peers, self._new):
            if peer in peers:
                peers.remove(peer)

    def _arrange(self) -> bool:
        """Moves all bodies to where they are; True if others than before are there."""
        match = self.match
        self._ball.at = transform(match.ball.at, np.eye(3))
        playing = {(agent.team, agent.who): agent for agent in match.playing}
        changed = set(playing) != set(self._agents)
        for who in set(self._agents) - set(playing):
            del self._agents[who]
        for who, agent in playing.items():
            squad = agent.squad
            assert squad is not None
            if who not in self._agents:
                name = f"agent {agent.team} {agent.who[1]}"
                self._agents[who] = agent_bodies(squad.robot, name, squad.side, self.colors)
            move_agent(
                self._agents[who],
                squad.robot,
                squad.position[agent.seat],
                squad.orientation[agent.seat],
                squad.angle[agent.seat],
            )
        if changed or not self._root.bodies:
            first = [self._agents[who][0] for who in sorted(self._agents)]
            self._root.bodies = [self._goals, *first, self._ball]
        return changed

    def _message(self, full: bool) -> str:
        match = self.match
        nodes = f"full{self._root.full(True)}" if full else f"diff{self._root.diff(True)}"
        text = f"((RSMP 1 0)((gt 1 0){match.now:.2f})((sg 1 0){nodes})"
        text += f"((gs 1 0){game(match.referee, match.teams, full)})"
        return text + (f"((ge 1 0){self._environment})" if full else "") + ")"

    def _report(self) -> None:
        """A full graph for those who came, and for all when the bodies changed."""
        full = self._arrange() or bool(self._new) or self._wants_all
        full = full or self.match.cycle % FULL_EVERY == 0
        self._wants_all = False
        text = self._message(full)
        self._peers += self._new
        self._new = []
        for peer in list(self._peers):
            try:
                peer.send(text)
            except Gone:
                self._drop(peer)

    # ---- commands ------------------------------------------------------------------------------

    def _obey(self, message: bytes) -> None:
        try:
            for node in sexpr.parse(message):
                if isinstance(node, list) and node and isinstance(node[0], str):
                    self._command(node[0], node)
        except sexpr.Malformed:
            return

    def _command(self, name: str, node: list[sexpr.Node]) -> None:
        referee, ball = self.match.referee, self.match.ball
        if name == "kickOff":
            side = sexpr.word(node[1])[:1].lower() if len(node) > 1 else ""
            referee.kick_off({"l": 0, "r": 1}.get(side))
        elif name == "dropBall":
            referee.drop_ball((float(ball.at[0]), float(ball.at[1])))
        elif name == "playMode" and len(node) == 2:
            requested = sexpr.word(node[1]).lower()
            for mode in Mode:
                if mode.value.lower() == requested:
                    referee.set_mode(mode)
        elif name == "ball":
            place, velocity = _numbers(node, "pos", 3), _numbers(node, "vel", 3)
            if place is not None:
                x, y, z = place
                ball.put((x, y, max(z, ball.radius)), velocity)
        elif name == "agent":
            self._move(node)
        elif name == "reqfullstate":
            self._wants_all = True

    def _move(self, node: list[sexpr.Node]) -> None:
        """`(agent (unum N)(team NAME)(pos x y z))`, or `(move x y z theta)` with degrees; both
        stand on the ground. `(move3d x y z w qx qy qz)` puts it anywhere."""
        number = _numbers(node, "unum", 1)
        team = sexpr.find(node, "team")
        if number is None or team is None or len(team) != 2:
            return
        for agent in self.match.playing:
            squad = agent.squad
            if squad is None or agent.who[1] != number[0]:
                continue
            side = ("Left", "Right")[agent.who[0]]
            if sexpr.word(team[1]) not in (agent.team, side):
                continue
            moved = _numbers(node, "move3d", 7)
            if moved is not None and math.hypot(*moved[3:]) > 0:
                squad.put(agent.seat, moved[:3], moved[3:])
                continue
            moved = _numbers(node, "move", 4)
            if moved is not None:
                squad.place(agent.seat, moved[0], moved[1], math.radians(moved[3]))
                continue
            place = _numbers(node, "pos", 3)
            if place is not None:
                facing = matrix(squad.orientation[agent.seat])[:2, 0]
                squad.place(agent.seat, place[0], place[1], math.atan2(facing[1], facing[0]))


class OldMonitors(Monitors):
    """Those of SimSpark: the game, the version of the scene, the scene; commands are the same."""

    colors = False

    def _message(self, full: bool) -> str:
        match = self.match
        text = game(match.referee, match.teams, full)
        root = self._root.bodies
        if full:
            nodes = "".join(body.full(False) for body in root)
            return f"({self._environment}{text})(RSG 0 1)({nodes})"
        return f"({text})(RDS 0 1)({''.join(body.diff(False) for body in root)})"


def _numbers(node: sexpr.Node, name: str, count: int) -> list[float] | None:
    found = sexpr.find(node, name)
    if found is None or len(found) != count + 1:
        return None
    numbers = [sexpr.number(part) for part in found[1:]]
    return numbers if all(abs(number) < 1e4 for number in numbers) else None
