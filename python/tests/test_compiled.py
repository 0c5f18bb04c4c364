"""Terms that run in C: programs against NumPy, and tasks with the same terms in both."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need gymnasium")

from test_tasks import actions, make_task  # noqa: E402

import mayfly  # noqa: E402
from mayfly import mdp  # noqa: E402
from mayfly._native import ffi  # noqa: E402
from mayfly._program import NotTracedError, Recorder  # noqa: E402
from mayfly.context import Context  # noqa: E402
from mayfly.mdp import Event, Observation, Reward, Termination  # noqa: E402

MUSCLE = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 1"/>
<body name="trunk" pos="0 0 0.3"><freejoint/><geom type="box" size="0.2 0.1 0.05" mass="1"/>
{legs}</body></worldbody><actuator>{motors}</actuator></mujoco>"""


def crawler() -> mayfly.Model:
    """A body with four legs of one joint, and actuators."""
    legs = motors = ""
    for i, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))):
        legs += (
            f'<body name="leg{i}" pos="{x} {y} 0"><joint name="hip{i}" axis="0 1 0" damping="0.1" '
            f'range="-60 60"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.25"/></body>'
        )
        motors += f'<position joint="hip{i}" kp="20"/>'
    return mayfly.Model.from_string(MUSCLE.format(legs=legs, motors=motors))


def crawler_task(**more: Any) -> mayfly.Task:
    """A task of it; `more` replaces parts."""
    parts: dict[str, Any] = {
        "observations": {"policy": {"gyro": mdp.base_ang_vel}},
        "rewards": {"is_alive": 1.0},
    }
    return make_task(crawler(), **{**parts, **more})


# ---- programs ------------------------------------------------------------------------------------

NORMAL = np.random.default_rng(1).normal(0, 2, (300, 5)).astype(np.float32)


def changed(a: Any, b: Any) -> Any:
    np.multiply(a, b, out=a)
    a -= 1.0
    return a


def alias(a: Any) -> Any:
    b = a
    b += 1.0
    return a


CASES: dict[str, Callable[[Any], Any]] = {
    "sums": lambda x: x[:, :3] + 2.0 * x[:, 2:] - x[:, 0:1] / 3.0,
    "negative": lambda x: -x[:, 1],
    "numbers first": lambda x: 1.0 - 2.0 / (3.0 + np.abs(x)),
    "constants": lambda x: x * np.array([1.0, -2.0, 0.5, 0.0, 4.0], np.float32),
    "roots": lambda x: np.sqrt(np.square(x[:, 0]) + x[:, 1] ** 2),
    "powers": lambda x: np.exp(-x * x / 0.25),
    "angles": lambda x: np.arctan2(x[:, 0], x[:, 1]) + np.sin(x[:, 2]) * np.cos(x[:, 3]),
    "rounded": lambda x: np.round(x) + np.rint(3.0 * x),
    "limits": lambda x: np.clip(x, -1.0, 1.5) + np.minimum(x, 0.1) + np.maximum(x, -0.2),
    "one where": lambda x: np.where(x[:, 0] > 0, x[:, 1], -1.0),
    "logic": lambda x: ((x > 0) & (x <= 1)) | ~(x >= -1),
    "equal": lambda x: (np.rint(x) == 1.0) | (np.rint(x) != 0.0),
    "reductions": lambda x: x.sum(axis=1) + np.max(x, axis=1) - x.min(axis=-1) + x.mean(axis=1),
    "any": lambda x: (x > 3).any(axis=1) | np.all(x > -1, axis=1),
    "counts": lambda x: (x > 0).sum(axis=1) + (x < 0).astype(np.float32).sum(axis=1),
    "norm": lambda x: np.linalg.norm(x[:, :2], axis=1),
    "columns": lambda x: np.stack([*x.T[::-1]], axis=1)[:, [4, 0, 2]],
    "joined": lambda x: np.concatenate([x[:, 3:], x[:, :1] * 2], axis=-1),
    "total": lambda x: mdp.total(x) + mdp.square_sum(x[:, 1:]),
    "cross": lambda x: np.cross(x[:, :3], x[:, 2:]),
    "in place": lambda x: changed(x[:, 0].copy(), x[:, 1]),
    "an alias": lambda x: alias(2 * x),
    "truths": lambda x: (x[:, 0] > 0) * (x[:, 1] > 0) + (x[:, 2] > 0),
    "chosen truths": lambda x: np.where(x[:, 0] > 0, x[:, 1] > 0, True) + (x[:, 2] > 0),
    "joined truths": lambda x: np.stack([x[:, 0] > 0, x[:, 1] > 0], axis=1) + (x[:, 2:4] > 0),
    "least truths": lambda x: ~np.minimum(x[:, 0] > 0, x[:, 1] > 0),
    "finite": lambda x: np.isfinite(x / np.maximum(x, 0.0)),
}


