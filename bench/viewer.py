#!/usr/bin/env python3
"""What a live run costs, and how soon it is seen: the benches of `mayfly view`.

loss      simulated seconds of ten humanoids with 21 joints at full dynamics and 1 kHz per second
          that the one thread of the physics had a processor: nobody looks; a page that draws in no
          time asks for every picture that it can get (60 a second); Chromium without a window
          draws by software, on the same processors
first     from the start of the command to the first picture of a page in Chromium
pictures  pictures a second of 10,000 quadrotors that leave the server, and that Chromium draws

Every comparison alternates within one run and gives medians, since other programs disturb; the
machine should be quiet all the same. Prints one JSON object per line.

usage: viewer.py MAYFLY [loss|first|pictures ...] [--seconds S] [--rounds N]

Needs chromium and Playwright (PyPI) for what a browser draws; without them that is left out.
"""
import argparse
import contextlib
import json
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python" / "tests"))
from live_client import Page, Server  # noqa: E402

CHROMIUM = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PAIRS = 8  # into which a measurement is cut, so that what disturbs one hardly differs within it
DRAWN = "() => window.mayfly && mayfly.drawn !== -1"


@contextlib.contextmanager
def browser():
    """A page of Chromium, or None."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        yield None
        return
    path = shutil.which("chromium")
    if path is None:
        yield None
        return
    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=CHROMIUM)
        yield found
        found.close()


# Notes the clock [ms] at which the first picture has been drawn, whenever anybody asks.
NOTE = """() => {
  const wait = setInterval(() => {
    if (!window.mayfly || mayfly.drawn === -1) return;
    clearInterval(wait);
    window.firstPicture = Date.now();
  }, 2);
}"""


def opened(found, address, width=1280, height=800):
    page = found.new_page(viewport={"width": width, "height": height})
    page.add_init_script(f"({NOTE})()")
    page.goto(address)
    page.wait_for_function(DRAWN, timeout=120000)
    return page


def ten_humanoids(folder):
    """scenes/soccer.yaml with five players a side, all at full dynamics."""
    lines = []
    for line in (ROOT / "scenes/soccer.yaml").read_text().splitlines():
        if "count: 4" in line:
            line = line.replace("4", "5")
        if "placement: {poses: [[-4.1" in line:
            line = line.replace("]]}", "], [-3, 2, 0]]}")
        if "placement: {poses: [[4.1" in line:
            line = line.replace("]]}", "], [3, 2, 3.14159]]}")
        if "{to: " in line or "switch:" in line:
            continue
        if "motion: rigid" in line and "count" in "".join(lines[-3:]):
            line = line.replace("rigid", "articulated")
        lines.append(line.replace("../models", str(ROOT / "models")))
    scene = pathlib.Path(folder) / "ten.yaml"
    scene.write_text("\n".join(lines) + "\n")
    return str(scene)


def quadrotors(folder):
    scene = pathlib.Path(folder) / "quadrotors.yaml"
    scene.write_text(
        f"groups:\n  - {{name: quads, model: {ROOT}/models/crazyflie.yaml, count: 10000}}\n"
    )
    return str(scene)


def ran(server):
    """[s] that the thread of the physics has run on a processor."""
    number = server.process.pid
    return 1e-9 * int(pathlib.Path(f"/proc/{number}/task/{number}/schedstat").read_text().split()[0])


def rate(server, watch, seconds, meanwhile, *words):
    """Simulated seconds per second that the physics ran, while `meanwhile` is called again and
    again; and how often that was in a second."""
    begin, before, count = ran(server), watch.read()["time"], 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        meanwhile(*words)
        count += 1
    simulated = watch.read()["time"] - before
    return simulated / (ran(server) - begin), count / seconds


def pair(server, watch, seconds, look):
    """Nobody looks, and somebody does, at the same part of the match."""
    watch.send("reset")
    one, _ = rate(server, watch, seconds, time.sleep, 0.01)
    watch.send("reset")
    other, count = rate(server, watch, seconds, look)
    return one, other, count


def loss(command, seconds, rounds):
    with tempfile.TemporaryDirectory() as folder, browser() as found:
        server = Server(command, ten_humanoids(folder), "--speed", "0", "--threads", "1")
        watch, looker = Page(server.address), Page(server.address)
        result = {"bench": "viewer-loss"}
        alone, ratios, asked = [], [], []
        for _ in range(rounds * PAIRS):
            one, other, count = pair(server, watch, seconds / PAIRS, looker.raw_frame)
            alone.append(one)
            ratios.append(other / one)
            asked.append(count)
        result["realtime_factor"] = statistics.median(alone)
        result["loss_page"] = 1 - statistics.median(ratios)
        result["page_pictures_per_second"] = statistics.median(asked)
        if found is not None:
            page = opened(found, server.address)
            before, ratios, begin = page.evaluate("mayfly.source.frames"), [], time.monotonic()
            for _ in range(rounds * PAIRS):
                page.evaluate("() => { mayfly.alone = true; }")  # it draws no more
                watch.send("reset")
                one, _ = rate(server, watch, seconds / PAIRS, time.sleep, 0.01)
                page.evaluate("() => { mayfly.alone = false; mayfly.tick(performance.now()); }")
                watch.send("reset")
                other, _ = rate(server, watch, seconds / PAIRS, time.sleep, 0.01)
                ratios.append(other / one)
            drawn = page.evaluate("mayfly.source.frames") - before
            result["loss_chromium"] = 1 - statistics.median(ratios)
            result["chromium_pictures_per_second"] = 2 * drawn / (time.monotonic() - begin)
        server.end()
    return result


def first(command, seconds, rounds):
    del seconds
    answers, pictures = [], []
    with browser() as found:
        for _ in range(rounds):
            begin = time.monotonic()
            server = Server(command, "scenes/soccer.yaml", folder=ROOT)
            Page(server.address).raw_frame()
            answers.append(time.monotonic() - begin)
            server.end()
            if found is None:
                continue
            begin = time.time()
            server = Server(command, "scenes/soccer.yaml", folder=ROOT)
            page = opened(found, server.address)
            page.wait_for_function("() => window.firstPicture")
            pictures.append(page.evaluate("firstPicture") / 1000 - begin)
            page.close()
            server.end()
    result = {"bench": "viewer-first", "first_frame_seconds": statistics.median(answers)}
    if pictures:
        result["first_picture_seconds"] = statistics.median(pictures)
    return result


def pictures(command, seconds, rounds):
    out, drawn = [], []
    with tempfile.TemporaryDirectory() as folder, browser() as found:
        server = Server(command, quadrotors(folder), "--threads", "1")
        looker = Page(server.address)
        page = opened(found, server.address) if found is not None else None
        for _ in range(rounds):
            if page is not None:
                before = page.evaluate("mayfly.source.frames")
                time.sleep(seconds)
                drawn.append((page.evaluate("mayfly.source.frames") - before) / seconds)
                page.evaluate("() => { mayfly.alone = true; }")  # it stops to draw
                page.close()
                page = None
            begin, count = time.monotonic(), 0
            while time.monotonic() < begin + seconds:
                looker.raw_frame()
                count += 1
            out.append(count / (time.monotonic() - begin))
        factor = looker.frame().factor
        server.end()
    result = {
        "bench": "viewer-pictures",
        "instances": 10000,
        "pictures_per_second": statistics.median(out),
        "realtime_factor": factor,
    }
    if drawn:
        result["chromium_pictures_per_second"] = statistics.median(drawn)
    return result


BENCHES = {"loss": loss, "first": first, "pictures": pictures}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("mayfly")
    parser.add_argument("names", nargs="*", metavar="|".join(BENCHES))
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=5, help="of which the median counts")
    arguments = parser.parse_args()
    command = str(pathlib.Path(arguments.mayfly).resolve())
    for name in arguments.names or BENCHES:
        if name not in BENCHES:
            parser.error(f"expected {', '.join(BENCHES)}, found {name!r}")
        result = BENCHES[name](command, arguments.seconds, arguments.rounds)
        print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in result.items()}))


if __name__ == "__main__":
    main()
