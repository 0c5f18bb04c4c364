#!/usr/bin/env python3
"""A film of `mayfly run --plot FILE.html` as an animated WebP, for the README.

Chromium opens the film without a window; a script at its end steps through it and hands over each
drawn frame. The picture of the README:

    build/mayfly run scenes/soccer.yaml --duration 14 --plot match.html
    python3 tools/docs/moving_picture.py match.html docs/images/soccer.webp \\
        --from 3 --to 9 --rate 10 --far 0.5

Needs chromium and Pillow.
"""

import argparse
import base64
import io
import pathlib
import re
import subprocess
import tempfile

from PIL import Image

HEAD = """<script>
let tick = null;
window.requestAnimationFrame = draw => { tick = draw; }; // frames are drawn when asked for
</script>
"""
TAIL = """<script>
setPlaying(false);
for (const part of document.querySelectorAll("header,footer")) part.hidden = true;
byId("follow").checked = false;
view.far *= %(far)g, view.side += %(side)g, view.up += %(up)g;
view.at = add(middle(0), [%(shift)s]);
const pictures = [];
for (let frame = 0; frame < %(frames)d; frame++) {
  time = %(start)g + frame / %(rate)g;
  tick(0);
  pictures.push(canvas.toDataURL("image/png"));
}
document.body.textContent = pictures.join(" ");
</script></body></html>
"""


def frames(film, options):
    count = round((options.end - options.start) * options.rate)
    tail = TAIL % {
        "far": options.far,
        "side": options.side,
        "up": options.up,
        "shift": options.shift,
        "frames": count,
        "start": options.start,
        "rate": options.rate,
    }
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "film.html"
        text = film.read_text().replace("</body></html>", tail)
        page.write_text(text.replace("<script>", HEAD + "<script>", 1))
        size = options.size.replace("x", ",")
        words = ["--headless", "--no-sandbox", "--hide-scrollbars", "--dump-dom"]
        dom = subprocess.run(
            ["chromium", *words, f"--window-size={size}", page.as_uri()],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    found = re.findall(r"data:image/png;base64,([\w+/=]+)", dom)
    if len(found) != count:
        raise SystemExit(f"{film}: expected {count} frames, got {len(found)}")
    return [Image.open(io.BytesIO(base64.b64decode(text))).convert("RGB") for text in found]


def main():
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
    options = parser.parse_args()
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