def run(function: Callable[[Any], Any], values: np.ndarray, robots: Any = None) -> np.ndarray:
    """What a program of the function makes of columns one behind the other."""
    memory = np.array(values.T, order="C").T
    recorder = Recorder(len(values))
    made = function(recorder.array(memory))
    out = np.full(made.shape[::-1], -7, made.dtype).T
    recorder.store(out, made)
    program = recorder.program()
    assert program is not None
    with Context(threads=2) as context:
        program.run(context._use(), ffi.NULL, robots, len(values))
    return np.array(out)


@pytest.mark.parametrize("name", CASES)
def test_programs(name: str) -> None:
    function = CASES[name]
    with np.errstate(all="ignore"):
        expected = function(NORMAL)
    made = run(function, NORMAL)
    assert made.shape == expected.shape
    np.testing.assert_allclose(made, expected.astype(made.dtype), rtol=2e-6, atol=1e-6)
    some = np.array([299, 0, 17, 16, 15, 64, 130], np.int64)
    rows = run(function, NORMAL, some)
    np.testing.assert_array_equal(rows[some], made[some])
    others = np.setdiff1d(np.arange(300), some)
    assert (rows[others] == np.array(-7).astype(rows.dtype)).all()


@pytest.mark.parametrize("count", [1, 16, 63, 64, 65, 511, 512, 5000])
def test_any_number_of_robots(count: int) -> None:
    values = np.random.default_rng(2).normal(0, 1, (5000, 5)).astype(np.float32)
    everything = run(CASES["powers"], values)
    np.testing.assert_array_equal(run(CASES["powers"], values[:count]), everything[:count])


def test_exponential() -> None:
    x = np.concatenate([np.linspace(-110, 95, 100_001), [np.nan, np.inf, -np.inf, 0.0]])
    x = x.astype(np.float32)
    made = run(lambda s: np.exp(s[:, 0]), x[:, None])
    with np.errstate(over="ignore"):
        exact = np.exp(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(np.isnan(made), np.isnan(exact))
    np.testing.assert_array_equal(np.isposinf(made), np.isposinf(exact))
    known = np.isfinite(exact)
    assert (np.abs(made[known] - exact[known]) <= 2 * np.spacing(exact[known])).all()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:10],
        lambda x: x if x[:, 0].any(axis=-1) else 0 * x,
        lambda x: np.sort(x, axis=1),
        lambda x: np.sum(x, axis=0),
        lambda x: x + np.zeros((300, 5)),
        lambda x: x[:, 0] + x,
        lambda x: float(x[:, 0]),
        lambda x: np.array(list(x)),
        lambda x: x**3,
        lambda x: np.add(x, x, out=np.zeros((300, 5))),
        lambda x: changed(x[:, 0], x[:, 1]),  # what is not its own
        lambda x: changed((2 * x)[:, 0], x[:, 1]),  # a part
        lambda x: 2**x,
    ],
)
def test_what_programs_cannot_do(function: Callable[[Any], Any]) -> None:
    with pytest.raises(NotTracedError):
        run(function, NORMAL)


# ---- tasks ---------------------------------------------------------------------------------------


