"""Our referee and the league's (that of rcsssmj) judge the same games."""

from __future__ import annotations

import math
import random
import types
from typing import Any

import mujoco
import numpy as np
import pytest
from rcsssmj.games.soccer.game_phase import GamePhase
from rcsssmj.games.soccer.sim.soccer_ball import SoccerBall
from rcsssmj.games.soccer.sim.soccer_game_state import GameState
from rcsssmj.games.soccer.sim.soccer_referee import SoccerReferee
from rcsssmj.games.soccer.soccer_fields import create_soccer_field
from rcsssmj.games.soccer.soccer_rules import create_soccer_rule_book
from rcsssmj.sim.agent_id import AgentID
from robocup_game import T1

import mayfly
from conftest import Serve, Start
from mayfly_bridges.robocup.arms import Arms
from mayfly_bridges.robocup.discipline import Player, Who
from mayfly_bridges.robocup.field import FIELDS
from mayfly_bridges.robocup.referee import Orders, Referee, Touch
from mayfly_bridges.robocup.robot import Robot
from mayfly_bridges.robocup.rules import BOOKS, GOAL, KICK_OFF, Foul, Mode, Phase, Rules

CYCLE = 0.02  # [s]
HEIGHT = 0.6735  # [m] at which T1 stands
LAST = 40.0  # [s] of a phase that are played
LEAGUE = ("fifa7vs7", "fifa")


class TheirBall(SoccerBall):  # type: ignore[misc]
    """The league's ball, without a physics engine behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.at = np.array([0.0, 0.0, 0.11])
        self.was_dropped = False

    @property
    def xpos(self) -> Any:
        return self.at

    def place_at(self, pos: Any, quat: Any = None, vel: Any = None) -> None:
        self.at = np.array(pos, float)
        self.was_dropped = True

    def feel(self, who: Any, parts: Any, now: float) -> None:
        """What the league's ball does with contacts after a step."""
        if who is not None and who == self._active_contact:
            self._active_contact_body_parts = parts
        else:
            self._set_active_contact(who, parts, now)


class TheirPlayer:
    """What the league's referee wants to know of a player."""

    def __init__(self, who: Who, at: Any) -> None:
        self.agent_id = AgentID(*who)
        self.xpos = at
        self.hand_geom_ids: dict[str, int] = {}
        self.sent: tuple[float, float, float] | None = None

    def drop_at(self, x: float, y: float, theta: float) -> None:
        self.sent = (x, y, theta)
        self.xpos = np.array([x, y, HEIGHT])


class TheirGame:
    """The league's referee with a game of ours."""

    def __init__(self, name: str, players: dict[Who, Any], phase: int) -> None:
        self.rules = create_soccer_rule_book("ssim")
        self.field = create_soccer_field(name)
        start = self.rules.get_end_time_for(GamePhase(phase)) - LAST
        self.game_state = GameState(GamePhase(phase), start)
        self.ball = TheirBall()
        self.timestep = CYCLE
        self.sim_time = 0.0
        self.mj_model = self.mj_data = object()  # present, and arms without shapes
        self.players: dict[Who, TheirPlayer] = {w: TheirPlayer(w, p) for w, p in players.items()}
        self.referee = SoccerReferee(self)

    def get_players(self, side: Any) -> dict[int, TheirPlayer]:
        side = getattr(side, "value", side)
        return {who[1]: player for who, player in self.players.items() if who[0] == side}

    left_players = property(lambda self: self.get_players(0))
    right_players = property(lambda self: self.get_players(1))

    def cycle(self, now: float, ball: Any, touch: Touch | None) -> None:
        self.sim_time = now
        self.ball.at, self.ball.was_dropped = ball, False
        for player in self.players.values():
            player.sent = None
        who = None if touch is None else AgentID(*touch.who)
        parts = {"right_hand" if touch and touch.by_arm else "right_foot"}
        self.ball.feel(who, parts, now)
        self.referee.referee()

    def fouls(self) -> set[tuple[int, Who]]:
        return {
            (int(foul), (who.team_id, who.player_no))
            for who, fouls in self.referee.fouls.items()
            for foul in fouls
        }


