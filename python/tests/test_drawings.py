"""What programs draw, and their controls: the plain client, asyncio's, worlds of this process,
scripts, and what the page makes of it."""

from __future__ import annotations

import asyncio
import importlib.util
import pathlib
import struct
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from live_client import Page
from served import ROOT, call, needs_command, serve, serve_all

import mayfly
from conftest import blank_page
from mayfly import errors

HEXAPOD = ROOT / "models" / "hexapod.urdf"
HEAD = struct.Struct("<IIQdIIfiIIII")  # of a record, as web/src/drawn.ts reads it
POINTS, CLEARED, SLIDER = 0, 15, 16


@pytest.fixture
def served() -> Iterator[list[str]]:
    with serve_all(HEXAPOD, "--port", "0", "--page", "0") as addresses:
        yield addresses


class Record:
    """A record of the answer to `drawn`."""

    def __init__(self, data: bytes, at: int) -> None:
        self.size, self.slot, _, _, self.kind, self.color, *rest = HEAD.unpack_from(data, at)
        self.thickness, self.robot, self.link, count, name, text = rest
        at += HEAD.size
        self.numbers = np.frombuffer(data, "<f4", count, at)
        at += 4 * count
        self.name = data[at : at + name].decode()
        self.text = data[at + name : at + name + text].decode()


def changes(page: Page, since: int = 0) -> tuple[dict[str, Record], int]:
    """What a page gets of what was drawn after a change, by name, and the last change."""
    page.send("drawn", since=since)
    data = page.receive()
    assert isinstance(data, bytes)
    magic, _, last = struct.unpack_from("<IIQ", data)
    assert magic == 0x4D464452
    found, at = {}, 16
    while at < len(data):
        record = Record(data, at)
        found[record.name] = record
        at += record.size
    return found, last


# ---- clients -------------------------------------------------------------------------------------


@needs_command
def test_a_client_draws_and_a_page_that_opens_later_sees_it(served: list[str]) -> None:
    where, address = served
    with mayfly.connect(address) as world:
        cloud = np.arange(30.0).reshape(10, 3)
        world.draw("cloud", "points", cloud, color="#11223344", size=0.5)
        world.draw("gap", "lines", [[0, 0, 0], [np.nan] * 3, [1, 1, 1]])
        world.draw(
            "push", "arrows", [[0, 0, 0], [0, 0, 1]], color=(1, 0, 0), on=("robot", 0, "femur1")
        )
        world.draw("sign", "text", [0, 0, 1], text="here é")
        world.draw("twin", "ghost", [0, 0, 1, 1, 0, 0, 0, *[0.1] * 18], on=world["robot"])
        page = Page(where)
        found, last = changes(page)
        assert set(found) == {"cloud", "gap", "push", "sign", "twin"}
        assert np.array_equal(found["cloud"].numbers, cloud.ravel().astype("f4"))
        assert found["cloud"].color == 0x11223344 and found["cloud"].thickness == 0.5
        assert found["push"].robot == 0 and found["push"].color == 0xFF0000FF
        links = [link["name"] for link in world["robot"].describe()["links"]]
        assert found["push"].link == links.index("femur1") and found["cloud"].robot == -1
        assert found["sign"].text == "here é"
        assert len(found["twin"].numbers) == 7 * len(links)
        world.draw("cloud", "points", cloud[:1])
        again, last = changes(page, last)
        assert list(again) == ["cloud"] and len(again["cloud"].numbers) == 3
        world.erase("cloud")
        world.erase("never drawn")
        gone, last = changes(page, last)
        assert [record.kind for record in gone.values()] == [CLEARED]
        page.close()


