"""The fields of models/ have the measures by which the bridge judges and tells flags."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from robocup_game import ROOT

from mayfly_bridges.robocup.field import FIELDS, field_of


def floats(text: str) -> list[float]:
    return [float(word) for word in text.split()]


@pytest.mark.parametrize("name", FIELDS)
def test_lines_and_goals(name: str) -> None:
    field = FIELDS[name]
    file = "soccer_field.xml" if name == "kid" else f"soccer_field_{name}.xml"
    root = ElementTree.parse(ROOT / "models" / file).getroot()
    assert field_of(root.get("model")) == name
    geoms = {geom.get("name") or str(i): geom for i, geom in enumerate(root.iter("geom"))}
    carpet = floats(geoms["carpet"].get("size", ""))
    assert carpet[:2] == [field.length / 2 + field.border, field.width / 2 + field.border]
    edges = set()  # of lines along x and y
    for geom in geoms.values():
        if geom.get("class") == "line" and geom.get("euler") is None:
            (x, y), (half_x, half_y) = (
                floats(geom.get("pos", ""))[:2],
                floats(geom.get("size", ""))[:2],
            )
            edges |= {("x", round(x + side * half_x, 4)) for side in (-1, 1)}
            edges |= {("y", round(y + side * half_y, 4)) for side in (-1, 1)}
    x, y = field.length / 2, field.width / 2
    for sign in (-1, 1):
        assert ("x", sign * x) in edges and ("y", sign * y) in edges
        for length, width in (
            (field.goal_area_length, field.goal_area_width),
            (field.penalty_area_length, field.penalty_area_width),
        ):
            assert ("x", sign * (x - length)) in edges and ("y", sign * width / 2) in edges
    # Of the league's goals the measures are those between the middles of posts, of ours inside.
    inside = 0.05 if name == "kid" else 0.0
    for goal, sign in (("own", -1), ("other", 1)):
        for side, turn in (("left", 1), ("right", -1)):
            post = floats(geoms[f"{goal}_{side}_post"].get("fromto", ""))
            post_y = sign * turn * (field.goal_width / 2 + inside)
            assert post == pytest.approx([sign * x, post_y, 0, sign * x, post_y, post[5]])
            assert post[5] == pytest.approx(field.goal_height + inside)
        back = floats(geoms[f"{goal}_back"].get("pos", ""))
        assert abs(back[0]) - x == pytest.approx(field.goal_depth, abs=0.021)


def test_unknown_fields() -> None:
    assert field_of(None) is None
    assert field_of("meadow") is None
    assert field_of("soccer_field_of_mine") is None
