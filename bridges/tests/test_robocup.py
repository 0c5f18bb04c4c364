"""Matches of RoboCup agents in worlds of `mayfly serve`, and the league's own server beside it."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rcsssmj.utils.sexpression import SExpression
from robocup_game import AGENT, HUMANOID, ROOT, T1, TIMEOUT, Game, Link, open_game

from conftest import Serve, Start
from mayfly_bridges.robocup import sexpr

SHARED = pathlib.Path(os.environ.get("MAYFLY_SHARED", "/nowhere"))
MENAGERIE = SHARED / "models" / "booster_t1" / "t1.xml"
Begin = Callable[..., Game]
League = Callable[[Callable[[int, int], Any]], Any]


@pytest.fixture
def begin(serve: Serve, start: Start, tmp_path: pathlib.Path) -> Iterator[Begin]:
    """`begin(model, "--option")`: a game that ends with the test."""
    games = []

    def run(model: str | pathlib.Path = HUMANOID, *options: str, **how: Any) -> Game:
        games.append(open_game(serve, start, tmp_path, model, *options, **how))
        return games[-1]

    yield run
    for game in games:
        for link in game.links:
            link.close()


def heads(text: str) -> list[tuple[str, ...]]:
    """The percepts of a message: their kinds, the names of their sensors, and their parts."""
    found = []
    for node in sexpr.parse(text.encode()):
        assert isinstance(node, list)
        parts = [part[0] for part in node if isinstance(part, list)]
        name = sexpr.find(node, "n")
        assert all(isinstance(part, str) for part in parts)
        if node[0] == "See":
            parts = []
        found.append((str(node[0]), str(name[1]) if name else "", *map(str, parts)))
    return found


def percepts_of(text: str) -> Any:
    percepts = AGENT.Percepts()
    percepts.take(text)
    return percepts


def joint(text: str, name: str) -> float:
    angle: float = percepts_of(text).joints[name][0]
    return angle


# ---- beside the league's server ----------------------------------------------------------------


@contextlib.contextmanager
def league_server(log_path: pathlib.Path) -> Iterator[tuple[int, int]]:
    """The league's server in lock-step with its agents; its ports."""
    ports = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports.append(free.getsockname()[1])
    command = [sys.executable, "-m", "rcsssmj", "--no-render", "--sync", "--no-realtime"]
    command += ["--aport", str(ports[0]), "--mport", str(ports[1])]
    with log_path.open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=log_path.parent)
        try:
            end = time.monotonic() + TIMEOUT
            while True:
                try:
                    monitor = Link(ports[1])
                    monitor.receive()  # 0.2.1 fails when an agent comes before its first step
                    monitor.close()
                    break
                except OSError:
                    assert server.poll() is None and time.monotonic() < end
                    time.sleep(0.1)
            yield ports[0], ports[1]
        finally:
            server.kill()
            server.wait()


@pytest.fixture
def league(tmp_path: pathlib.Path) -> League:
    """`league(act)` returns act(agents' port, monitors' port) with the league's server.

    0.2.1 adds an agent in another thread than that of its steps, and now and then dies of it: then
    another server is started.
    """

    def run(act: Callable[[int, int], Any]) -> Any:
        for attempt in range(4):
            with league_server(tmp_path / f"league{attempt}.log") as ports:
                try:
                    return act(*ports)
                except (EOFError, ConnectionError):
                    continue
        logs = [path.read_text() for path in sorted(tmp_path.glob("league*.log"))]
        raise AssertionError("the league's server died each time:\n" + "\n".join(logs))

    return run


def play(link: Link, cycles: int) -> tuple[list[str], Any]:
    """Messages that the example agent got, and what it knows in the end."""
    player = AGENT.Player("T1", "Reds", 2)
    link.send("(init T1 Reds 2)")
    messages = []
    for _ in range(cycles):
        messages.append(link.receive())
        link.send(player.act(messages[-1]) or "(syn)")
    return messages, player.percepts


