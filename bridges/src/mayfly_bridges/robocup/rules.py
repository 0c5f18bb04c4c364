"""Rules of the league's simulation as numbers: play modes, phases, fouls, times."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum


class Mode(Enum):
    """Play modes by their names on the wire, in the order of the league's monitors."""

    BEFORE_KICK_OFF = "BeforeKickOff"
    KICK_OFF_LEFT = "KickOff_Left"
    KICK_OFF_RIGHT = "KickOff_Right"
    PLAY_ON = "PlayOn"
    KICK_IN_LEFT = "KickIn_Left"
    KICK_IN_RIGHT = "KickIn_Right"
    CORNER_KICK_LEFT = "corner_kick_left"
    CORNER_KICK_RIGHT = "corner_kick_right"
    GOAL_KICK_LEFT = "goal_kick_left"
    GOAL_KICK_RIGHT = "goal_kick_right"
    OFFSIDE_LEFT = "offside_left"
    OFFSIDE_RIGHT = "offside_right"
    GAME_OVER = "GameOver"
    GOAL_LEFT = "Goal_Left"
    GOAL_RIGHT = "Goal_Right"
    FREE_KICK_LEFT = "free_kick_left"
    FREE_KICK_RIGHT = "free_kick_right"
    DIRECT_FREE_KICK_LEFT = "direct_free_kick_left"
    DIRECT_FREE_KICK_RIGHT = "direct_free_kick_right"
    PENALTY_KICK_LEFT = "penalty_kick_left"
    PENALTY_KICK_RIGHT = "penalty_kick_right"
    PENALTY_SHOOT_LEFT = "penalty_shoot_left"
    PENALTY_SHOOT_RIGHT = "penalty_shoot_right"


# Modes of the left and of the right team.
KICK_OFF = (Mode.KICK_OFF_LEFT, Mode.KICK_OFF_RIGHT)
KICK_IN = (Mode.KICK_IN_LEFT, Mode.KICK_IN_RIGHT)
CORNER = (Mode.CORNER_KICK_LEFT, Mode.CORNER_KICK_RIGHT)
GOAL_KICK = (Mode.GOAL_KICK_LEFT, Mode.GOAL_KICK_RIGHT)
FREE_KICK = (Mode.FREE_KICK_LEFT, Mode.FREE_KICK_RIGHT)
DIRECT = (Mode.DIRECT_FREE_KICK_LEFT, Mode.DIRECT_FREE_KICK_RIGHT)
GOAL = (Mode.GOAL_LEFT, Mode.GOAL_RIGHT)
RESTARTS = (KICK_OFF, KICK_IN, CORNER, GOAL_KICK, FREE_KICK, DIRECT)
IDLE = (Mode.BEFORE_KICK_OFF, Mode.GAME_OVER)  # the clock stands


class Phase(IntEnum):
    """Parts of a game, by the numbers of the league's option `--phase`."""

    FIRST_HALF = 0
    SECOND_HALF = 1
    FIRST_EXTRA_HALF = 2
    SECOND_EXTRA_HALF = 3
    PENALTIES = 4


class Foul(Enum):
    """Fouls that are called, by their numbers on the wire of monitors."""

    ILLEGAL_DEFENCE = 2
    INCAPABLE = 4
    DOUBLE_TOUCH = 9
    HAND = 10


@dataclass(frozen=True)
class Rules:
    """Times [s] and numbers of the league's rules."""

    half_time: float = 300.0
    extra_half_time: float = 180.0
    has_extra_time: bool = False  # after a draw
    changes_sides: bool = False  # at half time
    penalties_time: float = 60.0  # of the phase with penalties
    most_players: int = 11  # of a team
    kick_off_after: float = -1.0  # in BeforeKickOff with both teams there; below 0: a monitor does
    goal_pause: float = 3.0
    restart: float = 15.0  # for which a team has the ball for itself
    lying: tuple[float, float] = (15.0, 30.0)  # a player, a goalkeeper
    not_standing: tuple[float, float] = (30.0, 60.0)
    lies_below: float = 0.22  # [1] of the height at which it stands
    stands_above: float = 0.37
    defenders: int = 2  # in their goal area
    defence_time: float = 0.1
    again: float = 1.0  # since the first touch, after which another one counts as a second touch
    goalkeeper: int = 1  # its number

    def start_of(self, phase: Phase) -> float:
        """Time of play [s] at the start of a phase."""
        if phase in (Phase.FIRST_HALF, Phase.PENALTIES):
            return 0.0
        return self.end_of(Phase(phase - 1))

    def end_of(self, phase: Phase) -> float:
        """Time of play [s] at the end of a phase."""
        if phase is Phase.PENALTIES:
            return self.penalties_time
        halves = min(phase + 1, 2)
        return halves * self.half_time + (phase + 1 - halves) * self.extra_half_time

    def next_after(self, phase: Phase, is_draw: bool) -> Phase | None:
        """The phase after another one; None: the game is over."""
        if phase is Phase.SECOND_HALF and not (is_draw and self.has_extra_time):
            return None
        if phase >= Phase.SECOND_EXTRA_HALF:
            return None
        return Phase(phase + 1)


# What the league's books of rules differ in: length of a half and of an extra half [s], players.
BOOKS: dict[str, tuple[float, float, int]] = {
    "ssim": (300.0, 180.0, 7),
    "fifa": (2700.0, 900.0, 11),
}
