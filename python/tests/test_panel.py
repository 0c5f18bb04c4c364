"""The panel, the tree and the plots of the page, in headless Chromium: names, folds, units, limits,
and the link under the mouse."""

import math

import pytest
from live_client import DRAWN
from served import call, needs_browser

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = needs_browser

WIDE = 1280, 800
# Rows of the panel that are not folded away.
SEEN = "[...document.querySelectorAll('#robot .row:not(.heads)')].filter(row => row.offsetParent)"
KNEE = "mayfly.plots.traces.find(trace => trace.key.startsWith('joint.angle'))"
# Where a link of a robot is on the page: the middle of its shapes.
LINK = """([robot, name]) => {
  const {view} = mayfly, {cast, first} = view.robots.list[robot];
  const link = cast.bodies.findIndex(body => body.name === name);
  mayfly.draw(0);
  const mesh = view.robots.parts.find(part => part.link === link && part.kind.cast === cast);
  const p = mayfly.source.frame().poses, i = 7 * (first + link), {camera} = view.stage;
  const at = mesh.middle.clone().applyQuaternion(camera.quaternion.clone().set(
    p[i + 4], p[i + 5], p[i + 6], p[i + 3]));
  at.add({x: p[i], y: p[i + 1], z: p[i + 2]}).project(camera);
  return [innerWidth * (1 + at.x) / 2, innerHeight * (1 - at.y) / 2];
}"""
FIELD = """([name, component]) => {
  const field = mayfly.panel.last?.fields.find(f => f.name === name);
  return field ? field.values[component] : null;
}"""


def until(page, what, arg=None):
    page.wait_for_function(what, arg=arg, polling=100)


def labels(page):
    return page.evaluate(f"() => {SEEN}.map(row => row.querySelector('.name').textContent)")


def opened(show, address, robot=0):
    """A page with a robot's panel, whose values have come."""
    page = show(address, *WIDE)
    page.evaluate("robot => mayfly.select(robot)", robot)
    until(
        page,
        f"() => {SEEN}.length > 3 && /[0-9]/.test({SEEN}[0].querySelector('.value').textContent)",
    )
    return page


@pytest.fixture
def hexapod(show, live):
    page = opened(show, live("models/hexapod.urdf"))
    yield page
    assert page.complaints == []


def test_rows_have_names_and_are_few(hexapod):
    names = labels(hexapod)
    assert len(names) < 60
    assert {"position", "roll, pitch, yaw", "velocity", "leg1_tibia", "leg6_coxa", "foot3"} <= set(
        names
    )
    assert not any("[" in name for name in names)
    texts = hexapod.evaluate(f"() => {SEEN}.map(row => row.textContent)")
    assert sum(text.startswith("leg") for text in texts) == 18
    loads = [
        hexapod.evaluate(
            f"name => {SEEN}.filter(row => row.textContent.startsWith(name)).pop().textContent",
            f"tibia{i}",
        )
        for i in range(1, 7)
    ]
    until(hexapod, "() => mayfly.source.frame().time > 1")
    assert all(text.endswith(" N") or text.endswith("N") for text in loads)
    folded = hexapod.evaluate(
        "() => [...document.querySelectorAll('#robot summary')].map(s => s.textContent)"
    )
    assert any(text.startswith("All fields") for text in folded)
    assert "warning.steps" not in names


def test_filter_finds_names_and_fields(hexapod):
    hexapod.fill("#robot input[type=search]", "tibia torque")
    until(hexapod, f"() => {SEEN}.length === 6")
    assert labels(hexapod) == [f"leg{i}_tibia" for i in range(1, 7)]
    hexapod.fill("#robot input[type=search]", "nothing like this")
    assert "nothing has this name" in hexapod.text_content("#robot")
    hexapod.fill("#robot input[type=search]", "warning.steps solver")
    until(hexapod, f"() => {SEEN}.length > 0")
    assert any("solver" in name for name in labels(hexapod))


def slider(page, name):
    return page.locator(f"#robot input[type=range][aria-label='{name}']").first


