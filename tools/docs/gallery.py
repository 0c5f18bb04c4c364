#!/usr/bin/env python3
"""Films of all scenes, and the page of the documentation that shows them.

    python3 tools/docs/gallery.py            all scenes
    python3 tools/docs/gallery.py snake pool these

Each scene runs for its own time, at most 20 s, into build/gallery/NAME.html, where the films can be
watched one by one; build/gallery/index.html has its page at the start, middle and end of each. A
picture of each, at the time in TIMES or in the middle, goes to docs/images/gallery/NAME.webp, and
docs/gallery.md is written anew.

Needs a built command, chromium, Playwright (PyPI) and Pillow.
"""

import html
import pathlib
import re
import subprocess
import sys

import moving_picture
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILMS = ROOT / "build" / "gallery"
PICTURES = ROOT / "docs" / "images" / "gallery"
LONGEST = 20.0  # [s]
LONGER = {"circles": 60.0}  # [s] of scenes that come to their end later
SHEET = 1000, 600  # [pixel] of a page on a sheet
WHOLE = {"airplanes", "circles", "mixed_formation"}  # pictures show all of it
TIMES = {"topple": 2.0, "tear": 3.0}  # [s] of the picture
# The page's own camera, which follows what it shows, for as long as it needs to catch up.
PREPARE = "() => { mayfly.alone = true; mayfly.control.play(false); mayfly.whole = %s; }"
moving_picture.PICTURE = """time => {
  for (let step = 1; step <= 20; step++) {
    mayfly.source.time = time * step / 20;
    mayfly.draw(0.2);
  }
  if (mayfly.whole) {
    mayfly.view.home(true);
    mayfly.draw(0);
  }
  return mayfly.view.stage.canvas.toDataURL("image/png");
}"""
# Scenes without a film of their own: evolution begins with machines that have no bars.
LEFT_OUT = {"golem"}
HEAD = """# Gallery

A film of each scene in `scenes/`, made by `tools/docs/gallery.py`. To see one move:
`mayfly run scenes/snake.yaml --plot film.html`, or live with `mayfly view scenes/snake.yaml`.
"""


def about(scene):
    """The title of a scene and the first sentence of its comment."""
    text = scene.read_text()
    comment = re.match(r"(?:# ?.*\n)+", text)
    words = " ".join(line.lstrip("# ") for line in (comment[0] if comment else "").splitlines())
    title = re.search(r"^name: *(.+)$", text, re.M)
    sentence = re.match(r".*?[.:](?= |$)", words)
    return (
        title[1].strip("\"'") if title else scene.stem.replace("_", " "),
        sentence[0].rstrip(":.") + "." if sentence else "",
    )


def duration(scene):
    found = re.search(r"^run:.*?duration: *([0-9.]+)", scene.read_text(), re.M | re.S)
    return min(float(found[1]) if found else LONGEST, LONGER.get(scene.stem, LONGEST))


def film(scene):
    out = FILMS / f"{scene.stem}.html"
    subprocess.run(
        [ROOT / "build" / "mayfly", "run", scene, "--duration", str(duration(scene)), "--plot", out],
        check=True, stdout=subprocess.DEVNULL, cwd=ROOT,
    )
    return out


def picture(scene, path):
    time = TIMES.get(scene.stem, duration(scene) / 2)
    out = PICTURES / f"{scene.stem}.webp"
    words = [str(path), str(out), "--from", str(time), "--to", str(time), "--size", "640x360"]
    options = moving_picture.options_of(words)
    moving_picture.PREPARE = PREPARE % str(scene.stem in WHOLE).lower()
    moving_picture.frames(path, options)[0].save(out, quality=70, method=6)


def sheet(scene, path):
    """The page as it is seen at the start, in the middle and at the end, side by side."""
    times = [part * duration(scene) for part in (0.0, 0.43, 1.0)]  # not after whole periods
    pages = moving_picture.screenshots(path, times, *SHEET)
    out = Image.new("RGB", (len(pages) * SHEET[0], SHEET[1]))
    for place, page in enumerate(pages):
        out.paste(page, (place * SHEET[0], 0))
    out.save(FILMS / f"{scene.stem}.png")


def write_pages(scenes):
    page, index = [HEAD], ["<!doctype html><title>Mayfly</title><ul>"]
    for scene in scenes:
        title, sentence = about(scene)
        page.append(
            f"## {title}\n\n[![{title}](images/gallery/{scene.stem}.webp)](../scenes/{scene.name})\n\n"
            f"[`scenes/{scene.name}`](../scenes/{scene.name}): {sentence}\n"
        )
        link = f"<a href={scene.stem}.html>{html.escape(title)}</a>"
        index.append(f"<li>{link}<br><img src={scene.stem}.png width=1200 loading=lazy>")
    (ROOT / "docs" / "gallery.md").write_text("\n".join(page))
    (FILMS / "index.html").write_text("\n".join(index))


def main():
    scenes = sorted(path for path in (ROOT / "scenes").glob("*.yaml") if path.stem not in LEFT_OUT)
    FILMS.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for scene in scenes:
        if len(sys.argv) == 1 or scene.stem in sys.argv[1:]:
            print(scene.stem, flush=True)
            path = film(scene)
            picture(scene, path)
            sheet(scene, path)
    write_pages(scenes)


if __name__ == "__main__":
    main()
