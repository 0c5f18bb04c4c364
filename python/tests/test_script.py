"""`mayfly run --python`: the same words and bits as scripts in Lua, and how a script fails."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from served import COMMAND, ROOT, call, needs_command

pytestmark = needs_command
SCENE = f"""
world: {{step: 0.01, seed: 7}}
run: {{duration: 0.5}}
groups:
  - name: robots
    model: {ROOT}/models/hexapod.urdf
    motion: points
    count: 3
    gaits: [tripod]
"""
HEAD = "from mayfly.script import results, world\n"


class Runs:
    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.scene = folder / "scene.yaml"
        self.scene.write_text(SCENE)
        self.script = folder / "script.py"
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.environment = {
            **os.environ,
            "MAYFLY_PYTHON": sys.executable,
            "TMPDIR": str(self.temporary),
        }

    def words(self, text: str, *more: str) -> list[str]:
        self.script.write_text(text)
        results = str(self.folder / "results")
        words = ["run", str(self.scene), "--json", "--results", results]
        return [*words, "--python", str(self.script), *more]

    def run(
        self, text: str, *more: str, code: int = 0, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **environment}
        done = call(*self.words(text, *more), code=code, timeout=60, env=environment)
        assert not list(self.temporary.iterdir())  # nothing is left behind
        return done

    def fails(self, text: str, expected: str, *more: str, **environment: str) -> None:
        done = self.run(text, *more, code=1, **environment)
        assert expected in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.fixture
def runs(tmp_path: pathlib.Path) -> Runs:
    return Runs(tmp_path)


def test_the_same_bits_and_results_as_lua(runs: Runs) -> None:
    """Twenty words in both languages: state, inputs, gaits, snapshots, random numbers."""
    lua = """
local height = world:property("robots[*]/base.position.z")
local target = world:property("robots[*]/joint.target")
local speed = world:property("robots[1]/base.linear_velocity.x")
local t = results.table("a.csv", {"time", "sum", "random", "faults"})
local kept
function start() world:gait("robots", 2, "tripod"); world:command("robots", 2, 0.1) end
function tick(time)
  for i = 1, #height do height[i] = height[i] + 0.001 * i end
  target[2] = 0.2 * world:random()
  speed[1] = speed[1] + world:random(-0.1, 0.1)
  local sum = 0
  for _, z in ipairs(height:all()) do sum = sum + z end
  t:row(time, sum, world:random(6), world:faults())
  world:set("robots[0]/base.orientation", {0.8, 0, 0, 0.6})
  if not kept and time > 0.1 then kept = world:snapshot() end
  if kept and time > 0.2 then world:restore(kept); kept = false end
  if time > 0.3 then world:reset("robots", 1) end
end
function finish() results.json("b.json", {time = world:time(), count = world:count("robots")}) end
"""
    scene = runs.folder / "lua.yaml"
    indented = "".join("      " + line + "\n" for line in lua.strip().splitlines())
    scene.write_text(f"{SCENE}scripts:\n  - name: s\n    tick: 0.03\n    text: |\n{indented}")
    expected = call("run", scene, "--json", "--results", runs.folder / "lua", timeout=60)
    python = """
height = world.property("robots[*]/base.position.z")
target = world.property("robots[*]/joint.target")
speed = world.property("robots[1]/base.linear_velocity.x")
t = results.table("a.csv", ["time", "sum", "random", "faults"])
kept = None
world.every(0.03)
def start():
    world.gait("robots", 2, "tripod")
    world.command("robots", 2, 0.1)
def tick(time):
    global kept
    for i in range(len(height)):
        height[i] = height[i] + 0.001 * (i + 1)
    target[1] = 0.2 * world.random()
    speed[0] += world.random(-0.1, 0.1)
    t.row(time, sum(height.all()), world.random(6), world.faults())
    world.set("robots[0]/base.orientation", [0.8, 0, 0, 0.6])
    if not kept and time > 0.1:
        kept = world.snapshot()
    if kept and time > 0.2:
        world.restore(kept)
        kept = False
    if time > 0.3:
        world.reset("robots", 1)
def finish():
    results.json("b.json", {"count": world.count("robots"), "time": world.time()})
"""
    done = runs.run(HEAD + python)
    found, requested = json.loads(done.stdout), json.loads(expected.stdout)
    assert found["hash"] == requested["hash"]
    assert found["simulated_seconds"] == requested["simulated_seconds"]
    for name in ("a.csv", "b.json"):
        text = (runs.folder / "results" / name).read_text()
        assert text == (runs.folder / "lua" / name).read_text()
    assert len((runs.folder / "results" / "a.csv").read_text().splitlines()) > 15


def test_the_example_pushes_until_the_robot_falls(tmp_path: pathlib.Path) -> None:
    words = ["models/humanoid.urdf", "--gait", "stand", "--duration", 60, "--results", tmp_path]
    words += ["--python", "examples/python/pushes.py", "--json"]
    environment = {**os.environ, "MAYFLY_PYTHON": sys.executable}
    done = call("run", *words, timeout=60, env=environment)
    assert "stopped by a script: fell after a push" in done.stderr
    assert json.loads((tmp_path / "summary.json").read_text())["fell"] is True
    rows = (tmp_path / "pushes.csv").read_text().splitlines()
    assert rows[0] == "push,lean,height,fell" and rows[-1].endswith("true") and len(rows) > 3


def test_events_and_whole_fields(runs: Runs) -> None:
    text = """
