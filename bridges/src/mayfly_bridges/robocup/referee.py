"""The referee: play modes, clock, score, and the rules of the league's simulation.

It knows positions and touches only, and answers with orders: where the ball and players go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

from mayfly_bridges.robocup.field import Field

Array = npt.NDArray[np.float64]
Who = tuple[int, int]  # side (0 left, 1 right) and number


class Mode(Enum):
    """Play modes by their names on the wire, in the order of the league's monitors."""

    BEFORE_KICK_OFF = "BeforeKickOff"
    KICK_OFF_LEFT = "KickOff_Left"
    KICK_OFF_RIGHT = "KickOff_Right"
    PLAY_ON = "PlayOn"
    KICK_IN_LEFT = "KickIn_Left"
    KICK_IN_RIGHT = "KickIn_Right"
    CORNER_KICK_LEFT = "corner_kick_left"
    CORNER_KICK_RIGHT = "corner_kick_right"
    GOAL_KICK_LEFT = "goal_kick_left"
    GOAL_KICK_RIGHT = "goal_kick_right"
    OFFSIDE_LEFT = "offside_left"
    OFFSIDE_RIGHT = "offside_right"
    GAME_OVER = "GameOver"
    GOAL_LEFT = "Goal_Left"
    GOAL_RIGHT = "Goal_Right"
    FREE_KICK_LEFT = "free_kick_left"
    FREE_KICK_RIGHT = "free_kick_right"
    DIRECT_FREE_KICK_LEFT = "direct_free_kick_left"
    DIRECT_FREE_KICK_RIGHT = "direct_free_kick_right"
    PENALTY_KICK_LEFT = "penalty_kick_left"
    PENALTY_KICK_RIGHT = "penalty_kick_right"
    PENALTY_SHOOT_LEFT = "penalty_shoot_left"
    PENALTY_SHOOT_RIGHT = "penalty_shoot_right"


KICK_OFF = (Mode.KICK_OFF_LEFT, Mode.KICK_OFF_RIGHT)
KICK_IN = (Mode.KICK_IN_LEFT, Mode.KICK_IN_RIGHT)
CORNER = (Mode.CORNER_KICK_LEFT, Mode.CORNER_KICK_RIGHT)
GOAL_KICK = (Mode.GOAL_KICK_LEFT, Mode.GOAL_KICK_RIGHT)
FREE_KICK = (Mode.FREE_KICK_LEFT, Mode.FREE_KICK_RIGHT)
DIRECT = (Mode.DIRECT_FREE_KICK_LEFT, Mode.DIRECT_FREE_KICK_RIGHT)
GOAL = (Mode.GOAL_LEFT, Mode.GOAL_RIGHT)
RESTARTS = (KICK_OFF, KICK_IN, CORNER, GOAL_KICK, FREE_KICK, DIRECT)


class Foul(Enum):
    """Fouls that are called, by their numbers on the wire of monitors."""

    ILLEGAL_DEFENCE = 2
    INCAPABLE = 4
    DOUBLE_TOUCH = 9


@dataclass(frozen=True)
class Rules:
    """Times [s] and numbers of the league's rules."""

    half_time: float = 300.0
    kick_off_after: float = -1.0  # in BeforeKickOff with both teams there; below 0: a monitor does
    goal_pause: float = 3.0
    restart: float = 15.0  # for which a team has the ball for itself
    lying: tuple[float, float] = (15.0, 30.0)  # a player, a goalkeeper
    not_standing: tuple[float, float] = (30.0, 60.0)
    lies_below: float = 0.22  # [1] of the height at which it stands
    stands_above: float = 0.37
    defenders: int = 2  # in their goal area
    defence_time: float = 0.1
    again: float = 1.0  # after which a second touch counts as one
    goalkeeper: int = 1  # its number


@dataclass(frozen=True)
class Player:
    """A player of the game: where its body is [m], and how high it is when it stands [m]."""

    who: Who
    at: Array
    rest_height: float


@dataclass
class Orders:
    """What the referee wants moved: the ball to x, y, players to x, y, direction [rad]."""

    ball: tuple[float, float] | None = None
    players: dict[Who, tuple[float, float, float]] = field(default_factory=dict)


@dataclass
class _Watch:
    """How long a player has been down [s]."""

    lying: float = 0.0
    not_standing: float = 0.0
    standing: float = 0.0