class Both:
    """A game that both referees judge; every cycle they must agree."""

    def __init__(self, name: str, count: int = 4, phase: int = 1) -> None:
        half, extra, _ = BOOKS["ssim"]
        rules = Rules(half_time=half, extra_half_time=extra)
        start = rules.end_of(Phase(phase)) - LAST
        self.field = FIELDS[name]
        self.ours = Referee(self.field, rules, Phase(phase), start)
        x, y = self.field.length / 4, self.field.width / 4
        self.players: dict[Who, Any] = {
            (side, number): np.array([(2 * side - 1) * x, y - 1.5 * number, HEIGHT])
            for side in (0, 1)
            for number in range(1, count + 1)
        }
        self.theirs = TheirGame(name, self.players, phase)
        self.ball = np.array([0.0, 0.0, 0.11])
        self.now = 0.0
        self.was_ordered = False  # a kick-off, before the present cycle
        self.touch = Touch((0, 1))  # of random games
        self.is_touched = False
        self.seen: set[str] = set()

    def kick_off(self, side: int) -> None:
        self.was_ordered = True
        self.ours.kick_off(side)
        self.theirs.referee.kick_off(side)

    def go(self, seconds: float = CYCLE, touch: Who | None = None, by_arm: bool = False) -> Orders:
        """Plays so long with a touch in the first cycle; the last orders."""
        contact = None if touch is None else Touch(touch, by_arm)
        for _ in range(round(seconds / CYCLE)):
            orders = self._cycle(contact)
            contact = None
        return orders

    def _cycle(self, touch: Touch | None) -> Orders:
        self.now += CYCLE
        players = [Player(who, at, HEIGHT) for who, at in self.players.items()]
        orders = self.ours.update(self.now, CYCLE, self.ball, players, touch)
        self.theirs.cycle(self.now, self.ball, touch)
        self.compare(orders)
        self.was_ordered = False
        if orders.ball is not None:
            self.ball = np.array([*orders.ball, 0.11])
        for who, player in self.theirs.players.items():
            if player.sent is not None:
                self.players[who] = player.xpos
        return orders

    def compare(self, orders: Orders) -> None:
        theirs = self.theirs
        state = theirs.game_state
        assert self.ours.mode.value == state.play_mode.value
        assert self.ours.play_time == pytest.approx(state.play_time, abs=1e-9)
        assert self.ours.score == [state.left_team_score, state.right_team_score]
        assert {(foul.value, who) for foul, who in self.ours.fouls} == theirs.fouls()
        if theirs.ball.was_dropped:
            assert orders.ball == pytest.approx(tuple(theirs.ball.at[:2]))
        else:
            assert orders.ball is None or self.was_ordered
        sent = {who: p.sent for who, p in theirs.players.items() if p.sent is not None}
        assert set(orders.players) == set(sent)
        if len(sent) == 1 or self.ours.mode not in KICK_OFF:  # else in another order
            for who, place in sent.items():
                assert orders.players[who] == pytest.approx(place)
        self.seen |= {self.ours.mode.value} | {foul.name for foul, _ in self.ours.fouls}
        self.seen |= {"SENT_OFF"} if sent else set()

    def move(self, who: Who, x: float, y: float, height: float = HEIGHT) -> None:
        self.players[who] = self.theirs.players[who].xpos = np.array([x, y, height])


@pytest.fixture(params=LEAGUE)
def both(request: pytest.FixtureRequest) -> Both:
    """A game on a field of the league, after the kick-off of the left team and its first kick."""
    game = Both(request.param)
    game.kick_off(0)
    game.go()
    assert game.ours.mode is Mode.KICK_OFF_LEFT
    game.go(touch=(0, 2))
    assert game.ours.mode is Mode.PLAY_ON
    return game


def test_measures_of_fields() -> None:
    for name in LEAGUE:
        ours, theirs = FIELDS[name], create_soccer_field(name)
        assert (ours.length, ours.width) == theirs.field_dim[:2]
        assert (ours.goal_depth, ours.goal_width, ours.goal_height) == theirs.goal_dim
        assert (ours.goal_area_length, ours.goal_area_width) == theirs.goalie_area_dim
        assert (ours.penalty_area_length, ours.penalty_area_width) == theirs.penalty_area_dim
        assert ours.circle == theirs.center_circle_radius
        assert ours.penalty_mark == theirs.penalty_spot_distance


