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

import base64
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
LONGER = {"circles": 60.0, "mixed_formation": 30.0}  # [s] of scenes that come to their end later
SIZE = 640, 360  # [pixel] of a picture
SHEET = 1000, 600  # [pixel] of a page on a sheet
WHOLE = {"airplanes", "circles", "mixed_formation", "swarm"}  # pictures show all of it
TIMES = {"circles": 60.0, "mixed_formation": 30.0, "mixed_reality": 3.0, "tear": 1.1, "topple": 2.0}
# The page's own camera, which follows what it shows, or one that shows all of it.
PICTURE = """([time, whole]) => {
  mayfly.source.time = 0;
  mayfly.view.home();
  mayfly.source.time = time;
  if (whole) mayfly.view.home(true);
  mayfly.draw(0.2);
  mayfly.draw(0);
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
    sentence = re.match(r".*?[.](?= |$)", words)
    name = title[1].strip("\"'") if title else scene.stem.replace("_", " ")
    return name[0].upper() + name[1:], sentence[0] if sentence else words


def duration(scene):
    found = re.search(r"^run:.*?duration: *([0-9.]+)", scene.read_text(), re.M | re.S)
    return min(float(found[1]) if found else LONGEST, LONGER.get(scene.stem, LONGEST))


def film(scene):
    out = FILMS / f"{scene.stem}.html"
    subprocess.run(
        [
            ROOT / "build" / "mayfly",
            "run",
            scene,
            "--duration",
            str(duration(scene)),
            "--plot",
            out,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=ROOT,
    )
    return out


def pictures(scene, path):
    """The picture of the docs, and a sheet of the page at the start, middle and end."""
    long = duration(scene)
    time = TIMES.get(scene.stem, long / 2)
    with moving_picture.opened(path, "time=0", *SHEET) as page:
        times = [part * long for part in (0.0, 0.43, 1.0)]  # not after whole periods
        shots = moving_picture.screenshots(page, times)
        page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
        text = page.evaluate(PICTURE, [time, scene.stem in WHOLE])
    picture = moving_picture.image(base64.b64decode(text.split(",")[1]))
    picture.resize(SIZE, Image.LANCZOS).save(PICTURES / f"{scene.stem}.webp", quality=70, method=6)
    out = Image.new("RGB", (len(shots) * SHEET[0], SHEET[1]))
    for place, shot in enumerate(shots):
        out.paste(shot, (place * SHEET[0], 0))
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
            pictures(scene, film(scene))
    write_pages(scenes)


if __name__ == "__main__":
    main()
