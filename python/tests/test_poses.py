"""Streams of poses into a world in another process."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import numpy as np
import pytest
from served import needs_command, serve
from test_docs import load

import mayfly
from conftest import ROOT

pytestmark = needs_command
SCENE = ROOT / "scenes" / "mixed_reality.yaml"


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[str]:
    place = ["--unix", str(tmp_path / "socket")]
    with serve(SCENE, *place, *getattr(request, "param", [])) as found:
        yield found


@pytest.mark.parametrize("address", [["--paused"]], indirect=True)
def test_a_stream_is_followed(address: str) -> None:
    with mayfly.connect(address) as world:
        real = world["real"]
        stream = mayfly.PoseStream(real)
        state = real.subscribe("base.position", "poses.state", "poses.age")
        for number in range(30):  # 100 Hz, two steps of the world each
            time = 0.01 * number
            x = 1.2 + 0.5 * time - 2.0 * time**2
            stream.send(time, [x, 0, 0.045] if number != 11 else [np.nan] * 3)
            world.step(2)
            while state.tick < 2 * (number + 1):
                assert world.wait(state, 20)
            shown = 0.01 * number + 0.01 - 0.03
            assert state.time == pytest.approx(0.01 * (number + 1))
            if number >= 3:
                assert state["poses.state"][0, 0] == 2
                expected = 1.2 + 0.5 * shown - 2.0 * shown**2
                assert state["base.position"][0, 0] == pytest.approx(expected, abs=1e-6)
        assert state["poses.age"][0, 0] == pytest.approx(-0.02)
        with pytest.raises(mayfly.ArgumentError, match="takes no poses"):
            mayfly.PoseStream(world["cans"])


def test_the_example(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    age = load("motion_capture").main(address, 0.5)
    assert -0.5 < age < 0.5
    assert "the newest pose is" in capsys.readouterr().out


FORMATION = ROOT / "scenes" / "mixed_formation.yaml"


def test_real_quadrotors_among_virtual_ones(tmp_path: pathlib.Path) -> None:
    with serve(FORMATION, "--unix", str(tmp_path / "socket")) as address:
        assert -0.5 < load("motion_capture").main(address, 1.0) < 0.5
        with mayfly.connect(address) as world:
            real, virtual = world["real"], world["virtual"]
            seen = real.subscribe("base.position", "neighbor.count")
            others = virtual.subscribe("fault.word")
            assert world.wait(seen, 20) and world.wait(others, 20)
            positions = seen["base.position"]
            assert np.hypot(positions[:, 0], positions[:, 1]) == pytest.approx(0.9, abs=0.01)
            assert positions[:, 2] == pytest.approx(3.0, abs=0.2)
            assert virtual.count == 300
            assert not np.any(others["fault.word"])
            assert np.max(seen["neighbor.count"]) > 0