@pytest.mark.parametrize("book", BOOKS)
def test_books_of_rules(book: str) -> None:
    theirs = create_soccer_rule_book(book)
    half, extra, players = BOOKS[book]
    rules = Rules(half_time=half, extra_half_time=extra)
    assert players == theirs.max_team_size
    for phase in Phase:
        assert rules.end_of(phase) == theirs.get_end_time_for(GamePhase(phase.value))
        assert rules.start_of(phase) == theirs.get_start_time_for(GamePhase(phase.value))
    times = (theirs.kick_off_time, theirs.throw_in_time, theirs.corner_kick_time)
    times += (theirs.goal_kick_time, theirs.free_kick_time, theirs.direct_free_kick_time)
    assert set(times) == {rules.restart}
    assert rules.goal_pause == theirs.goal_pause_time
    assert rules.lying == (theirs.ground_max_time, theirs.goalie_ground_max_time)
    assert rules.not_standing == (
        theirs.not_standing_max_time,
        theirs.goalie_not_standing_max_time,
    )


def test_hand(both: Both) -> None:
    """A direct free kick of the others; the goalkeeper may in his penalty area only."""
    both.go(1.0)
    both.go(touch=(1, 3), by_arm=True)
    assert both.ours.mode is Mode.DIRECT_FREE_KICK_LEFT
    both.go(touch=(0, 3))
    assert both.ours.mode is Mode.PLAY_ON
    x = both.field.length / 2 - both.field.penalty_area_length / 2
    both.ball = np.array([x, 0.0, 0.11])
    both.go(0.2, touch=(1, 1), by_arm=True)
    assert both.ours.mode is Mode.PLAY_ON
    both.go(0.2, touch=(0, 1), by_arm=True)
    assert both.ours.mode is Mode.DIRECT_FREE_KICK_RIGHT
    both.go(16.0)  # and nobody takes it
    assert both.ours.mode is Mode.PLAY_ON


def test_second_touch_counts_from_the_first(both: Both) -> None:
    """Steps through the ball within a second are one kick; later ones are a second touch."""
    for _ in range(2):
        both.go(0.4)
        both.go(touch=(0, 2))
        assert both.ours.mode is Mode.PLAY_ON
    both.go(0.4)
    both.go(touch=(0, 2))
    assert both.ours.mode is Mode.FREE_KICK_RIGHT
    at = both.ball[:2].copy()
    both.go(touch=(1, 2))
    both.go()
    both.ball = np.array([-both.field.length / 2 - 0.5, 0.0, 0.11])
    both.go()  # an indirect free kick does not score
    assert both.ours.mode is Mode.GOAL_KICK_LEFT and both.ours.score == [0, 0]
    assert math.dist(at, both.ball[:2]) > 5


def test_indirect_kick_scores_after_a_touch_far_away(both: Both) -> None:
    """Of the same team: only outside of the circle around the kick."""
    both.go(touch=(0, 3))  # in the circle
    both.go()
    both.ball = np.array([both.field.length / 2 + 0.5, 0.0, 0.11])
    both.go()
    assert both.ours.score == [0, 0]
    both.go(16.0)
    both.kick_off(0)
    both.go()
    both.ball = np.zeros(3)
    both.go(touch=(0, 2))
    both.go()
    both.ball = np.array([both.field.circle + 0.2, 0.0, 0.11])
    both.go(touch=(0, 3))
    both.go()
    both.ball = np.array([both.field.length / 2 + 0.5, 0.0, 0.11])
    both.go()
    assert both.ours.mode is Mode.GOAL_LEFT and both.ours.score == [1, 0]


def test_ball_that_nobody_kicked_out(both: Both) -> None:
    both.kick_off(1)
    both.go(15.5)
    assert both.ours.mode is Mode.PLAY_ON
    both.ball = np.array([3.0, both.field.width / 2 + 0.3, 0.11])
    assert both.go().ball == (3.0, both.field.width / 2)
    assert both.ours.mode is Mode.PLAY_ON


def random_cycle(game: Both, dice: random.Random) -> None:
    """The ball or a player goes somewhere, a touch begins or ends, or nothing happens."""
    field, roll = game.field, dice.random()
    x, y = field.length / 2, field.width / 2
    if roll < 0.02:
        game.ball = np.array([dice.uniform(-x - 2, x + 2), dice.uniform(-y - 3, y + 3), 0.11])
    elif roll < 0.025:
        high = dice.choice((0.11, field.goal_height + 0.3))
        game.ball = np.array([dice.choice((-1, 1)) * (x + 0.4), dice.uniform(-2.5, 2.5), high])
    elif roll < 0.05:
        who = dice.choice(list(game.players))
        goal = (2 * who[0] - 1) * (x - 1.5)
        at = dice.choice(((goal, dice.uniform(-3, 3)), (dice.uniform(-x, x), dice.uniform(-y, y))))
        game.move(who, *at, dice.choice((0.1, 0.2, HEIGHT, HEIGHT)))
    elif roll < 0.15:
        if dice.random() < 0.3:
            game.touch = Touch(dice.choice(list(game.players)), dice.random() < 0.1)
        game.is_touched = dice.random() < 0.5
    # In the pause after a goal the league's referee calls fouls, which end it; ours does not.
    touch = game.touch if game.is_touched and game.ours.mode not in GOAL else None
    game.go() if touch is None else game.go(touch=touch.who, by_arm=touch.by_arm)


