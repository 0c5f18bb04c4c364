"""What the page of films and live runs draws: swarms, overlays, cameras, in headless Chromium."""

import math

import pytest
from served import call, needs_browser

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = needs_browser

# Pixels that a change of what is shown changes.
COUNT = """() => {
  mayfly.improve(true); // as it is drawn when nothing changes
  mayfly.draw(0);
  const gl = mayfly.view.stage.renderer.getContext();
  const w = gl.drawingBufferWidth, h = gl.drawingBufferHeight, now = new Uint8Array(4 * w * h);
  gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, now);
  let changed = 0;
  for (let i = 0; i < now.length; i += 4)
    if (window.kept && Math.abs(kept[i] - now[i]) + Math.abs(kept[i + 1] - now[i + 1])
        + Math.abs(kept[i + 2] - now[i + 2]) > 30) changed++;
  window.kept = now;
  return changed;
}"""


@pytest.fixture
def show(show):
    """Opens pages; none may have complained."""
    pages = []

    def open_page(*arguments):
        pages.append(show(*arguments))
        return pages[-1]

    yield open_page
    for page in pages:
        assert page.complaints == []


def make_film(out, *words):
    done = call("run", *words, "--plot", out)
    return out.as_uri() + "#time=0.1", done.stderr


@pytest.fixture(scope="module")
def clients(tmp_path_factory):
    out = tmp_path_factory.mktemp("film") / "crowd.html"
    return *make_film(out, "models/hexapod.urdf", "--robots", "1000", "--duration", "0.4"), out


def test_a_thousand_robots_are_a_thousand(show, clients):
    address, notes, out = clients
    assert "robots, the first" not in notes
    assert out.stat().st_size < 1.5e6
    page = show(address)
    assert page.evaluate("() => mayfly.source.description.robots") == 1000
    assert "1000 robots" in page.text_content("#facts")
    near, far = page.evaluate(
        """() => {
      mayfly.alone = true;
      mayfly.improve(false); // as while it moves
      mayfly.view.home();
      mayfly.draw(0);
      const k = mayfly.view.robots.kinds[0];
      return [k.nearCount, k.farCount];
    }"""
    )
    assert near > 0 and far > 0 and near + far == 1000
    # Side by side: no two nearer than a robot is large.
    nearest, radius = page.evaluate(
        """() => {
      const view = mayfly.view, frame = mayfly.source.frame();
      const at = view.robots.list.map((_, r) => {
        const m = view.layout.middleOf(r, frame), s = view.layout.shift(r);
        return [m[0] + s[0], m[1] + s[1]];
      });
      let least = Infinity;
      for (let a = 0; a < at.length; a++)
        for (let b = 0; b < a; b++)
          least = Math.min(least, Math.hypot(at[a][0] - at[b][0], at[a][1] - at[b][1]));
      return [least, view.layout.radius];
    }"""
    )
    assert nearest > 1.5 * radius


def test_dots_are_robots_too(show, clients):
    page = show(clients[0])
    found = page.evaluate(
        """() => {
      mayfly.alone = true;
      mayfly.improve(false);
      mayfly.view.home(true);
      mayfly.draw(0);
      const {view} = mayfly, kind = view.robots.kinds[0], robot = kind.far[kind.farCount - 1];
      const at = view.robots.parts.find(p => p.dots).dots.place.array.slice(
        3 * (kind.farCount - 1), 3 * kind.farCount);
      const ray = view.ray(0, 0), eye = ray.ray.origin;
      ray.ray.direction.set(at[0] - eye.x, at[1] - eye.y, at[2] - eye.z).normalize();
      const hits = view.robots.pick(ray);
      return [robot, hits && hits.robot];
    }"""
    )
    assert found[1] is not None and 0 <= found[1] < 1000
    page.evaluate("() => { mayfly.select(999); }")
    assert page.text_content("#robot h2").startswith("robot 999")


def test_a_film_says_what_it_leaves_out(tmp_path):
    _, notes = make_film(
        tmp_path / "long.html", "models/ball.xml", "--robots", "40000", "--duration", "0.1"
    )
    assert "32768 of 40000 robots" in notes


