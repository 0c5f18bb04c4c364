"""The page of films and of live runs in a real browser: headless Chromium, driven by Playwright."""

import os
import pathlib
import re
import socket
import urllib.error
import urllib.request

import pytest
from live_client import DRAWN, SHARE, WHERE
from served import call, needs_browser

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = needs_browser

BASE = "() => [...mayfly.source.frame().poses.slice(0, 3)]"
# Sets the first component of a field, and reads it again.
SET = """([field, value]) => new Promise(done => {
  const live = mayfly.source, take = live.onReading;
  live.send({do: "set", robot: 0, field, component: 0, value});
  live.send({do: "read", robot: 0});
  live.onReading = reading => {
    const found = reading.fields.find(f => f.name === field)?.values[0];
    // One of the panel, or asked before it was set:
    if (found === undefined || (field !== "base.position" && found !== Math.fround(value))) return;
    live.onReading = take;
    done(found);
  };
})"""


def until(page, what, arg=None):
    page.wait_for_function(what, arg=arg, polling=100)


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    out = tmp_path_factory.mktemp("film") / "walk.html"
    call("run", "models/hexapod.urdf", "--robots", 2, "--duration", 1, "--plot", out)
    return out


def test_film_is_shown(show, film):
    page = show(film.as_uri() + "#time=0.5")
    seen = page.evaluate(SHARE)
    assert seen["share"] > 0.2 and seen["colors"] > 50
    assert page.text_content("h1") == "hexapod"
    assert page.text_content("#clock") == "0.500 / 1.00 s, step 250"
    assert "2 robots" in page.text_content("#facts")
    page.keyboard.press("ArrowRight")
    until(page, "() => document.getElementById('clock').textContent.startsWith('0.52')")
    page.keyboard.press(" ")
    until(page, "() => mayfly.source.time > 0.6 || mayfly.source.time < 0.5")
    page.keyboard.press(" ")
    assert not page.evaluate("() => mayfly.control.playing")
    page.evaluate(
        "() => { const at = document.getElementById('at'); at.value = 0.25; at.oninput(); }"
    )
    assert page.evaluate("() => mayfly.source.time") == 0.25
    assert page.complaints == []


def test_every_key_and_the_panel(show, film):
    page = show(film.as_uri() + "#time=0.5")
    for key in ["t", "r", "n", "x", "l", "g", "s", "f", "m", "h", "+", "-", "]", "[", "Backspace"]:
        page.keyboard.press(key)
    assert page.is_visible("#help") and page.is_visible("#options")
    assert "Space" in page.text_content("#help")
    page.keyboard.press("Escape")
    assert page.is_hidden("#help") and page.is_hidden("#robot")
    page.keyboard.press("r")
    page.keyboard.press("f")
    page.evaluate("() => { mayfly.control.play(false); mayfly.control.seek(0.5); mayfly.draw(1); }")
    page.mouse.click(*page.evaluate(WHERE, 1))
    assert page.text_content("#robot h2").startswith("hexapod 1") or "1" in page.text_content(
        "#robot h2"
    )
    until(page, "() => document.querySelectorAll('#robot .row').length > 5")
    assert page.evaluate("() => mayfly.view.selected") == 1
    until(page, "() => document.querySelector('#robot .uplot')")
    assert page.complaints == []


def test_a_video_is_recorded(show, film):
    page = show(film.as_uri())
    page.keyboard.press("o")
    until(page, "() => mayfly.video.parts.some(part => part.size > 1000)")
    with page.expect_download() as saved:
        page.keyboard.press("o")
    kind = saved.value.suggested_filename.split(".")[1]
    data = pathlib.Path(saved.value.path()).read_bytes()
    assert len(data) > 1000
    assert data[4:8] == b"ftyp" if kind == "mp4" else data[:4] == b"\x1aE\xdf\xa3"  # WebM
    assert not page.evaluate("() => mayfly.video.on") and page.complaints == []