def test_t1_feels_and_stands_as_in_the_league(league: League, begin: Begin) -> None:
    """One agent, two simulators: the same percepts, and the same pose and flags after 2 s."""
    theirs, there = league(lambda agents, _: play(Link(agents), 100))
    game = begin(T1, scene="robocup_league")
    ours, here = play(Link(game.agent_port), 100)
    kinds = [heads(text) for text in ours[:8]]
    assert {len(kind) for kind in kinds} == {len(heads(text)) for text in theirs[:8]}
    expected = max((heads(text) for text in theirs[:8]), key=len)
    assert max(kinds, key=len) == expected
    assert {word for word, *_ in expected} == {
        *("time", "GS", "pos", "quat", "GYR", "ACC", "HJ", "See")
    }
    assert [any(k[0] == "See" for k in kind) for kind in kinds[:4]] in (
        [True, False] * 2,
        [False, True] * 2,
    )
    assert here.position == pytest.approx(there.position, abs=0.015)
    for name, (angle, _) in there.joints.items():
        assert here.joints[name][0] == pytest.approx(angle, abs=3.0), name
    assert here.ball is not None and there.ball is not None
    assert there.ball[0] == pytest.approx(here.ball[0], abs=0.05)
    assert set(here.seen) == set(there.seen) and len(here.seen) > 12
    for name, (distance, *angles) in there.seen.items():
        assert here.seen[name][0] == pytest.approx(distance, abs=0.1), name
        assert here.seen[name][1:] == pytest.approx(angles, abs=1.5), name


@pytest.mark.skipif(not MENAGERIE.exists(), reason="no Booster T1 of the Menagerie: MAYFLY_SHARED")
def test_t1_of_the_menagerie_stands_and_looks(begin: Begin) -> None:
    """The maker's file has neither the league's names nor its sites."""
    _, percepts = play(Link(begin(MENAGERIE).agent_port), 100)
    assert percepts.position[2] == pytest.approx(0.64, abs=0.01)
    assert set(percepts.joints) >= {"q_hj1", "q_laj4", "q_tj1", "q_rlj6"}
    assert percepts.ball is not None and abs(percepts.ball[1]) < 5


def shape_of(text: str) -> list[Any]:
    """A message of a monitor as the league's parser reads it."""

    def of(node: Any) -> Any:
        if isinstance(node, SExpression):
            return [of(part) for part in node]
        return bytes(node).decode()

    (found,) = of(SExpression.from_array(text.encode()))
    assert isinstance(found, list)
    return found


def count(node: Any, kind: str) -> int:
    if not isinstance(node, list):
        return 0
    return (bool(node) and node[0] == kind) + sum(count(part, kind) for part in node)


def described(node: Any) -> list[list[str]]:
    if not isinstance(node, list):
        return []
    found = node[2:3] if node[:2] == ["nd", "DSC"] else []
    return found + [one for part in node for one in described(part)]


def watch(monitor: Link, agent: Link) -> tuple[list[Any], list[Any]]:
    """The full graph with a robot, and a difference after it."""
    full: list[Any] = []
    while True:
        agent.receive()
        agent.send("(syn)")
        monitor.socket.settimeout(0.05)
        try:
            message = shape_of(monitor.receive())
        except TimeoutError:
            continue
        finally:
            monitor.socket.settimeout(TIMEOUT)
        kind = message[2][1]
        if kind == "full" and len(described(message)) == 2:
            full = message
        elif kind == "diff" and full:
            return full, message


def test_monitors_see_what_those_of_the_league_see(league: League, begin: Begin) -> None:
    def look(agents: int, monitors: int) -> Any:
        monitor, agent = Link(monitors), Link(agents)
        agent.send("(init T1 Reds 2)")
        return watch(monitor, agent)

    game = begin(T1)
    their_full, their_diff = league(look)
    full, diff = look(game.agent_port, game.monitor_port)
    for ours, theirs in ((full, their_full), (diff, their_diff)):
        assert ours[0] == theirs[0] == ["RSMP", "1", "0"]
        heads_of = [[part[0] for part in message[1:]] for message in (ours, theirs)]
        assert heads_of[0] == heads_of[1]
        names = [[part[0] for part in message[3][1:]] for message in (ours, theirs)]
        assert names[0] == names[1]
    assert described(their_full) == [["ball"], ["agent", "Reds", "2"]]
    assert described(full) == [["agent", "Reds", "2"], ["ball"]]
    assert {part[0] for part in full[4][1:]} >= {
        part[0] for part in their_full[4][1:] if part[0] != "CorderAreaRadius"
    }
    modes = [
        next(part for part in message[4] if part[0] == "play_modes")
        for message in (full, their_full)
    ]
    assert modes[0] == modes[1]
    assert count(diff, "nd") == count(full, "nd")  # the same nesting


# ---- the game ----------------------------------------------------------------------------------


