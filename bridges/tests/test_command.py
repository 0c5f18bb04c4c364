"""The command mayfly-bridge itself: its mistakes are one line each."""

from __future__ import annotations

import argparse
import importlib
import re
import subprocess
import sys

import pytest

import mayfly
from conftest import ROOT
from mayfly_bridges._options import check_ports

# Options of bridges and the pages that name their default ports, in words that no other number has.
PORTS = {
    ("robocup", "agents"): "Agents connect to port {}",
    ("robocup", "monitors"): "Port {} speaks RSMP",
    ("robocup", "old_agents"): "connect to ports {} and",
    ("robocup", "old_monitors"): "connect to ports 3100 and {}",
    ("px4", "port"): "port {} + n (",
    ("ardupilot", "port"): "port {} + 10 n (",
}


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mayfly_bridges", *arguments],
        text=True,
        capture_output=True,
        timeout=60,
    )


def test_unknown_bridge_is_refused() -> None:
    result = command("telepathy", "127.0.0.1:8766")
    assert result.returncode == 2
    assert "invalid choice: 'telepathy'" in result.stderr


def test_wrong_options_are_one_line() -> None:
    """Read before the connection: there is no server."""
    for option in ("--agents", "--monitors", "--old-agents", "--old-monitors"):
        result = command("robocup", "127.0.0.1:1", option, "99999999")
        assert result.returncode == 2
        assert f"{option}: expected a port, 0 .. 65535, found '99999999'" in result.stderr
        assert result.stderr.count("\n") == 1


def test_ports_of_many_robots() -> None:
    check_ports(0, 100000, 10)  # free ones
    check_ports(65515, 3, 10)
    with pytest.raises(mayfly.ArgumentError, match="for 3 robots, found 65536 for the last"):
        check_ports(65516, 3, 10)


@pytest.mark.parametrize(("bridge", "option"), PORTS)
def test_documented_ports_of_bridges_are_the_defaults(bridge: str, option: str) -> None:
    parser = argparse.ArgumentParser()
    importlib.import_module(f"mayfly_bridges.{bridge}").add_options(parser)
    port = getattr(parser.parse_args([]), option)
    name = "robocup" if bridge == "robocup" else "autopilots"
    page = (ROOT / "docs" / "how_to" / f"{name}.md").read_text()
    assert PORTS[bridge, option].format(port) in page


def test_documented_ports_of_the_command_are_the_defaults() -> None:
    """Read from the sources: nothing is bound."""
    header = (ROOT / "include" / "mayfly" / "protocol.h").read_text()
    page = (ROOT / "docs" / "reference" / "protocol.md").read_text()
    found = re.search(r"#define MF_PROTOCOL_PORT (\d+)u", header)
    assert found and f"| `--port N` | TCP port, {found[1]}; " in page
    assert f"(default {found[1]};" in (ROOT / "apps" / "mayfly" / "serve.c").read_text()
    page = (ROOT / "docs" / "how_to" / "see_it_live.md").read_text()
    found = re.search(
        r"#define USUAL_PORT (\d+)u", (ROOT / "apps" / "mayfly" / "view.c").read_text()
    )
    assert found and f"If port {found[1]} is taken" in page
