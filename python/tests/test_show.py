"""Films, pages in notebooks, and worlds live in a real browser while Python steps them."""

import base64
import http.client
import os
import pathlib
import re
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from live_client import DRAWN, SHARE, WHERE, Page
from test_docs import blocks as python_blocks

import mayfly
from conftest import ROOT, blank_page


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    made = blank_page(browser, 400, 300)
    yield made
    made.close()


@pytest.fixture
def walker(hexapod: mayfly.Model) -> Iterator[mayfly.World]:
    with mayfly.World(step=0.01) as world:
        group = world.add_group(hexapod, 2, motion="points", controller="oscillator")
        group["oscillator.amplitude"] = 0.3
        group["oscillator.frequency"] = 1.0
        yield world


# ---- pages ---------------------------------------------------------------------------------------


def test_a_film_is_shown_in_a_notebook(
    walker: mayfly.World, page: Any, tmp_path: pathlib.Path
) -> None:
    film = mayfly.Film(walker, 0.02, title="A walk <b>", colors=["#ff0000"])
    for _ in range(5):
        film.sample()
        walker.step(2)
    frame = film._repr_html_()
    assert frame.startswith("<iframe ") and 'srcdoc="' in frame and "A walk" in frame
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><p>a cell</p>{frame}")
    page.goto((tmp_path / "notebook.html").as_uri())
    (inner,) = [child for child in page.frames if child != page.main_frame]
    inner.wait_for_function(DRAWN, polling=100)
    assert inner.evaluate("mayfly.source.description.frames") == 5
    assert inner.evaluate("mayfly.source.duration") == pytest.approx(0.08)
    drawn = inner.evaluate(SHARE)
    assert drawn["share"] > 0.02 and drawn["colors"] > 50
    assert page.complaints == []


def test_show(walker: mayfly.World, tmp_path: pathlib.Path) -> None:
    before = walker.time
    still = mayfly.show(walker)
    assert walker.time == before and '"frames":1,' in still.html
    moving = mayfly.show(walker.groups[0], duration=0.5, height=300)
    assert walker.time == pytest.approx(before + 0.5)
    assert '"frames":26,' in moving.html and "height:300px" in moving._repr_html_()
    moving.save(tmp_path / "film.html")
    assert (tmp_path / "film.html").read_text() == moving.html
    for ending in ("h5", "mcap"):
        file = tmp_path / f"walk.{ending}"
        with mayfly.Recorder(walker, file) as recorder:
            for _ in range(4):
                recorder.sample()
                walker.step(2)
        recording = mayfly.Recording(file)
        shown = mayfly.show(recording)
        assert '"frames":4,' in shown.html.replace(" ", "")
        assert recording._repr_html_() == shown._repr_html_() == mayfly.show(file)._repr_html_()
    with pytest.raises(mayfly.ArgumentError, match="colors"):
        mayfly.Film(walker, colors=[])
    with pytest.raises(mayfly.ArgumentError, match="period"):
        mayfly.Film(walker, 0.0)


# ---- live ----------------------------------------------------------------------------------------


def step_until(
    world: mayfly.World, viewer: mayfly.Viewer, expected: Callable[[], bool], steps: int = 5
) -> None:
    latest = time.monotonic() + 120
    while not expected():
        assert time.monotonic() < latest
        world.step(steps)
        viewer.update()


