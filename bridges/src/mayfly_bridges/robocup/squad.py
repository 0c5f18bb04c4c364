"""A group of robots that agents play: what it does and feels, and who has which robot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import mayfly
from mayfly_bridges.robocup.robot import LinkFrame, Robot

Array = npt.NDArray[np.float64]

MOST_VALUE = 1e9  # [rad], [rad/s], [N m] that servos of the world are given
MOST_GAIN = 1e4  # [N m/rad], [N m s/rad] that an agent may ask for
CYCLE = 0.02  # [s] from percept to percept
HOLD = 4.0  # [1/rad] gain of joints without servos in robots that nobody plays, per effort
AHEAD = 0.3  # [rad] by which a target that moves at a rate may be ahead of its joint
HOLD_DAMPING = 0.02  # [s] damping of those, per gain
PLAYED = ("articulated", "kinematic")  # motions of robots with and without a player, if there


class Squad:
    """The robots of one group. Arrays have one row for each."""

    def __init__(self, group: mayfly.RemoteGroup, side: int, step_ns: int) -> None:
        self.group = group
        self.side = side  # 0 left, 1 right
        self.robot = Robot(group.describe())
        self.count = len(group)
        names = ["base.position", "base.orientation", "base.angular_velocity", "fault.word"]
        self.has_sensors = "sensor.value" in group.fields
        names += ["sensor.value"] if self.has_sensors else []
        self._slow = group.subscribe(*names, period=CYCLE)
        self._fast = group.subscribe("joint.angle", "joint.rate")
        shape = (self.count, len(self.robot.joints))
        self.position = np.zeros((self.count, 3))
        self.orientation = np.tile([1.0, 0, 0, 0], (self.count, 1))
        self.rate = np.zeros((self.count, 3))
        self.sensed = np.zeros((self.count, 0))
        self.faults = np.zeros(self.count, np.int64)  # bits MF_FAULT_*: such a robot stands still
        self.angle = np.zeros(shape)
        self.speed = np.zeros(shape)
        self.is_played = np.zeros(self.count, bool)
        self._q, self._dq, self._kp, self._kd, self._tau = (np.zeros(shape) for _ in range(5))
        self._goes = np.zeros(shape)  # [rad/s] of targets: the older dialect
        self._by_rates = np.zeros(self.count, bool)
        self._step = 1e-9 * step_ns
        self._links: tuple[Array, Array] | None = None
        self._can_rest: bool | None = None  # None: not tried yet
        self._has_gains = "servo.gain" in group.fields
        self._is_changed = True  # the laws of motors, since they were written
        self._hold = HOLD * np.minimum(self.robot.effort, 100.0)

    def read(self) -> None:
        """Takes the state of the present cycle."""
        self.position = self._slow["base.position"].astype(np.float64)
        self.orientation = self._slow["base.orientation"].astype(np.float64)
        self.rate = self._slow["base.angular_velocity"].astype(np.float64)
        self.faults = self._slow["fault.word"].astype(np.int64).reshape(self.count)
        if self.has_sensors:
            self.sensed = self._slow["sensor.value"].astype(np.float64)
        self.angle = self._fast["joint.angle"].astype(np.float64)
        self.speed = self._fast["joint.rate"].astype(np.float64)
        self._links = None

    def links(self) -> tuple[Array, Array]:
        """Positions (n, links, 3) [m] and rotations (n, links, 3, 3) of all links."""
        if self._links is None:
            self._links = self.robot.poses(self.position, self.orientation, self.angle)
        return self._links

    def frame_pose(self, seat: int, frame: LinkFrame) -> tuple[Array, Array]:
        """Position [m] and rotation of a frame of a robot in the world."""
        at, rotated = self.links()
        rotation = rotated[seat, frame.link]
        return at[seat, frame.link] + rotation @ frame.position, rotation @ frame.rotation

    def place(self, seat: int, x: float, y: float, theta: float) -> None:
        """Puts a robot somewhere, upright in its initial pose and at rest."""
        quaternion = (np.cos(theta / 2), 0.0, 0.0, np.sin(theta / 2))
        self.put(seat, (x, y, self.robot.rest_height), quaternion)

    def put(self, seat: int, position: Sequence[float], quaternion: Sequence[float]) -> None:
        """Puts a robot at a pose (position [m]; w, x, y, z), in its initial pose and at rest."""
        at = np.array(position)
        quaternion = np.array(quaternion) / np.linalg.norm(quaternion)
        self.group.place(at, quaternion, first=seat, count=1)
        self._is_changed = True
        self.position[seat], self.orientation[seat], self.rate[seat] = at, quaternion, 0.0
        self.angle[seat], self.speed[seat] = self.robot.start, 0.0
        if self._by_rates[seat]:
            self._q[seat] = self.robot.start
        self._links = None

    def joints(self, seat: int) -> tuple[Array, Array]:
        """Angles and rates of the joints of a robot, of its sensors where it has some."""
        angle, speed = self.angle[seat].copy(), self.speed[seat].copy()
        if self.has_sensors:
            robot = self.robot
            for own, address in ((angle, robot.angle_at), (speed, robot.rate_at)):
                has = address >= 0
                own[has] = self.sensed[seat][address[has].astype(int)]
        return angle, speed

    def take(self, seat: int, by_rates: bool) -> None:
        """An agent plays a robot from now on. Without commands its joints are limp, or if they are
        driven by rates they hold."""
        self._rest(seat, False)
        self.is_played[seat] = self._is_changed = True
        self._by_rates[seat] = by_rates
        for values in (self._q, self._dq, self._kp, self._kd, self._tau, self._goes):
            values[seat] = 0.0
        if by_rates:
            gain = np.where(self.robot.servo_gain > 0, self.robot.servo_gain, self._hold)
            damping = np.where(
                self.robot.servo_gain > 0, self.robot.servo_damping, HOLD_DAMPING * gain
            )
            self._q[seat], self._kp[seat], self._kd[seat] = self.angle[seat], gain, damping

    def release(self, seat: int) -> None:
        """Nobody plays a robot any more: it stands still."""
        self.is_played[seat] = False
        self._is_changed = True
        self._rest(seat, True)

    def _rest(self, seat: int, on: bool) -> None:
        """Switches a robot to the motion for rest, or back. A scene may have one motion only."""
        if self._can_rest is False:
            return
        try:
            self.group.switch(PLAYED[on], first=seat, count=1)
            self._can_rest = True
        except mayfly.MayflyError:
            if self._can_rest:  # it could before
                raise
            self._can_rest = False

    def command(self, seat: int, names: Sequence[str], values: Array) -> list[str]:
        """Takes commands to motors, rows of q, dq, kp, kd, tau; returns names of motors that the
        robot has not."""
        joints = [self.robot.motors.get(name, -1) for name in names]
        unknown = [name for name, joint in zip(names, joints) if joint < 0]
        if unknown:
            values = values[[joint >= 0 for joint in joints]]
            joints = [joint for joint in joints if joint >= 0]
        self._is_changed = True
        self._q[seat, joints], self._dq[seat, joints] = values[:, 0], values[:, 1]
        gains = np.clip(values[:, 2:4], 0.0, MOST_GAIN)
        self._kp[seat, joints], self._kd[seat, joints] = gains[:, 0], gains[:, 1]
        self._tau[seat, joints] = values[:, 4]
        return unknown

    def drive_joint(self, seat: int, joint: int, rate: float) -> None:
        """A joint turns at a rate [rad/s] from now on."""
        self._goes[seat, joint] = rate

    def drive(self) -> None:
        """Writes the torques of motors for the present step."""
        robot = self.robot
        angle, speed = self._fast["joint.angle"], self._fast["joint.rate"]
        if self._goes.any():
            requested = np.clip(self._q + self._step * self._goes, robot.lower, robot.upper)
            near = np.clip(requested, angle - AHEAD, angle + AHEAD)
            self._q = np.where(self._goes != 0, near, self._q)
            self._is_changed = True
        if self._has_gains:
            if self._is_changed:
                self._write_gains()
                self._is_changed = False
            return
        torque = self._kp * (self._q - angle) + self._kd * (self._dq - speed) + self._tau
        gain = np.where(robot.servo_gain > 0, 0.0, self._hold)
        hold = gain * (robot.start - angle) - HOLD_DAMPING * gain * speed
        played = self.is_played[:, None]
        torque = np.clip(np.where(played, torque, hold), -robot.effort, robot.effort)
        # The robot's own servos act, too. Those of players track where their joints are, so that
        # their damping is all that remains of them, up to their effort, and it is made up for.
        damping = np.clip(robot.servo_damping * speed, -robot.effort, robot.effort)
        torque += np.where(played, damping, 0.0)
        self.group.write("joint.target", np.where(played, angle, robot.start))
        self.group.write("joint.torque", torque)

    def _write_gains(self) -> None:
        """The laws of motors for the servos of the world, which compute them in each step."""
        robot, played, write = self.robot, self.is_played[:, None], self.group.write
        has = robot.servo_gain > 0
        gain = np.where(has, robot.servo_gain, self._hold)
        damping = np.where(has, robot.servo_damping, HOLD_DAMPING * gain)
        write("servo.gain", np.where(played, self._kp, gain))
        write("servo.damping", np.where(played, self._kd, damping))
        for name, requested, rest in (
            ("joint.target", self._q, robot.start),
            ("servo.target_rate", self._dq, 0.0),
            ("servo.torque", self._tau, 0.0),
        ):
            write(name, np.where(played, np.clip(requested, -MOST_VALUE, MOST_VALUE), rest))
