"""Fields: views, copies, writing, DLPack."""

import gc
from collections.abc import Iterator

import numpy as np
import pytest

import mayfly


@pytest.fixture
def robots(hexapod: mayfly.Model) -> Iterator[mayfly.Group]:
    with mayfly.World() as world:
        yield world.add_group(hexapod, 37, sensors=True)


def test_layout(robots: mayfly.Group) -> None:
    angle = robots["joint.angle"]
    assert angle.shape == (37, 18) and angle.view.shape == (3, 16, 18)
    assert (angle.unit, angle.frame, angle.dtype) == ("rad", "joint", np.float32)
    assert "joint positions" in angle.doc
    numbers = np.arange(37 * 18, dtype=np.float32).reshape(37, 18) * 1e-3
    robots["joint.target"] = numbers
    target = robots["joint.target"]
    assert np.array_equal(target.array, numbers) and np.array_equal(np.asarray(target), numbers)
    for i in (0, 15, 16, 36):
        assert np.array_equal(target.view[i // 16, i % 16], numbers[i])
    assert robots["base.position"].view.shape == (3, 16, 3)
    assert robots["fault.word"].view.shape == (3, 16) and robots["fault.word"].shape == (37,)


def test_the_view_is_the_memory(robots: mayfly.Group) -> None:
    target = robots["joint.target"]
    target.view[2, 4, 17] = 0.25
    assert target[36, 17] == 0.25 and target.array[36, 17] == 0.25
    assert np.shares_memory(target.view, robots["leg6_tibia/joint.target"].view)


def test_parts(robots: mayfly.Group) -> None:
    joint = robots.joint("leg2_femur")
    joint.target[...] = 0.5
    assert np.all(robots["joint.target"].array[:, 4] == 0.5)
    assert np.count_nonzero(robots["joint.target"].array == 0.5) == 37
    assert joint.model.name == "leg2_femur" and joint["joint.target"][3] == 0.5
    robots["base.position.z"][5] = 4.0
    assert robots["base.position"][5, 2] == 4.0
    found = robots.find("*_coxa/joint.angle")
    assert len(found) == 6 and next(iter(found.values())).shape == (37,)
    assert robots.constant("leg2_femur/upper") == robots.model.joint("leg2_femur").upper
    assert robots.sensor("foot1").value.shape == (37,)
    with pytest.raises(AttributeError, match="angle, rate, target"):
        print(joint.tarket)


def test_names_that_are_not_there(robots: mayfly.Group) -> None:
    with pytest.raises(mayfly.NotFoundError, match="joint"):
        robots["joint.angel"]
    with pytest.raises(mayfly.NotFoundError):
        robots["leg9_femur/joint.angle"]
    with pytest.raises(mayfly.ArgumentError, match="constant"):
        robots["leg2_femur/upper"]
    assert "joint.angle" in robots and "nothing" not in robots and 3 not in robots


def test_reading_by_robot(robots: mayfly.Group) -> None:
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=(37, 18)).astype(np.float32)
    target = robots["joint.target"]
    target[...] = numbers
    mask = rng.random(37) < 0.3
    for key in (
        3,
        -1,
        slice(2, 30, 3),
        mask,
        [5, 1, 36],
        (slice(None), 4),
        (mask, 2),
        (7, 3),
        (Ellipsis, 5),
        (slice(4), slice(2, 5)),
        ([1, 2], [3, 4]),
    ):
        assert np.array_equal(target[key], numbers[key]), key
    out = np.zeros((37, 18), np.float32)
    assert target.read(out) is out and np.array_equal(out, numbers)
    wide = np.zeros((37, 18))
    assert np.array_equal(target.read(wide), numbers)
    with pytest.raises(ValueError, match="shape"):
        target.read(np.zeros((36, 18), np.float32))
    with pytest.raises(TypeError):
        target.read(np.zeros((37, 18), np.int32))
    with pytest.raises(IndexError):
        target[37]


def test_writing_by_robot(robots: mayfly.Group) -> None:
    rng = np.random.default_rng(3)
    numbers = np.zeros((37, 18), np.float32)
    target = robots["joint.target"]
    target[...] = 0
    mask = rng.random(37) < 0.4
    for key, value in (
        (3, 1.0),
        (slice(5, 9), np.ones(18) * 2),
        (mask, rng.normal(size=18)),
        ([1, 30], [[3.0], [4.0]]),
        ((slice(None), 2), np.arange(37)),
        ((4, slice(3)), [7, 8, 9]),
        (slice(None, None, -1), np.arange(18.0)),
        (([1, 20, 20], [3, 4, 5]), [1, 2, 3]),
    ):
        target[key] = value
        numbers[key] = value
        assert np.array_equal(target.array, numbers), key


def test_refused(robots: mayfly.Group) -> None:
    target, before = robots["joint.target"], robots.world.hash()
    for wrong, error in (
        (np.zeros(17), "shape"),
        (np.zeros((36, 18)), "shape"),
        (np.nan, "robot 0 .and 36 more"),
        (1e300, "float32"),
        (np.inf, "finite"),
    ):
        with pytest.raises(ValueError, match=error):
            target[...] = wrong
    numbers = np.zeros((37, 18))
    numbers[21, 3] = np.nan
    with pytest.raises(mayfly.ArgumentError, match="robot 21 would get nan; nothing was written"):
        target[...] = numbers
    for typed in ("abc", [object()], 1j, None, {}):
        with pytest.raises(TypeError, match="real numbers"):
            target[...] = typed
    with pytest.raises(IndexError, match="twice"):
        target[[1, 1]] = 0.0
    with pytest.raises(ValueError, match="computed"):
        robots["sensor.value"] = 1.0
    with pytest.raises(ValueError, match="length 1"):
        robots["base.orientation"] = [1, 1, 1, 1]
    with mayfly.Scene("scenes/cloth.yaml") as scene:
        group = next(group for group in scene.groups if "pin.vertex" in group)
        with pytest.raises(ValueError, match="whole numbers"):
            group["pin.vertex"] = 1.5
    with pytest.raises(ValueError):
        robots["sensor.value"].view[...] = 1.0  # read only
    assert robots.world.hash() == before
    robots["base.orientation"] = [0.999, 0, 0, 0]
    assert np.all(robots["base.orientation"].array == [1, 0, 0, 0])


def test_written_state_is_followed(hexapod: mayfly.Model) -> None:
    """Points of a body at new angles: writing by name must do what mf_property_write does."""
    with mayfly.World() as world:
        group = world.add_group(hexapod, 3, motion="points")
        before = group["body.points"].array
        group["leg1_coxa/joint.angle"][1] = 0.4
        after = group["body.points"].array
        assert not np.array_equal(after[1], before[1]) and np.array_equal(after[0], before[0])


def test_dlpack_out(robots: mayfly.Group) -> None:
    view = np.from_dlpack(robots["joint.target"])
    assert view.shape == (3, 16, 18)
    robots["joint.target"][20] = 0.75
    assert np.all(view[1, 4] == 0.75)  # no copy
    values = np.from_dlpack(robots["sensor.value"])
    assert values.shape == (3, 16, 6)


def test_dlpack_in(robots: mayfly.Group) -> None:
    class Foreign:
        """Speaks DLPack and nothing else."""

        def __init__(self, array: np.ndarray) -> None:
            self._array = array

        def __dlpack__(self, **how: object) -> object:
            return self._array.__dlpack__(**how)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self._array.__dlpack_device__()

    numbers = np.arange(37 * 18.0).reshape(37, 18)
    robots["joint.target"] = Foreign(numbers)
    assert np.array_equal(robots["joint.target"].array, numbers)

    class Elsewhere(Foreign):
        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0  # a graphics processor

    with pytest.raises(ValueError, match="copy it"):
        robots["joint.target"] = Elsewhere(numbers)


def test_torch(robots: mayfly.Group) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.from_dlpack(robots["joint.target"])
    robots["joint.target"] = torch.full((37, 18), 0.5)
    assert bool((tensor[:2] == 0.5).all())
    tensor[0, 3, 2] = 0.25
    assert robots["joint.target"][3, 2] == 0.25
    robots["joint.target"] = torch.zeros(18, requires_grad=True).detach()
    assert torch.from_dlpack(robots["sensor.value"]).shape == (3, 16, 6)


def test_close_gives_memory_back(hexapod: mayfly.Model) -> None:
    """Even while groups and fields are still held: only arrays keep it."""
    context = mayfly.Context(1)
    world = mayfly.World(context=context)
    group = world.add_group(hexapod, 5, motion="points")
    kept = [
        group["joint.angle"],
        *group.find("*/joint.rate").values(),
        group.joint("leg1_coxa").angle,
    ]
    assert sum(float(np.sum(field.view)) for field in kept) == 0 and context.live_bytes > 0
    world.close()
    assert context.live_bytes == 0 and len(kept) == 20


def test_views_outlive_everything(hexapod: mayfly.Model) -> None:
    context = mayfly.Context(2)
    world = mayfly.World(context=context)
    group = world.add_group(hexapod, 64, motion="points")
    field = group["base.position"]
    view = field.view
    world.step(3)
    height = field.array[5, 2]
    world.close()
    with pytest.raises(mayfly.ClosedError, match="make a new one"):
        field.array
    uses = [
        lambda: group["joint.angle"],
        lambda: world.step(),
        lambda: world.hash(),
        lambda: group.reset(),
        lambda: field.__setitem__(0, 1.0),
        lambda: world.time,
        lambda: group.fields,
        lambda: field[0],
    ]
    for use in uses:
        with pytest.raises(mayfly.ClosedError):
            use()
    kept = context.live_bytes
    uses.clear()
    del use, world, group, field
    gc.collect()
    assert view[0, 5, 2] == height  # the memory is still there
    assert context.live_bytes == kept > 0
    del view
    gc.collect()
    assert context.live_bytes == 0
