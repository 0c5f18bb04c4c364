"""The JSON Schema of scenes: it accepts exactly the files that the reader accepts."""

import copy
import json
import pathlib
from typing import Any

import jsonschema
import pytest
import yaml
from served import call

import mayfly

SCENES = sorted((mayfly.data_folder() / "scenes").glob("*.yaml"))


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json.loads(call("help", "schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_every_scene_that_comes_with_mayfly_is_valid(validator: Any, path: pathlib.Path) -> None:
    errors = [error.message for error in validator.iter_errors(yaml.safe_load(path.read_text()))]
    assert errors == []


def _soccer() -> Any:
    return yaml.safe_load((mayfly.data_folder() / "scenes" / "soccer.yaml").read_text())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("world", "step"), -1),
        (("world", "stepp"), 0.1),
        (("groups", 2, "count"), 2.5),
        (("groups", 2, "motion"), "magic"),
        (("groups", 2, "placement"), {"poses": [[1, 2]]}),
        (("groups", 2, "behavior"), {"gait": {"command": [1, 0, 0]}}),
        (("groups", 2, "switch"), [{"when": {"at": {"time": 1}}}]),
        (("contact", "friction"), "much"),
    ],
)
def test_mistakes_are_seen(validator: Any, path: tuple[Any, ...], value: object) -> None:
    scene = copy.deepcopy(_soccer())
    assert validator.is_valid(scene)
    inner = scene
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    assert not validator.is_valid(scene)


@pytest.mark.parametrize("value", [0.001, "auto"])
def test_words_beside_numbers(validator: Any, value: object) -> None:
    scene = _soccer()
    scene["world"]["step"] = value
    assert validator.is_valid(scene)