state = None
def start():
    global state
    state = world.remote["robots"].subscribe("base.position")
def event(e):
    results.json("event.json", [e.kind, e.group, e.robot, e.time])
    world.stop("over")
def tick(time):
    assert state["base.position"].shape == (3, 3) and state.time == time
    world.remote["robots"].write("gait.command", [0.1, 0, 0])
    if time == 0.1:
        world.set("robots[1]/base.orientation", [0, 1, 0, 0])
"""
    done = runs.run(HEAD + text)
    assert "mayfly: stopped by a script: over" in done.stderr
    event = json.loads((runs.folder / "results" / "event.json").read_text())
    assert event == ["fall", "robots", 1, 0.11]


def test_the_rate_is_exact(runs: Runs) -> None:
    text = """
times = []
world.every(0.04)
def tick(time): times.append(time)
def finish(): results.json("times.json", times)
"""
    runs.run(HEAD + text)
    times = json.loads((runs.folder / "results" / "times.json").read_text())
    assert times == [4 * i / 100 for i in range(13)]


def test_errors_name_file_and_line(runs: Runs) -> None:
    where = str(runs.script)
    late = HEAD + "def tick(time):\n    if time > 0.1:\n        [][1]\n"
    runs.fails(late, f"{where}:4: tick: IndexError: list index out of range")
    runs.fails("def tick(time)\n", f"{where}:1: main: SyntaxError")
    runs.fails("def finish():\n    1 / 0\n", f"{where}:2: finish: ZeroDivisionError")
    runs.fails("import sys\nsys.exit(0)\n", f"{where}:2: main: SystemExit")
    missing = HEAD + "world.property('robots[0]/nope')\n"
    runs.fails(missing, f"{where}:2: main: NotFoundError: property robots[0]/nope")
    locked = HEAD + "p = world.property('robots[0]/mass')\n\np[0] = 1\n"
    runs.fails(locked, f"{where}:4: main: ArgumentError: property mass: cannot be written")
    written = HEAD + "world.remote['robots'].write('joint.target', 0)\n"
    runs.fails(written, f"{where}:2: main: ArgumentError: field joint.target is no input")
    rotated = HEAD + "world.set('robots[0]/base.orientation', [1, 1, 0, 0])\n"
    runs.fails(rotated, f"{where}:2: main: ArgumentError")


def test_results_stay_after_an_error(runs: Runs) -> None:
    text = "t = results.table('a.csv', ['x'])\ndef tick(time):\n    t.row(1)\n    raise OSError\n"
    done = runs.run(HEAD + text, code=1)
    assert f"{runs.script}:5: tick: OSError" in done.stderr
    assert (runs.folder / "results" / "a.csv").read_text() == "x\n1\n"


def test_a_script_that_hangs_or_dies(runs: Runs) -> None:
    where = str(runs.script)
    hang = "def tick(time):\n    while True:\n        pass\n"
    runs.fails(hang, "tick: LimitError: it takes longer than 0.3 s", "--patience", "0.3")
    kill = "import os\ndef tick(time):\n    os.kill(os.getpid(), 9)\n"
    runs.fails(kill, f"{where}: {sys.executable} was ended by signal 9")
    runs.fails("import os\nos._exit(3)\n", "ended with exit code 3 before the run was over")
    closed = HEAD + "import time\ndef tick(t):\n    world.remote.close()\n"
    runs.fails(closed, f"{where}:")


def test_no_package_and_no_python(runs: Runs) -> None:
    bare = pathlib.Path(sys.base_prefix) / "bin" / "python3"  # not that of this environment
    runs.fails("", "cannot import mayfly", MAYFLY_PYTHON=str(bare))
    runs.fails("", "there is no program /nowhere/python3", MAYFLY_PYTHON="/nowhere/python3")


def test_a_signal_ends_both(runs: Runs) -> None:
    started = runs.folder / "started"
    text = f"import time\ndef tick(t):\n    open({str(started)!r}, 'w')\n    time.sleep(30)\n"
    words = [COMMAND, *runs.words(text)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=runs.environment) as run:
        end = time.monotonic() + 30
        while not started.exists() and time.monotonic() < end:
            time.sleep(0.01)
        begun = time.monotonic()
        run.send_signal(signal.SIGTERM)
        assert run.wait(20) == 75
        assert time.monotonic() - begun < 10
    assert not list(runs.temporary.iterdir())