# A cart of 5 kg, 0.6 x 0.4 x 0.2 m, with an arm of 1 kg and a camera; ahead of it a red box to the
# left and a blue ball to the right.
CART = """<mujoco model="cart"><worldbody>
  <geom type="plane" size="20 20 .1"/>
  <geom type="box" size=".2 .2 .4" pos="2 .5 .4" rgba=".9 .1 .1 1"/>
  <geom type="sphere" size=".3" pos="2 -.5 .3" rgba=".1 .1 .9 1"/>
  <body pos="0 0 .101"><freejoint/>
    <geom type="box" size=".3 .2 .1" mass="5" rgba=".8 .6 .2 1"/>
    <camera name="front" pos=".32 0 .1" xyaxes="0 -1 0 0 0 1" fovy="60"/>
    <body pos="0 0 .1"><joint type="hinge" axis="0 1 0" damping=".5" stiffness="50"/>
      <geom type="capsule" fromto="0 0 .06 0 0 .5" size=".04" mass="1"/></body>
  </body>
</worldbody></mujoco>"""


@pytest.fixture
def cart(live, tmp_path):
    """A cart that is simulated live; its address."""
    model = tmp_path / "cart.xml"
    model.write_text(CART)
    return live(str(model))


def rest(page):
    page.wait_for_function("() => mayfly.source.frame().time > 1", polling=100)
    page.evaluate("() => { mayfly.view.follow = false; }")
    page.click("#play")
    page.wait_for_function("() => mayfly.source.status.paused", polling=100)


def test_overlays(show, cart):
    page = show(cart)
    rest(page)
    page.evaluate(COUNT)
    assert page.evaluate(COUNT) == 0
    for key in "bijkvx":
        page.keyboard.press(key)
        assert page.evaluate(COUNT) > 20, key
        page.keyboard.press(key)
        assert page.evaluate(COUNT) > 20, key
    boxes = page.evaluate(
        "() => [...mayfly.view.overlays.frames.values()].map(f => f && f.size.toArray())"
    )
    assert sorted(boxes[0]) == pytest.approx([0.2, 0.4, 0.6], abs=1e-5)


def test_contacts_carry_the_weight(show, cart):
    page = show(cart)
    rest(page)
    page.evaluate(COUNT)
    page.keyboard.press("c")
    page.wait_for_function("() => mayfly.source.frame().contacts?.length > 0", polling=100)
    rows = page.evaluate("() => [...mayfly.source.frame().contacts]")
    contacts = [rows[i : i + 7] for i in range(0, len(rows), 7)]
    assert sum(row[5] for row in contacts) == pytest.approx(6 * 9.81, rel=0.02)
    for row in contacts:  # at the corners
        assert abs(row[0]) == pytest.approx(0.3, abs=0.01) and row[2] == pytest.approx(0, abs=0.01)
        assert row[6] == 0
    assert page.evaluate(COUNT) > 20
    page.keyboard.press("c")
    page.wait_for_function("() => mayfly.source.frame().contacts.length === 0", polling=100)


def test_own_camera(show, cart):
    page = show(cart, 400, 300)
    rest(page)
    page.keyboard.press("q")
    assert "camera front" in page.text_content("#message")
    halves = page.evaluate(
        """() => {
      mayfly.draw(0);
      const gl = mayfly.view.stage.renderer.getContext();
      const w = gl.drawingBufferWidth, h = gl.drawingBufferHeight;
      const pixels = new Uint8Array(4 * w * h), out = {red: [0, 0], blue: [0, 0]};
      gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      for (let i = 0; i < w * h; i++) {
        const [r, g, b] = pixels.subarray(4 * i, 4 * i + 3), side = i % w < w / 2 ? 0 : 1;
        if (r > 1.8 * b && r > 1.8 * g) out.red[side]++;
        if (b > 1.8 * r && b > 1.8 * g) out.blue[side]++;
      }
      return out;
    }"""
    )
    assert halves["red"][0] > 1000 and halves["red"][1] == 0
    assert halves["blue"][1] > 1000 and halves["blue"][0] == 0
    page.keyboard.press("Escape")
    assert page.evaluate("() => mayfly.view.ride.camera") is None
    assert page.evaluate(COUNT) == 0 and page.evaluate(COUNT) == 0


