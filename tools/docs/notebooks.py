#!/usr/bin/env python3
"""The tutorials as Jupyter notebooks, made from their pages: a file to save becomes a cell that
writes it, a Python block a cell, commands a cell of sh; all else is text. Needs nothing but Python.

usage: notebooks.py FOLDER
"""

import json
import pathlib
import re
import sys

TUTORIALS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "tutorials"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.M | re.S)
SAVED = re.compile(r"[Ss]ave\s+(?:it\s+)?as\s+`([\w.]+)`[^`]*\Z")  # in front of a block
SET_UP = re.compile(r"^(mkdir|cd|pip|python3 -m venv|\./dev)\b|mayfly (view|serve)\b", re.M)
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)[^)]*\)")  # to other pages, and pictures
BEGIN = """\
import os
import pathlib

import mayfly

folder = pathlib.Path("mayfly_tutorials")  # files are made here, beside a link to Mayfly's robots
(folder / "tutorial").mkdir(parents=True, exist_ok=True)
if not (folder / "models").exists():
    (folder / "models").symlink_to(mayfly.data_folder() / "models")
os.chdir(folder / "tutorial")
"""
NEEDS = "This notebook needs the Python package, and the command `mayfly` on the PATH.\n"


def cells_of(page):
    """Pairs of kind ("markdown" or "code") and text."""
    cells, at = [], 0

    def tell(text):
        text = LINK.sub(lambda match: "" if match[1] else match[2], text).strip()
        if not text:
            return
        if cells and cells[-1][0] == "markdown":
            text = cells.pop()[1] + "\n" + text
        cells.append(("markdown", text + "\n"))

    for block in BLOCK.finditer(page):
        before, (language, text) = page[at : block.start()], block.groups()
        tell(before)
        saved, at = SAVED.search(before), block.end()
        if saved:
            cells.append(("code", f"%%writefile {saved[1]}\n{text}"))
        elif language == "python":
            cells.append(("code", text))
        elif language == "shell" and not SET_UP.search(text):
            cells.append(("code", f"%%sh -e\n{text}"))
        else:
            tell(block[0])
    tell(page[at:])
    title, rest = cells[0][1].split("\n", 1)
    begin = [("markdown", f"{title}\n\n{NEEDS}"), ("code", BEGIN), ("markdown", rest.lstrip("\n"))]
    return begin + cells[1:]


def notebook(path):
    """A page as a notebook of format 4.5."""
    cells = []
    for number, (kind, text) in enumerate(cells_of(path.read_text(encoding="utf-8"))):
        cell = {"id": f"cell{number}", "cell_type": kind, "metadata": {}}
        cell["source"] = text.rstrip("\n").splitlines(keepends=True)
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def pages():
    """The tutorials, in the order of their index: later ones may need files of earlier ones."""
    names = re.findall(r"\((\w+\.md)\)", (TUTORIALS / "index.md").read_text(encoding="utf-8"))
    return [TUTORIALS / name for name in dict.fromkeys(names)]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for path in pages():
        target = folder / f"{path.stem}.ipynb"
        target.write_text(json.dumps(notebook(path), indent=1, ensure_ascii=False) + "\n")
        print(target)


if __name__ == "__main__":
    main()
