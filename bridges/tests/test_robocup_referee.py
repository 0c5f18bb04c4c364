"""The referee of RoboCup games: what it decides from positions and touches."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mayfly_bridges.robocup.discipline import Player, Who
from mayfly_bridges.robocup.field import FIELDS
from mayfly_bridges.robocup.referee import Orders, Referee, Touch
from mayfly_bridges.robocup.rules import Foul, Mode, Phase, Rules

CYCLE = 0.02
STANDS = 0.27  # [m]


class Game:
    """A referee with two players on each side."""

    def __init__(self, phase: Phase = Phase.FIRST_HALF, **rules: float) -> None:
        self.referee = Referee(FIELDS["kid"], Rules(**rules), phase)
        self.now = 0.0
        self.ball = np.zeros(3)
        self.players: dict[Who, np.ndarray] = {
            (0, 1): np.array([-4.0, 0.0, STANDS]),
            (0, 2): np.array([-0.4, 0.0, STANDS]),
            (1, 1): np.array([4.0, 0.0, STANDS]),
            (1, 2): np.array([1.5, 0.0, STANDS]),
        }

    def go(self, seconds: float = CYCLE, touch: Who | None = None, by_arm: bool = False) -> Orders:
        """Plays so long; the touch is in the first cycle. All orders are obeyed, and summed."""
        found = Orders()
        contact = None if touch is None else Touch(touch, by_arm)
        for _ in range(round(seconds / CYCLE)):
            self.now += CYCLE
            players = [Player(who, at, STANDS) for who, at in self.players.items()]
            orders = self.referee.update(self.now, CYCLE, self.ball, players, contact)
            contact = None
            found.change_sides |= orders.change_sides
            if orders.ball is not None:
                found.ball = orders.ball
                self.ball = np.array([*orders.ball, 0.07])
            for who, (x, y, _) in orders.players.items():
                self.players[who] = np.array([x, y, STANDS])
            found.players |= orders.players
        return found

    @property
    def mode(self) -> Mode:
        return self.referee.mode


@pytest.fixture
def play() -> Game:
    """The left team has kicked off, and its second player may not touch the ball again yet."""
    game = Game()
    game.go(1.0)
    assert game.mode is Mode.BEFORE_KICK_OFF and game.referee.play_time == 0
    game.referee.kick_off(0)
    assert game.go().ball == (0, 0)
    assert game.mode is Mode.KICK_OFF_LEFT
    game.go(touch=(0, 2))
    assert game.mode is Mode.PLAY_ON
    return game


def test_kick_off_by_itself_once_both_teams_are_there() -> None:
    game = Game(kick_off_after=2.0)
    away = {who: game.players.pop(who) for who in list(game.players) if who[0] == 1}
    game.go(10)
    assert game.mode is Mode.BEFORE_KICK_OFF and game.referee.may_beam
    game.players |= away
    game.go(1.9)
    assert game.mode is Mode.BEFORE_KICK_OFF
    game.go(0.2)
    assert game.mode is Mode.KICK_OFF_LEFT and not game.referee.may_beam


def test_nobody_waits_for_ever_for_a_kick_off() -> None:
    game = Game()
    game.referee.kick_off(1)
    game.go(14.9)
    assert game.mode is Mode.KICK_OFF_RIGHT
    game.go(0.2)
    assert game.mode is Mode.PLAY_ON


def test_misplaced_players_stand_beside_the_field() -> None:
    game = Game()
    game.players[1, 2] = np.array([0.5, 0.0, STANDS])  # in the circle of the others
    game.players[1, 1] = np.array([-1.0, 1.0, STANDS])  # on the wrong half
    game.players[0, 1] = np.array([0.3, 0.0, STANDS])  # one may be there to kick
    game.players[0, 2] = np.array([0.5, 0.1, STANDS])  # but no other
    game.referee.kick_off(0)
    found = game.go()
    assert set(found.players) == {(1, 2), (1, 1), (0, 2)}
    for (side, _), (x, y, theta) in found.players.items():
        assert (x > 0) == (side == 1) and abs(y) == pytest.approx(3.7)
        assert math.sin(theta) * y < 0  # looks to the field
    positions = [place[:2] for place in found.players.values()]
    assert all(math.dist(a, b) >= 0.7 for a in positions for b in positions if a is not b)
    assert not game.go().players


def test_goal_pause_and_kick_off_of_the_others(play: Game) -> None:
    play.go(touch=(1, 2))
    play.ball = np.array([4.8, 0.5, 0.07])
    play.go()
    assert play.mode is Mode.GOAL_LEFT and play.referee.score == [1, 0] and play.referee.may_beam
    play.go(2.9)
    assert play.mode is Mode.GOAL_LEFT and play.referee.score == [1, 0]
    assert play.go(0.2).ball == (0, 0)
    assert play.mode is Mode.KICK_OFF_RIGHT


def test_kick_off_is_no_shot(play: Game) -> None:
    play.ball = np.array([4.8, 0.5, 0.07])
    found = play.go()
    assert play.mode is Mode.GOAL_KICK_RIGHT and play.referee.score == [0, 0]
    assert found.ball == (4.0, 0.0)


def test_above_the_bar_is_no_goal(play: Game) -> None:
    play.go(touch=(0, 2))
    play.ball = np.array([4.8, 0.5, 1.4])
    play.go()
    assert play.mode is Mode.GOAL_KICK_RIGHT and play.referee.score == [0, 0]


@pytest.mark.parametrize(
    ("last", "at", "mode", "where"),
    [
        ((0, 2), (1.0, 3.1), Mode.KICK_IN_RIGHT, (1.0, 3.0)),
        ((1, 2), (1.0, -3.1), Mode.KICK_IN_LEFT, (1.0, -3.0)),
        ((0, 2), (4.6, 2.0), Mode.GOAL_KICK_RIGHT, (4.0, 0.0)),
        ((1, 2), (4.6, 2.0), Mode.CORNER_KICK_LEFT, (4.5, 3.0)),
        ((1, 2), (-4.6, -2.0), Mode.GOAL_KICK_LEFT, (-4.0, 0.0)),
        ((0, 2), (-4.6, -2.0), Mode.CORNER_KICK_RIGHT, (-4.5, -3.0)),
    ],
)
def test_ball_out(
    play: Game, last: Who, at: tuple[float, float], mode: Mode, where: tuple[float, float]
) -> None:
    play.go(touch=(1, 1))
    play.go(touch=last)
    play.ball = np.array([*at, 0.07])
    assert play.go().ball == where
    assert play.mode is mode
    play.go(touch=(0, 1) if "left" in mode.value.lower() else (1, 1))
    if "goal" in mode.value:  # until it leaves the area
        assert play.mode is mode
        play.ball = np.array([math.copysign(3.4, where[0]), 0.0, 0.07])
        play.go()
    assert play.mode is Mode.PLAY_ON


def test_others_stay_away_from_a_kick_in(play: Game) -> None:
    play.players[1, 2] = np.array([1.0, 2.5, STANDS])
    play.players[0, 2] = np.array([1.1, 2.5, STANDS])
    play.go(touch=(1, 2))
    play.ball = np.array([1.0, 3.1, 0.07])
    assert set(play.go().players) == {(1, 2)}


def test_second_touch_of_a_kick_is_a_foul(play: Game) -> None:
    play.go(0.5)
    play.go(touch=(0, 2))
    assert play.mode is Mode.PLAY_ON  # still the same kick
    play.go(1.5)
    play.ball = np.array([0.5, 0.2, 0.07])
    play.go(touch=(0, 2))
    assert play.mode is Mode.FREE_KICK_RIGHT
    assert play.referee.fouls == [(Foul.DOUBLE_TOUCH, (0, 2))]


def test_second_touch_after_another_player_is_none(play: Game) -> None:
    play.go(1.5, touch=(0, 1))
    play.go(1.5, touch=(0, 2))
    play.go(1.5, touch=(0, 2))
    assert play.mode is Mode.PLAY_ON


def test_who_lies_too_long_leaves(play: Game) -> None:
    play.players[0, 2] = np.array([1.0, 1.0, 0.05])
    play.players[1, 1] = np.array([2.0, 1.0, 0.05])  # the goalkeeper has twice the time
    assert not play.go(14.9).players
    assert set(play.go(0.2).players) == {(0, 2)}
    assert not play.go(14.7).players
    assert set(play.go(0.4).players) == {(1, 1)}


def test_who_gets_up_stays(play: Game) -> None:
    play.players[0, 2] = np.array([1.0, 1.0, 0.05])
    play.go(14.9)
    play.players[0, 2][2] = STANDS
    play.go(0.6)
    play.players[0, 2][2] = 0.05
    assert not play.go(14.9).players


def test_three_in_their_goal_area_are_one_too_many(play: Game) -> None:
    play.players[0, 3] = np.array([-4.2, 1.0, STANDS])
    play.go()
    play.players[0, 2] = np.array([-4.2, -1.0, STANDS])
    found = play.go(0.2)
    assert set(found.players) == {(0, 2)}  # the last one to come


def test_halves_and_the_end() -> None:
    game = Game(half_time=10.0)
    game.referee.kick_off(0)
    game.go(5)
    assert game.referee.play_time == pytest.approx(5, abs=0.03)
    game.go(5.1)
    assert game.mode is Mode.BEFORE_KICK_OFF and game.referee.half == 2
    game.go(5)
    assert game.referee.play_time == 10
    game.referee.kick_off()
    game.go(1)
    assert game.mode is Mode.KICK_OFF_RIGHT
    game.go(9.1)
    assert game.mode is Mode.GAME_OVER and game.referee.play_time == 20
    game.go(5, touch=(0, 1))
    assert game.mode is Mode.GAME_OVER


def play_until_the_end(game: Game) -> list[tuple[Mode, float, list[int]]]:
    """Kick-offs whenever one is due, to the end; kick-offs with the time and score then."""
    found = []
    while game.mode is not Mode.GAME_OVER:
        if game.mode is Mode.BEFORE_KICK_OFF:
            game.referee.kick_off()
            game.go()
            found.append((game.mode, round(game.referee.play_time), list(game.referee.score)))
        game.go()
    return found


def test_extra_time_after_a_draw_only() -> None:
    rules = {"half_time": 20.0, "extra_half_time": 5.0, "has_extra_time": True}
    kick_offs = play_until_the_end(Game(**rules))
    assert [time for _, time, _ in kick_offs] == [0, 20, 40, 45]
    assert [mode for mode, _, _ in kick_offs] == [Mode.KICK_OFF_LEFT, Mode.KICK_OFF_RIGHT] * 2
    game = Game(**rules)
    game.referee.score = [1, 0]
    assert len(play_until_the_end(game)) == 2


def test_teams_change_sides() -> None:
    """Score and kick-off go with the teams; what was counted of players is forgotten."""
    game = Game(half_time=20.0, changes_sides=True)
    game.referee.kick_off(0)
    for who in ((0, 2), (1, 2)):
        game.go(touch=who)
    game.ball = np.array([4.8, 0.5, 0.07])
    game.go()
    game.players[0, 2] = np.array([1.0, 1.0, 0.05])  # lies
    while not game.go().change_sides:
        assert game.referee.score == [1, 0]
    assert game.referee.score == [0, 1] and game.referee.half == 2
    assert game.mode is Mode.BEFORE_KICK_OFF and game.referee.play_time == 20
    game.referee.kick_off()
    game.go()
    assert game.mode is Mode.KICK_OFF_LEFT  # the team that was right, and had no kick-off yet
    assert not game.go(14.5).players


def test_phase_of_penalties_ends_after_a_minute() -> None:
    game = Game(Phase.PENALTIES)
    game.referee.kick_off(1)
    game.go(59.9)
    assert game.mode is Mode.PLAY_ON
    game.go(0.2)
    assert game.mode is Mode.GAME_OVER


def test_before_the_kick_off_nothing_counts() -> None:
    """Neither goals nor hands, but three in their goal area are one too many."""
    game = Game()
    game.go(touch=(0, 2), by_arm=True)
    game.ball = np.array([4.8, 0.5, 0.07])
    game.go(5)
    assert game.mode is Mode.BEFORE_KICK_OFF and game.referee.score == [0, 0]
    for number, y in ((2, 0.5), (3, -0.5)):
        game.players[0, number] = np.array([-4.2, y, STANDS])
        game.go()
    assert set(game.go(0.2).players) == {(0, 3)}