def test_a_knee_is_clicked_by_its_name_and_bent_within_its_limits(show, live):
    page = show(live("models/hexapod.urdf"), *WIDE)
    until(page, "() => mayfly.source.frame().time > 0.5")
    page.mouse.click(*page.evaluate(LINK, [0, "tibia4"]))
    assert page.evaluate("() => mayfly.panel.linkName") == "tibia4"
    until(
        page,
        "() => document.querySelector('#robot summary')?.textContent.startsWith('Link tibia4')",
    )
    assert page.evaluate("() => mayfly.view.overlays.mark.children.length") > 0  # it is marked
    knee = slider(page, "joint.target leg4_tibia")
    assert float(knee.get_attribute("min")) == pytest.approx(-0.8)
    assert float(knee.get_attribute("max")) == pytest.approx(0.8)
    knee.evaluate("node => { node.value = 5; node.dispatchEvent(new Event('input')); }")
    # It is as far as the slider goes, and the joint follows.
    until(page, "() => (" + FIELD + ")(['joint.target', 11]) > 0.79")
    until(page, "() => (" + FIELD + ")(['joint.angle', 11]) > 0.7")
    assert page.evaluate(FIELD, ["joint.target", 11]) == pytest.approx(0.8, abs=1e-6)
    page.keyboard.press("Escape")
    assert page.is_hidden("#robot")
    assert page.evaluate("() => mayfly.view.overlays.mark.children.length") == 0
    assert page.complaints == []


def test_values_beyond_a_limit_are_said(hexapod):
    hexapod.evaluate("() => mayfly.select(0, 3)")
    box = hexapod.locator("#robot input[type=number][aria-label='joint.target leg1_tibia, exact']")
    box.fill("2")
    box.press("Tab")
    assert "leg1_tibia: its limits are -0.800 to 0.800 rad" in hexapod.text_content("#message")
    until(hexapod, "() => (" + FIELD + ")(['joint.target', 2]) > 0.79")
    assert hexapod.evaluate(FIELD, ["joint.target", 2]) == pytest.approx(0.8, abs=1e-6)


def test_angles_in_degrees(hexapod):
    hexapod.click("#angle")
    assert hexapod.text_content("#angle") == "deg"
    knee = slider(hexapod, "joint.target leg1_tibia")
    assert float(knee.get_attribute("max")) == pytest.approx(math.degrees(0.8))
    knee.evaluate("node => { node.value = 30; node.dispatchEvent(new Event('input')); }")
    until(hexapod, "() => (" + FIELD + ")(['joint.target', 2]) > 0.5")
    assert hexapod.evaluate(FIELD, ["joint.target", 2]) == pytest.approx(math.radians(30), abs=1e-5)
    assert "°" in hexapod.text_content("#robot")
    hexapod.reload()  # and it is remembered
    until(hexapod, DRAWN)
    assert hexapod.text_content("#angle") == "deg"


def test_plots_have_one_unit_each_and_stay(hexapod):
    for name in ["leg1_tibia", "leg2_tibia", "position"]:
        hexapod.click(f"#robot button.name:text-is('{name}') >> nth=0")
    until(hexapod, "() => document.querySelectorAll('#plots .uplot').length === 2")
    legends = hexapod.evaluate(
        "() => [...document.querySelectorAll('#plots .legend')].map(l => l.textContent)"
    )
    assert legends == ["radleg1_tibia angleleg2_tibia angle", "mposition xposition yposition z"]
    hexapod.reload()
    until(hexapod, DRAWN)
    until(hexapod, "() => document.querySelectorAll('#plots .uplot').length === 2")
    assert hexapod.is_hidden("#robot")
    until(hexapod, "() => mayfly.plots.traces.every(trace => trace.times.length > 2)")
    values = hexapod.evaluate(
        "() => mayfly.plots.traces.map(trace => trace.values[trace.values.length - 1])"
    )
    assert values[4] == pytest.approx(0.115, abs=0.02)  # the height of the base
    boxes = [hexapod.locator(f"#plots .plot >> nth={i}").bounding_box() for i in range(2)]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"] + 1  # one below the other
    for _ in range(5):  # a click on a trace ends it
        hexapod.click("#plots .legend button >> nth=0")
    assert hexapod.is_hidden("#plots")


def test_the_tree_selects_links(hexapod):
    hexapod.keyboard.press("u")
    hexapod.click("#tree button:text('femur2')")
    assert hexapod.evaluate("() => mayfly.panel.linkName") == "femur2"
    hexapod.fill("#tree input", "leg5_tibia")  # by its joint
    rows = hexapod.evaluate(
        "() => [...document.querySelectorAll('#tree button')].map(b => b.firstChild.textContent)"
    )
    assert rows[-1] == "tibia5"
    hexapod.click("#scene")
    assert hexapod.is_hidden("#tree")


