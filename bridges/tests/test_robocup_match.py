"""Matches of the example agents: they score and seldom fall; what a match does not depend on."""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from robocup_game import AGENT, HUMANOID, Game, Link, open_game

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


@pytest.mark.parametrize("seed", (1, 2, 3) if FULL else (1,))
def test_example_agents_score_and_seldom_fall(
    serve: Serve, start: Start, tmp_path: pathlib.Path, seed: int
) -> None:
    """A goal or more in a minute from the first kick-off on, and not more falls than goals."""
    game = open_game(serve, start, tmp_path, HUMANOID, "--kick-off", "1", count=4, seed=seed)
    players = teams(game)
    play(players, lambda percepts: percepts.play_time >= 60)
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