def test_a_world_is_shown_while_python_steps_it(walker: mayfly.World, page: Any) -> None:
    with mayfly.Viewer(walker, title="live", port=0) as viewer:
        done = threading.Event()
        stepping = threading.Thread(
            target=lambda: step_until(walker, viewer, done.is_set, 1), daemon=True
        )
        stepping.start()
        try:
            page.goto(viewer.address)
            page.wait_for_function(DRAWN, polling=100)
            assert page.evaluate(SHARE)["share"] > 0.02
            page.wait_for_function("() => mayfly.source.frame().time > 0.3", polling=50)
            page.keyboard.press(" ")
            page.wait_for_function("() => mayfly.source.status.paused", polling=50)
            assert viewer.paused
            stood = walker.time
            page.keyboard.press("ArrowRight")
            page.wait_for_function(f"() => mayfly.source.frame().time > {stood}", polling=50)
            page.evaluate("mayfly.source.send({do: 'run'})")
            page.wait_for_function(f"() => mayfly.source.frame().time > {stood + 0.2}", polling=50)
            reading = page.evaluate(
                """() => new Promise(done => {
                  mayfly.source.onReading = done;
                  mayfly.source.send({do: 'read', robot: 1});
                })"""
            )
            names = [field["name"] for field in reading["fields"]]
            assert "base.position" in names and reading["motion"] == "points"
            page.evaluate(
                "mayfly.source.send({do: 'set', robot: 1, field: 'oscillator.amplitude',"
                " component: 0, value: 0.125})"
            )
            page.evaluate("mayfly.source.send({do: 'reset'})")
            page.wait_for_function(f"() => mayfly.source.frame().time < {stood}", polling=50)
            assert viewer.restarts == 1
            page.keyboard.press(" ")
            page.wait_for_function("() => mayfly.source.status.paused", polling=50)
            page.evaluate("mayfly.source.send({do: 'reset'})")  # also while it waits
            page.wait_for_function("() => mayfly.source.frame().time === 0", polling=50)
            page.evaluate("mayfly.source.send({do: 'run'})")
            page.evaluate("mayfly.source.send({do: 'speed', factor: 0})")
            page.wait_for_function("() => mayfly.source.status.speed === 0", polling=50)
        finally:
            done.set()
            page.evaluate("mayfly.source.send({do: 'run'})")
            stepping.join(20)
        assert not stepping.is_alive() and page.complaints == []


def is_far(here: Any, there: Any) -> bool:
    return float(np.linalg.norm(here - there)) > 0.05


def test_a_page_pushes_a_robot(hexapod: mayfly.Model, page: Any) -> None:
    with mayfly.World(step=0.002) as world:
        group = world.add_group(hexapod, 2, motion="articulated")
        group["base.position"] = [[0, 0, 0.13], [0, 1, 0.13]]
        with mayfly.Viewer(world, port=0) as viewer:
            page.goto(viewer.address)
            step_until(world, viewer, lambda: page.evaluate(DRAWN))
            assert page.is_hidden("#back") and page.is_visible("#restart")
            begin = group["base.position"].array.copy()
            page.evaluate("mayfly.view.follow = false")
            x, y = page.evaluate(WHERE, 1)
            page.keyboard.down("Control")
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + 60, y - 60, steps=4)
            step_until(world, viewer, lambda: is_far(group["base.position"].array[1], begin[1]))
            page.mouse.up()
            page.keyboard.up("Control")
            assert not is_far(group["base.position"].array[0], begin[0])
            assert not group["base.force"].array.any() and not group["joint.torque"].array.any()
        assert page.complaints == []


def test_a_push_acts_in_the_steps_of_an_environment(caplog: pytest.LogCaptureFixture) -> None:
    env = gymnasium.make("Mayfly/Ant-v5", render_mode="human")
    env.reset(seed=1)
    address = re.search(r"see it at (\S+)", caplog.text)[1]
    page = Page(address)
    page.send("about", robot=0)
    about = page.words("about")
    assert [part["name"] for part in about["parts"]["joint"]][:2] == ["hip_1", "ankle_1"]
    page.send("read", robot=0, fields=[0], link=1)
    reading = page.words("reading")
    assert [field["name"] for field in reading["fields"]] == ["base.position"]
    assert reading["link"]["number"] == 1 and len(reading["link"]["velocity"]) == 6
    x, y, z = page.frame().poses[:3]
    page.send("push", robot=0, link=0, at=[0, 0, 0], to=[x + 3, y, z + 2])
    page.read()
    action = np.zeros(env.action_space.shape)
    for _ in range(20):
        env.step(action)
    found = page.frame().poses[:3]
    assert found[0] - x > 0.2 and found[2] - z > 0.2
    page.send("push", robot=0, link=77, at=[0, 0, 0], to=[0, 0, 0])
    page.send("push", robot=0, link=1, at=[0, float("nan"), 0], to=[0, 0, 0])
    page.send("back", steps=1)
    page.read()
    assert "cannot be pushed" in page.notes[0] and "cannot do this" in page.notes[1]
    page.close()  # lets go
    time.sleep(0.2)
    for _ in range(40):
        env.step(action)
    assert Page(address).frame().poses[2] < found[2]
    env.close()