@needs_command
def test_mistakes_are_one_line(served: list[str]) -> None:
    with mayfly.connect(served[1]) as world:
        for words, arguments, more in [
            ("expected a kind of points", ("x", "dots", []), {}),
            ("'#rrggbb'", ("x", "points", []), {"color": "red"}),
            ("3 or 4 numbers", ("x", "points", []), {"color": (1, 2, 3)}),
            ("found 2", ("x", "points", [1, 2]), {}),
            ("finite", ("x", "points", [1, 2, np.inf]), {}),
            ("the group that it is like", ("x", "ghost", [0] * 7), {}),
            ("7 numbers of a ghost's pose", ("x", "ghost", [0]), {"on": "robot"}),
            ("no link nose", ("x", "points", []), {"on": ("robot", 0, "nose")}),
            ("(group, robot, link)", ("x", "points", []), {"on": "robot"}),
            ("a name of the layer", ("", "points", []), {}),
        ]:
            with pytest.raises(errors.MayflyError) as caught:
                world.draw(*arguments, **more)
            assert words in str(caught.value) and "\n" not in str(caught.value)
        with pytest.raises(errors.ArgumentError, match="low < high"):
            world.slider("x", 1, 0)
        with pytest.raises(errors.NotFoundError, match="no control x"):
            world.remove_control("x")


@needs_command
def test_controls_call_back_or_are_polled(served: list[str]) -> None:
    where, address = served
    seen: list[float] = []
    with mayfly.connect(address) as world:

        @world.slider("gain", 0, 2, value=1.5, step=0.5, unit="m")
        def gain(value: float) -> None:
            seen.append(value)
            world.draw("answer", "points", [value, 0, 0])  # a call within

        quiet, kick = world.checkbox("quiet", True), world.button("kick")
        page = Page(where)
        found, _ = changes(page)
        assert found["gain"].kind == SLIDER and found["gain"].text == "m"
        assert found["gain"].numbers.tolist() == [0, 2, 0.5, 1.5]
        page.send("control", slot=found["gain"].slot, value=7)
        page.send("control", slot=found["quiet"].slot, value=0)
        page.send("control", slot=found["kick"].slot, value=1)
        while not kick.take():
            world.poll()
        assert seen == [2.0] and gain.value == 2 and quiet.value == 0 and kick.value == 1
        assert quiet.take() and not quiet.take()
        assert changes(page)[0]["answer"].numbers[0] == 2
        world.remove_control("gain")
        page.send("control", slot=found["gain"].slot, value=1)
        page.frame()
        page.read()
        assert "taken this control away" in page.notes[0]
        page.close()


@needs_command
def test_asyncio_has_the_same_calls(served: list[str]) -> None:
    where, address = served

    async def follow() -> tuple[float, list[float]]:
        seen: list[float] = []
        moved = asyncio.Event()
        async with await mayfly.connect_async(address) as world:
            await world.draw("cloud", "points", [1, 2, 3])

            async def change(value: float) -> None:
                await world.draw("answer", "points", [value, 0, 0])
                seen.append(value)
                moved.set()

            gain = (await world.slider("gain", 0, 1))(change)
            loop = asyncio.get_running_loop()
            page = await loop.run_in_executor(None, Page, where)
            found, _ = await loop.run_in_executor(None, changes, page)
            assert found["cloud"].numbers.tolist() == [1, 2, 3]
            page.send("control", slot=found["gain"].slot, value=0.25)
            await asyncio.wait_for(moved.wait(), 20)
            page.close()
            return gain.value, seen

    assert asyncio.run(follow()) == (0.25, [0.25])


@needs_command
def test_no_bit_depends_on_drawings(tmp_path: pathlib.Path) -> None:
    def run(draws: bool) -> int:
        with serve(HEXAPOD, "--port", "0", "--paused") as address, mayfly.connect(address) as world:
            for number in range(20):
                if draws:
                    world.draw(f"layer {number % 3}", "points", np.full((1000, 3), number))
                world.step(5)
            return world.statistics(hash=True).hash

    assert run(True) == run(False)


# ---- a world of this process ---------------------------------------------------------------------


@pytest.fixture
def world(hexapod: mayfly.Model) -> Iterator[mayfly.World]:
    with mayfly.World.for_model(hexapod) as made:
        made.add_group(hexapod, name="robot", motion="points")
        yield made


