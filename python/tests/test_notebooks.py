"""The tutorials as notebooks: every cell runs, and prints what the page says. With nbclient and
ipykernel they run as in Jupyter, and here as plain Python, with the two magics that they use.
"""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import types
from typing import Any

import pytest
from served import COMMAND, ROOT, needs_command

pytest.importorskip("gymnasium", reason="a tutorial trains a policy")
pytest.importorskip("h5py", reason="a tutorial reads a recording")

# What takes minutes is made shorter.
SHORT = {
    "generations: 40": "generations: 4",
    "population: 96": "population: 32",
    "survivors: 32": "survivors: 8",
    "best: 32": "best: 8",
    "ROBOTS, STEPS, PARENTS = 1024, 250, 64": "ROBOTS, STEPS, PARENTS = 32, 25, 8",
    "range(30)": "range(5)",
    "[policy] * 64": "[policy] * 4",
    "make(motion, 64)": "make(motion, 4)",
    "count=10000": "count=200",
    "--robots 1000": "--robots 50",
}
EXPECTED = {
    "first_robot": ["it fell", "50 robots", "articulated "],
    "first_swarm": [
        "quadrotors             100       100",
        "quadrotors/base.position (61, 100, 3)",
    ],
    "train_a_policy": ["  5  mean", "kinematic     return"],
    "evolve_a_gait": ["the same bits", "at articulated"],
}


def load_tool() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools/docs/notebooks.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


TOOL = load_tool()


def shortened(path: pathlib.Path) -> dict[str, Any]:
    notebook: dict[str, Any] = TOOL.notebook(path)
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        for long, short in SHORT.items():
            text = text.replace(long, short)
        if "sqlite3 " in text and shutil.which("sqlite3") is None:
            text = "pass" if cell["cell_type"] == "code" else text
        cell["source"] = text
    return notebook


def run_plainly(notebook: dict[str, Any]) -> str:
    """What its code cells print."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for cell in notebook["cells"]:
            first, _, rest = cell["source"].partition("\n")
            if cell["cell_type"] != "code":
                continue
            if first.startswith("%%writefile "):
                pathlib.Path(first.split()[1]).write_text(rest)
            elif first == "%%sh -e":
                done = subprocess.run(
                    ["sh", "-e"], input=rest, capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, done.stderr
                print(done.stdout)
            else:
                exec(cell["source"], names)
    return said.getvalue()


def run_by_jupyter(notebook: dict[str, Any], folder: pathlib.Path) -> str:
    import nbclient
    import nbformat

    given = nbformat.from_dict(notebook)
    nbclient.NotebookClient(
        given, timeout=300, resources={"metadata": {"path": str(folder)}}
    ).execute()
    outputs = [out for cell in given.cells for out in cell.get("outputs", [])]
    return "".join(out.text for out in outputs if out.output_type == "stream")


@pytest.fixture
def place(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder to work in, with the command and this Python on the PATH."""
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "mayfly").symlink_to(pathlib.Path(shutil.which(COMMAND) or COMMAND).resolve())
    for name in ("python", "python3"):
        program = commands / name  # not a link: it would lose its packages
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@needs_command
@pytest.mark.parametrize("how", ["plain", "jupyter"])
def test_tutorials_run_as_notebooks(how: str, place: pathlib.Path) -> None:
    if how == "jupyter":
        pytest.importorskip("nbclient", reason="nbclient is not installed: cells run as Python")
        pytest.importorskip("ipykernel", reason="ipykernel is not installed: cells run as Python")
    assert [path.stem for path in TOOL.pages()] == list(EXPECTED)
    for path in TOOL.pages():
        os.chdir(place)
        notebook = shortened(path)
        said = run_plainly(notebook) if how == "plain" else run_by_jupyter(notebook, place)
        missing = [words for words in EXPECTED[path.stem] if words not in said]
        assert not missing, f"{path.name}: {missing}\n{said}"
    assert (place / "mayfly_tutorials" / "tutorial" / "policy.npy").exists()


def test_the_tool_writes_notebooks(tmp_path: pathlib.Path) -> None:
    tool = ROOT / "tools" / "docs" / "notebooks.py"
    subprocess.run([sys.executable, tool, tmp_path], check=True, capture_output=True)
    files = sorted(tmp_path.glob("*.ipynb"))
    assert len(files) == len(EXPECTED)
    for file in files:
        data = json.loads(file.read_text())
        kinds = [cell["cell_type"] for cell in data["cells"]]
        assert kinds[:3] == ["markdown", "code", "markdown"] and kinds.count("code") > 3
        text = "".join("".join(cell["source"]) for cell in data["cells"])
        assert ".md)" not in text  # links that lead nowhere there
        # Nothing of the page is lost: its words, without the targets of links, are in the cells.
        page = (ROOT / "docs" / "tutorials" / f"{file.stem}.md").read_text()
        words = TOOL.LINK.sub(lambda match: "" if match[1] else match[2], page).split()
        lost = [word for word in set(words) if not word.startswith("```") and word not in text]
        assert lost == []
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    for file in files:
        nbformat.validate(nbformat.read(file, as_version=4))
