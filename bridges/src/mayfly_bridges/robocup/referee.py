"""The referee: play modes, clock, score, and the rules of the league's simulation.

It knows positions and touches only, and answers with orders: where the ball and players go. What
is judged, and in which order within a cycle, follows the league's server (rcsssmj 0.2.1), against
which `bridges/tests/test_robocup_league.py` compares it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mayfly_bridges.robocup.discipline import Discipline, Player, Who
from mayfly_bridges.robocup.field import Field, is_in
from mayfly_bridges.robocup.rules import (
    CORNER,
    DIRECT,
    FREE_KICK,
    GOAL,
    GOAL_KICK,
    IDLE,
    KICK_IN,
    KICK_OFF,
    RESTARTS,
    Foul,
    Mode,
    Phase,
    Rules,
)

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Touch:
    """Who touches the ball in a cycle, and whether with an arm that is away from the body."""

    who: Who
    by_arm: bool = False


@dataclass
class Orders:
    """What the referee wants: the ball at x, y [m], players at x, y, direction [rad], and first of
    all the teams on each other's side."""

    ball: tuple[float, float] | None = None
    players: dict[Who, tuple[float, float, float]] = field(default_factory=dict)
    change_sides: bool = False


@dataclass
class _Contact:
    """Touches since the ball was put somewhere."""

    now: Who | None = None
    before: Who | None = None  # who touched it until another one did, or nobody
    since: float = 0.0  # [s], the first of the present player's touches

    def update(self, who: Who | None, time: float) -> None:
        """Takes who touches the ball in a cycle."""
        if self.now is not None and self.now != who:
            self.before = self.now
            if who is not None:
                self.since = time
        elif self.now is None and who is not None and who != self.before:
            self.since = time
        self.now = who

    @property
    def last(self) -> Who | None:
        """Who touched the ball last."""
        return self.before if self.now is None else self.now