def test_the_scene_brings_its_bridge(
    start: Start,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`mayfly serve scenes/robocup.yaml --allow-bridges` is all that a user types."""
    monkeypatch.setenv("MAYFLY_PYTHON", sys.executable)
    ports = "--agents 0 --monitors 0 --old-agents 0 --old-monitors 0"
    address = ("--unix", str(tmp_path / "world"), "--speed", "0", "--allow-bridges")
    scene = str(ROOT / "scenes" / "robocup.yaml")
    server = start("serve", scene, *address, "--set", f"bridges.0.options={ports}")
    assert server.stdout is not None
    line = next(line for line in server.stdout if line.startswith("robocup: agents at port"))
    link = Link(int(line.replace(",", "").split()[4]))
    link.send("(init humanoid Reds 1)")
    assert "(tl Reds)" in link.receive()
    link.close()


def test_motors(begin: Begin) -> None:
    """PD control with a torque in addition, and limp joints without a command."""
    game = begin()
    link = game.agent("Reds", 1)
    for cycle in range(120):
        text = link.receive()
        if cycle == 50:
            rotated = joint(text, "neck_yaw")
        link.send("(neck_yaw 30 0 30 0.6 0)(left_shoulder_pitch 0 0 0 2 2)(no_motor 1 2 3 4 5)")
    assert rotated == pytest.approx(30, abs=0.6)
    assert joint(text, "left_shoulder_pitch") > 30  # turned by its torque alone
    percepts = percepts_of(text)
    assert percepts.position[2] < 0.2  # its legs are limp
    assert "(TCH n left_sole val " in text and "(TCH n right_sole val " in text


def test_the_world_does_not_wait_without_sync(begin: Begin) -> None:
    """In real time an agent that says nothing for a while misses nothing but its chance."""
    game = begin(is_sync=False)
    idle, link = game.agent("Reds", 1), game.agent("Blues", 1)
    times = []
    for cycle in range(100):
        text = link.receive()
        percepts = percepts_of(text)
        times.append(percepts.now)
        if cycle % 10 == 0:
            link.send("(neck_yaw 30 0 30 0.6 0)" * 3)
            link.send("(lle1 1 2")
    assert times == pytest.approx([times[0] + 0.02 * i for i in range(100)], abs=1e-6)
    assert joint(text, "neck_yaw") == pytest.approx(30, abs=1)
    for _ in range(50):  # all of it is there
        percepts.take(idle.receive())
    assert percepts.now < times[-1]


def test_beam_and_voices(begin: Begin) -> None:
    game = begin()
    left, right = game.agent("Reds", 1), game.agent("Blues", 4)
    heard = []
    for cycle in range(8):
        texts = [link.receive() for link in (left, right)]
        heard += [text for text in texts if "(MIC" in text]
        say = "(SPK say 100 aGVsbG8=)" if cycle == 4 else ""
        left.send("(beam -1 -0.5 0)" + say)
        right.send("(beam -1 -0.5 0)")
    (sound,) = heard
    assert "(MIC hear (" in sound and " aGVsbG8=))" in sound
    positions = []
    for text in texts:
        percepts = percepts_of(text)
        positions.append((*percepts.position[:2], round(abs(percepts.heading()), 1)))
    assert positions[0] == pytest.approx((-1, -0.5, 0), abs=0.02)
    assert positions[1] == pytest.approx((1, -0.5, 3.1), abs=0.05)


def test_two_teams_play(begin: Begin) -> None:
    """Kick-off and play on; who is in the circle of the others' kick-off is sent off."""
    game = begin(HUMANOID, "--kick-off", "2")
    players, links = [], []
    for team in ("Reds", "Blues"):
        players.append(AGENT.Player("humanoid", team, 1))
        links.append(game.agent(team, 1))
    modes, monitor = [], game.monitor()
    while "PlayOn" not in modes:
        for player, link in zip(players, links):
            link.send(player.act(link.receive()) or "(syn)")
        mode = players[0].percepts.mode
        if not modes or modes[-1] != mode:
            modes.append(mode)
            if mode == "KickOff_Left":
                monitor.send("(agent (unum 1)(team Blues)(move 0.4 0 0.3 0))")
    assert modes == ["BeforeKickOff", "KickOff_Left", "PlayOn"]
    assert players[0].percepts.play_time < 14  # it kicked, before the ball was everybody's
    assert players[0].shots == 1 and players[0].falls == 0
    assert abs(players[1].percepts.position[1]) > 3  # was put into the circle


def test_commands_of_monitors(begin: Begin) -> None:
    game = begin()
    agent, monitor = game.agent("Reds", 1), game.monitor()
    monitor.send(b"\xff(((")
    monitor.send("(kickOff Right)(ball (pos 1 0.5 0))")
    seen = []
    for _ in range(10):
        seen.append(agent.receive())
        agent.send("(syn)")
    assert "(pm KickOff_Right)" in seen[-1]
    monitor.send("(ball (pos 1 0.5 0))(playMode playon)(ball)(agent)(kickOff)(x)(playMode)")
    monitor.send("(playMode GameOver)")
    for _ in range(10):
        seen.append(agent.receive())
        agent.send("(syn)")
    assert "(pm GameOver)" in seen[-1]


def transforms(monitor: Link) -> list[list[float]]:
    """The 16 numbers of each node of a graph, the ball's last."""
    found = re.findall(r"SLT ([^)]*)", monitor.receive())
    return [[float(number) for number in numbers.split()] for numbers in found]


def test_monitors_put_ball_and_players_anywhere(begin: Begin) -> None:
    game = begin()
    agent, monitor = game.agent("Reds", 1), game.monitor()
    monitor.send("(ball (pos 1 0.5 0.07)(vel 2 -1 0))")
    monitor.send("(agent (unum 1)(team Left)(move3d -1 1 0.5 0.7071 0 0.7071 0))")
    balls = []
    for _ in range(12):
        agent.receive()
        agent.send("(syn)")
        if monitor.inbox_has_more(0.2):
            balls.append(transforms(monitor)[-1][12:14])
    moved = [(x - 1, y - 0.5) for x, y in balls if x > 1.02]
    assert len(moved) > 2 and moved[-1][0] > moved[0][0] + 0.1
    assert moved[-1][1] / moved[-1][0] == pytest.approx(-0.5, abs=0.05)
    percepts = percepts_of(agent.receive())
    assert percepts.position[:2] == pytest.approx((-1, 1), abs=0.2)
    assert percepts.is_down() and percepts.is_on_front()


def test_a_ball_on_a_raised_arm_is_a_foul(begin: Begin) -> None:
    """It falls on the left forearm of a player: a free kick of the others, who may be away."""
    game = begin()
    player, link = AGENT.Player("humanoid", "Reds", 2), game.agent("Reds", 2)
    monitor, modes, fouls = game.monitor(), [], []
    player.decide = lambda: None  # but to stand
    for cycle in range(120):
        answer = player.act(link.receive())
        if cycle == 40:
            monitor.send("(playMode PlayOn)(agent (unum 2)(team Reds)(move -1 0 0.24 0))")
        if cycle == 80:
            monitor.send("(ball (pos -1 0.24 0.5))")
        link.send(answer + "(left_shoulder_roll 85 0 30 0.6 0)(left_elbow 0 0 30 0.6 0)")
        modes.append(player.percepts.mode)
        while monitor.inbox_has_more():
            fouls += re.findall(r"\(foul [^)]*\)", monitor.receive())
    assert modes[-1] == "direct_free_kick_right", (modes[-1], player.percepts.position)
    assert set(fouls) <= {"(foul 10 1 2)"}


def test_teams_change_sides_at_half_time(begin: Begin) -> None:
    """The other team is the left one from then on, with its robots, and its half is the left."""
    game = begin(HUMANOID, "--kick-off", "0.2", "--half-time", "0.4", "--change-sides")
    links = [game.agent("Reds", 1), game.agent("Blues", 1)]
    monitor, lefts, placed = game.monitor(), [], {}
    while "GameOver" not in lefts:
        for team, link in zip(("Reds", "Blues"), links):
            percepts = percepts_of(link.receive())
            link.send("(beam -1 0.5 0)")
            placed[team, percepts.teams["tl"], percepts.mode] = percepts.position[:2]
        now = percepts.mode if percepts.mode == "GameOver" else percepts.teams["tl"]
        lefts += [now] if not lefts or lefts[-1] != now else []
    assert lefts == ["Reds", "Blues", "GameOver"]
    assert placed["Reds", "Reds", "BeforeKickOff"] == pytest.approx((-1, 0.5), abs=0.02)
    assert placed["Reds", "Blues", "BeforeKickOff"] == pytest.approx((1, 0.5), abs=0.02)
    assert placed["Blues", "Blues", "BeforeKickOff"] == pytest.approx((-1, 0.5), abs=0.02)
    full = next(text for text in iter(monitor.receive, "") if "(team_left Blues)" in text)
    assert "agent Blues 1" in full


class Puppet(threading.Thread):
    """Answers whatever comes to an agent with the same message, until it is thrown out."""

    def __init__(self, link: Link, message: bytes) -> None:
        super().__init__(daemon=True)
        self.link, self.message = link, message
        self.answers = 0
        self.start()

    def run(self) -> None:
        try:
            while True:
                self.link.receive()
                self.link.send(self.message)
                self.answers += 1
        except (EOFError, OSError):
            return


def test_a_robot_with_a_fault_starts_again(begin: Begin, tmp_path: pathlib.Path) -> None:
    """Motors without limits and a torque that no state survives: it stands beside the field."""
    strong = tmp_path / "humanoid.urdf"
    strong.write_text(re.sub('(effort|velocity)="[^"]*"', r'\1="1e30"', HUMANOID.read_text()))
    link = begin(strong).agent("Reds", 1)
    percepts, positions = AGENT.Percepts(), []
    for cycle in range(20):
        percepts.take(link.receive())
        positions.append(percepts.position)
        torque = "(left_hip_pitch 0 0 0 0 1e28)" if cycle == 8 else "(left_hip_pitch 0 0 0 0 0)"
        link.send("(beam -1 -0.5 0)" * (cycle == 2) + torque)
    assert positions[7][:2] == pytest.approx((-1, -0.5), abs=0.05)
    assert positions[-1][:2] == pytest.approx((-0.75, 3.7), abs=0.05)


def test_teams_with_different_robots(begin: Begin) -> None:
    """The first team is the left one, unless only the right group has its robot."""
    game = begin(T1, right=HUMANOID, scene="robocup_league")
    blue = game.agent("Blues", 1, "humanoid")
    assert "(tr Blues)" in blue.receive()
    blue.send("(syn)")
    Puppet(blue, b"(syn)")
    red, player = game.agent("Reds", 1, "T1"), AGENT.Player("T1", "Reds", 1)
    for _ in range(30):
        red.send(player.act(red.receive()))
    assert player.percepts.teams == {"tl": "Reds", "tr": "Blues"}
    assert player.percepts.position[2] == pytest.approx(0.65, abs=0.03)
    stranger = Puppet(game.agent("Greens", 1, "T1"), b"(syn)")
    while stranger.is_alive():
        red.send(player.act(red.receive()))
    assert stranger.answers == 0


def test_agents_that_die_or_send_garbage_harm_nobody(begin: Begin) -> None:
    """A good player stands and gets all percepts, whatever others do; their places are free."""
    game = begin(HUMANOID, "--patience", "2")
    player, good = AGENT.Player("humanoid", "Reds", 1), game.agent("Reds", 1)
    times = []

    def cycles(number: int) -> None:
        for _ in range(number):
            good.send(player.act(good.receive()) or "(syn)")
            times.append(player.percepts.now)

    def until_gone(puppet: Puppet) -> None:
        end = time.monotonic() + TIMEOUT
        while puppet.is_alive() and time.monotonic() < end:
            cycles(1)
        assert not puppet.is_alive()

    cycles(10)
    for last_words in (b"\0\0\0\x20(he1 ", b"\xff\xff\xff\xff", b""):
        one = game.agent("Blues", 1)
        cycles(3)
        one.receive()
        one.socket.sendall(last_words)
        if last_words[:1] != b"\xff":  # which makes the bridge close it
            one.close()
        cycles(3)
    silent = game.agent("Blues", 2)
    cycles(3)
    silent.receive()
    cycles(1)  # which the silent one held up
    for wrong in (b"", b"(init)", b"(init humanoid Greens 1)", b"(init T1 Reds 3)", b"\x80"):
        stranger = Link(game.agent_port)
        game.links.append(stranger)
        stranger.send(wrong)
        until_gone(Puppet(stranger, b""))
    garbage = Puppet(game.agent("Blues", 2), b"(he1 \xff nan ) ((")
    limp = Puppet(game.agent("Blues", 3), b"(syn)")
    while not (garbage.answers and limp.answers):
        cycles(1)
    refused = Puppet(game.agent("Blues", 4), b"(syn)")  # both robots of the group are taken
    until_gone(refused)
    assert refused.answers == 0
    until_gone(garbage)
    assert 50 < garbage.answers < 60
    assert limp.is_alive()
    fourth = Puppet(game.agent("Blues", 4), b"(syn)")  # now one is free
    while not fourth.answers:
        cycles(1)
    assert times == pytest.approx([times[0] + 0.02 * i for i in range(len(times))], abs=1e-6)
    assert player.percepts.position[2] == pytest.approx(0.2315, abs=0.01)  # it stands