def own(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same term as one of a user, which NumPy computes."""
    return lambda env, *given, **params: function(env, *given, **params)


class OwnCommand(mdp.UniformVelocityCommand):
    """Likewise."""

    def resample(self, env: Any, robots: Any) -> Any:
        return super().resample(env, robots)

    def value(self, env: Any, drawn: Any) -> Any:
        return super().value(env, drawn)

    def metrics(self, env: Any, value: Any) -> Any:
        return super().metrics(env, value)


def basic(kind: str) -> list[str]:
    """Names of the terms of mayfly.mdp itself."""
    found = mdp.shipped(kind).items()
    return [name for name, function in found if function.__module__ == mdp.__name__]


ALL_OBSERVATIONS: dict[str, dict[str, Any]] = {
    name: {} for name in basic("observation") if name not in ("field", "height_scan")
} | {"contact_forces": {"link_names": "leg*"}, "field": {"name": "hip1/joint.rate"}}
ALL_REWARDS: dict[str, dict[str, Any]] = {name: {} for name in basic("reward")} | {
    "base_height_l2": {"target_height": 0.3},
    "upright_height_exp": {"target_height": 0.3, "std": 0.1},
    "joint_deviation_l1": {"joint_names": ("hip0", "hip2")},
    "feet_air_time": {"link_names": "leg*", "threshold": 0.02},
    "feet_slide": {"link_names": "leg*"},
    "undesired_contacts": {"link_names": "*", "threshold": 0.1},
}
ALL_TERMINATIONS: dict[str, dict[str, Any]] = {
    "time_out": {},
    "bad_orientation": {"limit_angle": 0.5},
    "root_height_below_minimum": {"minimum_height": 0.1},
    "illegal_contact": {"link_names": "trunk"},
}
EVENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "reset_root_state_uniform": ("reset", {
        "pose_range": {"yaw": (-3.0, 3.0), "roll": (-0.1, 0.1), "z": (0.0, 0.05)},
        "velocity_range": {"x": (-0.2, 0.2), "yaw": (-1.0, 1.0)},
    }),
    "reset_joints_by_scale": ("reset", {"position_range": (0.5, 1.5), "joint_names": "hip1"}),
    "reset_joints_by_offset": ("reset", {
        "position_range": (-0.2, 0.2), "velocity_range": (-1.0, 1.0),
        "joint_names": ("hip0", "hip3"),
    }),
    "push_by_setting_velocity": ("interval", {"velocity_range": {"y": (-0.3, 0.3)}}),
}  # fmt: skip


def everything(wrap: Callable[..., Any], command: type[mdp.UniformVelocityCommand]) -> mayfly.Task:
    """A task with every term that ships."""
    assert set(ALL_TERMINATIONS) == set(basic("termination"))

    def find(kind: str, name: str) -> Callable[..., Any]:
        return wrap(mdp.shipped(kind)[name])

    return crawler_task(

        actions={"joint_pos": mdp.JointPositionAction(scale=0.5, latency=(0.0, 0.03),
                                                      clip=(-0.6, 0.6))},
        commands={"twist": command(
            (0.0, 0.3), (-0.1, 0.1), (-1.0, 1.0), heading_command=True,
            resampling_time_range=(0.1, 0.3), rel_standing_envs=0.2, rel_heading_envs=0.5,
        )},
        observations={
            "policy": {
                name: Observation(find("observation", name), noise=0.1, history_length=2, **params)
                for name, params in ALL_OBSERVATIONS.items()
            },
            "late": {"velocity": Observation(find("observation", "base_lin_vel"),
                                             delay_max_lag=2)},
        },
        rewards={
            name: Reward(find("reward", name), 0.1, **params)
            for name, params in ALL_REWARDS.items()
        },
        terminations={
            name: Termination(find("termination", name), time_out=name == "time_out", **params)
            for name, params in ALL_TERMINATIONS.items()
        },
        events={
            name: Event(find("event", name), mode,
                        interval_range_s=(0.1, 0.3) if mode == "interval" else None, **params)
            for name, (mode, params) in EVENTS.items()
        },
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_the_same_task_in_numpy(mode: str) -> None:
    """Every term that ships is compiled, and gives what it gives in NumPy."""
    compiled = everything(lambda one: one, mdp.UniformVelocityCommand)
    slow = everything(own, OwnCommand)
    ends = 0
    with compiled.make(70, autoreset_mode=mode) as envs, slow.make(70, autoreset_mode=mode) as same:
        assert not any(envs._programs.slow.values())
        assert all(f"event {name}" in envs._programs._parts for name in EVENTS)
        assert envs.numpy_terms == () and "in NumPy" not in repr(envs)
        assert {"reward/is_alive", "event/push_by_setting_velocity", "command/twist",
                "observation/late/velocity"} <= set(same.numpy_terms)  # fmt: skip
        assert "in NumPy: event/reset_root_state_uniform, " in repr(same)
        assert len(same._programs.slow["reward"]) == len(ALL_REWARDS)
        assert len(same._programs.slow["observation"]) == len(ALL_OBSERVATIONS) + 1
        assert not any(part.startswith(("event", "draw")) for part in same._programs._parts)
        for one in (envs, same):
            one.reset(seed=3)
        for action in actions(envs, 45):
            results = [one.step(action) for one in (envs, same)]
            for group in ("policy", "late"):
                np.testing.assert_allclose(
                    envs.observation_groups[group], same.observation_groups[group],
                    rtol=1e-3, atol=2e-3,
                )  # fmt: skip
            (_, reward, failed, cut, infos), others = results[0], results[1]
            np.testing.assert_allclose(reward, others[1], rtol=1e-3, atol=1e-3)
            np.testing.assert_array_equal(failed, others[2])
            np.testing.assert_array_equal(cut, others[3])
            logs = infos.get("final_info", infos)
            for name, values in logs.items():
                known = others[4].get("final_info", others[4])[name]
                np.testing.assert_allclose(values, known, rtol=2e-3, atol=2e-3, err_msg=name)
            ends += int(failed.sum() + cut.sum())
    assert ends > 50


def test_threads_and_company() -> None:
    """The same bits with any number of threads, alone and among others."""
    task = everything(lambda one: one, mdp.UniformVelocityCommand)
    made = []
    for count, threads in ((600, 1), (600, 4), (3, 2)):
        with task.make(count, num_threads=threads) as envs:
            seen, _ = envs.reset(seed=5)
            rows = [seen[:3].copy()]
            for action in np.random.default_rng(1).normal(0, 0.5, (30, 1, 4)).astype(np.float32):
                seen, reward, *_ = envs.step(np.tile(action, (count, 1)))
                rows.append(np.column_stack([seen[:3], reward[:3]]).astype(np.float32))
            made.append(rows)
    for rows in made[1:]:
        for one, other in zip(made[0], rows):
            np.testing.assert_array_equal(one, other)


class Faster(mdp.UniformVelocityCommand):
    """A command of one's own whose value is compiled."""

    @mdp.compiled
    def value(self, env: Any, drawn: Any) -> Any:
        return 2.0 * drawn[:, :3]


def test_own_terms_in_c() -> None:
    calls = []

    @mdp.compiled
    def height(env: Any, least: float) -> Any:
        calls.append(1)
        return np.maximum(env["base.position"][:, 2] - least, 0)

    task = crawler_task(
        rewards={"high": Reward(height, 2.0, least=0.1)}, commands={"twist": Faster()}
    )
    with task.make(20) as envs:
        envs.reset(seed=1)
        begun = len(calls)
        for action in actions(envs, 5):
            _, reward, *_ = envs.step(action)
        assert len(calls) == begun and envs.numpy_terms == ()
        np.testing.assert_array_equal(envs.command(), 2.0 * envs.drawn()[:, :3])
        z = envs["base.position"][:, 2]
        np.testing.assert_allclose(reward, 0.02 * 2 * np.maximum(z - 0.1, 0), rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("rewards", r"reward wrong: cannot be compiled: numpy.cumsum"),
        ("observations", r"observation policy/wrong: cannot be compiled: numpy.cumsum"),
        ("events", r"event wrong: cannot be compiled: numpy.cumsum"),
    ],
)
def test_own_terms_that_c_cannot(kind: str, text: str) -> None:
    @mdp.compiled
    def wrong(env: Any, robots: Any = None) -> Any:
        return np.cumsum(env.joint_pos, axis=1)[:, 0]

    given = {
        "rewards": {"wrong": Reward(wrong)},
        "observations": {"policy": {"wrong": Observation(wrong)}},
        "events": {"wrong": Event(wrong)},
    }
    with pytest.raises(mayfly.ArgumentError, match=text):
        crawler_task(**{kind: given[kind]}).make(4)


