"""Archives, recordings and pictures of them."""

import pathlib
import sqlite3

import numpy as np
import pytest
from served import call

import mayfly

h5py = pytest.importorskip("h5py")
pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("archive") / "run"
    scene = mayfly.data_folder() / "scenes" / "neophysix.yaml"
    sizes = ["--generations", "4", "--population", "12", "--survivors", "6", "--seed", "7"]
    call("evolve", scene, *sizes, "--out", folder)
    return folder


def test_archive(run: pathlib.Path) -> None:
    with mayfly.Archive(run) as archive:
        assert len(archive) == 12 + 3 * 6 and archive.genomes.shape == (30, 32)
        assert archive.run["seed"] == 7 and archive.run["population"] == 12
        assert "hexapod.urdf" in archive.settings
        table = archive.generations
        assert table["number"].tolist() == [1, 2, 3, 4]
        people = archive.population(4)
        assert len(people) == 12 and people[0].fitness == table["best"][3] == archive.best().fitness
        mean = np.mean([person.fitness for person in people])
        assert mean == pytest.approx(table["mean"][3], rel=1e-12)
        line = archive.lineage(archive.best().id)
        assert line[-1].parent is None and line[-1].generation == 1
        assert all(a.parent == b.id for a, b in zip(line, line[1:]))
        assert np.array_equal(archive.individual(3).genome, archive.genomes[3])
        frame = archive.to_pandas("individual")
        assert len(frame) == 30 and np.array_equal(frame["fitness"], archive.fitness)
        with pytest.raises(mayfly.NotFoundError):
            archive.individual(30)
        with pytest.raises(mayfly.NotFoundError, match="generation"):
            archive.to_pandas("individual; DROP TABLE run")
    with pytest.raises(mayfly.ClosedError):
        archive.best()


def test_repertoire(tmp_path: pathlib.Path) -> None:
    scene = mayfly.data_folder() / "scenes" / "neophysix.yaml"
    axes = [("forward", -1, 1), ("sideways", -1, 1)]
    grid = ", ".join(f"{{measure: {n}, lower: {a}, upper: {b}, cells: 4}}" for n, a, b in axes)
    sizes = ["--generations", "4", "--population", "12", "--survivors", "6", "--duration", "5"]
    keys = ["search.replacement=cell", f"search.descriptors=[{grid}]"]
    settings = [word for key in keys for word in ("--set", key)]
    call("evolve", scene, *sizes, *settings, "--out", tmp_path / "run")
    with mayfly.Archive(tmp_path / "run") as archive:
        assert archive.descriptors == ("forward", "sideways")
        assert len(archive) == 48 and archive.genomes.shape == (48, 32)
        alive = archive.population()
        positions = archive.descriptor_values(alive)
        cells = {tuple(np.clip((place + 1) * 2, 0, 3).astype(int)) for place in positions}
        assert len(cells) == len(alive) > 1  # one of a cell
        assert alive[0].id == archive.best().id
        assert archive.lineage(alive[-1].id)[-1].generation == 1


def test_what_is_no_archive(run: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError):
        mayfly.Archive(tmp_path / "absent.sqlite")
    with pytest.raises(FileNotFoundError):
        mayfly.Archive(tmp_path)  # a folder without one
    text = tmp_path / "text.sqlite"
    text.write_text("not a database at all, " * 100)
    with pytest.raises(mayfly.FileError):
        mayfly.Archive(text)
    other = tmp_path / "other.sqlite"
    sqlite3.connect(other).execute("CREATE TABLE run (id)").connection.close()
    with pytest.raises(mayfly.FileError, match="not an archive"):
        mayfly.Archive(other)
    with pytest.raises(mayfly.FileError):
        mayfly.Recording(text)
    with pytest.raises(FileNotFoundError):
        mayfly.Recording(tmp_path / "absent.h5")


def test_recorder_and_recording(hexapod: mayfly.Model, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "walk.h5"
    expected = []
    with mayfly.World() as world:
        group = world.add_group(hexapod, 20, motion="points", controller="oscillator")
        group["oscillator.amplitude"] = 0.3
        group["oscillator.frequency"] = 1.0
        fields = ["base.position", "leg1_coxa/joint.angle"]
        with mayfly.Recorder(group, file, fields) as recorder:
            for _ in range(5):
                recorder.sample()
                expected.append(group["base.position"].array)
                world.step(10)
            assert file.exists()  # readable from the first sample on
    recording = mayfly.Recording(file)
    assert recording.time.tolist() == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    assert set(recording) == set(fields) and recording.attributes["model"] == "hexapod"
    position = recording["base.position"]
    assert (position.unit, position.frame) == ("m", "world")
    assert np.array_equal(position.values, expected)
    assert np.array_equal(np.asarray(position), expected)
    frame = recording.to_pandas(robot=3)
    assert frame["base.position[2]"].tolist() == [row[3, 2] for row in expected]
    assert "leg1_coxa/joint.angle" in frame
    with pytest.raises(mayfly.NotFoundError, match="base.position"):
        recording["base.speed"]


def test_dropped_recordings(hexapod: mayfly.Model, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "walk.h5"
    with mayfly.World() as world:
        group = world.add_group(hexapod, 2, motion="points")
        with pytest.raises(KeyError), mayfly.Recorder(world, file) as recorder:
            recorder.sample()
            raise KeyError
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(mayfly.ClosedError):
            recorder.sample()
        with pytest.raises(mayfly.MayflyError, match="nothing"):
            mayfly.Recorder(group, file, ["nothing"])
        with pytest.raises(OSError):
            mayfly.Recorder(group, tmp_path / "absent" / "walk.h5")
        left = mayfly.Recorder(group, file)
        left.sample()
        del left
    assert list(tmp_path.iterdir()) == []


def test_recording_of_the_command(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "match.h5"
    scene = mayfly.data_folder() / "scenes" / "soccer.yaml"
    call("run", scene, "--duration", 0.2, "--record", file)
    recording = mayfly.Recording(file)
    assert recording["blue/base.position"].values.shape == (3, 4, 3)
    assert recording["ball/base.position"].values.shape == (3, 1, 3)


def test_pictures(run: pathlib.Path, hexapod: mayfly.Model, tmp_path: pathlib.Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import mayfly.plot

    with mayfly.Archive(run) as archive:
        axes = mayfly.plot.evolution(archive)
        assert np.array_equal(axes.lines[0].get_ydata(), archive.generations["best"])
    file = tmp_path / "walk.h5"
    with (
        mayfly.World() as world,
        mayfly.Recorder(world.add_group(hexapod, 3, motion="points"), file) as recorder,
    ):
        for _ in range(3):
            recorder.sample()
            world.step()
    recording = mayfly.Recording(file)
    assert len(mayfly.plot.path(recording).lines) == 3
    assert mayfly.plot.series(recording, "base.position", 1).get_ylabel() == "base.position [m]"
    positions = np.array([[0, 0], [0, 0], [1, 1], [np.nan, 0]])
    mesh = mayfly.plot.tiles(positions, [1.0, 3.0, 2.0, 9.0], bins=2).collections[0]
    shown = np.ma.filled(mesh.get_array(), np.nan).ravel()
    assert sorted(shown[np.isfinite(shown)]) == [2.0, 3.0]
    with pytest.raises(ValueError, match="shape"):
        mayfly.plot.tiles(np.zeros((3, 3)), np.zeros(3))
