"""Players who must leave: who lies too long, is one too many, or stands where he must not."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mayfly_bridges.robocup.field import Field, is_in
from mayfly_bridges.robocup.rules import GOAL_KICK, KICK_OFF, RESTARTS, Foul, Mode, Rules

Array = npt.NDArray[np.float64]
Who = tuple[int, int]  # side (0 left, 1 right) and number
Location = tuple[float, float, float]  # x, y [m], direction [rad]

UP_AGAIN = 0.5  # [s] of standing after which a player is no longer one who does not stand


@dataclass(frozen=True)
class Player:
    """A player of the game: where its body is [m], and how high it is when it stands [m]."""

    who: Who
    at: Array
    rest_height: float


@dataclass
class _Watch:
    """How long a player has been down [s]."""

    lying: float = 0.0
    not_standing: float = 0.0
    standing: float = 0.0


class Discipline:
    """What is remembered of players, and the places beside the field for those who must leave."""

    def __init__(self, pitch: Field, rules: Rules) -> None:
        self.field = pitch
        self.rules = rules
        self._watches: dict[Who, _Watch] = {}
        self._crowded = [0.0, 0.0]  # [s] with too many defenders
        self._entered: dict[Who, float] = {}

    def forget(self) -> None:
        """Players have other sides from now on."""
        self._watches.clear()
        self._entered.clear()
        self._crowded = [0.0, 0.0]

    def judge(
        self,
        mode: Mode,
        now: float,
        passed: float,
        players: list[Player],
        ball: tuple[float, float],
    ) -> tuple[dict[Who, Location], list[tuple[Foul, Who]]]:
        """Where players go that must leave, and what for, after a cycle of `passed` seconds that
        ended at `now` [s]; the ball is at `ball` [m]."""
        players = sorted(players, key=lambda player: player.who[0])
        fouls: list[tuple[Foul, Who]] = []
        locations: dict[Who, Location] = {}

        def send(sent: set[Who]) -> list[Player]:
            """Players after some of them were sent off, one by one."""
            for i, player in enumerate(players):
                if player.who in sent:
                    x, y, theta = self._beside(player, players, ball)
                    locations[player.who] = (x, y, theta)
                    players[i] = replace(player, at=np.array([x, y, player.rest_height]))
            return players

        if mode is not Mode.BEFORE_KICK_OFF:
            down = {player.who for player in players if self._is_down(passed, player)}
            fouls += [(Foul.INCAPABLE, who) for who in sorted(down)]
            players = send(down)
        for side in (0, 1):
            last = self._crowding(now, passed, side, players)
            if last is not None:
                fouls.append((Foul.ILLEGAL_DEFENCE, last))
                players = send({last})
        send(self._misplaced(mode, players, ball))
        return locations, fouls

    def _is_down(self, passed: float, player: Player) -> bool:
        """Whether a player has been down for too long; beside the field it may be."""
        if abs(player.at[1]) > self.field.width / 2 + 0.1:
            self._watches.pop(player.who, None)
            return False
        rules, watch = self.rules, self._watches.setdefault(player.who, _Watch())
        height = player.at[2] / player.rest_height
        if height < rules.stands_above:
            watch.not_standing += passed
            watch.standing = 0.0
            watch.lying += passed if height < rules.lies_below else 0.0
        else:
            watch.standing += passed
            watch.lying = 0.0
            if watch.standing > UP_AGAIN:
                watch.not_standing = 0.0
        keeper = int(player.who[1] == rules.goalkeeper)
        if watch.lying <= rules.lying[keeper] and (
            watch.not_standing <= rules.not_standing[keeper]
        ):
            return False
        del self._watches[player.who]
        return True

    def _crowding(self, now: float, passed: float, side: int, players: list[Player]) -> Who | None:
        """The last one to come, if too many are in their own goal area."""
        area = self.field.area(side)
        inside = {p.who for p in players if p.who[0] == side and is_in(area, p.at)}
        for who in list(self._entered):
            if who[0] == side and who not in inside:
                del self._entered[who]
        for who in inside:
            self._entered.setdefault(who, now)
        crowded = len(inside) > self.rules.defenders
        self._crowded[side] = self._crowded[side] + passed if crowded else 0
        if self._crowded[side] < self.rules.defence_time - 1e-9:
            return None
        self._crowded[side] = 0.0
        last = max(inside, key=lambda who: (self._entered[who], who))
        del self._entered[last]
        return last

    def _misplaced(self, mode: Mode, players: list[Player], ball: tuple[float, float]) -> set[Who]:
        """Who is too near to the ball, or on the wrong half, at a restart of play."""
        kind = next((k for k in RESTARTS if mode in k), None)
        if kind is None:
            return set()
        own = kind.index(mode)
        others = [p for p in players if p.who[0] != own]
        if kind is GOAL_KICK:
            return {p.who for p in others if is_in(self.field.area(own), p.at)}
        center = (0.0, 0.0) if kind is KICK_OFF else ball
        distance = {p.who: math.dist(p.at[:2], center) for p in players}
        sent = {p.who for p in others if distance[p.who] < self.field.circle}
        if kind is KICK_OFF:
            wrong = [p.who for p in players if (p.at[0] > 0) == (p.who[0] == 0)]
            sent |= {who for who in wrong if who[0] != own}
            kickers = sorted((who for who in wrong if who[0] == own), key=lambda w: distance[w])
            near = [who for who in kickers if distance[who] <= self.field.circle]
            sent |= set(kickers) - set(near[:1])
        return sent

    def _beside(self, player: Player, players: list[Player], ball: tuple[float, float]) -> Location:
        """A free place beside the field, on the player's half and away from the ball."""
        side = -1.0 if ball[1] > 0 else 1.0
        y = side * self.field.beside
        step = self.field.beside_step * (-1 if player.who[0] == 0 else 1)
        taken = [p.at[:2] for p in players if p.who != player.who]
        x = step
        while any(math.dist(at, (x, y)) < self.field.beside_gap for at in taken):
            x += step
        return (x, y, -side * math.pi / 2)
