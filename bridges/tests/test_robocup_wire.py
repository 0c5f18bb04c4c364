"""The texts of RoboCup's messages, held against the classes of the league's own server."""

from __future__ import annotations

import random
import socket
import struct

import numpy as np
import pytest
from rcsssmj.games.soccer.server.soccer_action_parser import SoccerActionParser
from rcsssmj.games.soccer.sim.soccer_perceptions import GameStatePerception
from rcsssmj.sim import perceptions as league
from rcsssmj.sim.actions import MotorAction
from rcsssmj.utils.sexpression import SExpression

from mayfly_bridges.robocup import percepts, sexpr
from mayfly_bridges.robocup.effectors import (
    Beam,
    Init,
    Motor,
    Motors,
    Say,
    read_actions,
    read_init,
)
from mayfly_bridges.robocup.field import FIELDS
from mayfly_bridges.robocup.framing import Gone, Peer, Unframer, frame
from mayfly_bridges.robocup.vision import Detection, Seen, polar

# ---- S-expressions and frames ------------------------------------------------------------------


def random_node(random: random.Random, depth: int) -> sexpr.Node:
    if depth == 0 or random.random() < 0.4:
        return "".join(random.choice("abz019.-+_<>") for _ in range(random.randint(1, 9)))
    return [random_node(random, depth - 1) for _ in range(random.randint(0, 5))]


def of_league(node: SExpression | bytes) -> sexpr.Node:
    if isinstance(node, SExpression):
        return [of_league(part) for part in node]
    return bytes(node).decode()


def test_expressions_are_read_as_the_league_reads_them() -> None:
    chance = random.Random(1)
    for _ in range(500):
        nodes = [random_node(chance, 5) for _ in range(chance.randint(0, 4))]
        text = " ".join(sexpr.write(node) for node in nodes)
        assert sexpr.parse(text.encode()) == nodes
        assert of_league(SExpression.from_array(text.encode())) == nodes


def test_garbage_is_malformed_and_nothing_else() -> None:
    chance = random.Random(2)
    session = b"(init T1 Reds 3)(beam -1 0 90)(he1 1 2 3 4 5)(SPK say 50 aGVsbG8=)"
    for _ in range(5000):
        data = bytearray(session)
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(len(data))] = chance.choice((chance.randrange(256), 40, 41))
        del data[chance.randrange(len(data)) :]
        for read in (read_actions, read_init):
            try:
                read(bytes(data))
            except sexpr.Malformed:
                pass
    for data in (b"(" * 100000, b")", b"(a", b"\xff", b"a " * 100000):
        with pytest.raises(sexpr.Malformed):
            sexpr.parse(data)


def test_frames_are_cut_at_any_byte() -> None:
    texts = [b"", b"a", b"(syn)" * 100]
    stream = b"".join(frame(text) for text in texts)
    for size in (1, 2, 3, 5, 7, len(stream)):
        cutter, found = Unframer(), []
        for at in range(0, len(stream), size):
            found += cutter.feed(stream[at : at + size])
        assert found == texts
    with pytest.raises(Gone, match="4294967295 bytes"):
        Unframer().feed(b"\xff\xff\xff\xff")


def test_peer_that_reads_nothing_is_gone() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        peer = Peer(ours, "test")
        with pytest.raises(Gone, match="does not read"):
            for _ in range(1000):
                peer.send("x" * 65536)


def test_peer_that_closes_is_gone_and_its_last_words_are_kept() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        peer = Peer(ours, "test")
        theirs.sendall(struct.pack(">I", 5) + b"(syn)" + b"\0\0")
        theirs.close()
        with pytest.raises(Gone, match="closed"):
            peer.poll()
        assert list(peer.inbox) == [b"(syn)"]


# ---- effectors ---------------------------------------------------------------------------------


def test_motors_are_read_as_the_league_reads_them() -> None:
    """Alone, several in a message, and among others, for which another path is taken."""
    chance = random.Random(3)
    for case in range(200):
        text = b""
        for _ in range(chance.randint(1, 3)):
            numbers = [round(chance.uniform(-200, 200), chance.randint(0, 5)) for _ in range(5)]
            text += f"(lle{chance.randint(1, 6)} {' '.join(map(str, numbers))})".encode()
        text += b"(syn)" * (case % 2)
        theirs = [a for a in SoccerActionParser().parse_action(text, "") if a is not None]
        assert all(isinstance(action, MotorAction) for action in theirs)
        expected = [(a.actuator_name, a.q, a.dq, a.kp, a.kd, a.tau) for a in theirs]
        ours = read_actions(text)
        if case % 2:
            assert all(isinstance(action, Motor) for action in ours)
            found = [(a.name, a.q, a.dq, a.kp, a.kd, a.tau) for a in ours if isinstance(a, Motor)]
        else:
            (motors,) = ours
            assert isinstance(motors, Motors)
            found = [(n, *row) for n, row in zip(motors.names, motors.values.tolist())]
        assert [one[0] for one in found] == [one[0] for one in expected]
        assert np.allclose([one[1:] for one in found], [one[1:] for one in expected], rtol=1e-14)