def test_nobody_else_gets_the_page(walker: mayfly.World) -> None:
    with mayfly.Viewer(walker, port=0) as viewer:
        port = int(re.search(r":(\d+)/", viewer.address)[1])
        assert b"<canvas" in urllib.request.urlopen(viewer.address).read()
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            asked = http.client.HTTPConnection("127.0.0.1", port)
            asked.request("GET", "/live", headers=headers)
            assert asked.getresponse().status == 403
        with pytest.raises(mayfly.OperatingSystemError, match="name another port"):
            mayfly.Viewer(walker, port=port)
    with pytest.raises(OSError):
        urllib.request.urlopen(viewer.address)
    viewer.close()


def test_garbage_harms_nothing(walker: mayfly.World) -> None:
    random = np.random.default_rng(5)
    with mayfly.Viewer(walker, port=0) as viewer:
        port = int(re.search(r":(\d+)/", viewer.address)[1])
        for trial in range(30):
            with socket.create_connection(("127.0.0.1", port), 5) as talk:
                key = base64.b64encode(random.bytes(16)).decode()
                talk.sendall(
                    f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                    f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
                )
                assert b"101" in talk.recv(4096)
                words = [b'{"do":"read","robot":1e9}', b'{"do":"set","robot":0,"field":3}', b"[[",
                         b'{"do":"speed","factor":1e999}', b'{"do":"set","robot":0,"field":"base.'
                         b'position","component":-1,"value":1}'][trial % 5]  # fmt: skip
                talk.sendall(bytes([0x81, 0x80 | len(words), 0, 0, 0, 0]) + words)
                talk.sendall(random.bytes(40))
            viewer.update(wait=False)
        assert b"<canvas" in urllib.request.urlopen(viewer.address).read()