def test_random_games() -> None:
    """Until the end of a phase, with all modes and fouls that the league's referee knows."""
    seen: set[str] = set()
    for seed in range(8):
        dice = random.Random(seed)
        game = Both(LEAGUE[seed % 2], 5, phase=(1, 3, 4)[seed % 3])
        game.kick_off(seed % 2)
        while game.ours.mode is not Mode.GAME_OVER:
            random_cycle(game, dice)
        assert game.now > LAST - 2 * CYCLE
        seen |= game.seen
    never = {Mode.BEFORE_KICK_OFF, Mode.OFFSIDE_LEFT, Mode.OFFSIDE_RIGHT}
    modes = {mode.value for mode in Mode if mode not in never and "penalty" not in mode.value}
    assert seen == modes | {foul.name for foul in Foul} | {"SENT_OFF"}


def league_says(referee: Any, game: Any, part: str) -> bool:
    """Whether the league's referee calls a hand for a contact with a part of a robot."""
    game.ball.active_contact_body_parts = {part}
    found: bool = referee._SoccerReferee__check_hand_foul()
    return found


def test_arms_away_from_the_body(serve: Serve, tmp_path: Any, start: Start) -> None:
    """T1 in random poses, upright, leaning and lying: the same arms are away from the body."""
    scene = tmp_path / "t1.yaml"
    scene.write_text(f"groups:\n  - {{name: robot, model: {T1}, motion: articulated}}\n")
    with mayfly.connect(serve(scene)) as world:
        robot = Robot(world["robot"].describe())
    arms = Arms(robot)
    names = {robot.info["shapes"][i]["name"]: i for i in arms.shapes}
    assert set(names) == {"left_hand", "right_hand", "left_forearm", "right_forearm"}
    model = mujoco.MjModel.from_xml_path(str(T1))
    data = mujoco.MjData(model)
    names_of = mujoco.mjtObj
    find = mujoco.mj_name2id
    player = types.SimpleNamespace(
        agent_id=AgentID(0, 2),
        torso_geom_id=find(model, names_of.mjOBJ_GEOM, "torso"),
        camera_site_id=find(model, names_of.mjOBJ_SITE, "camera"),
        torso_body_id=find(model, names_of.mjOBJ_BODY, "torso"),
        hand_geom_ids={name: find(model, names_of.mjOBJ_GEOM, name) for name in names},
    )
    ball = types.SimpleNamespace(active_contact=AgentID(0, 2), xpos=np.zeros(3))
    game = types.SimpleNamespace(
        mj_model=model, mj_data=data, ball=ball, get_players=lambda side: {2: player}
    )
    referee, dice = SoccerReferee(game), np.random.default_rng(5)
    joints = [find(model, names_of.mjOBJ_JOINT, name) for name in robot.joints]
    assert min(joints) >= 0
    calls = []
    for pose in range(150):
        angle = dice.uniform(-1.3, 1.3, len(joints)) * dice.choice((0.3, 1.0))
        rotated = np.array([1.0, 0, 0, 0]) + dice.normal(size=4) * (0.05, 0.3, 2.0)[pose % 3]
        rotated /= np.linalg.norm(rotated)
        at = np.array([0.5, -0.2, (0.67, 0.55, 0.2)[pose % 3]])
        data.qpos[:7] = [*at, *rotated]
        data.qpos[[model.jnt_qposadr[joint] for joint in joints]] = angle
        mujoco.mj_kinematics(model, data)
        links, rotations = robot.poses(at[None], rotated[None], angle[None])
        for name, shape in names.items():
            ours = arms.is_away(shape, links[0], rotations[0])
            assert ours == league_says(referee, game, name), (pose, name)
            calls.append((pose % 3 == 2, ours))
    for is_lying in (False, True):
        share = np.mean([away for lying, away in calls if lying == is_lying])
        assert 0.1 < share < 0.9
