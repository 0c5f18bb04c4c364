"""The page of `mayfly serve --page`: one world for pages and for the programs that control it."""

from __future__ import annotations

import math
import pathlib
import re
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from live_client import Page
from served import ROOT, call, needs_command, serve, serve_all

import mayfly
from conftest import blank_page

pytestmark = needs_command
HEXAPOD = ROOT / "models" / "hexapod.urdf"
TURNS = 60


def serve_page(*options: str) -> AbstractContextManager[list[str]]:
    """The addresses of the page and of the server."""
    return serve_all(HEXAPOD, "--port", "0", "--page", "0", *options)


def walk(address: str, page: Page | None = None) -> int:
    """The hash after some turns of a controller in lock-step."""
    with mayfly.connect(address) as world:
        robot = world["robot"]
        state = robot.subscribe("joint.angle", period=0.02)
        turns = world.lock_step(period=0.02, limit=20)
        next(turns)
        world.pause(False)
        for number in range(TURNS):
            if page is not None:
                page.send("next", contacts=True)
                page.read()  # a frame is on its way meanwhile
            angle = np.float32(0.3) * np.sin(0.4 * number + state["joint.angle"])
            robot.write("joint.target", angle)
            next(turns)
        found = world.statistics(hash=True)
        assert found.missed == 0 and found.lost == 0 and found.tick == 10 * TURNS
        return found.hash


def test_a_page_changes_no_bit_of_a_run_in_lock_step(tmp_path: pathlib.Path) -> None:
    files = [tmp_path / "seen.h5", tmp_path / "unseen.h5"]
    options = ("--speed", "0", "--paused", "--every", "0.02")
    with serve_page(*options, "--record", str(files[0])) as (where, address):
        page = Page(where)
        seen = walk(address, page)
        assert page.frame().number > 1
        page.close()
    with serve(HEXAPOD, "--port", "0", *options, "--record", str(files[1])) as address:
        assert walk(address) == seen
    angles = [np.asarray(mayfly.Recording(file)["joint.angle"]) for file in files]
    assert len(angles[0]) >= TURNS and np.array_equal(angles[0][:TURNS], angles[1][:TURNS])


def events(world: Any, count: int) -> list[tuple[str, int]]:
    while len(world.events) < count:
        world.statistics()
    found = [(event.name, event.value) for event in world.events]
    world.events.clear()
    return found


def test_what_pages_do_is_what_clients_do() -> None:
    with serve_page() as (where, address), mayfly.connect(address) as world:
        page = Page(where)
        world.watch("pause", "reset", "restore", "switch")
        page.until(0.05)
        page.send("pause")
        assert events(world, 1) == [("pause", 1)]
        page.send("keep")
        before = world.statistics(hash=True)
        page.send("step")
        page.read()
        while world.statistics().tick == before.tick:
            pass
        assert world.statistics().tick == before.tick + 1
        page.send("return")
        assert events(world, 1)[0][0] == "restore"
        assert world.statistics(hash=True).hash == before.hash
        page.send("set", robot=0, field="joint.target", component=3, value=0.25)
        page.read()
        state = world["robot"].subscribe("joint.target")
        assert world.wait(state) and state["joint.target"][0, 3] == np.float32(0.25)
        page.send("reset")
        assert events(world, 1) == [("reset", 1)]
        page.send("speed", factor=2.0)
        page.read()
        assert world.statistics().speed == 2.0
        page.send("back", steps=1)
        page.send("set", robot=0, field="base.position", component=0, value=1.0)
        page.read()
        assert "no steps back" in page.notes[0] and "writes this field" in page.notes[1]
        world.pause(False)
        while page.frame().paused:
            pass
        page.close()


def test_a_push_leaves_what_clients_write() -> None:
    with serve_page("--speed", "0") as (where, address), mayfly.connect(address) as world:
        page, robot = Page(where), world["robot"]
        state = robot.subscribe("base.position", "base.force", "joint.torque")
        page.until(0.5)
        begin = page.field("base.position")
        page.send("push", robot=0, link=1, at=[0, 0, 0], to=[begin[0] + 0.6, begin[1], 0.3])
        torque = np.full((1, len(page.field("joint.torque"))), 0.01, np.float32)
        robot.write("joint.torque", torque)
        assert world.wait(state, 20)
        seen = set()
        while math.dist(state["base.position"][0], begin) < 0.3 or torque[0, 0] not in seen:
            assert world.wait(state, 20) and not state["base.force"].any()
            seen |= set(state["joint.torque"].ravel())
        assert seen <= {0.0, torque[0, 0]}  # before it was written, and after
        page.send("release")
        page.close()


def test_the_page_is_refused_in_one_line() -> None:
    with serve_page() as (where, _):
        port = re.search(r":(\d+)/", where)[1]
        said = call("serve", HEXAPOD, "--port", 0, "--page", port, code=1).stderr
        (line,) = [line for line in said.splitlines() if "note:" not in line]
        assert "--page 0 takes a free port" in line


def test_the_browser_sees_the_world_that_clients_control(browser: Any) -> None:
    with serve_page() as (where, address), mayfly.connect(address) as world:
        page = blank_page(browser, 320, 240)
        page.goto(where)
        page.wait_for_function("() => window.mayfly && mayfly.source.frame().time > 0.3")
        assert page.is_hidden("#back") and page.is_visible("#step")
        world["robot"].write("joint.target", np.full((1, 18), 0.2, np.float32))
        state = world["robot"].subscribe("base.position", period=0.01)
        assert world.wait(state)
        begin = state["base.position"][0].copy()
        page.click("#follow")
        page.evaluate("() => { mayfly.view.home(); mayfly.draw(1); }")
        page.keyboard.down("Control")
        page.mouse.move(160, 120)
        page.mouse.down()
        page.mouse.move(260, 60, steps=4)
        while math.dist(state["base.position"][0], begin) < 0.05:
            assert world.wait(state, 20)
        page.mouse.up()
        page.keyboard.up("Control")
        world.pause()
        page.wait_for_function("() => mayfly.source.status.paused")
        assert page.complaints == []
