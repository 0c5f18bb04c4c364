"""The older dialect of RoboCup: agents and monitors of SimSpark."""

from __future__ import annotations

import pathlib
import re
import time
from collections.abc import Callable

import numpy as np
import pytest
from rcssscom import Server
from robocup_game import HUMANOID, TIMEOUT, Game, Link, open_game

from conftest import Serve, Start
from mayfly_bridges.robocup import sexpr
from mayfly_bridges.robocup.effectors import Beam, Init, Rate, Say
from mayfly_bridges.robocup.field import FIELDS
from mayfly_bridges.robocup.graph import Body, transform
from mayfly_bridges.robocup.old import OldDialect


@pytest.fixture
def game(serve: Serve, start: Start, tmp_path: pathlib.Path) -> Game:
    return open_game(serve, start, tmp_path, HUMANOID)


def joints(text: str) -> dict[str, float]:
    return {
        name: float(angle) for name, angle in re.findall(r"HJ \(n (\w+)\) \(ax ([-.\d]+)\)", text)
    }


def test_what_agents_say() -> None:
    dialect = OldDialect(FIELDS["kid"])
    assert dialect.read_actions(b"(he1 1.5)(beam -1 2 180)(say help)(syn)") == [
        Rate("he1", 1.5),
        Beam(-1, 2, pytest.approx(np.pi)),
        Say(1.0, b"help"),
    ]
    assert dialect.read_init(b"(scene rsg/agent/nao/nao.rsg)(syn)") is None
    assert dialect.read_init(b"(init (unum 3)(teamname Reds))") == Init("", "Reds", 3)
    for wrong in (b"(init)", b"(init (unum 1))", b"(init (unum x)(teamname A))", b"(he1 1)", b"x"):
        with pytest.raises(sexpr.Malformed):
            dialect.read_init(wrong)


def test_an_agent_of_simspark(game: Game) -> None:
    """It is built, enters the game, feels, and turns joints at rates; without them they hold."""
    link = Link(game.old_agent_port)
    game.links.append(link)
    link.send("(scene rsg/agent/nao/nao.rsg)")
    first = link.receive()
    assert "(time (now " in first and "(GS (t 0.00)(pm BeforeKickOff)" in first
    link.send("(init (unum 0)(teamname Reds))")
    while "(unum 1)(team left)" not in (text := link.receive()):
        pass
    names = [f"hj{i}" for i in (1, 2)]
    for side in "lr":
        names += [f"{side}aj{i}" for i in (1, 2, 4)]
    names += [f"{side}lj{i}" for side in "lr" for i in range(1, 7)]
    assert list(joints(text)) == names
    texts = []
    for cycle in range(50):
        link.send(f"(he1 {1.0 if cycle < 25 else 0.0})")
        link.send("(lae1 2)(syn)")  # two messages in one cycle
        texts.append(link.receive())
    assert joints(texts[25])["hj1"] == pytest.approx(np.degrees(0.5), abs=4)
    assert joints(texts[-1])["hj1"] == pytest.approx(np.degrees(0.5), abs=1.5)
    assert joints(texts[-1])["laj1"] == pytest.approx(np.degrees(2.0), abs=10)
    assert abs(joints(texts[-1])["llj4"]) < 3  # its legs are straight
    assert "(FRP (n lf)" in texts[-1] and "(FRP (n rf)" in texts[-1]
    assert re.search(r"\(ACC \(n torso\) \(a \S+ \S+ (9|10)\.", texts[-1])
    detections = ["(See " in text for text in texts]
    assert detections.count(True) in (16, 17) and detections[3:] == detections[:-3]
    assert "(F1L (pol " in "".join(texts) or "(F1R (pol " in "".join(texts)


def test_both_dialects_in_one_game(game: Game) -> None:
    new, old = game.agent("Reds", 1), Link(game.old_agent_port)
    game.links.append(old)
    old.send("(scene rsg/agent/nao/nao.rsg)")
    old.send("(init (unum 7)(teamname Blues))(syn)")
    is_seen = is_heard = False
    for _ in range(400):
        is_seen |= "(P (team Blues)(id 7)" in new.receive()
        new.send("(beam -1 0 0)(SPK say 100 aGk=)")
        if old.inbox_has_more():
            is_heard |= bool(re.search(r"\(hear Reds \d+\.\d+ -?\d+\.\d hi\)", old.receive()))
            old.send("(beam -1 0 0)(syn)")
        if is_seen and is_heard:
            break
    assert is_seen and is_heard


def test_monitors_of_simspark(game: Game) -> None:
    """PyPI's pyrcssscom reads the state, moves the ball and gives kick-offs."""
    monitor = Server(port=game.old_monitor_port)

    def until(is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + TIMEOUT
        while not is_so():
            assert time.monotonic() < end
            if not monitor.is_connected():
                monitor.refresh_connection()
            monitor.sync_game_state(retry=20)

    state = monitor.game_state
    until(lambda: state.time_last_sync > 0)
    assert (state.FieldLength, state.FieldWidth, state.GoalHeight) == (9, 6, 1.2)
    assert state.play_modes[state.play_mode] == "BeforeKickOff"
    assert state.team_left == "LEFT" and (state.score_left, state.half) == (0, "1")
    monitor.send_move_ball(1.5, 0.5, 0.0)
    until(lambda: state.ball == pytest.approx((1.5, 0.5, 0.07), abs=0.01))
    monitor.send_kickOff(left=True)  # which sends both, so the right one is the last
    until(lambda: state.play_modes[state.play_mode] == "KickOff_Right")
    until(lambda: state.time > 1)
    assert state.ball == pytest.approx((0, 0, 0.07), abs=0.01)
    monitor.close_connection()


def test_graph_tells_what_moved() -> None:
    """Nesting of differences is that of the whole, and small moves are kept for later."""
    root, part = Body(), Body()
    root.bodies = [part]
    whole = sexpr.parse(root.full(False).encode())
    assert sexpr.parse(root.diff(False).encode()) == [["nd", ["nd"]]]
    for step in range(1, 4):
        part.at = transform(np.array([0.002 * step, 0, 0]), np.eye(3))
        (info,) = sexpr.parse(root.diff(False).encode())
        assert (len(info[1]) == 2) == (step == 3)  # 6 mm since it was told
    assert info[1][1][0] == "SLT" and info[1][1][13] == "0.0060"
    assert whole[0][1] == "TRF"