def test_other_actions() -> None:
    beam, said = read_actions(b"(syn)(beam -1.5 2 90)(SPK say 50 aGVsbG8=)(unknown 1 2)")
    assert beam == Beam(-1.5, 2.0, pytest.approx(np.pi / 2))
    assert said == Say(0.5, b"hello")
    assert read_init(b"(init humanoid Reds 7)") == Init("humanoid", "Reds", 7)
    for wrong in (
        *(b"(he1 nan 0 0 0 0)", b"(he1 1e999 0 0 0 0)", b"(he1 1.2.3 0 0 0 0)(syn)"),
        *(b"(he1 -- 0 0 0 0)", b"(\xff 0 0 0 0 0)", b"(beam a 0 0)", b"(SPK s 1 %)"),
    ):
        with pytest.raises(sexpr.Malformed):
            read_actions(wrong)
    for wrong in (b"", b"(syn)", b"(init a b 0)", b"(init a b 1.5)", b"(init a (b) 1)", b"init"):
        with pytest.raises(sexpr.Malformed):
            read_init(wrong)


# ---- percepts ----------------------------------------------------------------------------------


def test_percepts_have_the_text_of_the_league() -> None:
    assert percepts.time(0.29) == league.TimePerception("now", 0.29).to_sexp()
    for left, right in ((None, None), ("Reds", None), ("Reds", "Blues")):
        ours = percepts.game(1.5, "PlayOn", left, right, [2, 3])
        assert ours == GameStatePerception(1.5, "PlayOn", left, right, 2, 3).to_sexp()
    assert (
        percepts.position("torso_pos", [1.23456, -2.0, 0.6739])
        == league.PositionPerception("torso_pos", 1.234, -2.0, 0.673).to_sexp()
    )
    assert (
        percepts.rotation("q", [0.70710678, 0.5, -0.7071, 0])
        == league.OrientationPerception("q", 0.707, 0.5, -0.707, 0.0).to_sexp()
    )
    assert (
        percepts.gyroscope("g", np.radians([1.239, -2.999, 90]))
        == league.GyroPerception("g", 1.23, -2.99, 90.0).to_sexp()
    )
    assert (
        percepts.accelerometer("a", [0.0, -0.129, 9.81])
        == league.AccelerometerPerception("a", 0.0, -0.12, 9.81).to_sexp()
    )
    assert percepts.touch("sole", True) == league.TouchPerception("sole", 1).to_sexp()
    angles, rates = np.radians([10.009, -20.5]), np.radians([0.0, 3.999])
    assert (
        percepts.joints(["q_hj1", "q_hj2"], angles, rates)
        == league.JointStatePerception(["q_hj1", "q_hj2"], [10.0, -20.5], [0.0, 3.99]).to_sexp()
    )
    assert (
        percepts.heard("hear", [(12.7, b"hello"), (-3.2, b"you")])
        == league.MicrophonePerception("hear", [12, -3], [b"hello", b"you"]).to_sexp()
    )


def test_vision_has_the_text_of_the_league() -> None:
    at = np.array([[1.0, 0, 0], [0, 1, 0.0]])
    robots = [
        Seen("A", (0, 2), "lr", at),
        Seen("A", (0, 3), "lr", at),
        Seen("B", (1, 3), "h", at[:1]),
    ]
    detection = Detection(["f"], np.array([[2.0, 2, 0]]), at[0], robots)
    text = detection.see(np.zeros(3), np.eye(3), (0, 2))
    theirs = league.VisionPerception(
        "See",
        [
            league.ObjectDetection("f", 45.0, 0.0, 2.82),
            league.ObjectDetection("B", 0.0, 0.0, 1.0),
            league.AgentDetection("P", "A", 3, [league.ObjectDetection("l", 0.0, 0.0, 1.0)]),
            league.AgentDetection("P", "B", 3, [league.ObjectDetection("h", 0.0, 0.0, 1.0)]),
        ],
    )
    assert text == theirs.to_sexp()  # the second mark is 90 degrees to the side


# What rcsssmj 0.2.1 sent to a T1 at (-2, 0, 0.672) that looked along x: its eyes at the site
# `camera` of its file, 0.1125 m before and 0.363 + 0.0625 m above its body's origin.
SEEN = """
(l_ruf (pol 34.47 31.48 -1.82))(l_rlf (pol 34.47 -31.48 -1.82))(p_rpm (pol 22.09 0.0 -2.84))
(g_rup (pol 29.45 3.56 1.42))(g_rlp (pol 29.45 -3.56 1.42))(l_ruga (pol 26.43 16.04 -2.37))
(l_rlga (pol 26.43 -16.04 -2.37))(t_ruga (pol 30.3 13.95 -2.07))(t_rlga (pol 30.3 -13.95 -2.07))
(l_rupa (pol 26.25 38.98 -2.39))(l_rlpa (pol 26.25 -38.98 -2.39))(t_rupa (pol 33.72 29.31 -1.86))
(t_rlpa (pol 33.72 -29.31 -1.86))(B (pol 2.13 0.0 -27.61))"""


def test_flags_are_where_the_league_has_them() -> None:
    flags = FIELDS["fifa7vs7"].flags() | {"B": (0.0, 0.0, 0.1095)}
    eye = np.array([-2.0 + 0.1125, 0.0, 0.672 + 0.4255])
    names = set()
    for node in sexpr.parse(SEEN.encode()):
        assert isinstance(node, list)
        name, where = node[0], node[1]
        assert isinstance(name, str) and isinstance(where, list)
        info = [float(sexpr.number(part)) for part in where[1:]]
        found = [float(x) for x in polar(np.array(flags[name]), eye, np.eye(3))]
        assert np.allclose(info, found, atol=0.021), (name, info, found)
        names.add(name)
    seen = {name for name, at in flags.items() if abs(polar(np.array(at), eye, np.eye(3))[1]) <= 60}
    assert names == seen
