"""A match: agents come, feel, act and go; the referee judges; 50 times a second."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

import mayfly
from mayfly_bridges.robocup import sexpr
from mayfly_bridges.robocup.dialect import Dialect
from mayfly_bridges.robocup.discipline import Player, Who
from mayfly_bridges.robocup.effectors import Beam, Init, Motor, Motors, Say
from mayfly_bridges.robocup.field import FIELDS, field_of
from mayfly_bridges.robocup.framing import Gone, Listener, Peer, Source, wait
from mayfly_bridges.robocup.monitor import Monitors, OldMonitors
from mayfly_bridges.robocup.old import OldDialect, joints
from mayfly_bridges.robocup.referee import Referee
from mayfly_bridges.robocup.rules import BOOKS, Phase, Rules
from mayfly_bridges.robocup.squad import CYCLE, Squad
from mayfly_bridges.robocup.touch import Ball
from mayfly_bridges.robocup.vision import Seen

Array = npt.NDArray[np.float64]

MOST_MALFORMED = 50  # messages of an agent that are no messages
MOST_COMPLAINTS = 5  # lines about motors that an agent's robot has not, and about its faults
MOST_HEARD = 3  # messages in one cycle
SILENCE = 5.0  # [s] after which a line says for whom the world waits
STEP_PATIENCE = 3600.0  # [s] that the world waits for this bridge


def say(text: str) -> None:
    """A line for people."""
    print(f"robocup: {text}", file=sys.stderr, flush=True)


def referee_of(name: str, options: argparse.Namespace) -> Referee:
    """A referee on a field, for what the user asked for."""
    half, extra, players = BOOKS[options.rules]
    half = half if options.half_time is None else options.half_time
    extra = extra if options.extra_half_time is None else options.extra_half_time
    if not (half > 0 and extra > 0):
        raise mayfly.ArgumentError("--half-time, --extra-half-time: expected more than 0 s")
    rules = Rules(
        half_time=half,
        extra_half_time=extra,
        has_extra_time=options.extra_time,
        changes_sides=options.change_sides,
        most_players=players,
        kick_off_after=options.kick_off,
    )
    phase = Phase(options.phase)
    if options.time is not None and not 0 <= options.time < rules.end_of(phase):
        raise mayfly.ArgumentError(
            f"--time: expected 0 .. {rules.end_of(phase):g} s, the end of phase {options.phase}"
        )
    return Referee(FIELDS[name], rules, phase, options.time)


@dataclass(eq=False)
class Agent:
    """A program that plays a robot, or wants to."""

    peer: Peer
    dialect: Dialect
    squad: Squad | None = None
    seat: int = -1
    who: Who = (-1, -1)
    team: str = ""
    malformed: int = 0
    faults: int = 0
    said: Say | None = None
    unknown: set[str] = field(default_factory=set)
    joints: dict[str, tuple[int, int]] = field(default_factory=dict)  # of the older dialect

    def __str__(self) -> str:
        return f"{self.team} {self.who[1]}" if self.squad else self.peer.address


@dataclass(frozen=True)
class Heard:
    """A message of another player, and the direction [deg] from which it came."""

    direction: float
    message: bytes
    team: str


class Match:
    """Two squads, a ball, and the programs that play them."""

    def __init__(self, world: mayfly.RemoteWorld, options: argparse.Namespace) -> None:
        self.world = world
        self.is_sync: bool = options.sync
        self.patience: float = options.patience
        self.waits_for: int = options.players
        groups = [world[options.left], world[options.right]]
        self.squads = [Squad(group, side, world.step_ns) for side, group in enumerate(groups)]
        self.ball = Ball(world[options.ball], 1e-9 * world.step_ns)
        scenery = world[options.scenery].describe() if options.scenery in world.groups else {}
        self.scenery = scenery.get("shapes", [])
        name = options.field or field_of(scenery.get("name"))
        if name is None:
            raise mayfly.ArgumentError(
                f"no measures are known of group {options.scenery}: expected --field"
            )
        self.referee = referee_of(name, options)
        self.field = self.referee.field
        flags = self.field.flags()
        self.flags = list(flags)
        self.flags_at = np.array(list(flags.values()))
        self.teams: list[str | None] = [None, None]
        self.agents: list[Agent] = []
        self.cycle = -1
        self.now = 0.0  # [s] of the present cycle
        self._doors = [
            (Listener(options.host, options.agents), Dialect()),
            (Listener(options.host, options.old_agents), OldDialect(self.field)),
        ]
        self._monitors = [
            Monitors(self, options.host, options.monitors),
            OldMonitors(self, options.host, options.old_monitors),
        ]

    # ---- agents --------------------------------------------------------------------------------

    @property
    def playing(self) -> list[Agent]:
        """Those with a robot."""
        return [agent for agent in self.agents if agent.squad is not None]

    def _drop(self, agent: Agent, why: str) -> None:
        """An agent is gone: its robot stands beside the field, where it waits for another one."""
        say(f"{agent} left: {why}")
        agent.peer.close()
        self.agents.remove(agent)
        if agent.squad is not None:
            self._park(agent.squad, agent.seat)
            agent.squad.release(agent.seat)

    def _park(self, squad: Squad, seat: int) -> None:
        side = -1.0 if squad.side == 0 else 1.0
        x = side * self.field.beside_step * (seat + 0.75)
        squad.place(seat, x, self.field.beside, -math.pi / 2)

    def _poll(self) -> None:
        for listener, dialect in self._doors:
            self.agents += [Agent(peer, dialect) for peer in listener.accept()]
        for agent in list(self.agents):
            try:
                agent.peer.poll()
                agent.peer.flush()
            except Gone as error:
                self._drop(agent, str(error))

    def _enter(self, agent: Agent) -> None:
        """An agent that has no robot yet gets one, if its first message asks for one."""
        try:
            init = agent.dialect.read_init(agent.peer.inbox.popleft())
            if init is not None:
                self._seat(agent, init)
        except sexpr.Malformed as error:
            self._drop(agent, str(error))

    def _side_for(self, init: Init) -> int:
        """The side of a new team: the left one, if it is free and has the robot."""
        free = [side for side in (0, 1) if self.teams[side] is None]
        if not free:
            raise sexpr.Malformed(f"team {init.team}: two others are there")
        robots = [self.squads[side].robot.name for side in free]
        for side, robot in zip(free, robots):
            if not init.robot or init.robot.lower() == robot.lower():
                return side
        requested = " or ".join(dict.fromkeys(robots))
        raise sexpr.Malformed(f"expected a robot {requested}, found {init.robot}")

    def _seat(self, agent: Agent, init: Init) -> None:
        if init.team not in self.teams:
            self.teams[self._side_for(init)] = init.team
        side = self.teams.index(init.team)
        numbers = {other.who[1] for other in self.playing if other.who[0] == side}
        number = init.number or next(n for n in range(1, 100) if n not in numbers)
        squad, who = self.squads[side], (side, number)
        if init.robot and init.robot.lower() != squad.robot.name.lower():
            raise sexpr.Malformed(f"expected a robot {squad.robot.name}, found {init.robot}")
        if number in numbers:
            raise sexpr.Malformed(f"team {init.team} has a player {number} already")
        if len(numbers) >= self.referee.rules.most_players:
            raise sexpr.Malformed(f"team {init.team} has {len(numbers)} players, all it may have")
        free_seats = np.nonzero(~squad.is_played)[0].tolist()
        if not free_seats:
            raise sexpr.Malformed(f"team {init.team} has no robot left for player {number}")
        # That of its number: a match does not depend on who connects first.
        agent.squad, agent.seat = squad, number - 1 if number - 1 in free_seats else free_seats[0]
        agent.who, agent.team = who, init.team
        squad.take(agent.seat, agent.dialect.drives_rates)
        agent.joints = {name: (joint, sign) for name, _, joint, sign in joints(squad.robot)}
        say(f"{agent} plays robot {agent.seat} of {squad.group.name}")

    def _collect(self) -> None:
        """Takes what agents want: all that has come, or with --sync one message each."""
        if self.is_sync:
            self._wait()
        for agent in list(self.agents):
            if agent.squad is None:
                if agent.peer.inbox:
                    self._enter(agent)
                continue
            while agent.peer.inbox:
                message = agent.peer.inbox.popleft()
                self._obey(agent, message)
                if self.is_sync and agent.dialect.is_last(message):
                    break

    def _wait(self) -> None:
        """Waits for the messages of all. Only --patience makes a match depend on wall time."""
        start, is_said = time.monotonic(), False
        while True:
            silent = [a for a in self.playing if not a.dialect.is_ready(a.peer.inbox)]
            passed = time.monotonic() - start
            if not silent:
                return
            if passed >= self.patience:
                for agent in silent:
                    self._drop(agent, f"it did not answer within {self.patience:g} s")
                return
            if passed >= SILENCE and not is_said:
                is_said = True
                say(f"the world waits for {', '.join(map(str, silent))}")
            limit = self.patience if is_said else min(SILENCE, self.patience)
            self._idle([agent.peer for agent in silent], limit - passed)

    def _idle(self, sources: Sequence[Source], seconds: float) -> None:
        """Waits for agents, or for the end of the world, which raises an error."""
        wait([*sources, self.world], seconds)
        self.world.poll()
        self._poll()

    def _gather(self) -> None:
        """Before the first cycle: the world stands still until all agents are there."""
        while len(self.playing) < self.waits_for:
            doors = [door for door, _ in self._doors]
            self._idle([*doors, *(agent.peer for agent in self.agents)], math.inf)
            for agent in list(self.agents):
                if agent.squad is None and agent.peer.inbox:
                    self._enter(agent)

    def _obey(self, agent: Agent, message: bytes) -> None:
        squad = agent.squad
        if squad is None or agent not in self.agents:
            return
        try:
            actions = agent.dialect.read_actions(message)
        except sexpr.Malformed as error:
            agent.malformed += 1
            if agent.malformed == 1:
                say(f"{agent} sends what is no message: {error}")
            if agent.malformed > MOST_MALFORMED:
                self._drop(agent, f"more than {MOST_MALFORMED} malformed messages")
            return
        for action in actions:
            if isinstance(action, Beam):
                self._beam(squad, agent, action)
            elif isinstance(action, Say):
                agent.said = action
            elif isinstance(action, Motor):
                values = [action.q, action.dq, action.kp, action.kd, action.tau]
                self._drive(agent, squad, Motors([action.name], np.array([values])))
            elif isinstance(action, Motors):
                self._drive(agent, squad, action)
            elif action.name in agent.joints:
                joint, sign = agent.joints[action.name]
                squad.drive_joint(agent.seat, joint, sign * action.rate)
            else:
                self._complain(agent, action.name)

    def _drive(self, agent: Agent, squad: Squad, motors: Motors) -> None:
        for name in squad.command(agent.seat, motors.names, motors.values):
            self._complain(agent, name)

    def _complain(self, agent: Agent, motor: str) -> None:
        if motor not in agent.unknown and len(agent.unknown) < MOST_COMPLAINTS:
            agent.unknown.add(motor)
            say(f"{agent}: the robot has no motor {motor[:40]}")

    def _beam(self, squad: Squad, agent: Agent, beam: Beam) -> None:
        """Players stand on their own half; as in the league y is not rotated for the right team."""
        if not self.referee.may_beam:
            return
        x = min(abs(beam.x), self.field.length / 2 + self.field.border)
        y = self.field.width / 2 + self.field.border
        y = min(max(beam.y, -y), y)
        if squad.side == 0:
            squad.place(agent.seat, -x, y, beam.theta)
        else:
            squad.place(agent.seat, x, y, beam.theta + math.pi)

    # ---- percepts ------------------------------------------------------------------------------

    def _feel(self) -> None:
        """Sends percepts to all."""
        dialects = {agent.dialect for agent in self.playing}
        sighted = [one for one in dialects if self.cycle % one.sees_every == 0]
        robots = self._seen() if sighted else []
        detections = {dialect: dialect.detection(self, robots) for dialect in sighted}
        for agent in list(self.agents):
            if agent.squad is None:
                text = agent.dialect.wait(self)
            else:
                seen = detections.get(agent.dialect)
                text = agent.dialect.percepts(self, agent, agent.squad, seen)
            try:
                if text:
                    agent.peer.send(text)
            except Gone as error:
                self._drop(agent, str(error))
        for agent in self.agents:
            agent.said = None

    def _seen(self) -> list[Seen]:
        found = []
        for agent in self.playing:
            assert agent.squad is not None
            marks = agent.squad.robot.marks
            at = [agent.squad.frame_pose(agent.seat, position)[0] for _, position in marks]
            found.append(Seen(agent.team, agent.who, [name for name, _ in marks], np.array(at)))
        return found

    def heard(self, agent: Agent, squad: Squad) -> list[Heard]:
        """The loudest messages of others; louder ones drown the rest."""
        found = []
        ear, rotation = squad.frame_pose(agent.seat, squad.robot.camera)
        for other in self.playing:
            if other is agent or other.said is None or other.squad is None:
                continue
            if len(other.said.message) > min(other.dialect.longest, agent.dialect.longest):
                continue
            mouth, _ = other.squad.frame_pose(other.seat, other.squad.robot.camera)
            local = (mouth - ear) @ rotation
            loudness = other.said.volume / max(float(local @ local), 0.01)
            direction = math.degrees(math.atan2(local[1], local[0]))
            found.append((loudness, Heard(direction, other.said.message, other.team)))
        found.sort(key=lambda one: -one[0])
        return [one for _, one in found[:MOST_HEARD]]

    # ---- time ----------------------------------------------------------------------------------

    def _check_faults(self) -> None:
        """A robot with a fault stands still for ever: it starts again, beside the field."""
        for agent in self.playing:
            squad = agent.squad
            assert squad is not None
            if squad.faults[agent.seat]:
                agent.faults += 1
                if agent.faults <= MOST_COMPLAINTS:
                    say(f"{agent}: its robot has the fault {squad.faults[agent.seat]:#x}")
                self._park(squad, agent.seat)

    def _judge(self) -> None:
        players, seats = [], {}
        for agent in self.playing:
            assert agent.squad is not None
            at = agent.squad.position[agent.seat]
            players.append(Player(agent.who, at, agent.squad.robot.rest_height))
            seats[agent.who] = (agent.squad, agent.seat)
        touch = self.ball.touched_by(seats)
        orders = self.referee.update(self.now, CYCLE, self.ball.at, players, touch)
        if orders.change_sides:
            self._change_sides()
        if orders.ball is not None:
            self.ball.drop(*orders.ball)
        for who, place in orders.players.items():
            seats[who][0].place(seats[who][1], *place)

    def _change_sides(self) -> None:
        """Teams keep their robots, and play towards the other goal."""
        self.squads.reverse()
        self.teams.reverse()
        for side, squad in enumerate(self.squads):
            squad.side = side
        for agent in self.playing:
            agent.who = (1 - agent.who[0], agent.who[1])
        say(f"the teams change sides: {self.teams[0]} is the left one")

    def _turn(self) -> None:
        """A cycle. With --sync commands answer the percepts of the same moment."""
        self.cycle += 1
        for squad in self.squads:
            squad.read()
        self.ball.read()
        self._poll()
        if not self.is_sync:
            self._collect()
        self._check_faults()
        self._judge()
        self._feel()
        if self.is_sync:
            self._collect()
        for monitors in self._monitors:
            monitors.update()

    def run(self) -> None:
        """Plays until the world ends."""
        self.world.timeout = 365 * 86400.0  # a paused world says nothing
        if self.waits_for:
            self.world.pause()
        for squad in self.squads:
            for seat in range(squad.count):
                self._park(squad, seat)
                squad.release(seat)
        self.ball.drop(0.0, 0.0)
        step = self.world.step_ns
        every = round(CYCLE * 1e9 / step)
        if every < 1 or every * step != round(CYCLE * 1e9):
            raise mayfly.ArgumentError(f"expected a step that divides {CYCLE} s: world.step")
        ports = [door.port for door, _ in self._doors], [one.port for one in self._monitors]
        say(f"agents at port {ports[0][0]}, monitors at {ports[1][0]}")
        say(f"agents of SimSpark at port {ports[0][1]}, monitors at {ports[1][1]}")
        self._gather()
        for turn in self.world.lock_step(0.0, STEP_PATIENCE):
            if turn.tick % every == 0:
                self.now = turn.time
                self._turn()
            self.ball.watch()
            for squad in self.squads:
                squad.drive()
            if self.waits_for:
                self.waits_for = 0
                self.world.pause(False)
