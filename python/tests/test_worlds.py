"""Another world by `load`, and more robots by `spawn`, from Python: plain and asyncio."""

from __future__ import annotations

import asyncio
import pathlib
from collections.abc import Iterator

import numpy as np
import pytest
from served import ROOT, needs_command, serve

import mayfly

pytestmark = needs_command
MODELS = ROOT / "models"
SCENE = """
world: {step: 0.01}
groups:
- name: quads
  model: quad.yaml
  count: 6
  placement: {grid: {center: [0, 0, 20], spacing: [3, 3, 3]}}
"""


@pytest.fixture
def address(tmp_path: pathlib.Path) -> Iterator[str]:
    (tmp_path / "quads.yaml").write_text(SCENE)
    (tmp_path / "quad.yaml").write_text((MODELS / "sun2022.yaml").read_text())
    (tmp_path / "boxes.yaml").write_text(
        f"name: Boxes\nworld: {{step: 0.005}}\n"
        f"groups: [{{name: boxes, model: {MODELS}/resting_box.xml, count: 2}}]\n"
    )
    with serve(tmp_path / "quads.yaml", "--port", "0", "--speed", "0", "--paused") as address:
        yield address


def fly(world: mayfly.RemoteWorld, joins: bool) -> np.ndarray:
    world.reset()
    quads = world["quads"]
    state = quads.subscribe("base.position")
    world.step(10)
    if joins:
        guests = world.spawn([[50, 0, 0], [60, 0, 1]], group="quads", height=20.0)
        assert guests.name == "quads-2" and len(guests) == 2 and guests.number == 1
        guests.write("command.position", [1, 2, 30])
        other = world.spawn([90, 90, 0], file="quad.yaml", name="third")
        assert list(world.groups) == ["quads", "quads-2", "third"] and other.count == 1
    quads.write("command.position", 0.5 * state["base.position"])  # its numbers hold
    world.step(40)
    while state.tick % 50 != 0:
        assert world.wait(state)
    return state["base.position"].copy()


def test_robots_join_and_the_others_go_on(address: str) -> None:
    with mayfly.connect(address) as world:
        image = world.snapshot()
        with_guests = fly(world, True)
        with pytest.raises(mayfly.ArgumentError, match="snapshot: made by a world with another"):
            world.restore(image)
        world.load("quads.yaml")
        assert list(world.groups) == ["quads"]
        assert np.array_equal(with_guests, fly(world, False))


def test_another_world(address: str) -> None:
    with mayfly.connect(address) as world, mayfly.connect(address) as other:
        quads, seen = other["quads"], other["quads"].subscribe("base.position")
        world.load("boxes.yaml")
        assert world.title == "Boxes" and world.step_ns == 5_000_000
        other.poll()
        reported = other.events.popleft()
        assert (reported.name, reported.value, reported.time) == ("world", 2, 0.0)
        quads.write("command.position", 0)
        with pytest.raises(mayfly.VersionError, match="ask for LIST first"):
            other.statistics()
        other.refresh()
        assert other.title == "Boxes"
        with pytest.raises(mayfly.NotFoundError, match="another world is served; take its"):
            quads.write("command.position", 0)
        with pytest.raises(mayfly.ClosedError, match="ended: another world is served"):
            other.wait(seen)
        state = other["boxes"].subscribe("base.position")
        assert other.wait(state) and state["base.position"].shape == (2, 3)
        world.load(text="groups: [{name: few, model: quad.yaml, count: 2}]")
        assert len(world["few"]) == 2


def test_scripts_of_a_loaded_scene_run(address: str) -> None:
    """From their start on, in the steps of the new world; a mistake leaves the old one."""
    lua = "local v = world:property('few[*]/value.score'); function WORDS v[1] = v[1] + 1 end"
    text = f"""groups: [{{name: few, model: quad.yaml, count: 2, values: [score]}}]
scripts: [{{name: s, text: "{lua}"}}]"""
    with mayfly.connect(address) as world:
        with pytest.raises(mayfly.ArgumentError, match="sent.yaml:2: script s: syntax"):
            world.load(text=text.replace("WORDS", "= "))
        assert list(world.groups) == ["quads"]
        world.load(text=text.replace("WORDS", "tick()"))
        score = world["few"].subscribe("value.score")
        world.step(7)
        while score.tick < 7:
            assert world.wait(score)
        assert score["value.score"].ravel().tolist() == [7, 0]


def test_what_is_refused(address: str) -> None:
    with mayfly.connect(address) as world:
        before = world.statistics(hash=True).hash
        with pytest.raises(mayfly.ArgumentError, match="below the server's folder"):
            world.load("/etc/passwd")
        with pytest.raises(mayfly.ArgumentError, match="sent.yaml:1:"):
            world.load(text="groups: 3")
        with pytest.raises(mayfly.NotFoundError, match="below the folder"):
            world.load(text=f"groups: [{{name: a, model: {MODELS}/ball.xml}}]")
        with pytest.raises(mayfly.NotFoundError, match="no group nobody"):
            world.spawn([0, 0, 0], group="nobody")
        for wrong in ({}, {"file": "quad.yaml", "group": "quads"}):
            with pytest.raises(mayfly.ArgumentError, match="a robot's file or"):
                world.spawn([0, 0, 0], **wrong)
        with pytest.raises(mayfly.ArgumentError, match="x, y and heading"):
            world.spawn([0, 0], group="quads")
        with pytest.raises(mayfly.ArgumentError, match="a file or the text"):
            world.load()
        with pytest.raises(mayfly.ArgumentError, match="found an empty text"):
            world.load("")
        assert world.statistics(hash=True).hash == before


def test_the_state_of_the_last_step_comes_after_the_call(address: str) -> None:
    with mayfly.connect(address) as world:
        state = world["quads"].subscribe("base.position")
        world.step(3)
        assert state.tick == 2 and world.wait(state) and state.tick == 3
        assert not world.wait(state, 0.05)


def test_asyncio(address: str) -> None:
    async def run() -> None:
        async with await mayfly.connect_async(address) as world:
            guests = await world.spawn([[50, 0, 0]], group="quads", height=20.0)
            state = await guests.subscribe("base.position")
            await world.step(3)
            async for _ in world.each_state(state):
                break
            assert state["base.position"].shape == (1, 3)
            await world.load("boxes.yaml")
            assert list(world.groups) == ["boxes"] and world.title == "Boxes"
            each = world.each_state(state)
            await anext(each)  # the newest one that came
            with pytest.raises(mayfly.ClosedError, match="ended: another world is served"):
                await anext(each)
            assert [event.value async for event in events(world, 2)] == [0, 2]

    async def events(world: mayfly.AsyncWorld, count: int):  # noqa: ANN202
        each = world.each_event()
        for _ in range(count):
            yield await anext(each)

    asyncio.run(run())
