"""Scenes: the worlds of files, the same as those of the command."""

import json
import pathlib
import pickle

import numpy as np
import pytest
from served import call

import mayfly
from conftest import goes_on_alike
from mayfly import errors

DATA = mayfly.data_folder()


def command_hash(*words: str) -> int:
    """What `mayfly run --json` says."""
    return int(json.loads(call("run", *words, "--json").stdout)["hash"], 16)


@pytest.mark.parametrize(
    ("file", "settings", "options"),
    [
        ("models/hexapod.urdf", {}, []),
        (
            "models/humanoid.urdf",
            {
                "group.gaits": ["walk"],
                "group.behavior.gait.name": "walk",
                "group.settle": 0.5,
                "group.motion": "rigid",
            },
            ["--gait", "walk", "--motion", "rigid"],
        ),
        (
            "scenes/wheelbot.yaml",
            {"world.step": 0.004},
            ["--set", "world.step=0.004"],
        ),
        (
            "scenes/circles.yaml",
            {"groups.aircraft.count": 100},
            ["--set", "groups.aircraft.count=100"],
        ),
    ],
)
def test_the_bits_are_those_of_the_command(
    file: str, settings: dict[str, object], options: list[str]
) -> None:
    with mayfly.Scene(file, settings) as scene:
        scene.run(0.5)
        assert scene.hash() == command_hash(str(DATA / file), "--duration", "0.5", *options)


