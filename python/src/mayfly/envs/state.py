"""The state of the robots of a task: fields by name as arrays, what follows from them, contacts of
links, random numbers, and writes.

C stores fields as [block][component][lane], sixteen robots side by side, so (robots, components)
without a copy does not exist. What a term reads is copied once per step, in runs of sixteen robots,
to [component][robot], and shown as (robots, components): arithmetic on columns is contiguous.
`env.group[name].view` is the memory itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors, mdp
from mayfly._native import ffi, lib
from mayfly._program import Recorder
from mayfly._shown import Shown
from mayfly.arrays import Array
from mayfly.envs.contacts import ContactsBetween
from mayfly.field import Field, _Memory
from mayfly.group import Group
from mayfly.patches import TerrainPatches
from mayfly.task import Command, Range, Task, near

__all__ = ["COLUMNS", "DERIVED", "Contact", "State"]

_STARTUP = 2**32 - 1  # of episodes: random numbers before the first one
_BLOCK: int = lib.MF_BLOCK
_PATCHES = 0x70617463  # stream of random numbers
COLUMNS = 4  # random numbers of one counter
Index = npt.NDArray[np.int64]


def _rotate_inverse(turn: Any, vector: Any) -> list[Any]:
    """Vectors (3 rows) of the world in the frames of bodies; quaternions (4 rows)."""
    w, x, y, z = turn
    # v' = v + 2 q x (q x v - w v), q the vector part.
    tx = y * vector[2] - z * vector[1] - w * vector[0]
    ty = z * vector[0] - x * vector[2] - w * vector[1]
    tz = x * vector[1] - y * vector[0] - w * vector[2]
    pairs = ((y, z, ty, tz), (z, x, tz, tx), (x, y, tx, ty))
    return [2 * (a * tb - b * ta) + v for (a, b, ta, tb), v in zip(pairs, vector)]


DERIVED = {  # and the fields that it follows from
    "linear": ("base.orientation", "base.linear_velocity"),
    "gravity": ("base.orientation",),
    "heading": ("base.orientation",),
}


class _Storage:
    """A copy of a field, [component][block][lane], and its arrays by robot."""

    def __init__(self, field: Field) -> None:
        self.field = field
        view = field.view
        elements = view.shape[2:]
        self.memory = np.zeros((*elements, *view.shape[:2]), view.dtype)
        # Runs of sixteen numbers, copied as single items: several times as fast.
        interface = {
            "version": 3,
            "typestr": f"|V{view.dtype.itemsize * _BLOCK}",
            "data": (view.__array_interface__["data"][0], True),
            "shape": (len(view), *elements),
            "strides": (view.strides[0], *view.strides[2:]),
        }
        runs = np.asarray(_Memory(view, interface))
        self.runs = np.moveaxis(runs, 0, -1)
        rows = self.memory.reshape(*elements, -1)[..., : field.group.count]
        self.rows = np.moveaxis(rows, -1, 0)  # (robots, *shape)
        self.shown = self.rows.view()
        self.shown.flags.writeable = False
        self.stale: list[Index] = []  # robots whose values are old

    def read(self) -> Array:
        self.memory.view(self.runs.dtype)[..., 0] = self.runs
        self.stale.clear()
        return self.shown

    def update(self) -> None:
        """Reads stale robots anew."""
        robots = self.stale[0] if len(self.stale) == 1 else np.concatenate(self.stale)
        self.stale.clear()
        self.rows[robots] = self.field.view[robots // _BLOCK, robots % _BLOCK]


class Contact(Shown):
    """Contacts of links with the ground, (robots, links), in the order of the model's links.

    Attributes:
        links: names.
        force: [N] normal force at the end of the step.
        air_time: [s] in the air since the last contact; 0 on the ground.
        last_air_time: [s] of the last stay in the air.
        contact_time: [s] on the ground since the last time in the air; 0 in the air.
        first_contact: whether it touched down in this step.

    """

    def __init__(self, state: State, links: Sequence[int]) -> None:
        names = [link.name for link in state.group.model.links]
        self.links = tuple(names[link] for link in links)
        self._load, owners = _contact_rows(state)
        self._rows: list[Any] = []
        for name, link in zip(self.links, links):
            rows = [row for row, owner in enumerate(owners) if owner == link]
            if not rows:
                raise errors.ArgumentError(f"link {name}: has no contacts with the ground")
            together = rows == list(range(rows[0], rows[-1] + 1))
            self._rows.append(slice(rows[0], rows[-1] + 1) if together else rows)
        self._field = "contact.slip" if "contact.slip" in state.group else None
        self._state, self._slides = weakref.proxy(state), False  # whether somebody reads the slip
        shape = (len(links), state.num_envs)
        columns = [np.zeros(shape, np.float32).T for _ in range(5)]
        self.force, self._slip, self.air_time, self.last_air_time, self.contact_time = columns
        self.first_contact = np.zeros(shape, np.bool_).T

    def _in_brief(self) -> str:
        return f"{len(self.air_time)} robots, {', '.join(self.links)}"

    @property
    def slip(self) -> Array:
        """Largest slip speed of a contact [m/s]; 0 in the air."""
        if not self._slides:
            self._slides = True
            self._state._version += 1
            if self._field is not None:
                slip = self._state[self._field]
                for column, rows in enumerate(self._rows):
                    self._slip[:, column] = slip[:, rows].max(axis=1)
        return self._slip

    def follow(self, seen: Any, recorder: Recorder) -> None:
        """Part of a program: reads the contacts at the end of a step."""
        dt = np.float32(seen.step_dt)
        load = seen[self._load]
        force = np.stack([load[:, rows].sum(axis=1) for rows in self._rows], axis=1)
        on = force > 0
        air, last, down = map(seen.columns, (self.air_time, self.last_air_time, self.contact_time))
        first = on & (air > 0)
        made = [
            (self.force, force),
            (self.first_contact, first),
            (self.last_air_time, np.where(first, air + dt, last)),
            (self.air_time, np.where(on, 0, air + dt)),
            (self.contact_time, np.where(on, down + dt, 0)),
        ]
        if self._slides and self._field is not None:
            slip = seen[self._field]
            rows = [slip[:, rows].max(axis=1) for rows in self._rows]
            made.append((self._slip, np.stack(rows, axis=1)))
        for array, value in made:
            recorder.store(array, value)

    @property
    def past(self) -> list[Array]:
        """What is 0 when an episode begins."""
        times = [self.air_time, self.last_air_time, self.contact_time]
        return [self.force, self._slip, *times, self.first_contact]


def _contact_rows(state: State) -> tuple[str, list[int]]:
    """The field of loads of contacts with the ground, and the link of each of its rows."""
    group, out = state.group, ffi.new("uint32_t[2]")
    if "contact.load" in group:
        owners = []
        for row in range(group["contact.load"].shape[1]):
            known = lib.mf_group_contact_owner(group._use(), row, out, out + 1)
            owners.append(int(out[0]) if known else -1)
        return "contact.load", owners
    if "point.load" in group:
        model = group.model._use()
        points = [model.points[i] for i in range(model.point_count)]
        return "point.load", [int(p.link) for p in points if p.flags & lib.MF_POINT_COLLIDES]
    raise errors.UnsupportedError(f"contacts: the motion {group.motions[0]!r} has no loads")


class State:
    """What terms read and write of the robots. A subclass makes the world and steps it.

    Attributes:
        task: what the robots learn.
        num_envs: robots.
        step_dt: [s] of a step.
        episode_length_buf: [step] since the start of each robot's episode, (robots,).
        max_episode_length: [step] of an episode.
        action: of the last step, (robots, actions); 0 after a reset.
        previous_action: of the step before.
        terminated: whether the episode ends as a failure, (robots,), when rewards are computed.
        truncated: whether it is cut off.
        default_joint_pos: [rad or m] of the default pose, (joints,).
        joint_limits: lowest and largest positions [rad or m], two of (joints,); infinite: none.
        weights: of rewards by name; a curriculum may change them.
        origins: [m] where the default pose of each robot stands, (robots, 3): 0, or the middle of a
            patch.
        terrain_levels: row of each robot's patch, (robots,); see set_terrain_levels.
        terrain_types: column of its patch.

    """

    task: Task
    num_envs: int
    group: Group
    _gravity: Array

    def _open(self) -> None:
        """Begins, once there is a group."""
        n, task, group = self.num_envs, self.task, self.group
        self.step_dt = task.step_dt
        self.max_episode_length = task.episode_steps
        self._step_counter = 0
        self._episode = np.zeros(n, np.uint32)
        self._seed = np.arange(n, dtype=np.uint64)
        self.episode_length_buf = np.zeros(n, np.int32)
        self._before_all = np.full(n, _STARTUP, np.uint32)
        self._who, self._who_starts = (
            ffi.new(
                "mfpy_Robots *",
                {
                    "seeds": ffi.from_buffer("uint64_t[]", self._seed),
                    "episodes": ffi.from_buffer("uint32_t[]", episodes),
                    "steps": ffi.from_buffer("uint32_t[]", self.episode_length_buf),
                },
            )
            for episodes in (self._episode, self._before_all)
        )
        self.terminated = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        self.weights = {name: term.weight for name, term in task.rewards.items()}
        self._storage: dict[str, _Storage] = {}
        self._seen: dict[str, Array] = {}
        self._derived: dict[str, Array] = {}
        self._contacts: dict[tuple[str, ...], Contact] = {}
        self._between: dict[Any, ContactsBetween] = {}
        self._joint_sets: dict[tuple[str, ...], list[int]] = {}
        self._originals: dict[str, Array] = {}
        self._kept: dict[str, Array] = {}  # what startup events wrote
        self._ranges: dict[Command, dict[str, Range]] = {}
        self._values: dict[str, Array] = {}  # of commands
        self._dirty: list[Index] = []
        self._stale: list[Index] = []  # whose derived values are old
        self._startup = False
        self._stream = self._draws = 0
        self._rates: Array | None = None  # of joints before the step, for accelerations
        self._version = 0  # of what programs of terms are made with
        given = task.terrain
        self._patches = given if isinstance(given, TerrainPatches) else None
        self.origins = np.zeros((n, 3))
        self.terrain_levels, self.terrain_types = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._grids: dict[Any, Array] = {}
        model = group.model
        self._home = self._default_state()
        angles = np.zeros(group["joint.angle"].shape[1:], np.float32)
        lower, upper = np.full_like(angles, -np.inf), np.full_like(angles, np.inf)
        for joint in model.joints:
            if joint.type in ("hinge", "slide"):
                angles[joint.index] = self._home[joint.position_address]
                lower[joint.index], upper[joint.index] = joint.lower, joint.upper
        self.default_joint_pos, self.joint_limits = angles, (lower, upper)

    def _default_state(self) -> npt.NDArray[np.float64]:
        """Positions of the default pose, in the form of Group.set_state."""
        frames, pose = self.group.model.keyframes, self.task.pose
        if pose is None and not frames:
            return np.array(self.group.state()[0][0])
        return np.array(frames[0 if pose is None else pose].position, np.float64)

    @property
    def common_step_counter(self) -> int:
        """[step] of the environment since it was made."""
        return self._step_counter

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.group.fields)

    # ---- fields ----------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Array:
        """A field, or a part by its path, at the end of the step: (robots, ...), read-only.

        It is valid until the next step. "base.position", "joint.angle", "FL_calf/joint.rate".
        """
        found = self._seen.get(name)
        if found is None:
            found = self._seen[name] = self._stored(name).read()
        elif self._storage[name].stale:
            self._storage[name].update()
        return found

    def _stored(self, name: str) -> _Storage:
        """Where the copy of a field is, old or new."""
        if name not in self._storage:
            self._storage[name] = _Storage(self.group.field(name))
        return self._storage[name]

    def _reread(self, robots: Index) -> None:
        """The state of these robots has changed."""
        for name in self._seen:
            self._storage[name].stale.append(robots)
        self._changed(robots)

    def _forget(self) -> None:
        """The state has changed."""
        self._seen.clear()
        self._derived.clear()
        self._stale.clear()

    def padded(self, name: str) -> Array:
        """A field as [component][robot], with the undefined robots that fill the last block."""
        self[name]
        memory = self._storage[name].memory
        return memory.reshape(*memory.shape[:-2], -1)

    def _derive(self, name: str) -> Array:
        """What follows from fields, (robots, k) or (robots,), computed once per step."""
        if self._stale:
            self._derive_again()
        found = self._derived.get(name)
        if found is None:
            inputs = [self.padded(field) for field in DERIVED[name]]
            made = np.array(self._formula(name, inputs))
            found = self._derived[name] = made[..., : self.num_envs].T
        return found

    def _changed(self, robots: Index) -> None:
        """The state of these robots has changed."""
        self._derived.pop("acceleration", None)
        if self._derived:
            self._stale.append(robots)

    def _derive_again(self) -> None:
        robots = np.unique(np.concatenate(self._stale))
        self._stale.clear()
        for name, values in self._derived.items():
            inputs = [self.padded(field)[:, robots] for field in DERIVED[name]]
            values[robots] = np.array(self._formula(name, inputs)).T

    def _formula(self, name: str, inputs: list[Any]) -> Any:
        """Rows of what is derived, from rows of its fields; arrays or symbols."""
        if name == "linear":
            return _rotate_inverse(inputs[0], inputs[1])
        if name == "gravity":
            return _rotate_inverse(inputs[0], self._gravity)
        w, x, y, z = inputs[0]
        return np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))

    @property
    def base_lin_vel(self) -> Array:
        """Velocity of the base's origin in the body's frame [m/s], (robots, 3)."""
        return self._derive("linear")

    @property
    def base_ang_vel(self) -> Array:
        """Angular velocity of the base in the body's frame [rad/s], (robots, 3)."""
        return self["base.angular_velocity"]

    @property
    def projected_gravity(self) -> Array:
        """Direction of gravity in the body's frame, of length 1, (robots, 3)."""
        return self._derive("gravity")

    @property
    def heading(self) -> Array:
        """Direction of the body's x axis in the world [rad], -pi .. pi, (robots,)."""
        return self._derive("heading")

    @property
    def joint_pos(self) -> Array:
        """Positions of joints [rad or m], (robots, joints)."""
        return self["joint.angle"]

    @property
    def joint_vel(self) -> Array:
        """Rates of joints [rad/s or m/s], (robots, joints)."""
        return self["joint.rate"]

    @property
    def joint_acc(self) -> Array:
        """Accelerations of joints, means over the step [rad/s^2 or m/s^2], (robots, joints)."""
        rates = self._joint_rates()
        found = self._derived.get("acceleration")
        if found is None:
            found = (self.joint_vel - rates) * np.float32(1.0 / self.step_dt)
            self._derived["acceleration"] = found
        return found

    def _joint_rates(self) -> Array:
        """The rates of joints before the step, which are kept from now on."""
        if self._rates is None:
            self._rates = np.array(self.joint_vel.T, np.float32).T
            self._version += 1
        return self._rates

    # ---- the ground ------------------------------------------------------------------------------

    @property
    def patches(self) -> TerrainPatches:
        """The ground of the task; UnsupportedError: it has no patches."""
        if self._patches is None:
            raise errors.UnsupportedError("the task has no terrain=mayfly.TerrainPatches(...)")
        return self._patches

    def set_terrain_levels(self, robots: Index, levels: Any) -> None:
        """Moves robots to patches of these rows, (k,), from their next episode on."""
        patches = self.patches
        self.terrain_levels[robots] = np.clip(levels, 0, patches.levels - 1)
        self.origins[robots] = patches.origins[
            self.terrain_levels[robots], self.terrain_types[robots]
        ]

    def _find_patches(self, robots: Index) -> None:
        """Patches of robots that get a seed; needs `_startup`'s random numbers."""
        if self._patches is None:
            return
        self._draw_for(_PATCHES)
        row, column = self.random(2, robots).T
        levels = min(self._patches.start_levels, self._patches.levels)
        self.terrain_types[robots] = (column * len(self._patches.kinds)).astype(np.int64)
        self.set_terrain_levels(robots, (row * levels).astype(np.int64))

    def height_scan(
        self, size: tuple[float, float], resolution: float, link: str | None, offset: float
    ) -> Array:
        """As mdp.height_scan."""
        key = (*size, resolution)
        if key not in self._grids:
            counts = [round(edge / resolution) + 1 for edge in size] if resolution > 0 else [0]
            if not all(0 < count <= 1000 for count in counts):
                raise errors.ArgumentError(
                    f"height_scan: need 0 < resolution <= size, got {resolution} and {size}"
                )
            x, y = ((np.arange(n) - 0.5 * (n - 1)) * resolution for n in counts)
            self._grids[key] = np.array([[u, v] for v in y for u in x], np.float64)
        grid = self._grids[key]
        if link is None:
            position, turn = self.padded("base.position"), self.padded("base.orientation")
        else:
            if "link.pose" not in self.group:
                self.group.derive_links()
            pose = self.padded("link.pose")[self.group.model.link(link).index]
            position, turn = pose[:3], pose[3:]
        out = np.empty((len(grid), self.num_envs), np.float32)
        lib.mfpy_height_scan(
            self.group.world._ground,
            ffi.from_buffer("float[]", np.ascontiguousarray(position, np.float32)),
            ffi.from_buffer("float[]", np.ascontiguousarray(turn, np.float32)),
            position.shape[1],
            self.num_envs,
            ffi.from_buffer("double[]", grid),
            len(grid),
            offset,
            ffi.from_buffer("float[]", out),
        )
        return out.T

    def link(self, name: str, field: str = "link.pose") -> Array:
        """The pose of a link in the world: position [m] and quaternion (w, x, y, z), (robots, 7);
        "link.velocity": linear [m/s] and angular [rad/s], (robots, 6).
        """
        if field not in self.group:
            self.group.derive_links()
        return self[f"{name}/{field}"]

    # ---- parts by name ---------------------------------------------------------------------------

    def joints(self, names: Sequence[str]) -> list[int]:
        """Columns of the joints that match names or patterns, in the order of the model."""
        key = (names,) if isinstance(names, str) else tuple(names)
        if key not in self._joint_sets:
            known = [joint.name for joint in self.group.model.joints]
            self._joint_sets[key] = mdp.match(known, key, "joint")
        return self._joint_sets[key]

    def contact(self, links: Sequence[str]) -> Contact:
        """Contacts with the ground of the links that match names or patterns."""
        key = (links,) if isinstance(links, str) else tuple(links)
        if key not in self._contacts:
            known = [link.name for link in self.group.model.links]
            self._contacts[key] = Contact(self, mdp.match(known, key, "link"))
            self._version += 1
        return self._contacts[key]

    def contacts_between(self, links: Sequence[str], others: Sequence[str]) -> ContactsBetween:
        """Contacts of the links that match names or patterns with other links, of which a robot's
        file has contact sensors.
        """
        key = tuple((one,) if isinstance(one, str) else tuple(one) for one in (links, others))
        if key not in self._between:
            self._between[key] = ContactsBetween(self, links, others)
        return self._between[key]

    def command_name(self, name: str | None) -> str:
        """The name of a command; None: the first."""
        if name is None and self.task.commands:
            return next(iter(self.task.commands))
        if name not in self.task.commands:
            known = ", ".join(self.task.commands) or "none"
            hint = near(name, self.task.commands)
            raise errors.NotFoundError(f"no command {name!r}{hint}; there are: {known}")
        return name

    def command(self, name: str | None = None) -> Array:
        """The value of a command, (robots, k); None: of the first."""
        return self._values[self.command_name(name)]

    def ranges(self, command: Command) -> dict[str, Range]:
        """The ranges of a command by name, of this environment: a curriculum may change them."""
        found = self._ranges.get(command)
        if found is None:
            found = self._ranges[command] = {
                name: value
                for name, value in vars(command).items()
                if isinstance(value, tuple) and name != "resampling_time_range"
            }
        return found

    # ---- random numbers --------------------------------------------------------------------------

    def _draw_for(self, stream: int) -> None:
        """Random numbers are now those of a term."""
        self._stream, self._draws = stream, 0

    def random(self, width: int, robots: Index | None = None) -> Array:
        """Uniform numbers in [0, 1), (k, width), of the robots of these numbers; None: of all.

        They depend on the robot's seed, its episode and its step in it, on the term, and on what
        the term has drawn before in this step: neither on other robots nor on their number.
        """
        return self._random(width, robots, False)

    def _random(self, width: int, robots: Index | None, gaussian: bool) -> Array:
        count = self.num_envs if robots is None else len(robots)
        out = np.empty((width, count), np.float32)
        rows = ffi.NULL
        if robots is not None:
            robots = np.ascontiguousarray(robots, np.int64)
            rows = ffi.from_buffer("int64_t[]", robots)
        lib.mfpy_random(
            self._who_starts if self._startup else self._who,
            self._stream << 32 | self._draws,
            rows,
            count,
            width,
            gaussian,
            ffi.from_buffer("float[]", out),
        )
        self._draws += -(-width // COLUMNS) * COLUMNS
        return out.T

    def uniform(self, low: Any, high: Any, width: int, robots: Index | None = None) -> Array:
        """Uniform numbers from low to high, (k, width), as `random`; low and high: numbers or one
        per column.
        """
        drawn = self.random(width, robots)
        low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
        drawn *= high - low
        drawn += low
        return drawn

    def normal(self, mean: Any, std: Any, width: int, robots: Index | None = None) -> Array:
        """Normally distributed numbers, (k, width), as `random`; mean and std: numbers or one per
        column.
        """
        drawn = self._random(width, robots, True)
        drawn *= np.asarray(std, np.float32)
        drawn += np.asarray(mean, np.float32)
        return drawn

    # ---- writes ----------------------------------------------------------------------------------

    def write(self, name: str, values: Any, robots: Index) -> None:
        """Writes a field, or a part by its path, of the robots of these numbers, (k,).

        Args:
            name: of a field that may be written: poses, velocities, targets, other inputs.
            values: (k, ...) of the field's shape, or what broadcasts to it; finite.
            robots: numbers.

        What a startup event writes is written again at each reset.
        """
        field = self.group.field(name)
        field._put(robots, values)
        self._wrote([field], robots)
        if self._startup:
            if name not in self._kept:
                self._kept[name] = field.read()
            self._kept[name][robots] = field[robots]

    def _wrote(self, fields: Sequence[Field], robots: Index) -> None:
        """Fields of robots have been written."""
        if any(field._moves for field in fields):
            self._dirty.append(robots)
        names = [field._field_name for field in fields]
        for other in self._seen:
            storage = self._storage[other]
            if storage.field._field_name in names:
                storage.stale.append(robots)
        self._changed(robots)

    def original(self, name: str) -> Array:
        """The values of a field in the default pose, before any event wrote it, (robots, ...)."""
        if name not in self._originals:
            self._originals[name] = self.group.field(name).read()
        return self._originals[name]

    def _refresh(self) -> None:
        """Recomputes what follows from state that was written."""
        if self._dirty:
            dirty, self._dirty = self._dirty, []
            same = all(one is dirty[0] for one in dirty)
            robots = dirty[0] if same else np.unique(np.concatenate(dirty))
            self.group._refresh_rows(robots)
            for name in self._seen:
                storage = self._storage[name]
                if not storage.field._moves:  # what was written is known
                    storage.stale.append(robots)
            self._changed(robots)
