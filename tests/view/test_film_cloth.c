// Cloths in films: triangles that are torn are bits of the poses, one for each that is shown.
#include "rig/rig.h"
#include "../motion/cloth_rig.h"
#include "view/film.h"

GROUP_FIXTURE(make_context, drop_context);

// How many of the triangles that are shown are torn in a picture.
static uint32_t torn_in(const Rig *rig, uint32_t triangles, bool *torn) {
    const mf_Visual visual = mf_visual_of(rig->group);
    const uint32_t links = mf_film_surface_links(&visual);
    float *poses = calloc(links, MF_FILM_POSE * sizeof *poses);
    uint32_t count = 0;
    assert_non_null(poses);
    assert_ptr_equal(mf_film_surface_sample(&visual, 0, poses),
                     poses + (size_t)links * MF_FILM_POSE);
    for (uint32_t t = 0; t < triangles; t++) {
        const uint32_t bits = (uint32_t)poses[(size_t)MF_FILM_POSE * (t % links) + 4];
        torn[t] = bits >> (t / links) & 1;
        count += torn[t];
    }
    free(poses);
    return count;
}

static Rig open_cloth(mf_Context *context, uint32_t columns, uint32_t rows, bool triangles) {
    Rig rig = WITH(rig_begin(context), .cloth = mf_cloth_rectangle(1.0, 1.0, columns, rows),
                   .cloth.material.strength = 100.0);
    if (triangles)
        make_triangles(&rig.cloth);
    rig_open(&rig);
    return rig;
}

TEST(torn_triangles_are_marked) {
    static bool torn[2 * 40 * 40];
    Rig rig = open_cloth(*state, 5, 4, true);
    assert_int_equal(torn_in(&rig, 24, torn), 0);
    set_field(rig.group, "cloth.torn", 0, 3, 1.0);
    set_field(rig.group, "cloth.torn", 0, 23, 1.0); // the second bit of a vertex
    assert_int_equal(torn_in(&rig, 24, torn), 2);
    assert_true(torn[3] && torn[23]);
    rig_close(&rig);
    rig = open_cloth(*state, 5, 4, false);
    set_field(rig.group, "cloth.torn", 0, 1, 1.0); // of the first row: one cell is beside it
    assert_int_equal(torn_in(&rig, 24, torn), 2);
    assert_true(torn[2] && torn[3]);
    rig_close(&rig);
}

// Of a large rectangle a film shows 41 x 41 vertices: a shown cell is torn with any that it covers.
TEST(fine_cloths_lose_no_tear) {
    static bool torn[2 * 40 * 40];
    AUTO_RIG rig = open_cloth(*state, 81, 81, false);
    const uint32_t along = 80 * 81;
    for (uint32_t i = 1; i < 80; i++) // a cut through all inner edges of a row of cells
        set_field(rig.group, "cloth.torn", 0, along + 31 * 81 + i, 1.0);
    assert_int_equal(torn_in(&rig, 2 * 40 * 40, torn), 80);
    assert_true(torn[2 * 40 * 15] && torn[2 * 40 * 16 - 1]);
}