def test_scripts_run_as_by_the_command(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "scene.yaml"
    head = f"groups:\n  - {{name: a, model: {DATA}/models/hexapod.urdf, motion: points}}\n"
    text = """scripts:
  - name: s
    tick: 0.02
    text: |
      local height = world:property("a[0]/base.position.z")
      local t = results.table("a.csv", {"time"})
      function start() print("go") end
      function tick(time) height[1] = 0.3 + 0.1 * world:random(); t:row(time) end
      function finish() t:row(world:time()) end
"""
    path.write_text(head + text)
    with mayfly.Scene(path) as scene:
        assert caplog.messages == ["s: go"]
        assert not any("script" in note for note in scene.notes)
        for count in (1, 70, 129):  # however the run is cut
            scene.step(count)
        assert scene.hash() == command_hash(str(path), "--duration", str(scene.time))
        rows = scene.finish()["a.csv"].splitlines()
        assert len(rows) == 2 + round(scene.time / 0.02) and rows[1] == "0"
        again = pickle.loads(pickle.dumps(scene))
        assert again.hash() == scene.hash() and again.finish()["a.csv"].startswith("time\n")
    path.write_text(head)
    assert command_hash(str(path), "--duration", "0.5") != scene_hash(path, text, 0.5)


def scene_hash(path: pathlib.Path, text: str, seconds: float) -> int:
    path.write_text(path.read_text() + text)
    with mayfly.Scene(path) as scene:
        scene.run(seconds)
        return scene.hash()


def test_a_shipped_match_is_that_of_the_command() -> None:
    path = "scenes/soccer.yaml"
    with mayfly.Scene(path) as scene:
        scene.step(200)
        assert scene.hash() == command_hash(str(DATA / path), "--duration", "0.2")


def test_scripts_fail_with_file_and_line_and_stop_steps(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "scene.yaml"
    text = f"""groups:
  - {{name: a, model: {DATA}/models/hexapod.urdf, motion: points}}
scripts:
  - name: s
    tick: 0.02
    text: |
      function tick(time)
        if time > 0.05 then WORDS end
      end
"""
    path.write_text(text.replace("WORDS", 'error("enough")'))
    with mayfly.Scene(path) as scene:
        for _ in range(2):  # it stays so
            with pytest.raises(errors.ArgumentError, match="script s: tick: enough") as caught:
                scene.run(1)
            assert (caught.value.file, caught.value.line) == (str(path), 8)
            assert scene.time == pytest.approx(0.06)
        with pytest.raises(errors.ArgumentError, match="script s: tick: enough"):
            scene.finish()
    path.write_text(text.replace("WORDS", 'world:stop("fell")'))
    with mayfly.Scene(path) as scene:
        with pytest.raises(errors.StoppedError, match="stopped by a script: fell"):
            scene.step(1000)
        assert scene.time == pytest.approx(0.06)
        assert scene.finish() == {}
    path.write_text(text.replace("WORDS", "x = = 1"))
    with pytest.raises(errors.ArgumentError, match="syntax") as caught:
        mayfly.Scene(path)
    assert caught.value.line == 8


def test_groups_and_their_fields() -> None:
    with mayfly.Scene(
        "scenes/soccer.yaml", {"groups.red.count": 1, "groups.red.placement.poses": [[4, 0, 3.14]]}
    ) as scene:
        assert [group.name for group in scene.groups] == ["field", "ball", "blue", "red"]
        blue = scene.group("blue")
        assert blue.count == 4
        assert blue.motions == ("rigid", "articulated")
        assert blue.model.name == "humanoid"
        assert scene.group("red")["base.position"].read().shape == (1, 3)
        before = blue["base.position"].read()
        scene.run(1.0)
        assert np.linalg.norm(blue["base.position"].read() - before) > 0.02
        assert scene.duration == 60
        assert repr(scene).startswith("<Scene: ")


def test_notes_are_those_that_the_command_prints(tmp_path: pathlib.Path) -> None:
    models = DATA / "models"
    sunk = "initial: [{property: base.position.z, values: [0.05]}]"
    (tmp_path / "two.yaml").write_text(
        f"groups:\n  - {{name: a, model: {models}/hexapod.urdf, motion: rigid, {sunk}}}\n"
        f"  - {{name: b, model: {models}/quadruped.urdf, placement: {{poses: [[3, 0, 0]]}}}}\n"
    )
    said = json.loads(call("run", tmp_path / "two.yaml", "--duration", 0.01, "--json").stdout)
    with mayfly.Scene(tmp_path / "two.yaml") as scene:
        assert list(scene.notes) == said["notes"]
        a = scene.group("a")
        assert a.notes[0].startswith("the robot starts 0.0")
        # What a level leaves out is one line of the scene.
        own = [note for note in scene.notes if note.startswith("group a: ")]
        assert all(any(note.rsplit(": ")[-1] in line for line in own) for note in a.notes)
        scene.run(0.1)
        assert a.notes[0].startswith("the robot starts 0.0")  # as it was


def test_notes_follow_where_a_robot_is_placed() -> None:
    with mayfly.World() as world:
        group = world.add_group(mayfly.Model.from_file("hexapod.urdf"))
        assert not any("deep in the ground" in note for note in group.notes)
        group["base.position"] = group["base.position"].read() - [0, 0, 0.1]
        assert any("deep in the ground" in note for note in group.notes)


def test_a_vehicle_is_a_group_like_others() -> None:
    with mayfly.Scene("scenes/circles.yaml", {"groups.aircraft.count": 20}) as scene:
        aircraft = scene.group("aircraft")
        assert aircraft.motions == ("quadrotor",)
        scene.run(0.2)
        assert scene.time == pytest.approx(0.2)


def test_models_outlive_a_closed_scene() -> None:
    scene = mayfly.Scene("models/quadruped.urdf")
    model = scene.groups[0].model
    scene.close()
    assert model.name == "quadruped"
    with pytest.raises(mayfly.ClosedError):
        scene.step()


def test_snapshots_and_pickles() -> None:
    scene = mayfly.Scene("models/hexapod.urdf", {"group.count": 3})
    scene.run(0.1)
    goes_on_alike(scene, 0)
    goes_on_alike(scene, 10)


def test_mistakes(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("groups:\n  - name: a\n    model: gone.urdf\n    cuont: 3\n")
    with pytest.raises(mayfly.FileError, match=r"cuont: unknown key, did you mean") as failure:
        mayfly.Scene(file)
    assert failure.value.line == 4
    with pytest.raises(mayfly.MayflyError, match="4 groups"):
        mayfly.Scene("scenes/soccer.yaml", {"group.count": 3})
    with pytest.raises(mayfly.MayflyError, match="nowhere"):
        mayfly.Scene("nowhere.yaml")
    with pytest.raises(TypeError):
        mayfly.Scene("models/hexapod.urdf", ["group.count=3"])
    with mayfly.Scene("models/hexapod.urdf") as scene, pytest.raises(mayfly.UnsupportedError):
        scene.add_group(scene.groups[0].model)
