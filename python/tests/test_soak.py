"""The soak test of `mayfly serve`, bench/soak.py, shortened."""

from __future__ import annotations

import json

import pytest
from served import COMMAND, ROOT, needs_command
from test_docs import load

pytestmark = needs_command


def test_many_clients_and_two_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    assert load("soak", ROOT / "bench").main(COMMAND, 200, 1.0, 2 / 60)
    many, long = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert many["connections"] == 200 and many["messages"] >= 400
    assert long["turns"] >= 1200 and long["states_read"] + long["lost_by_reader"] >= 11_990
    assert long["visits"] >= 2
