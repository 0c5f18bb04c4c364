"""What tests share. They run against the installed package, not against the sources here."""

from __future__ import annotations

import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from live_client import DRAWN, Server
from served import COMMAND, ROOT

import mayfly

FULL = os.environ.get("MAYFLY_FULL", "0") not in ("", "0")


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    found = pathlib.Path(mayfly.__file__).resolve()
    assert ROOT / "python" / "src" not in found.parents, f"{found} is not the installed package"


@pytest.fixture(scope="session")
def hexapod() -> mayfly.Model:
    return mayfly.Model.from_file("hexapod.urdf")


@pytest.fixture(scope="session")
def ant() -> mayfly.Model:
    return mayfly.Model.from_file("ant.xml")


@pytest.fixture
def world() -> Iterator[mayfly.World]:
    with mayfly.World() as made:
        yield made


@pytest.fixture
def script(tmp_path: pathlib.Path) -> Callable[[str], str]:
    """Runs a Python text in a process of its own, where a crash or hang harms nobody; it must end
    well and print "fine". Gives its errors."""

    def run(text: str) -> str:
        file = tmp_path / "script.py"
        file.write_text(text)
        with subprocess.Popen(
            [sys.executable, str(file)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                out, errors = process.communicate(timeout=120)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # with the processes that it made
                raise
        assert process.returncode == 0 and out == "fine\n", errors
        return errors

    return run


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, driven by Playwright."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium")
    with driver.sync_playwright() as made:
        found = made.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
        )
        yield found
        found.close()


def blank_page(browser: Any, width: int, height: int) -> Any:
    """A page that keeps what it complains of."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(60000)
    page.complaints = []
    page.on("console", lambda m: page.complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    return page


@pytest.fixture
def show(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages of this project, and closes them: pages that are open draw."""
    pages = []

    def open_page(address: str, width: int = 320, height: int = 240) -> Any:
        page = blank_page(browser, width, height)
        page.goto(address)
        page.wait_for_function(DRAWN, polling=100)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()


@pytest.fixture
def live() -> Iterator[Callable[..., str]]:
    """Starts `mayfly view` and gives its address; ends it as a user would, and it must end well."""
    running: list[Server] = []

    def start(*words: str) -> str:
        running.append(Server(COMMAND, *words, folder=ROOT))
        return running[-1].address

    yield start
    for server in running:
        assert server.process.poll() is None, "it ended by itself"
        assert server.end() == 0


def goes_on_alike(world: mayfly.World, steps: int) -> mayfly.World:
    """A pickled copy of a world, which has the same bits after some steps."""
    again = pickle.loads(pickle.dumps(world))
    for one in (world, again):
        one.step(steps)
    assert again.hash() == world.hash() and again.time == world.time
    return again


def fuzz(program: str, seed: int, count: int) -> tuple[int, int]:
    """Random calls with random arguments: how many worked, and how many raised with a text."""
    done = subprocess.run(
        [sys.executable, str(pathlib.Path(__file__).with_name(program)), str(seed), str(count)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    word, worked, refused = done.stdout.split()
    assert word == "fine"
    return int(worked), int(refused)