def test_both_fit_a_phone(show, film, live):
    page = show(live("models/ball.xml", "--paused"), 390, 844)
    boxes = [
        page.locator(f"#{name}").bounding_box()
        for name in ["play", "back", "step", "restart", "speed", "clock"]
    ]
    for i, a in enumerate(boxes):
        assert a["x"] >= 0 and a["x"] + a["width"] <= 390
        for b in boxes[:i]:  # none lies on another
            assert (
                a["x"] >= b["x"] + b["width"]
                or b["x"] >= a["x"] + a["width"]
                or a["y"] >= b["y"] + b["height"]
                or b["y"] >= a["y"] + a["height"]
            )
    page = show(film.as_uri() + "#time=0.5", 390, 844)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    for name in ["play", "at", "speed", "follow", "menu"]:
        box = page.locator(f"#{name}").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, name
    assert page.evaluate(SHARE)["share"] > 0.1
    assert page.complaints == []


def time_of(page):
    return page.evaluate("() => mayfly.source.frame().time")


def wait_paused(page, expected):
    until(page, f"() => mayfly.source.status.paused === {str(expected).lower()}")


def test_live_controls(show, live):
    page = show(live("models/hexapod.urdf"))
    assert page.evaluate(SHARE)["share"] > 0.2
    until(page, "() => mayfly.source.frame().time > 0.2")
    page.click("#play")
    wait_paused(page, True)
    before = time_of(page)
    page.keyboard.press("ArrowRight")
    until(page, "before => mayfly.source.frame().time > before", arg=before)
    assert time_of(page) - before == pytest.approx(0.002, abs=1e-6)  # one step
    page.select_option("#speed", "0.25")
    until(page, "() => mayfly.source.status.speed === 0.25")
    page.click("#back")
    until(page, "before => mayfly.source.frame().time === before", arg=before)
    page.keyboard.press("ArrowLeft")
    until(page, "before => mayfly.source.frame().time < before", arg=before)
    before = time_of(page)
    page.keyboard.press(",")
    page.click("#step")
    until(page, "before => mayfly.source.frame().time > before", arg=before)
    page.keyboard.press(".")
    until(page, "before => mayfly.source.frame().time === before", arg=before)
    page.keyboard.press("Backspace")
    until(page, "() => mayfly.source.frame().time === 0")
    page.click("#play")
    wait_paused(page, False)
    until(page, "() => mayfly.source.frame().time > 0.05")
    assert page.complaints == []


def test_fields_and_inputs(show, live):
    page = show(live("models/hexapod.urdf", "--paused"))
    page.keyboard.press("]")
    until(page, "() => document.querySelectorAll('#robot .row').length > 20")
    page.select_option("#robot select", "rigid")
    until(page, "() => document.getElementById('message').textContent.includes('motion rigid:')")
    page.select_option("#robot select", "articulated")
    assert "position" in page.text_content("#robot .sections")
    assert page.evaluate(SET, ["joint.target", 0.4]) == pytest.approx(0.4)
    assert page.evaluate(SET, ["base.position", 9]) == pytest.approx(0.0, abs=0.01)
    until(
        page, "() => document.getElementById('message').textContent.includes('writes this field')"
    )
    assert page.evaluate(BASE)[0] == pytest.approx(0.0, abs=0.01)
    assert page.complaints == []


# A tetrahedron, and a robot that is one.
STL = "solid a\n" + "".join(
    f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n"
    for corners in (
        "".join(f"vertex {p}\n" for p in face)
        for face in (
            ("0 0 0", "0 .2 0", ".2 0 0"), ("0 0 0", ".2 0 0", "0 0 .2"),
            ("0 0 0", "0 0 .2", "0 .2 0"), (".2 0 0", "0 .2 0", "0 0 .2"),
        )
    )
) + "endsolid a\n"  # fmt: skip
URDF = (
    "<robot name='mesh'><link name='a'><visual><geometry><mesh filename='{}'/></geometry></visual>"
    "<inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' iyz='0'/>"
    "</inertial></link></robot>"
)
# Drops files by name: those without a folder as a person would, the others as a folder gives them.
DROP = """files => {
  const list = Object.entries(files).map(([path, text]) => ({path, file: new File([text], path.split("/").pop())}));
  if (list.some(({path}) => path.includes("/"))) return void mayfly.control.take(list);
  const all = new DataTransfer();
  for (const {file} of list) all.items.add(file);
  dispatchEvent(new DragEvent('drop', {dataTransfer: all}));
}"""  # noqa: E501
SHAPES = "mayfly.source.description.casts[0].meshes.filter(mesh => mesh).length"


