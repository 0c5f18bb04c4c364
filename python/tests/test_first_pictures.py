"""The first picture of every shipped scene, as a film and live: a robot is seen, soon, and well."""

import os

import pytest
from served import ROOT, call, needs_browser

from conftest import FULL

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = needs_browser

LEAST = 60  # [pixel] that a robot is tall, on a page of 1280 x 800
SOON = 2000  # [ms] until the first picture, where nothing else runs
FEW = ["circles", "everything", "obstacles", "soccer", "swarm"]
# The scene of machines has none before they evolved.
ALL = sorted(path.stem for path in (ROOT / "scenes").glob("*.yaml") if path.stem != "golem")
SCENES = ALL if FULL else FEW


def check(show, address, moves=False):
    """Of a page that is loaded up to three times, on a machine that may be busy; moves: it runs."""
    for _ in range(3):
        page = show(address, 1280, 800)
        boxes = page.evaluate("() => mayfly.boxes()")
        first = page.evaluate("() => mayfly.firstPicture")
        labels = page.evaluate(
            "() => [...document.querySelectorAll('#labels span:not([hidden])')].length"
        )
        complaints = page.complaints
        page.close()
        soon = SOON * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        if first < soon:
            break
    assert complaints == []
    assert first < soon
    # Nothing is written over robots before something happened; docks are loaded as they touch down.
    assert moves or labels == 0
    robots = [box for box in boxes if box["name"] != "particles"] or boxes
    seen = [
        box
        for box in robots
        if 0 < box["left"] + box["wide"] / 2 < 1280 and 0 < box["top"] + box["high"] / 2 < 800
    ]
    assert max(box["high"] for box in seen) >= LEAST


@pytest.mark.parametrize("scene", SCENES)
def test_film(show, tmp_path, scene):
    out = tmp_path / "film.html"
    call("run", f"scenes/{scene}.yaml", "--duration", "0.1", "--plot", out)
    check(show, out.as_uri() + "#time=0")


@pytest.mark.parametrize("scene", SCENES)
def test_live(show, live, scene):
    check(show, live(f"scenes/{scene}.yaml"), moves=True)