def test_a_world_draws_and_its_page_moves_controls(world: mayfly.World) -> None:
    seen: list[float] = []
    world.draw("cloud", "points", [[1, 2, 3]])
    world.draw("push", "arrows", [[0, 0, 0], [0, 0, 1]], on=("robot", 0, "femur1"))
    world.draw("twin", "ghost", [0, 0, 1, 1, 0, 0, 0], on="robot")
    world.slider("gain", 0, 1, value=0.5)(seen.append)
    with mayfly.Viewer(world, port=0, realtime=False) as viewer:
        page = Page(viewer.address)
        found, last = changes(page)
        assert set(found) == {"cloud", "push", "twin", "gain"}
        assert found["cloud"].numbers.tolist() == [1, 2, 3] and found["push"].robot == 0
        page.send("control", slot=found["gain"].slot, value=0.75)
        page.frame()
        viewer.update()
        assert seen == [0.75]
        world.erase()
        viewer.update()
        assert {record.kind for record in changes(page, last)[0].values()} >= {CLEARED}
        page.close()


def test_drawings_are_no_state(world: mayfly.World, tmp_path: pathlib.Path) -> None:
    image = world.snapshot()
    world.step(50)
    plain = world.hash
    world.restore(image)
    with mayfly.Recorder(world, tmp_path / "drawn.h5") as recorder:
        for number in range(50):
            world.draw(f"layer {number % 3}", "points", np.full((100, 3), number))
            recorder.sample()
            world.step()
    assert world.hash == plain
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "drawn.h5") as file:
        assert len(file["drawings"]) > 50 * 1200


def test_foxglove_sees_drawings(world: mayfly.World, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mcap_protobuf", reason="mcap-protobuf-support is not installed")
    from test_mcap import read  # noqa: PLC0415 - it needs that package

    file = tmp_path / "drawn.mcap"
    nan = [np.nan] * 3
    with mayfly.Recorder(world, file) as recorder:
        world.draw("cloud", "points", [[1, 2, 3], [4, 5, 6]], size=0.5)
        world.draw("gap", "lines", [[0, 0, 0], [1, 0, 0], nan, [1, 1, 1], [2, 1, 1]])
        world.draw(
            "push", "arrows", [[0, 0, 0], [0, 0, 2]], color="#ff000080", on=("robot", 0, "femur1")
        )
        world.draw("sign", "text", [0, 0, 1], text="here")
        world.draw("twin", "ghost", [0, 0, 1, 1, 0, 0, 0], on="robot")
        recorder.sample()
        recorder.sample()  # nothing has changed
        world.erase("cloud")
        recorder.sample()
    (_, first), (_, second) = read(file)[1]["/drawings"]
    found = {entity.metadata[0].value: entity for entity in first.entities}
    assert set(found) == {"cloud", "gap", "push", "sign", "twin"}
    balls = found["cloud"].spheres
    assert [ball.pose.position.z for ball in balls] == [3, 6] and balls[0].size.x == 0.5
    assert [len(line.points) for line in found["gap"].lines] == [2, 2]
    (arrow,) = found["push"].arrows
    assert found["push"].frame_id == "robot/0/femur1" and found["gap"].frame_id == "world"
    assert arrow.shaft_length + arrow.head_length == pytest.approx(2)
    assert arrow.color.r == 1 and arrow.color.a == pytest.approx(128 / 255)
    w, x, y, z = (getattr(arrow.pose.orientation, name) for name in "wxyz")
    ahead = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]  # of its x axis
    assert ahead == pytest.approx([0, 0, 1], abs=1e-6)
    assert found["sign"].texts[0].text == "here"
    assert len(found["twin"].cubes) + len(found["twin"].cylinders) > 6
    assert [deletion.id for deletion in second.deletions] == [found["cloud"].id]
    assert len(second.entities) == 0


# ---- scripts -------------------------------------------------------------------------------------

SCENE = """
name: Drawn
world: {step: 0.01}
groups:
  - name: robot
    model: %s
    motion: points
scripts:
  - name: path
    tick: 0.1
    text: |
      local path = {}
      function tick(time)
        path[#path + 1] = {time, 0, 0.05}
        draw.lines{name = 'path', at = path, color = '#ff0000', size = 0.05}
        if time > 0.45 then draw.clear('path') end
      end
"""