def test_overlays_of_films(show, tmp_path):
    page = show(make_film(tmp_path / "walk.html", "models/hexapod.urdf", "--duration", "0.4")[0])
    page.keyboard.press("m")
    text = page.text_content("#options")
    assert "collision shapes" in text and "contacts" not in text
    page.evaluate(COUNT)
    for key in "bijkv":
        page.keyboard.press(key)
        assert page.evaluate(COUNT) > 20, key


def test_help_opens_at_its_top(show, clients):
    page = show(clients[0], 640, 360)
    page.keyboard.press("h")
    place = page.evaluate(
        "() => { const p = document.getElementById('help'); return [p.scrollTop, p.scrollHeight]; }"
    )
    assert place[0] == 0 and place[1] > 360


def test_a_still_page_is_fine(show, clients):
    page = show(clients[0])
    page.wait_for_function("() => mayfly.fine", polling=50)
    sizes = [page.evaluate("() => mayfly.view.stage.renderer.domElement.width")]
    page.evaluate("() => { mayfly.alone = true; mayfly.improve(false); mayfly.draw(0); }")
    sizes.append(page.evaluate("() => mayfly.view.stage.renderer.domElement.width"))
    assert sizes == [640, 320]


def test_a_paused_world_is_still(show, live):
    page = show(live("models/hexapod.urdf"))
    page.keyboard.press(" ")
    page.wait_for_function("() => mayfly.control.playing === false && mayfly.fine", polling=50)
    count = page.evaluate("() => mayfly.source.frames")
    page.wait_for_timeout(1000)  # in which the server sends the same frame again
    assert page.evaluate("() => [mayfly.source.frames, mayfly.fine]") == [count, True]


def test_quality_falls_and_recovers(show, clients):
    page = show(clients[0])
    page.evaluate("() => { mayfly.alone = true; }")
    after = """([seconds, most]) => {
      for (let i = 0; i < most; i++) mayfly.measure(seconds);
      return mayfly.quality;
    }"""
    assert page.evaluate(after, [0.3, 100]) == 3
    assert page.evaluate(after, [0.05, 1000]) == 3
    assert page.evaluate(after, [0.016, 2000]) == 0


def test_a_phone_shows_the_robot_above_its_panel(show, clients):
    page = show(clients[0], 390, 844)
    page.evaluate("() => { mayfly.select(0); }")
    page.wait_for_function("() => !mayfly.follows()", polling=50)
    box, top = page.evaluate(
        """() => {
      const panel = document.getElementById('robot');
      return [mayfly.boxes()[0], panel.getBoundingClientRect().top];
    }"""
    )
    assert top < 844 and 0 < box["top"] and box["top"] + box["high"] < top
    assert 0 < box["left"] and box["left"] + box["wide"] < 390
    assert box["high"] > 40


def test_swarms_are_films_with_trails_by_color(show, tmp_path):
    out = tmp_path / "circles.html"
    call("run", "scenes/circles.yaml", "--duration", "4", "--plot", out)
    assert out.stat().st_size < 1e6
    page = show(out.as_uri() + "#time=3")
    casts, trails, drawn = page.evaluate(
        """() => {
      mayfly.draw(0);
      const {trails} = mayfly.view, {casts} = mayfly.source.description;
      return [casts.map(c => [c.color, c.first, c.robots]), trails.group.visible,
        trails.lines.geometry.drawRange.count];
    }"""
    )
    assert len({color for color, _, _ in casts}) == len(casts) == 10
    assert [first for _, first, _ in casts] == [
        sum(count for _, _, count in casts[:i]) for i in range(10)
    ]
    assert sum(count for _, _, count in casts) == 1000
    assert trails and drawn >= 2 * 1000 * 10
    page.evaluate("() => { mayfly.view.home(true); mayfly.draw(0); }")  # of all
    for box in page.evaluate("() => mayfly.boxes()"):
        assert 0 < box["left"] + box["wide"] / 2 < 320 and 0 < box["top"] + box["high"] / 2 < 240
    # A vehicle is where its trail ends, to the film's resolution.
    gap = page.evaluate(
        """() => {
      const {view, source} = mayfly, {geometry} = view.trails.tips;
      const place = geometry.getAttribute('position').array;
      const at = view.layout.middleOf(17, source.frame());
      return Math.hypot(...at.map((x, c) => x - place[6 * 17 + 3 + c]));
    }"""
    )
    assert gap < 1e-3


