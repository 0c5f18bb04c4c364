"""`mayfly run --python` beside scripts in Lua and sessions: who acts first, who ends the run."""

from __future__ import annotations

import json

from test_script import HEAD, SCENE, Runs, pytestmark, runs

import mayfly

__all__ = ["pytestmark", "runs"]

# What acts at 0, 0.02, 0.04 ... and, once, goes back to an earlier moment.
FIRST = """
local x = world:property("robots[*]/base.position.x")
local kept
function tick(time)
  for i = 1, #x do x[i] = 0.9 * x[i] + 0.001 * i end
  if not kept and time > 0.1 then kept = world:snapshot() end
  if kept and time > 0.25 then world:restore(kept); kept = false end
end
"""
# What reads that at 0, 0.03, 0.06 ...: both act at 0.06, 0.12 ...
SECOND_LUA = """
local x = world:property("robots[*]/base.position.x")
local z = world:property("robots[*]/base.position.z")
local t = results.table("second.csv", {"time", "x"})
function tick(time)
  t:row(time, x[1])
  for i = 1, #x do z[i] = z[i] + 0.01 * x[i] end
end
"""
SECOND_PYTHON = """
x = world.property("robots[*]/base.position.x")
z = world.property("robots[*]/base.position.z")
t = results.table("second.csv", ["time", "x"])
world.every(0.03)
def tick(time):
    t.row(time, x[0])
    for i in range(len(x)):
        z[i] = z[i] + 0.01 * x[i]
"""


def lua(name: str, tick: float, text: str) -> str:
    lines = "".join("      " + line + "\n" for line in text.strip().splitlines())
    return f"  - name: {name}\n    tick: {tick}\n    text: |\n{lines}"


def found(runs: Runs, text: str) -> tuple[str, str]:
    report = json.loads(runs.run(HEAD + text).stdout)
    return report["hash"], (runs.folder / "results" / "second.csv").read_text()


def test_lua_acts_before_python(runs: Runs) -> None:
    first = "scripts:\n" + lua("first", 0.02, FIRST)
    runs.scene.write_text(SCENE + first + lua("second", 0.03, SECOND_LUA))
    expected = found(runs, "")
    runs.scene.write_text(SCENE + first)
    assert found(runs, SECOND_PYTHON) == expected
    runs.scene.write_text(SCENE)
    alone, _ = found(runs, SECOND_PYTHON)
    assert alone != expected[0]


def test_either_ends_the_run(runs: Runs) -> None:
    stops = 'function tick(time) if time > 0.1 then world:stop("enough") end end'
    runs.scene.write_text(SCENE + "scripts:\n" + lua("first", 0.02, stops))
    python = """
def tick(time):
    assert time < 0.115, "no turn after the end"
def finish():
    results.json("end.json", world.time())
"""
    done = runs.run(HEAD + python)
    assert json.loads((runs.folder / "results" / "end.json").read_text()) == 0.12
    assert done.stderr.count("stopped by a script: enough") == 1
    ends = "def tick(time):\n    if time > 0.05:\n        world.stop('sooner')\n"
    done = runs.run(HEAD + ends)
    assert done.stderr.count("stopped by a script: sooner") == 1
    assert json.loads(done.stdout)["simulated_seconds"] == 0.06
    fails = 'function tick(time) if time > 0.1 then error("in Lua") end end'
    runs.scene.write_text(SCENE + "scripts:\n" + lua("first", 0.02, fails))
    done = runs.run("", code=1)
    assert "in Lua" in done.stderr and "scene.yaml" in done.stderr


def test_a_session_is_replayed_beside_python(runs: Runs) -> None:
    runs.scene.write_text(SCENE.replace("    gaits: [tripod]\n", ""))
    session = runs.folder / "session.jsonl"
    start = f"{mayfly.Scene(runs.scene).hash():016x}"
    head = {"mayfly": "session", "version": 1, "scene": "scene.yaml", "step": 10_000_000}
    act = {"group": "robots", "robot": 0, "field": "joint.target", "component": 3}
    lines = [
        {**head, "levels": False, "start": start},
        {"at": 10, "do": "set", **act, "value": 0.7},
        {"at": 30, "do": "end", "hash": "0" * 16},
    ]
    session.write_text("".join(json.dumps(line) + "\n" for line in lines))
    still = json.loads(runs.run("", "--session", str(session)).stdout)
    assert still["simulated_seconds"] == 0.3  # as long as the session
    # The same act by the script, in the turn of its step.
    runs_to = ("--duration", "0.3")
    target = "world.property('robots[0]/joint.target')"
    acts = f"def tick(time):\n    if time == 0.1:\n        {target}[3] = 0.7\n"
    assert json.loads(runs.run(HEAD + acts, *runs_to).stdout)["hash"] == still["hash"]
    assert json.loads(runs.run("", *runs_to).stdout)["hash"] != still["hash"]
    # At the same step the session acts last.
    other = acts.replace("0.7", "-3.0")
    found = json.loads(runs.run(HEAD + other, "--session", str(session)).stdout)
    assert found["hash"] == still["hash"]
