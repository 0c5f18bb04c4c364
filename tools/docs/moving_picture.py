#!/usr/bin/env python3
"""A film of `mayfly run --plot FILE.html` as an animated WebP, for the README.

Chromium opens the film without a window, and hands over each frame that is drawn. The picture of the
README:

    build/mayfly run scenes/soccer.yaml --duration 14 --plot match.html
    python3 tools/docs/moving_picture.py match.html docs/images/soccer.webp \\
        --from 4 --to 10 --rate 10 --far 0.6 --side -0.75

docs/images/report.png is the top of a report:

    build/mayfly evolve scenes/hexapod.yaml --out runs/picture
    chromium --headless --hide-scrollbars --window-size=900,1060 \\
        --screenshot=docs/images/report.png file://$PWD/runs/picture/report.html

A change that alters results makes both again; the moving picture stays below 2 MB, the still one below
200 kB.

Needs chromium, Playwright (PyPI) and Pillow.
"""

import argparse
import base64
import contextlib
import io
import pathlib
import shutil

from PIL import Image
from playwright.sync_api import sync_playwright

PREPARE = """([far, side, up, shift]) => {
  mayfly.alone = true; // pictures are drawn when asked for
  mayfly.view.follow = false;
  mayfly.control.play(false);
  const {stage} = mayfly.view, {target} = stage.controls;
  const way = stage.camera.position.clone().sub(target);
  const length = way.length(), at = target.toArray().map((x, c) => x + shift[c]);
  stage.look(at, Math.atan2(way.y, way.x) + side, Math.asin(way.z / length) + up, length * far);
  mayfly.improve(true);
}"""
PICTURE = """time => {
  mayfly.source.time = time;
  mayfly.draw(0);
  return mayfly.view.stage.canvas.toDataURL("image/png");
}"""


SHOW = """time => {
  mayfly.alone = true;
  mayfly.control.seek(time);
  mayfly.control.advance(0, 1);
  mayfly.improve(true);
  mayfly.draw(0.2); // in which the camera catches up
  mayfly.draw(0);
}"""


@contextlib.contextmanager
def opened(film, words, width, height):
    """The page of a film in a browser, when its first picture is drawn."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
        )
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(300000)
        page.goto(f"{film.resolve().as_uri()}#{words}")
        page.wait_for_function("() => window.mayfly && mayfly.drawn !== -1")
        yield page
        browser.close()


def image(data):
    return Image.open(io.BytesIO(data)).convert("RGB")


def screenshots(page, times):
    """The whole page at these times, stopped and in full quality."""
    out = []
    for time in times:
        page.evaluate(SHOW, time)
        out.append(image(page.screenshot()))
    return out


def frames(film, options):
    count = max(1, round((options.end - options.start) * options.rate))
    width, height = map(int, options.size.split("x"))
    with opened(film, "bare", width, height) as page:
        shift = [float(part) for part in options.shift.split(",")]
        page.evaluate(PREPARE, [options.far, options.side, options.up, shift])
        times = [options.start + frame / options.rate for frame in range(count)]
        found = [page.evaluate(PICTURE, time).split(",")[1] for time in times]
    return [image(base64.b64decode(text)) for text in found]


def options_of(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("film", type=pathlib.Path)
    parser.add_argument("out", help="ends in .webp, .gif or (a single frame) .png")
    parser.add_argument("--from", dest="start", type=float, default=0.0, help="[s]")
    parser.add_argument("--to", dest="end", type=float, required=True, help="[s]")
    parser.add_argument("--rate", type=float, default=12.5, help="frames per second")
    parser.add_argument("--size", default="800x450")
    parser.add_argument("--far", type=float, default=1.0, help="times the film's camera distance")
    parser.add_argument("--side", type=float, default=0.0, help="[rad] added to its azimuth")
    parser.add_argument("--up", type=float, default=0.0, help="[rad] added to its elevation")
    parser.add_argument("--shift", default="0, 0, 0", help="[m] added to where it looks")
    parser.add_argument("--quality", type=int, default=70, help="of WebP")
    return parser.parse_args(words)


def main():
    options = options_of()
    pictures = frames(options.film, options)
    pictures[0].save(
        options.out,
        save_all=True,
        append_images=pictures[1:],
        duration=round(1000 / options.rate),
        loop=0,
        quality=options.quality,
        method=6,
    )


if __name__ == "__main__":
    main()