def test_files_are_dropped_on_the_page(show, live):
    page = show(live("models/hexapod.urdf"))
    words = "document.getElementById('message').textContent"
    page.evaluate(DROP, {"robot.urdf": "<robot"})
    until(page, f"() => {words}.includes('robot.urdf:1')")
    assert "400" in page.complaints.pop()  # of the browser, in its console
    page.evaluate(DROP, {"robot.urdf": URDF.format("meshes/a.stl")})
    until(page, f"() => /not found.*Drop its folder/.test({words})")  # it is shown without it
    until(page, DRAWN)
    page.evaluate(DROP, {"a.stl": STL, "notes.xml": "<package/>"})
    until(page, f"() => {words}.startsWith('There is no robot')")
    page.keyboard.press("e")
    until(page, "() => mayfly.control.drawnEvery === 10")
    # A robot with a mesh that lies beside it, and looks for it in another folder.
    with page.expect_navigation():
        page.evaluate(DROP, {"robot.urdf": URDF.format("package://go/meshes/a.stl"), "a.stl": STL})
    until(page, DRAWN)
    until(page, f"() => {SHAPES} === 1")
    # A folder with two of them: the page asks which.
    other = URDF.format("../meshes/a.stl").replace("name='mesh'", "name='other'")
    files = {"go/urdf/one.urdf": URDF.format("../no.stl"), "go/urdf/two.urdf": other}
    page.evaluate(DROP, {**files, "go/meshes/a.stl": STL, "go/package.xml": "<package/>"})
    with page.expect_navigation():
        page.click("text=go/urdf/two.urdf")
    until(page, DRAWN)
    until(page, f"() => document.title.includes('two') && {SHAPES} === 1")
    assert [text for text in page.complaints if "WebSocket" not in text] == []


def test_push_moves_the_robot(show, live):
    page = show(live("models/hexapod.urdf"))
    until(page, "() => mayfly.source.frame().time > 0.5")
    page.click("#follow")
    before, (x, y) = page.evaluate(BASE), page.evaluate(WHERE, 0)
    page.keyboard.down("Control")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 100, y - 60, steps=4)
    until(
        page,
        "before => Math.hypot("
        "...mayfly.source.frame().poses.slice(0, 3).map((p, c) => p - before[c])) > 0.05",
        arg=before,
    )
    page.mouse.up()
    page.keyboard.up("Control")
    page.evaluate("() => mayfly.source.send({do: 'read', robot: 0})")
    assert page.complaints == []


# One after another on one socket, which stays open: nothing here may be taken for a command.
GARBAGE = """() => new Promise(done => {
  const socket = new WebSocket(mayfly.source.socket.url);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    const words = ["", "{", "[]", "null", "7", '"next"', '{"do": 3}',
      '{"do": "next", "do": "next"}',
      '{"do": "push"}', '{"do": "push", "robot": -1, "link": 0, "at": [0,0,0], "to": [0,0,0]}',
      '{"do": "push", "robot": 0, "link": 4000000000, "at": [0,0,0], "to": [0,0,0]}',
      '{"do": "push", "robot": 0, "link": 0, "at": [1e999,0,0], "to": [0,0,0]}',
      '{"do": "push", "robot": 0, "link": 0, "at": "x", "to": {}}', '{"do": "speed", "factor": -1}',
      '{"do": "speed", "factor": 1e300}',
      '{"do": "set", "robot": 0, "field": "nothing", "component": 0, "value": 1}',
      '{"do": "set", "robot": 0, "field": "joint.target", "component": 100000, "value": 1}',
      '{"do": "read", "robot": 1e8}', '{"do": "about", "robot": 1e8}', '{"do": "about"}',
      '{"do": "read", "robot": 0, "link": -3, "fields": [1e9, -1, "x", null, {}]}',
      '{"do": "read", "robot": 0, "link": 1e6, "fields": {}}',
      '{"do": "' + "x".repeat(3000) + '"}', "[".repeat(4000),
      "x".repeat(100000),
      "\\u0000\\u0000", "\\ud83d\\ude00".repeat(500)];
    for (const word of words) socket.send(word);
    let seed = 1;
    const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648);
    for (let i = 0; i < 200; i++)
      socket.send(Uint8Array.from({length: random() % 300}, () => random() % 256));
    for (let i = 0; i < 200; i++)
      socket.send(String.fromCharCode(
        ...Array.from({length: random() % 60}, () => 32 + random() % 95)));
    socket.send('{"do": "read", "robot": 0}');
  };
  let readings = 0;
  socket.onmessage = event => {
    if (typeof event.data !== "string" || !event.data.startsWith('{"reading"')) return;
    if (++readings < 3) return; // those of robot 0
    socket.close();
    done(true);
  };
})"""


