// Events of falls: a crate that lies on its side has fallen and so has a robot with joints; a ball
// rolls, which is none.
#include "scene/support.h"
#include "scene/watch.h"

GROUP_FIXTURE(make_context, drop_context);

static mf_Status count_fall(const mf_Happening *what, void *user, mf_Error *error) {
    uint32_t *falls = user;
    (void)error;
    falls[what->group] += what->kind == MF_HAPPENING_FALL;
    return MF_OK;
}

TEST(a_ball_rolls_and_does_not_fall) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, "ground: {shape: flat}\n"
                         "groups:\n"
                         "  - {name: ball, model: ../models/ball.xml, count: 1}\n"
                         "  - {name: crate, model: ../tests/scene/crate.xml, count: 1}\n"
                         "  - {name: robot, model: ../models/hexapod.urdf, count: 1}\n"
                         "contact: {enabled: false}\n");
    uint32_t falls[3] = {0};
    mf_Watch *watch;
    MUST(mf_watch_create(&scene, &watch, &error));
    for (uint32_t g = 0; g < 3; g++) // on its side
        for (uint32_t c = 0; c < 4; c++)
            set_field(mf_world_group(scene.world, g), "base.orientation", 0, c,
                      (const double[]){0.5, 0.8660254037844386, 0, 0}[c]);
    MUST(mf_watch_look(watch, count_fall, falls, &error));
    assert_int_equal(falls[0], 0);
    assert_int_equal(falls[1], 1);
    assert_int_equal(falls[2], 1);
    mf_watch_destroy(watch);
}