class Referee:
    """The state of a game, and what changes it."""

    def __init__(self, pitch: Field, rules: Rules) -> None:
        self.field = pitch
        self.rules = rules
        self.mode = Mode.BEFORE_KICK_OFF
        self.play_time = 0.0
        self.half = 1
        self.score = [0, 0]
        self.fouls: list[tuple[Foul, Who]] = []  # of the last update
        self._now = 0.0
        self._since = 0.0  # the mode
        self._first = 0  # side of the next kick-off
        self._last: tuple[Who, float] | None = None  # touch of the ball, and when
        self._once: Who | None = None  # has kicked, and may not again before another one
        self._indirect: int | None = None  # side that cannot score yet
        self._watches: dict[Who, _Watch] = {}
        self._crowd = [0.0, 0.0]  # [s] with too many defenders
        self._entered: dict[Who, float] = {}
        self._orders = Orders()

    # ---- what others ask -----------------------------------------------------------------------

    @property
    def may_beam(self) -> bool:
        """Whether players may be put on their half."""
        return self.mode is Mode.BEFORE_KICK_OFF or self.mode in GOAL

    def kick_off(self, side: int | None = None) -> None:
        """Starts or restarts play with the kick-off of a side; None: whose turn it is."""
        side = self._first if side is None else side
        self._restart(KICK_OFF[side], (0.0, 0.0))
        self._indirect = side

    def drop_ball(self, at: tuple[float, float]) -> None:
        """Play goes on with the ball at a place."""
        self._restart(Mode.PLAY_ON, at)

    def set_mode(self, mode: Mode) -> None:
        """Sets a mode as a monitor wants it."""
        self.mode, self._since = mode, self._now

    # ---- a cycle -------------------------------------------------------------------------------

    def update(
        self, now: float, passed: float, ball: Array, players: list[Player], touch: Who | None
    ) -> Orders:
        """Judges `passed` seconds that ended at `now` [s]; `touch`: who touched the ball."""
        self._now = now
        self.fouls = []
        if self.mode not in (Mode.BEFORE_KICK_OFF, Mode.GAME_OVER):
            self.play_time += passed
        if not self._check_clock(players):
            mode = self.mode
            self._check_touch(ball, touch, players)
            if self.mode is mode:
                self._check_time(ball)
            if self.mode is mode:
                self._check_ball(ball)
            if self.mode not in (Mode.BEFORE_KICK_OFF, Mode.GAME_OVER):
                self._check_players(passed, players, ball)
        orders, self._orders = self._orders, Orders()
        return orders

    def _restart(self, mode: Mode, at: tuple[float, float]) -> None:
        self.mode, self._since = mode, self._now
        self._once = self._indirect = self._last = None
        self._orders.ball = at

    def _check_clock(self, players: list[Player]) -> bool:
        """Whether a half ended, or the game is not on."""
        if self.mode is Mode.BEFORE_KICK_OFF:
            if {player.who[0] for player in players} != {0, 1}:
                self._since = self._now
            elif 0 <= self.rules.kick_off_after <= self._now - self._since:
                self.kick_off()
            return True
        if self.mode is Mode.GAME_OVER:
            return True
        if self.play_time < self.half * self.rules.half_time:
            return False
        self.play_time = self.half * self.rules.half_time
        if self.half == 1:
            self.half = 2
            self._first = 1
            self._restart(Mode.BEFORE_KICK_OFF, (0.0, 0.0))
        else:
            self.set_mode(Mode.GAME_OVER)
        return True

    def _check_touch(self, ball: Array, touch: Who | None, players: list[Player]) -> None:
        if touch is None or self.mode in GOAL:
            return
        side = touch[0]
        last, self._last = self._last, (touch, self._now)
        if self._indirect is not None:
            far = math.hypot(ball[0], ball[1]) > self.field.circle
            if side != self._indirect or (last is not None and last[0] != touch) or far:
                self._indirect = None
        if self.mode is not Mode.PLAY_ON:
            if not any(self.mode in kind for kind in RESTARTS) or self.mode in GOAL_KICK:
                return
            mates = sum(player.who[0] == side for player in players)
            self._once = touch if mates > 1 else None
            self.set_mode(Mode.PLAY_ON)
        elif self._once == touch:
            if last is not None and self._now - last[1] > self.rules.again:
                self.fouls.append((Foul.DOUBLE_TOUCH, touch))
                self._restart(FREE_KICK[1 - side], (float(ball[0]), float(ball[1])))
                self._indirect = 1 - side
        else:
            self._once = None

    def _check_time(self, ball: Array) -> None:
        age = self._now - self._since
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
            low, high, bottom, top = self.field.area(GOAL_KICK.index(self.mode))
            if not (low <= ball[0] <= high and bottom <= ball[1] <= top):
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
        side = self._last[0][0] if self._last is not None else None
        x, y = self.field.length / 2, self.field.width / 2
        line = math.copysign(y, ball[1])
        if abs(ball[0]) > x:
            owner = 0 if ball[0] < 0 else 1
            if side == owner:
                self._restart(CORNER[1 - owner], (math.copysign(x, ball[0]), line))
            else:
                self._goal_kick(owner)
        else:
            self._restart(KICK_IN[0 if side != 0 else 1], (float(ball[0]), line))

    # ---- players -------------------------------------------------------------------------------

    def _check_players(self, passed: float, players: list[Player], ball: Array) -> None:
        if self._orders.ball is not None:
            ball = np.array([*self._orders.ball, 0.0])
        here = [p for p in players if abs(p.at[1]) < self.field.width / 2 + 0.1]
        for player in players:
            if player not in here:
                self._watches.pop(player.who, None)
        sent = {p.who for p in here if self._is_down(passed, p)}
        for side in (0, 1):
            sent |= self._crowding(passed, side, here)
        sent |= self._misplaced(here, ball)
        for player in here:
            if player.who in sent:
                self._send_off(player, players, ball)

    def _is_down(self, passed: float, player: Player) -> bool:
        rules, watch = self.rules, self._watches.setdefault(player.who, _Watch())
        height = player.at[2] / player.rest_height
        if height < rules.stands_above:
            watch.not_standing += passed
            watch.standing = 0.0
            watch.lying += passed if height < rules.lies_below else 0.0
        else:
            watch.standing += passed
            watch.lying = 0.0
            if watch.standing > 0.5:
                watch.not_standing = 0.0
        keeper = int(player.who[1] == rules.goalkeeper)
        if watch.lying <= rules.lying[keeper] and (
            watch.not_standing <= rules.not_standing[keeper]
        ):
            return False
        del self._watches[player.who]
        self.fouls.append((Foul.INCAPABLE, player.who))
        return True

    def _crowding(self, passed: float, side: int, players: list[Player]) -> set[Who]:
        """The last one to come, if too many are in their own goal area."""
        area = self.field.area(side)
        inside = {
            p.who
            for p in players
            if p.who[0] == side and area[0] <= p.at[0] <= area[1] and area[2] <= p.at[1] <= area[3]
        }
        for who in list(self._entered):
            if who[0] == side and who not in inside:
                del self._entered[who]
        for who in inside:
            self._entered.setdefault(who, self._now)
        self._crowd[side] = self._crowd[side] + passed if len(inside) > self.rules.defenders else 0
        if self._crowd[side] < self.rules.defence_time:
            return set()
        self._crowd[side] = 0.0
        last = max(inside, key=lambda who: (self._entered[who], who))
        del self._entered[last]
        self.fouls.append((Foul.ILLEGAL_DEFENCE, last))
        return {last}

    def _misplaced(self, players: list[Player], ball: Array) -> set[Who]:
        """Who is too near to the ball, or on the wrong half, at a restart of play."""
        kind = next((k for k in RESTARTS if self.mode in k), None)
        if kind is None:
            return set()
        own = kind.index(self.mode)
        others = [p for p in players if p.who[0] != own]
        if kind is GOAL_KICK:
            low, high, bottom, top = self.field.area(own)
            return {p.who for p in others if low <= p.at[0] <= high and bottom <= p.at[1] <= top}
        center = (0.0, 0.0) if kind is KICK_OFF else (ball[0], ball[1])
        distance = {p.who: math.dist(p.at[:2], center) for p in players}
        sent = {p.who for p in others if distance[p.who] < self.field.circle}
        if kind is KICK_OFF:
            wrong = [p.who for p in players if (p.at[0] > 0) == (p.who[0] == 0)]
            sent |= {who for who in wrong if who[0] != own}
            kickers = sorted((who for who in wrong if who[0] == own), key=lambda w: distance[w])
            near = [who for who in kickers if distance[who] < self.field.circle]
            sent |= set(kickers) - set(near[:1])
        return sent

    def _send_off(self, player: Player, players: list[Player], ball: Array) -> None:
        """Puts a player beside the field, on its half and away from the ball."""
        side = -1.0 if ball[1] > 0 else 1.0
        y = side * (self.field.width / 2 + 0.7 * self.field.border)
        step = self.field.border * (-1 if player.who[0] == 0 else 1)
        taken = [p.at[:2] for p in players if p.who != player.who]
        taken += [np.array(place[:2]) for place in self._orders.players.values()]
        x = step
        while any(math.dist(at, (x, y)) < 0.7 * self.field.border for at in taken):
            x += step
        self._orders.players[player.who] = (x, y, -side * math.pi / 2)
