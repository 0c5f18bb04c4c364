// The humanoid gets up from its front and its back, at every level of motion in which it can fall:
// nearly all of 64 variations of friction, weight, start pose and joint offsets succeed, except
// those that rolled off the side on which they were dropped. docs/studies/moves.md lists the
// measured fractions; the required ones leave a margin, as in test_moves.c.
#include "control/moves.h"

static const Move moves[] = {
    {"turn_over", -RIGHT, 1.0, -1.0, falls, {0, 62, 62, 60}},
    {"get_up_front", RIGHT, 1.0, 0.0, stands, {0, 60, 58, 58}},
    {"get_up_back", -RIGHT, 1.0, 0.0, stands, {0, 60, 60, 56}},
};

TEST(gets_up_at_rigid) {
    check_moves(moves, sizeof moves / sizeof *moves, MF_MOTION_RIGID, 1);
}

TEST(gets_up_at_prescribed) {
    check_moves(moves, sizeof moves / sizeof *moves, MF_MOTION_PRESCRIBED, 2);
}

TEST(gets_up_at_articulated) {
    check_moves(moves, sizeof moves / sizeof *moves, MF_MOTION_ARTICULATED, 3);
}
