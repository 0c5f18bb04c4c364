"""How the package presents itself: docstrings, lines in a console, tables in a notebook,
completion, logging and progress.
"""

import importlib
import inspect
import pathlib
import pkgutil
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import mayfly

PUBLIC = ("mayfly", "mayfly.docks", "mayfly.envs", "mayfly.mdp", "mayfly.script", "mayfly.search")


def modules() -> Iterator[types.ModuleType]:
    """All of the package that can be imported here and that is not private."""
    yield mayfly
    for found in pkgutil.walk_packages(mayfly.__path__, "mayfly."):
        if any(part.startswith("_") for part in found.name.split(".")):
            continue
        try:
            yield importlib.import_module(found.name)
        except ImportError as failure:  # of a library that is optional
            assert failure.name is None or not failure.name.startswith("mayfly"), failure


def named(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    for name in getattr(module, "__all__", ()):
        yield f"{module.__name__}.{name}", getattr(module, name)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Its methods and properties, without those of other packages' base classes."""
    for name, _, _, value in inspect.classify_class_attrs(kind):
        function = (
            value.fget if isinstance(value, property) else inspect.unwrap(getattr(kind, name))
        )
        if not str(getattr(function, "__module__", "")).startswith("mayfly"):
            continue
        if not name.startswith("_") and (
            isinstance(value, (property, classmethod, staticmethod)) or inspect.isfunction(value)
        ):
            yield name, value


def test_everything_has_a_docstring() -> None:
    missing = []
    for module in modules():
        if not module.__doc__:
            missing.append(module.__name__)
        for name, thing in named(module):
            if not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            if not inspect.getdoc(thing):
                missing.append(name)
            if inspect.isclass(thing) and thing.__module__.startswith("mayfly"):
                missing += [
                    f"{name}.{member}"
                    for member, value in members(thing)
                    if not inspect.getdoc(getattr(thing, member))
                ]
    assert missing == []


def test_every_class_has_a_line_of_its_own() -> None:
    plain = [
        name
        for module in map(importlib.import_module, PUBLIC)
        for name, thing in named(module)
        if inspect.isclass(thing) and thing.__repr__ is object.__repr__
    ]
    assert plain == []


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Objects of many kinds; the world has run."""
    model = mayfly.Model.from_file("hexapod.urdf")
    programs = mayfly.Programs(np.zeros((3, 32), np.uint8))
    folder = tmp_path_factory.mktemp("manners")
    search = mayfly.search.Generations(32, population=3, survivors=1, archive=folder)
    search.run(1, lambda genomes: mayfly.evaluate(model, mayfly.Programs(genomes), 0.1))
    with mayfly.World() as world, search, mayfly.search.Archive(folder) as archive:
        group = world.add_group(model, 3, name="walkers", motion="articulated", sensors=True)
        world.run(0.1)
        yield {
            "world": world,
            "group": group,
            "field": group["joint.angle"],
            "part": group.joint(model.joints[0].name),
            "model": model,
            "joints": model.joints,
            "search": search,
            "archive": archive,
            "individual": search.best,
            "grid": mayfly.search.MapElites(8, descriptors={"a": (0, 1, 4), "b": (0, 1, 5)}),
            "programs": programs,
            "oscillators": mayfly.Oscillators(np.zeros((3, 18)), 0.0, [1, 2, 2.5]),
            "network": mayfly.MLP([np.zeros((3, 8, 46)), np.zeros((3, 18, 8))]),
            "policy": mayfly.Policy(lambda seen: seen[:, :18], 3),
            "truss": mayfly.Truss.from_arrays([[0, 0, 0], [0.1, 0, 0]], [[0, 1]]),
            "cloth": mayfly.Cloth.rectangle(1, 1, 3, 3),
            "machines": mayfly.search.Machines(),
            "evaluator": mayfly.search.Evaluator("scenes/neophysix.yaml", count=3),
            "evaluation": mayfly.evaluate(model, programs, 0.1, measures=["climb"]),
            "camera": mayfly.Camera(),
            "film": mayfly.Film(world),
            "ray": world.ray([0, 0, 1], [0, 0, -1]),
            "context": mayfly.default_context(),
            "terrain": mayfly.Terrain.generate("noise", amplitude=0.05),
        }


def test_a_console_shows_one_line_that_tells_what_it_is(things: dict[str, Any]) -> None:
    for name, thing in things.items():
        line = repr(thing)
        assert "\n" not in line and " object at 0x" not in line, (name, line)
        assert type(thing).__name__ in line or name in ("joints", "part"), line
    assert repr(things["oscillators"]) == "<Oscillators: 3 robots of 18 joints, 1 to 2.5 Hz>"
    assert repr(things["network"]) == "<MLP: 3 robots, 46 - 8 - 18 units, to joint.target>"
    assert repr(things["truss"]) == ("<Truss: 'truss', 2 vertices, 1 bars, 0 actuators, 0 neurons>")
    assert "generation 1 of 3, best " in repr(things["search"])
    assert "0 % of 4 a x 5 b" in repr(things["grid"])
    assert "genome=uint8 (32,)" in repr(things["individual"])
    assert "1 generations, 3 individuals" in repr(things["archive"])
    world = mayfly.World()
    world.close()
    assert repr(world) == "<World, closed>"


def test_a_notebook_shows_tables(things: dict[str, Any]) -> None:
    rows = {"world": 1, "group": len(things["group"].fields), "field": 3, "model": 18,
            "search": 3, "archive": 1, "evaluation": 3}  # fmt: skip
    for name, count in rows.items():
        page = things[name]._repr_html_()
        assert page.startswith("<table><caption>") and page.count("<tr>") == count + 1, name
    with mayfly.World() as world:
        for i in range(103):
            world.add_group(things["cloth"], 1, name=f"cloth{i}")
        page = world._repr_html_()
        assert page.count("<tr>") == 102 and "<td>and 3 more</td>" in page
    assert "<td>walkers</td><td>3</td><td>hexapod" in things["world"]._repr_html_()
    assert "&lt;Group walkers: 3 x " in things["group"]._repr_html_()
    assert "<td>joint.angle</td>" in things["group"]._repr_html_()


def test_names_are_completed(things: dict[str, Any]) -> None:
    group, model = things["group"], things["model"]
    assert "joint.angle" in group._ipython_key_completions_()
    assert all(name in group for name in group._ipython_key_completions_())
    assert model.joints._ipython_key_completions_() == list(model.joints.names)
    part = things["part"]
    assert {"angle", "rate"} <= set(dir(part))
    for name in part._ipython_key_completions_():
        assert part[name].shape[0] == 3


LINES = """
import {setup}sys
import mayfly
{more}
scene = {scene!r}
mayfly.Scene(scene)
print("fine")
"""


def test_lines_go_to_the_logger(script: Callable[[str], str], tmp_path: pathlib.Path) -> None:
    robot = mayfly.data_folder() / "models" / "hexapod.urdf"
    scene = tmp_path / "scene.yaml"
    scene.write_text(
        f"groups: [{{name: a, model: {robot}}}]\n"
        'scripts: [{name: s, tick: 1, text: function start() print("go") end}]\n'
    )
    plain = LINES.format(setup="", more="", scene=str(scene))
    assert script(plain) == "s: go\n"
    more = 'logging.basicConfig(format="%(name)s %(levelname)s %(message)s", level="INFO")'
    set_up = LINES.format(setup="logging, ", more=more, scene=str(scene))
    assert script(set_up) == "mayfly INFO s: go\n"
    more = 'logging.getLogger("mayfly").setLevel("WARNING")'
    assert script(LINES.format(setup="logging, ", more=more, scene=str(scene))) == ""


def test_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    model, one = mayfly.Model.from_file("hexapod.urdf"), np.zeros((2, 32), np.uint8)

    def walked(**more: Any) -> Any:
        return mayfly.evaluate(model, mayfly.Programs(one), 2, [1, 2], measures=["speed"], **more)

    silent = walked()
    assert capsys.readouterr().err == ""
    pytest.importorskip("tqdm")
    shown = walked(progress=True)
    assert "400/400" in capsys.readouterr().err
    assert np.array_equal(shown.fitness, silent.fitness)
    assert np.array_equal(shown.measures["speed"], silent.measures["speed"])
    search = mayfly.search.Generations(4, population=4, survivors=2)
    search.run(3, lambda genomes: genomes.mean(axis=1), progress=True)
    assert "3/3" in (text := capsys.readouterr().err) and "best " in text
    search.run(4, lambda genomes: genomes.mean(axis=1))  # no terminal
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert np.array_equal(walked(progress=True).fitness, silent.fitness)
    assert capsys.readouterr().err == ""
