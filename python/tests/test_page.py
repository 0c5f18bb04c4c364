"""What the page of films and live runs draws: crowds, overlays, cameras, in headless Chromium."""

import os
import pathlib
import shutil
import subprocess

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("MAYFLY_COMMAND", "mayfly")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or shutil.which(COMMAND) is None, reason="needs chromium and the command"
)

# Pixels that a change of what is shown changes.
COUNT = """() => {
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


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
        )
        yield found
        found.close()


@pytest.fixture
def show(browser):
    """Opens pages, and closes them; none may have complained."""
    pages = []

    def open_page(address, width=320, height=240):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(60000)
        page.complaints = []
        page.on("console", lambda m: page.complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(address)
        page.wait_for_function("() => window.mayfly && mayfly.drawn !== -1", polling=100)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        assert page.complaints == []
        page.close()


def make_film(out, *words):
    done = subprocess.run(
        [COMMAND, "run", *words, "--plot", str(out)], cwd=ROOT, check=True, capture_output=True
    )
    return out.as_uri() + "#time=0.1", done.stderr.decode()


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    out = tmp_path_factory.mktemp("film") / "crowd.html"
    return *make_film(out, "models/hexapod.urdf", "--robots", "1000", "--duration", "0.4"), out


def test_a_thousand_robots_are_a_thousand(show, crowd):
    address, notes, out = crowd
    assert "robots, the first" not in notes
    assert out.stat().st_size < 1.5e6
    page = show(address)
    assert page.evaluate("() => mayfly.source.description.robots") == 1000
    assert "1000 robots" in page.text_content("#facts")
    near, far = page.evaluate(
        "() => { const k = mayfly.view.robots.kinds[0]; return [k.nearCount, k.farCount]; }"
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


def test_dots_are_robots_too(show, crowd):
    page = show(crowd[0])
    found = page.evaluate(
        """() => {
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