def test_a_page_outlives_its_world(
    hexapod: mayfly.Model, page: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with mayfly.World() as world:
        world.add_group(hexapod, 1, motion="points")
        viewer = mayfly.Viewer(world, port=0)
        page.goto(viewer.address)
        page.wait_for_function(DRAWN, polling=100)
    page.evaluate("mayfly.source.send({do: 'read', robot: 0})")
    page.wait_for_timeout(200)
    with pytest.raises(mayfly.ClosedError):
        viewer.update()
    viewer.close()
    assert "Traceback" not in capfd.readouterr().err


# Of each robot of the first kind, once its pictures are colored by level.
COLORS = """() => {
  if (!mayfly.view.overlays.on.levels) document.body.dispatchEvent(
    new KeyboardEvent("keydown", {key: "v", bubbles: true}));
  mayfly.draw(0);
  const part = mayfly.view.robots.parts.find(part => part.link >= 0);
  const colors = [...part.mesh.instanceColor.array].map(x => Math.round(100 * x));
  return [0, 1, 2].map(robot => colors.slice(3 * robot, 3 * robot + 3).join());
}"""


@pytest.mark.parametrize("kind", ["recorded", "live"])
def test_levels_are_colors_of_single_robots(
    hexapod: mayfly.Model, page: Any, tmp_path: pathlib.Path, kind: str
) -> None:
    """One of three robots switches, which is seen from then on and not before."""
    with mayfly.World(step=0.002) as world:
        group = world.add_group(hexapod, 3, motion=("articulated", "rigid"))
        recorded, file = tmp_path / "walk.mcap", tmp_path / "film.html"
        with mayfly.Recorder(world, recorded) as recorder:
            for i in range(6):
                recorder.sample()
                world.step(10)
                if i == 2:
                    group.switch("rigid", [1])
        mayfly.show(recorded).save(file)
        with mayfly.Viewer(world, port=0) as viewer:
            page.goto(viewer.address if kind == "live" else file.as_uri() + "#time=0")
            page.wait_for_function(DRAWN, polling=100)
            first = page.evaluate(COLORS)
            if kind == "live":
                group.switch("articulated", [1])
                viewer.update(wait=False)
                page.wait_for_function("() => mayfly.source.frame().levels[1] === 4", polling=50)
                first, last = page.evaluate(COLORS), first
            else:
                page.evaluate("mayfly.control.seek(0.1)")
                last = page.evaluate(COLORS)
    assert first[0] == first[1] == first[2] == last[0] == last[2] != last[1]
    assert page.evaluate("mayfly.view.overlays.legend") == "articulated orange, rigid green"
    assert page.complaints == []


# ---- environments --------------------------------------------------------------------------------


def test_human_shows_every_step(page: Any, caplog: pytest.LogCaptureFixture) -> None:
    env = gymnasium.make("Mayfly/Hopper-v5", render_mode="human")
    assert env.metadata["render_fps"] == 125 and "human" in env.metadata["render_modes"]
    env.reset(seed=1)
    address = re.search(r"see it at (\S+)", caplog.text)[1]
    page.goto(address)
    for _ in range(200):
        env.step(env.action_space.sample())
        assert env.render() is None
        if page.evaluate(DRAWN):
            break
        page.wait_for_timeout(50)
    assert page.evaluate("mayfly.source.frame().time") > 0
    assert page.complaints == []
    env.close()


def test_human_is_real_time() -> None:
    envs = gymnasium.make_vec("Mayfly/Hopper-v5", 3, render_mode="human")
    envs.reset(seed=1)
    began = time.monotonic()
    for _ in range(50):
        envs.step(envs.action_space.sample())
    assert time.monotonic() - began > 0.9 * 49 * 0.008
    envs.close()


def test_chosen_ones_in_a_tile() -> None:
    envs = gymnasium.make_vec(
        "Mayfly/Hopper-v5", 20, render_mode="rgb_array", width=40, height=30,
        render_robots=[19, 3, 5],
    )  # fmt: skip
    envs.reset(seed=1)
    frames = envs.render()
    assert len(frames) == 3 and frames[0].shape == (30, 40, 3)
    tile = envs.unwrapped.tile()
    assert tile.shape == (60, 80, 3)
    assert np.array_equal(tile[:30, 40:], frames[1]) and np.array_equal(tile[30:, :40], frames[2])
    assert not tile[30:, 40:].any()
    assert envs.unwrapped.tile(columns=3).shape == (30, 120, 3)
    envs.close()


def test_videos(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("moviepy", reason="moviepy is not installed")
    env = gymnasium.make("Mayfly/Hopper-v5", render_mode="rgb_array", width=64, height=48)
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path), disable_logger=True)
    env.reset(seed=1)
    for _ in range(10):
        env.step(env.action_space.sample())
    env.close()
    (video,) = tmp_path.glob("*.mp4")
    cv2 = pytest.importorskip("cv2")
    film = cv2.VideoCapture(os.fspath(video))
    count = 0
    while True:
        good, frame = film.read()
        if not good:
            break
        count += 1
        assert frame.shape == (48, 64, 3)
    assert count == 11 and film.get(cv2.CAP_PROP_FPS) == pytest.approx(125, abs=1)


def test_videos_of_many(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("moviepy", reason="moviepy is not installed")
    envs = gymnasium.make_vec("Mayfly/Hopper-v5", 4, render_mode="rgb_array", width=64, height=48)
    envs = gymnasium.wrappers.vector.RecordVideo(
        envs, str(tmp_path), record_first_only=False, disable_logger=True, video_length=8,
        step_trigger=lambda step: step == 0,
    )  # fmt: skip
    envs.reset(seed=1)
    for _ in range(10):
        envs.step(envs.action_space.sample())
    envs.close()
    assert len(list(tmp_path.glob("*.mp4"))) == 1


def test_the_page_about_recordings(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of docs/how_to/record_and_look_again.md, in order."""
    pytest.importorskip("mcap_protobuf", reason="mcap-protobuf-support is not installed")
    monkeypatch.chdir(tmp_path)
    with mayfly.Scene("scenes/soccer.yaml") as world, mayfly.Recorder(world, "match.mcap") as made:
        made.sample()
    blocks = python_blocks(ROOT / "docs" / "how_to" / "record_and_look_again.md")
    assert len(blocks) == 4
    for block in blocks:
        exec(block, {})
    assert len(mayfly.Recording("match.mcap").time) == 20
