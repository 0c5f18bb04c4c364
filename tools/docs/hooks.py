"""Hooks of mkdocs.yml: pages that are made when the site is built.

- reference/api/: a page for each public header (headers.py)
- reference/command_line.md gets the help texts of a built command: $MAYFLY_COMMAND or build/mayfly
- tutorials/*.ipynb: the tutorials as notebooks, linked from their pages (notebooks.py)
- source/: files of the repository that pages link to (examples, models), as written

In pages, a link whose text is the name of a page shows that page's title.
"""

import json
import logging
import os
import pathlib
import re
import subprocess
import sys

from mkdocs.structure.files import File, InclusionLevel

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import headers  # noqa: E402
import notebooks  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)\)")
NAMED = re.compile(r"\[([\w/]+\.md)\]\(([^)#\s]+\.md)(#[^)]*)?\)")  # text: a file name
LANGUAGES = {".py": "python", ".c": "c", ".h": "c", ".yaml": "yaml", ".urdf": "xml", ".sh": "sh"}
log = logging.getLogger("mkdocs.hooks.mayfly")


def header_paths():
    return sorted((ROOT / "include" / "mayfly").glob("*.h"))


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def command_line():
    command = os.environ.get("MAYFLY_COMMAND") or ROOT / "build" / "mayfly"
    if not os.access(command, os.X_OK):
        log.info("no %s: reference/command_line.md is without help texts", command)
        return "This copy of the site was built without the command.\n"
    text = run(command, "help")
    listed = re.search(r"^commands:\n((?:.+\n)+)", text, re.M)[1]
    words = [word for word in re.findall(r"^  (\w+)", listed, re.M) if word != "help"]
    parts = [f"## mayfly\n\n```text\n{text}```\n"]
    parts += [f"## mayfly {word}\n\n```text\n{run(command, word, '--help')}```\n" for word in words]
    return "\n".join(parts)


def outside(page, target):
    """The repository path of a link that leaves docs/, or None."""
    path = (DOCS / page).parent.joinpath(target).resolve()
    return None if path.is_relative_to(DOCS) or not path.is_file() else path.relative_to(ROOT)


def source_page(path):
    text = (ROOT / path).read_text()
    if path.suffix == ".md":
        return text
    return f"# {path}\n\n``````{LANGUAGES.get(path.suffix, 'text')}\n{text}``````\n"


def page_of(path):
    """Where the site shows a file of the repository."""
    if path.parts[:2] == ("include", "mayfly"):
        return f"reference/api/{path.stem}.md"
    return f"source/{path}.md" if path.suffix != ".md" else f"source/{path}"


def on_config(config):
    api = ["reference/api/index.md"]
    api += [{path.name: f"reference/api/{path.stem}.md"} for path in header_paths()]
    for section in config.nav:
        for entries in section.values():
            if isinstance(entries, list):
                for number, entry in enumerate(entries):
                    if entry == "reference/api/":
                        entries[number] = {"C API": api}
    return config


def on_files(files, config):
    def add(uri, content, inclusion=InclusionLevel.INCLUDED):
        files.append(File.generated(config, uri, content=content, inclusion=inclusion))

    for path in header_paths():
        add(f"reference/api/{path.stem}.md", headers.page(path))
    for path in notebooks.pages():
        text = json.dumps(notebooks.notebook(path), indent=1, ensure_ascii=False) + "\n"
        add(f"tutorials/{path.stem}.ipynb", text)
    linked = set()
    for page in DOCS.rglob("*.md"):
        for target in LINK.findall(page.read_text()):
            linked.add(outside(page.relative_to(DOCS), target))
    for path in sorted(linked - {None}):
        if path.parts[0] != "include":
            add(page_of(path), source_page(path), InclusionLevel.NOT_IN_NAV)
    return files


def on_page_markdown(markdown, page, config, files):
    def shown(match):
        path = outside(page.file.src_uri, match[1])
        if path is None:
            return match[0]
        return f"]({os.path.relpath(page_of(path), os.path.dirname(page.file.src_uri))})"

    def titled(match):
        path = (DOCS / page.file.src_uri).parent / match[2]
        if not path.is_file():
            return match[0]
        title = re.search(r"^# (.+)$", path.read_text(), re.M)[1]
        return f"[{title}]({match[2]}{match[3] or ''})"

    if DOCS / page.file.src_uri in notebooks.pages():
        title, rest = markdown.split("\n", 1)
        name = pathlib.Path(page.file.src_uri).stem
        markdown = f"{title}\n\n[This page as a notebook]({name}.ipynb){{ download }}\n{rest}"
    if page.file.src_uri == "reference/command_line.md":
        return markdown + "\n" + command_line()
    if page.file.src_uri == "reference/api/index.md":
        return markdown + "\n" + headers.index(header_paths())
    if page.file.src_uri.startswith(("source/", "reference/api/")):
        return markdown
    return LINK.sub(shown, NAMED.sub(titled, markdown))
