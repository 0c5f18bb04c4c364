"""Cloths: groups of worlds like robots, from files, arrays and rectangles; tearing."""

import pathlib
import pickle

import numpy as np
import pytest
from test_docs import blocks

import mayfly
from conftest import ROOT, goes_on_alike

UPPER = range(5 * 20, 5 * 21)


def strip(**material: float) -> mayfly.Cloth:
    """Half a meter of cloth that hangs by its upper edge."""
    return mayfly.Cloth.rectangle(0.1, 0.5, 5, 21, plane="xz", pins=UPPER, **material)


def test_rectangles_and_arrays_make_cloths() -> None:
    cloth = strip(density=0.2, strength=300.0)
    assert cloth.counts == (5, 21) and cloth.pins.tolist() == list(UPPER)
    assert cloth.material["strength"] == 300.0 and cloth.material["stretch"] == 1000.0
    assert cloth.area == pytest.approx(0.05) and cloth.mass == pytest.approx(0.01)
    assert cloth.positions.shape == (105, 3) and cloth.triangles.shape == (160, 3)
    assert cloth.elements == 4 * 21 + 5 * 20
    assert np.allclose(cloth.positions[0], [-0.05, 0, -0.25])
    again = pickle.loads(pickle.dumps(cloth))
    assert again.to_yaml() == cloth.to_yaml() and again.material == cloth.material
    mesh = mayfly.Cloth.from_arrays(
        cloth.positions, cloth.triangles, warp=(0, 0, 1), pins=UPPER, density=0.2, name="mesh"
    )
    assert mesh.name == "mesh" and mesh.counts == (0, 0) and mesh.elements == 160
    assert np.array_equal(mesh.triangles, cloth.triangles)
    assert mesh.mass == pytest.approx(cloth.mass)


def test_files_are_models() -> None:
    model = mayfly.Model.from_file("curtain.cloth.yaml")
    assert model.cloth is not None and model.truss is None and model.own_motion == "cloth"
    assert model.mass == pytest.approx(model.cloth.mass)
    with mayfly.World(step=5e-3) as world:
        group = world.add_group(model, substep=5e-4)
        before = group["vertex.position"].read()
        world.step(20)
        assert np.abs(group["vertex.position"].read() - before).max() > 1e-4
        assert group["cloth.contacts"].read()[0] == len(model.cloth.pins)
        assert "cloth.torn" not in group


def test_a_strip_tears_above_its_strength() -> None:
    load = 0.15 * 9.81 * (0.5 - 0.0125)  # [N/m] of the uppermost row of edges
    for part, tears in ((1.01, 0), (0.99, 4)):
        with mayfly.World(step=5e-3) as world:
            cloth = strip(strength=part * load)
            group = world.add_group(cloth, precision="double", drag=1000.0, contacts=False)
            world.step(400)
            torn = group["cloth.torn"].read()[0]
            assert int(torn.sum()) == int(group["cloth.tears"].read()[0, 0])
            assert (torn.sum() >= tears) if tears else not torn.any()
            pull = group["pin.force"].read().reshape(-1, 3)[:, 2].sum()
            assert pull == pytest.approx(0.0 if tears else -0.15 * 9.81 * 0.05, abs=5e-3)


def test_cloths_can_be_cut_and_worlds_with_them_pickled() -> None:
    world = mayfly.World(step=5e-3)
    group = world.add_group(strip(strength=1e6), isolated=False, drag=1000.0)
    world.add_cloths()
    group["cloth.torn"][0, 4 * 21 + 10 * 5 : 4 * 21 + 11 * 5] = 1
    world.step(5)
    goes_on_alike(world, 20)
    assert group["cloth.tears"].read()[0, 0] == 5
    group.reset()
    assert group["cloth.tears"].read()[0, 0] == 0


def test_scenes_have_cloths(tmp_path: pathlib.Path) -> None:
    (tmp_path / "strip.cloth.yaml").write_text(strip(strength=1.0).to_yaml(), encoding="utf-8")
    path = tmp_path / "scene.yaml"
    path.write_text(
        "groups:\n  - {name: strip, model: strip.cloth.yaml, height: 1}\n", encoding="utf-8"
    )
    with mayfly.Scene(path) as scene:
        scene.run(0.5)
        assert scene.group("strip")["cloth.tears"].read()[0, 0] > 0


def test_the_page_tears(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks(ROOT / "docs" / "explanation" / "cloth.md")
    exec(block, {})
    words = capsys.readouterr().out.split()
    assert 0 < int(words[0]) < int(words[2]) and words[3:] == ["edges", "tore"]


def test_what_is_wrong_is_refused() -> None:
    with pytest.raises(ValueError, match="strength: -1 N/m"):
        strip(strength=-1.0)
    with pytest.raises(TypeError, match="did you mean 'stretch'"):
        strip(strech=10.0)
    with pytest.raises(ValueError, match="plane: need one of"):
        mayfly.Cloth.rectangle(1, 1, 3, 3, plane="zx")
    with pytest.raises(mayfly.FileError, match="<text>:2:"):
        mayfly.Cloth.from_string("cloth:\n  weight: 1\n")
    with mayfly.World() as world:
        with pytest.raises(ValueError, match="a cloth moves by cloth"):
            world.add_group(strip(), motion="rigid")
        with pytest.raises(ValueError, match="cloth is for a cloth"):
            world.add_group(mayfly.Model.from_file("hexapod.urdf"), motion="cloth")
        with pytest.raises(ValueError, match="cloth"):
            world.add_cloths()