def test_the_name_under_the_mouse(hexapod):
    hexapod.evaluate("() => { mayfly.view.follow = false; }")
    hexapod.mouse.move(5, 500)
    for _ in range(60):  # the leg is elsewhere where a picture comes late
        hexapod.mouse.move(*hexapod.evaluate(LINK, [0, "tibia4"]))
        hexapod.wait_for_timeout(200)
        if hexapod.text_content("#tip") == "robot · tibia4" and hexapod.is_visible("#tip"):
            break
    assert hexapod.text_content("#tip") == "robot · tibia4"


def test_a_push_selects_the_link(show, live):
    page = show(live("models/hexapod.urdf"), *WIDE)
    until(page, "() => mayfly.source.frame().time > 0.5")
    page.keyboard.down("Control")
    page.mouse.move(*page.evaluate(LINK, [0, "tibia4"]))
    page.mouse.down()
    sent = page.evaluate(
        "() => { const {source} = mayfly, send = source.send.bind(source); window.sent = [];"
        " source.send = message => { window.sent.push(message); send(message); }; return 0; }"
    )
    assert sent == 0
    page.mouse.move(700, 300, steps=3)
    page.mouse.up()
    page.keyboard.up("Control")
    pushes = page.evaluate("() => window.sent.filter(m => m.do === 'push').map(m => m.link)")
    assert pushes and set(pushes) == {12}
    assert page.evaluate("() => mayfly.panel.linkName") == "tibia4"
    assert page.complaints == []


@pytest.mark.parametrize(
    ("scene", "robot", "names"),
    [
        ("models/falling_figure.xml", 0, ["waist_z", "knee_left", "base.force"]),
        ("scenes/aircraft.yaml", 0, ["elevator", "air.speed", "command.throttle"]),
        ("scenes/circles.yaml", 5, ["position", "rotor 0", "wind.velocity"]),
        ("scenes/cantilever.yaml", 0, ["vertex 5", "bar 9"]),
        ("scenes/wheelbot.yaml", 0, ["front_left", "range", "back"]),
        ("scenes/module_robots.yaml", 2, ["center", "north_1"]),
        ("scenes/soccer.yaml", 3, ["left_knee", "forward", "yaw"]),
    ],
)  # fmt: skip
def test_each_kind_of_robot_has_names(show, live, scene, robot, names):
    page = opened(show, live(scene), robot)
    assert set(names) <= set(labels(page))
    assert page.complaints == []


def test_docks_have_states_by_name(show, live):
    page = opened(show, live("scenes/track.yaml"))
    until(page, f"() => {SEEN}.some(row => row.textContent === 'frontengaged')")
    assert page.complaints == []


def test_particles_are_in_the_tree(show, live):
    page = show(live("scenes/grains.yaml"), *WIDE)
    page.keyboard.press("u")
    assert "particles" in page.text_content("#tree")
    assert page.complaints == []


def test_the_panel_of_a_film(show, tmp_path):
    out = tmp_path / "walk.html"
    call("run", "models/hexapod.urdf", "--gait", "tripod", "--duration", 1, "--plot", out)
    page = opened(show, out.as_uri() + "#time=0.5")
    assert {"position", "speed", "leg1_tibia"} <= set(labels(page))
    until(page, "() => document.querySelectorAll('#plots .uplot').length === 2")
    page.evaluate("() => mayfly.select(0, 3)")
    until(
        page, "() => document.querySelector('#robot summary').textContent.startsWith('Link tibia1')"
    )
    # The joint's angle is that between its links.
    angle = page.evaluate("() => mayfly.control.angle(0, 3, 25)")
    assert abs(angle) < 0.8
    page.click("#robot button.name:text-is('leg1_tibia')")
    until(
        page,
        f"() => {KNEE}?.times.length === 51",
    )
    values = page.evaluate(f"() => {KNEE}.values")
    assert max(values) - min(values) > 0.05
    assert page.complaints == []


def test_the_panel_fits_a_phone(show, live):
    page = show(live("models/hexapod.urdf"), 390, 844)
    page.evaluate("() => mayfly.select(0, 3)")
    until(page, f"() => {SEEN}.length > 3")
    page.click("#robot button.name:text-is('angle')")
    until(page, "() => document.querySelector('#robot .uplot')")
    box = page.locator("#robot").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert box["y"] > 380 and box["y"] + box["height"] <= page.locator("footer").bounding_box()["y"]
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    wide = page.evaluate(f"() => Math.max(...{SEEN}.map(row => row.scrollWidth - row.clientWidth))")
    assert wide <= 0
    assert page.complaints == []
