"""Worlds with the bridge of RoboCup for its tests, and what connects to them."""

from __future__ import annotations

import importlib.util
import pathlib
import re
import select
import socket
import struct
import sys
from types import ModuleType

import rcsssmj

from conftest import ROOT, Serve, Start

HUMANOID = ROOT / "models" / "humanoid.urdf"
T1 = (
    pathlib.Path(rcsssmj.__file__).parent / "resources" / "robots" / "T1" / "robot.xml"
)  # the league's
TIMEOUT = 60.0  # [s] for an answer on a loaded machine


def load_agent() -> ModuleType:
    path = ROOT / "examples" / "bridges" / "robocup_agent.py"
    spec = importlib.util.spec_from_file_location("robocup_agent", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # of its gaits
    spec.loader.exec_module(module)
    return module


AGENT = load_agent()


class Link:
    """A connection of a test to a port: an agent's or a monitor's."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        self.socket.sendall(struct.pack(">I", len(data)) + data)

    def receive(self) -> str:
        text: str = AGENT.receive(self.socket)
        return text

    def inbox_has_more(self, seconds: float = 0.0) -> bool:
        """Whether something waits to be received."""
        return bool(select.select([self.socket], [], [], seconds)[0])

    def close(self) -> None:
        self.socket.close()


class Game:
    """A world with its bridge: in lock-step with the agents, as fast as it goes."""

    def __init__(self, ports: list[int]) -> None:
        self.agent_port, self.monitor_port, self.old_agent_port, self.old_monitor_port = ports
        self.links: list[Link] = []

    def agent(self, team: str, number: int, robot: str = "humanoid") -> Link:
        link = Link(self.agent_port)
        self.links.append(link)
        link.send(f"(init {robot} {team} {number})")
        return link

    def monitor(self) -> Link:
        link = Link(self.monitor_port)
        self.links.append(link)
        return link


def open_game(
    serve: Serve,
    start: Start,
    folder: pathlib.Path,
    model: str | pathlib.Path,
    *options: str,
    is_sync: bool = True,
    scene: str = "robocup",
    count: int = 2,
    right: str | pathlib.Path | None = None,
    seed: int | None = None,
) -> Game:
    """A scene, robocup or robocup_league, with `count` robots of a model a side, or of another one
    on the right: in lock-step with its agents as fast as it goes, or in real time. With a seed it
    begins when all robots have agents, and is the same each time."""
    text = (ROOT / "scenes" / f"{scene}.yaml").read_text()
    text = re.sub("bridges:\n.*\n.*\n", "", text)
    text = re.sub("count: [47]", f"count: {count}", text)
    if scene == "robocup":
        grid = "placement: {grid: {center: [%d, 3.7, 0], spacing: [1, 1, 1], columns: 11}}"
        positions = [grid % -6, grid % 6]
        text = re.sub(r"placement: {poses: .*-1.57.*", lambda _: positions.pop(0), text)
        assert not positions
    text = text.replace("../models/humanoid.urdf", str(model), 1)
    text = text.replace("../models/humanoid.urdf", str(right or model))
    text = text.replace("../models", str(ROOT / "models"))
    path = folder / "game.yaml"
    path.write_text(text)
    repeats = [] if seed is None else ["--paused", "--seed", str(seed)]
    address = serve(path, "--speed", "0" if is_sync else "1", *repeats)
    ports = ["--agents", "0", "--monitors", "0", "--old-agents", "0", "--old-monitors", "0"]
    ports += ["--sync"] if is_sync else []
    ports += ["--players", str(2 * count)] if seed is not None else []
    bridge = start("bridge", "robocup", address, *ports, *options)
    assert bridge.stdout is not None
    lines = bridge.stdout.readline() + bridge.stdout.readline()
    assert "agents at port" in lines, lines
    return Game([int(number) for number in re.findall(r"\d+", lines)])
