"""Matches of the example agents: they score and seldom fall; what a match does not depend on."""

from __future__ import annotations

import os
import pathlib
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from robocup_game import AGENT, HUMANOID, ROOT, Game, Link, open_game

from conftest import Serve, Start

FULL = os.environ.get("MAYFLY_FULL", "0") not in ("", "0")
NUMBERS = (1, 2, 3, 4)


def teams(game: Game, numbers: Sequence[int] = NUMBERS) -> list[tuple[Link, Any]]:
    """Agents of both teams, by team and number; they connect in the order of `numbers`."""
    found = [
        (team, number, game.agent(team, number)) for team in ("Reds", "Blues") for number in numbers
    ]
    return [(link, AGENT.Player("humanoid", team, n)) for team, n, link in sorted(found, key=key)]


def key(one: tuple[str, int, Link]) -> tuple[bool, int]:
    return one[0] == "Blues", one[1]


def play(players: list[tuple[Link, Any]], until: Callable[[Any], bool]) -> list[str]:
    """Plays until `until` is true of the percepts of the first player; the last messages."""
    while True:
        messages = [link.receive() for link, _ in players]
        for (link, player), message in zip(players, messages):
            link.send(player.act(message) or "(syn)")
        if until(players[0][1].percepts):
            return messages


def shipped_game(start: Start, folder: pathlib.Path, seed: int) -> Game:
    """scenes/robocup.yaml with its bridge, as docs/how_to/robocup.md repeats a match."""
    ports = "--agents 0 --monitors 0 --old-agents 0 --old-monitors 0"
    server = start(
        *("serve", str(ROOT / "scenes" / "robocup.yaml"), "--allow-bridges", "--paused"),
        *("--speed", "0", "--seed", str(seed), "--unix", str(folder / "world"), "--set"),
        f"bridges.0.options=--sync --players 8 --kick-off 1 {ports}",
    )
    assert server.stdout is not None
    lines = (line for line in server.stdout if line.startswith("robocup: agents"))
    return Game([int(number) for _ in range(2) for number in re.findall(r"\d+", next(lines))])


@pytest.mark.parametrize("seed", (1, 2) if FULL else (1,))
def test_example_agents_score_and_seldom_fall(
    start: Start, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """A goal within the first minute and not more falls than goals; the long form plays it all."""
    monkeypatch.setenv("MAYFLY_PYTHON", sys.executable)
    players = teams(shipped_game(start, tmp_path, seed))
    play(
        players,
        lambda percepts: percepts.play_time >= 60 or (not FULL and sum(percepts.score) > 0),
    )
    goals = sum(players[0][1].percepts.score)
    falls = sum(player.falls for _, player in players)
    shots = sum(player.shots for _, player in players)
    print(f"seed {seed}: {goals} goals, {shots} shots, {falls} falls")
    assert goals >= 1
    assert falls <= goals
    assert shots >= goals


def test_a_match_depends_on_its_seed_alone(
    serve: Serve, start: Start, tmp_path: pathlib.Path
) -> None:
    """Not on who connects first, nor on how long an agent takes to answer."""
    ends = []
    for run, (numbers, seed) in enumerate(((NUMBERS, 1), (NUMBERS[::-1], 1), (NUMBERS, 2))):
        folder = tmp_path / str(run)
        folder.mkdir()
        game = open_game(serve, start, folder, HUMANOID, "--kick-off", "0.5", count=4, seed=seed)
        players = teams(game, numbers)
        play(players, lambda percepts: percepts.now > 0.9)
        if run == 1:
            time.sleep(6)  # all think
        ends.append(play(players, lambda percepts: percepts.now > 3))
        for link, _ in players:
            link.close()
    assert "PlayOn" in ends[0][0]
    assert ends[1] == ends[0]
    assert ends[2] != ends[0]