@needs_command
def test_films_of_scripts_show_drawings_in_time(browser: Any, tmp_path: pathlib.Path) -> None:
    scene, film = tmp_path / "drawn.yaml", tmp_path / "drawn.html"
    scene.write_text(SCENE % HEXAPOD)
    call("run", scene, "--duration", "0.6", "--plot", film)
    files = [film]
    for ending in ("h5", "mcap"):
        record, again = tmp_path / f"drawn.{ending}", tmp_path / f"{ending}.html"
        call("run", scene, "--duration", "0.6", "--record", record, "--every", "0.01")
        call("view", record, "--plot", again)
        files.append(again)
    for file in files:
        page = blank_page(browser, 320, 240)
        page.goto(file.as_uri() + "#time=0.25")
        page.wait_for_function("() => window.mayfly")
        counts = page.evaluate(
            """() => [0.05, 0.25, 0.35, 0.55, 0.25].map((time) => {
              mayfly.source.time = time;
              const [layer] = mayfly.source.drawings().values();
              return layer ? layer.numbers.length / 3 : 0;
            })"""
        )
        assert counts == [1, 3, 4, 0, 3]
        assert "path" in page.text_content("#drawings")
        assert page.complaints == []
        page.close()


# ---- the page ------------------------------------------------------------------------------------

COLORED = """() => {
  mayfly.draw(0);
  const gl = mayfly.view.stage.renderer.getContext();
  const w = gl.drawingBufferWidth, h = gl.drawingBufferHeight, p = new Uint8Array(4 * w * h);
  gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, p);
  let count = 0;
  for (let i = 0; i < p.length; i += 4)
    if (p[i] > 120 && p[i + 2] > 120 && p[i + 1] < 0.4 * p[i]) count++;
  return count;
}"""


@needs_command
def test_the_browser_shows_drawings_and_controls(browser: Any, served: list[str]) -> None:
    where, address = served
    seen: list[float] = []
    with mayfly.connect(address) as world:
        page = blank_page(browser, 480, 360)
        page.goto(where)
        page.wait_for_function("() => window.mayfly && mayfly.source.frame().time > 0.2")
        assert page.is_hidden("#drawings") and page.is_hidden("#controls")
        assert page.evaluate(COLORED) < 20
        cloud = np.random.default_rng(1).normal(0, 0.2, (3000, 3)) + [0, 0, 0.3]
        world.draw("cloud", "points", cloud, color="#ff00ff", size=0.03)
        world.slider("gain", 0, 2, value=1, unit="m")(seen.append)
        kick = world.button("kick")
        page.wait_for_selector("#controls input[type=range]")
        page.wait_for_selector("#drawings input")
        assert page.evaluate(COLORED) > 2000
        page.click("#drawings input")  # hidden
        assert page.evaluate(COLORED) < 20
        page.click("#drawings input")
        page.evaluate(
            """() => {
              const slider = document.querySelector('#controls input[type=range]');
              slider.value = '0.5';
              slider.dispatchEvent(new Event('input'));
            }"""
        )
        page.click("#controls button")
        while not kick.take():
            world.poll()
        assert seen == [0.5] and "0.5 m" in page.text_content("#controls")
        world.remove_control("gain")
        world.remove_control("kick")
        world.erase("cloud")
        page.wait_for_selector("#controls", state="hidden")
        page.wait_for_selector("#drawings", state="hidden")
        assert page.complaints == []
        page.close()


# ---- examples ------------------------------------------------------------------------------------


def load(name: str) -> Any:
    path = ROOT / "examples" / "python" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def serve_scene(name: str) -> Any:
    options = ("--port", "0", "--speed", "0", "--paused")
    return serve(ROOT / "scenes" / f"{name}.yaml", *options)


@needs_command
def test_the_localizer_knows_where_the_robot_is() -> None:
    with serve_scene("localizer") as address:
        found = load("localizer").main(address, duration=60.0)
    # Measured with six seeds over 100 s: mean 0.031 .. 0.043 m, worst 0.085 .. 0.161 m.
    assert found["after"] < 10 and found["walk"] > 5
    assert found["mean"] < 0.07 and found["worst"] < 0.3


@needs_command
def test_the_robot_crosses_the_obstacles() -> None:
    with serve_scene("obstacle_challenge") as address:
        found = load("obstacles").main(address)
    # Measured with three seeds: 45 .. 48 s, 0.31 .. 0.32 m; no pole moves.
    assert found["reached"] and found["time"] < 80
    assert found["nearest"] > 0.2 and found["moved"] < 0.001