def test_garbage_reload_and_two_pages(show, live):
    address = live("models/hexapod.urdf", "--paused")
    page = show(address)
    assert page.evaluate(GARBAGE)
    page.reload()
    until(page, DRAWN)
    assert time_of(page) == 0.0 and page.evaluate(BASE)[0] == pytest.approx(0.0, abs=0.01)
    other = show(address)
    other.click("#play")
    wait_paused(page, False)
    until(page, "() => mayfly.source.frame().time > 0.05")
    other.close()
    page.click("#play")
    wait_paused(page, True)
    assert page.complaints == [] and other.complaints == []


def get(address, **headers):
    try:
        return urllib.request.urlopen(urllib.request.Request(address, headers=headers)).status
    except urllib.error.HTTPError as error:
        return error.code


def test_who_may_look(live):
    address = live("models/ball.xml")
    assert get(address) == 200
    assert get(address + "other") == 404
    assert get(address, Host="example.com") == 403
    assert get(address, Origin="http://example.com") == 403
    elsewhere = live("models/ball.xml", "--host", "127.0.0.2")
    assert re.fullmatch(r"http://127\.0\.0\.2:\d+/\?token=[0-9a-f]{32}", elsewhere)
    assert get(elsewhere) == 200
    assert get(elsewhere[:-1] + "x") == 403
    assert get(elsewhere.split("?")[0]) == 403


def test_one_line_says_what_is_wrong(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<p>no film</p>")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for words, says in [
            (["--port", port], f"port {port} of 127.0.0.1 is in use"),
            (["--host", "1.2.3.4"], "1.2.3.4 is no address of this machine"),
            (["--host", "nobody.example"], "expected an address such as 127.0.0.1"),
        ]:
            done = call("view", "models/ball.xml", *words, code=1)
            lines = [line for line in done.stderr.splitlines() if "note:" not in line]
            assert len(lines) == 1 and says in lines[0], lines
    assert "expected a film" in call("view", page, code=1).stderr
    nowhere = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    words = ["models/ball.xml", "--port", "0", "--open", "--duration", "0.01"]
    assert "no display here" in call("view", *words, env=nowhere).stderr


def test_film_is_served(show, live, film):
    page = show(live(str(film)) + "#time=0.5")
    assert page.text_content("#clock") == "0.500 / 1.00 s, step 250"
    assert page.complaints == []


@pytest.mark.parametrize("ending", ["h5", "mcap"])
def test_recordings_are_served(show, live, tmp_path, ending):
    file = tmp_path / f"walk.{ending}"
    words = ["--gait", "tripod", "--duration", "1", "--every", "0.05", "--record", file]
    call("run", "models/hexapod.urdf", *words)
    page = show(live(str(file)) + "#time=0.5")
    assert page.text_content("#clock") == "0.500 / 1.00 s, step 250"
    assert page.text_content("h1") == file.name
    assert page.evaluate("mayfly.source.description.frames") == 21
    assert page.evaluate(SHARE)["share"] > 0.02
    assert page.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_reports_look_like_the_viewer(browser, film, tmp_path, scheme):
    report = tmp_path / "compare.html"
    words = ["--gait", "tripod", "--duration", "0.5", "--no-cost", "--plot", report]
    call("compare", "models/hexapod.urdf", *words)
    colors = []
    for path in (film, report):
        page = browser.new_page(viewport={"width": 390, "height": 700}, color_scheme=scheme)
        page.goto(path.as_uri())
        colors.append(
            page.evaluate(
                """() => ["--ink", "--card", "--accent", "--sans", "--points", "--articulated"].map(
                     name => getComputedStyle(document.documentElement).getPropertyValue(name))"""
            )
        )
        assert page.evaluate("document.documentElement.scrollWidth") == 390  # fits a phone
        page.close()
    assert colors[0] == colors[1] and all(colors[0])