class Referee:
    """The state of a game, and what changes it. Sides are 0, left, and 1, right."""

    def __init__(
        self,
        pitch: Field,
        rules: Rules,
        phase: Phase = Phase.FIRST_HALF,
        play_time: float | None = None,
    ) -> None:
        self.field = pitch
        self.rules = rules
        self.mode = Mode.BEFORE_KICK_OFF
        self.phase = phase
        self.score = [0, 0]
        self.fouls: list[tuple[Foul, Who]] = []  # of the last update
        start = rules.start_of(phase) if play_time is None else play_time
        self._clock = round(1000 * start)  # [ms] of play; whole numbers: sums of many cycles
        self._since = self._clock  # the mode
        self._now = 0.0
        self._ready = 0.0  # when the second team came, or a half ended
        self._first = phase % 2  # side of the next kick-off
        self._contact = _Contact()
        self._once: Who | None = None  # has kicked, and may not again before another one
        self._indirect: int | None = None  # side that cannot score yet
        self._from = (0.0, 0.0)  # where its kick was
        self._discipline = Discipline(pitch, rules)
        self._orders = Orders()
        self._decided = False  # in this cycle, or by a monitor since the last one

    # ---- what others ask -----------------------------------------------------------------------

    @property
    def play_time(self) -> float:
        """Time of play [s]."""
        return self._clock / 1000

    @property
    def half(self) -> int:
        """1 or 2, for monitors."""
        return min(int(self.phase) + 1, 2)

    @property
    def may_beam(self) -> bool:
        """Whether players may be put on their half."""
        return self.mode is Mode.BEFORE_KICK_OFF or self.mode in GOAL

    def kick_off(self, side: int | None = None) -> None:
        """Starts or restarts play with the kick-off of a side; None: whose turn it is."""
        side = self._first if side is None else side
        self._restart(KICK_OFF[side], (0.0, 0.0), indirect=side)

    def drop_ball(self, at: tuple[float, float]) -> None:
        """Play goes on with the ball at a position."""
        self._restart(Mode.PLAY_ON, at)

    def set_mode(self, mode: Mode) -> None:
        """Sets a mode, as a monitor wants it or the course of the game."""
        self.mode, self._since, self._decided = mode, self._clock, True

    # ---- a cycle -------------------------------------------------------------------------------

    def update(
        self, now: float, passed: float, ball: Array, players: list[Player], touch: Touch | None
    ) -> Orders:
        """Judges `passed` seconds that ended at `now` [s]; `touch`: who touched the ball."""
        self._now = now
        self.fouls = []
        if self.mode not in IDLE:
            self._clock += round(1000 * passed)
        if self.mode is not Mode.GAME_OVER and not self._ends_phase():
            self._judge(passed, ball, players, touch)
        self._decided = False
        orders, self._orders = self._orders, Orders()
        return orders

    def _judge(
        self, passed: float, ball: Array, players: list[Player], touch: Touch | None
    ) -> None:
        if self.mode is Mode.BEFORE_KICK_OFF:
            self._await_kick_off(players)
        else:
            self._contact.update(touch.who if touch else None, self._now)
            self._check_fouls(ball, touch)
            for check in (self._check_time, self._check_ball):
                if not self._decided:
                    check(ball)
            if not self._decided:
                self._check_start(players)
        at = self._orders.ball or (float(ball[0]), float(ball[1]))
        locations, fouls = self._discipline.judge(self.mode, self._now, passed, players, at)
        self._orders.players |= locations
        self.fouls += fouls

    def _restart(self, mode: Mode, at: tuple[float, float], indirect: int | None = None) -> None:
        self.set_mode(mode)
        self._contact, self._once = _Contact(), None
        self._indirect, self._from = indirect, at
        self._orders.ball = at

    def _ends_phase(self) -> bool:
        """Whether the time is up: then the next phase waits for its kick-off, or all is over."""
        end = self.rules.end_of(self.phase)
        if self.mode is Mode.BEFORE_KICK_OFF or self.play_time < end:
            return False
        following = self.rules.next_after(self.phase, self.score[0] == self.score[1])
        if following is None:
            self.set_mode(Mode.GAME_OVER)
            return True
        self._clock = round(1000 * end)
        self.phase = following
        self._first = following % 2
        self._restart(Mode.BEFORE_KICK_OFF, (0.0, 0.0))
        self._ready = self._now
        if self.rules.changes_sides:
            self._change_sides()
        return True

    def _change_sides(self) -> None:
        """The teams' sides and all that has one; kick-offs still alternate between the teams."""
        self.score.reverse()
        self._first = 0
        self._discipline.forget()
        self._orders.change_sides = True

    def _await_kick_off(self, players: list[Player]) -> None:
        if {player.who[0] for player in players} != {0, 1}:
            self._ready = self._now
        elif 0 <= self.rules.kick_off_after <= self._now - self._ready:
            self.kick_off()

    # ---- the ball ------------------------------------------------------------------------------

    def _check_fouls(self, ball: Array, touch: Touch | None) -> None:
        if touch is None or self.mode in GOAL:
            return
        who, at = touch.who, (float(ball[0]), float(ball[1]))
        if self._indirect is not None and self._contact.before is not None:
            is_far = math.dist(at, self._from) > self.field.circle
            if who[0] != self._indirect or is_far:
                self._indirect = None
        if touch.by_arm and not self._may_use_hands(who, ball):
            self.fouls.append((Foul.HAND, who))
            self._restart(DIRECT[1 - who[0]], at)
        elif self._once is not None and self._contact.before is not None:
            if not self._contact.before == who == self._once:
                self._once = None
            elif self._now - self._contact.since > self.rules.again:
                self.fouls.append((Foul.DOUBLE_TOUCH, who))
                self._restart(FREE_KICK[1 - who[0]], at, indirect=1 - who[0])

    def _may_use_hands(self, who: Who, ball: Array) -> bool:
        """The goalkeeper may, while the ball is in the own penalty area."""
        is_keeper = who[1] == self.rules.goalkeeper
        return is_keeper and is_in(self.field.area(who[0], penalty=True), ball)

    def _check_time(self, ball: Array) -> None:
        age = self.play_time - self._since / 1000  # with the league's rounding
        if self.mode in GOAL:
            if age > self.rules.goal_pause:
                self.kick_off(1 - GOAL.index(self.mode))
        elif any(self.mode in kind for kind in RESTARTS) and age > self.rules.restart:
            if self.mode in GOAL_KICK:
                self._clear_goal_kick(GOAL_KICK.index(self.mode))
            else:
                self.set_mode(Mode.PLAY_ON)

    def _clear_goal_kick(self, side: int) -> None:
        low, high, _, top = self.field.area(side)
        self.drop_ball((high if side == 0 else low, top))

    def _check_ball(self, ball: Array) -> None:
        if self.mode in GOAL:
            return
        goal = self.field.goal_of(ball)
        if goal is not None:
            self._score(goal)
        elif not self.field.is_inside(ball):
            self._out(ball)
        elif self.mode in GOAL_KICK:
            if not is_in(self.field.area(GOAL_KICK.index(self.mode)), ball):
                self.set_mode(Mode.PLAY_ON)

    def _score(self, goal: int) -> None:
        """The ball is in the goal of a side."""
        if self.mode is GOAL_KICK[goal]:
            self._clear_goal_kick(goal)
        elif self._indirect == 1 - goal:
            self._goal_kick(goal)
        else:
            self.score[1 - goal] += 1
            self.set_mode(GOAL[1 - goal])

    def _goal_kick(self, side: int) -> None:
        low, high, _, _ = self.field.area(side)
        self._restart(GOAL_KICK[side], ((low + high) / 2, 0.0))

    def _out(self, ball: Array) -> None:
        last = self._contact.last
        x, y = self.field.length / 2, self.field.width / 2
        line = -y if ball[1] < 0 else y
        if abs(ball[0]) > x:
            owner = 0 if ball[0] < 0 else 1
            if last is not None and last[0] == owner:
                self._restart(CORNER[1 - owner], (math.copysign(x, ball[0]), line))
            else:
                self._goal_kick(owner)
        elif last is not None:
            self._restart(KICK_IN[1 - last[0]], (float(ball[0]), line))
        else:  # nobody kicked it out: it lies on the line, and all goes on
            since = self._since
            self._restart(self.mode, (float(ball[0]), line))
            self._since = since

    def _check_start(self, players: list[Player]) -> None:
        """The first touch of a restart starts play; goal kicks do when the ball leaves the area."""
        who = self._contact.now
        if who is None or self.mode in GOAL_KICK:
            return
        if any(self.mode in kind for kind in RESTARTS):
            mates = sum(player.who[0] == who[0] for player in players)
            self._once = who if mates > 1 else None
            self.set_mode(Mode.PLAY_ON)