def test_forces_of_joints_do_not_cover_each_other(show, tmp_path):
    out = tmp_path / "cars.html"
    call("run", "scenes/atron_cars.yaml", "--duration", "0.5", "--plot", out)
    page = show(out.as_uri() + "#time=0.5", 640, 400)
    boxes = page.evaluate(
        """() => {
      mayfly.draw(0);
      return [...document.querySelectorAll('#labels span:not([hidden])')].map(span => {
        const {left, top, right, bottom} = span.getBoundingClientRect();
        return [left, top, right, bottom, span.textContent];
      });
    }"""
    )
    assert len(boxes) >= 3 and all(box[4].endswith(" N") for box in boxes)
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert (
                a[0] >= b[2] - 0.2 or b[0] >= a[2] - 0.2 or a[1] >= b[3] - 0.2 or b[1] >= a[3] - 0.2
            )


BIN = """<mujoco><worldbody><geom type="plane" size="2 2 .1"/>
<geom type="box" pos=".3 0 .3" size=".02 .3 .3"/><geom type="box" pos="-.3 0 .3" size=".02 .3 .3"/>
<geom type="box" pos="0 .3 .3" size=".3 .02 .3"/><geom type="box" pos="0 -.3 .3" size=".3 .02 .3"/>
<body pos="0 0 .05"><freejoint/><geom size=".05"/></body></worldbody></mujoco>"""


def test_walls_before_robots_are_glass(show, tmp_path):
    (tmp_path / "bin.xml").write_text(BIN)
    out = tmp_path / "bin.html"
    call("run", tmp_path / "bin.xml", "--duration", "0.1", "--plot", out)
    page = show(out.as_uri() + "#time=0")
    glass = """elevation => {
      const {stage} = mayfly.view;
      stage.look([0, 0, 0.05], -0.9, elevation, 2);
      mayfly.draw(0);
      return mayfly.view.robots.glass.seen.value.w;
    }"""
    assert page.evaluate(glass, 0.3) > 0.05
    assert page.evaluate(glass, 1.5) < 0  # seen from above, nothing hides it


# Draws 60 pictures a second until then; gives where robots are on the page, from -1 to 1.
RUN = """([until, robots]) => {
  mayfly.alone = true;
  for (let i = 0; i <= 60 * until; i++) {
    mayfly.source.time = i / 60;
    mayfly.draw(1 / 60);
  }
  return mayfly.view.boxes(mayfly.source.frame(), robots).map(box => [
    (2 * box.left + box.wide) / innerWidth - 1, (2 * box.top + box.high) / innerHeight - 1]);
}"""


def test_the_camera_keeps_pace_with_an_aircraft(show, tmp_path):
    out = tmp_path / "aircraft.html"
    call("run", "scenes/aircraft.yaml", "--duration", "3", "--plot", out)
    page = show(out.as_uri() + "#time=0")
    (first,), (last,) = page.evaluate(RUN, [0, [0]]), page.evaluate(RUN, [2, [0]])
    assert math.dist(first, last) < 0.1


def test_robots_that_part_stay_in_the_picture(show, tmp_path):
    out = tmp_path / "cars.html"
    call("run", "scenes/mixed_reality.yaml", "--duration", "8", "--plot", out)
    page = show(out.as_uri() + "#time=0", 640, 400)
    cars = page.evaluate("() => mayfly.view.layout.shownRobots")
    assert len(cars) >= 2
    first = page.evaluate("() => mayfly.view.stage.distance")
    positions = page.evaluate(RUN, [7.5, cars])
    assert all(abs(x) < 1 and abs(y) < 1 for x, y in positions)
    assert page.evaluate("() => mayfly.view.stage.distance") > 1.5 * first