def test_weights_and_ranges_that_change() -> None:
    def stage(env: Any, robots: Any) -> None:
        if env.common_step_counter >= 10:
            env.weights["is_alive"] = 3.0
            env.ranges(env.task.commands["twist"])["lin_vel_x"] = (5.0, 5.0)

    task = crawler_task(
        rewards={"is_alive": 1.0, "is_terminated": 0.0}, episode_length_s=0.2,
        terminations={"time_out": Termination(time_out=True)}, events={},
        curriculum={"stage": mdp.Curriculum(stage)},
    )  # fmt: skip
    with task.make(4, autoreset_mode="SameStep") as envs:
        envs.reset(seed=1)
        rewards = [envs.step(action)[1] for action in actions(envs, 25)]
        np.testing.assert_allclose(np.array(rewards)[:10], 0.02, rtol=1e-6)
        np.testing.assert_allclose(np.array(rewards)[10:], 0.06, rtol=1e-6)
        assert set(np.unique(envs.command()[:, 0])) <= {0.0, 5.0}
        envs.weights["is_alive"], envs.weights["is_terminated"] = 0.0, 1.0
        reward = envs.step(actions(envs, 1)[0])[1]
        np.testing.assert_array_equal(reward, 0.0)


def test_parameters_that_change() -> None:
    """A curriculum may change the parameters of terms, those of an event in a mapping too."""
    task = crawler_task(
        rewards={"high": Reward(mdp.base_height_l2, 1.0, target_height=0.0)},
        terminations={"time_out": Termination(time_out=True)}, episode_length_s=10.0,
        events={"push": Event(mdp.push_by_setting_velocity, "interval",
                              interval_range_s=(0.02, 0.02), velocity_range={"x": (0.0, 0.0)})},
    )  # fmt: skip
    with task.make(6) as envs:
        envs.reset(seed=1)
        first = envs.step(actions(envs, 1)[0])[1]
        envs.task.rewards["high"].params["target_height"] = 10.0
        envs.task.events["push"].params["velocity_range"]["x"] = (3.0, 3.0)
        second = envs.step(actions(envs, 1)[0])[1]
        height = envs["base.position"][:, 2]
        assert (second > 80 * 0.02).all() and (first < 0.02).all()
        np.testing.assert_allclose(second, 0.02 * np.square(height - 10.0), rtol=1e-4)
        assert (envs["base.linear_velocity"][:, 0] > 2.0).all()
        envs.task.rewards["high"].params["target_height"] = np.zeros(6)  # may change in place
        assert (envs.step(actions(envs, 1)[0])[1] < 0.02).all()
        assert envs._programs.slow["reward"] == ["high"]


def test_parts_of_fields_after_a_write() -> None:
    """What an event has written is read by any path."""
    read = []

    def write(env: Any, robots: Any) -> None:
        before = env["joint.angle"][robots], env["hip2/joint.angle"][robots]
        env.write("hip2/joint.angle", before[1] + 0.25, robots)
        after = env["joint.angle"][robots]
        env.write("joint.rate", after - before[0], robots)
        read.append(1)

    task = crawler_task(events={"write": Event(mdp.compiled(write))}, terminations={})
    with task.make(5) as envs:
        envs.reset(seed=1)
        assert "event write" in envs._programs._parts
        rates = np.array(envs["joint.rate"])
        np.testing.assert_allclose(rates, np.tile([0, 0, 0.25, 0], (5, 1)), atol=1e-6)
