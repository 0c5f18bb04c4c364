// Textures in the description of a film: each once, as a PNG, halved until it is small; how they
// lie on shapes and on the ground; without memory.
#include "rig/rig.h"
#include "view/film.h"
#include "view/film_page.h"

#include <jansson.h>

#define TEXTURED                                                                                   \
    "<mujoco><asset>"                                                                              \
    "<texture name='big' type='2d' builtin='checker' rgb1='1 0 0' rgb2='0 0 1' width='2048' "      \
    "height='1024'/>"                                                                              \
    "<texture name='die' builtin='flat' width='4'/><texture name='none' builtin='flat' "           \
    "width='4'/>"                                                                                  \
    "<material name='m' texture='big' texrepeat='4 1' texuniform='true'/>"                         \
    "<material name='d' texture='die'/><material name='n' texture='none'/></asset><worldbody>"     \
    "<geom type='plane' size='0 0 1' pos='1 0 0' material='m'/><body pos='0 0 1'><freejoint/>"     \
    "<geom type='capsule' size='.1 .2' material='d'/><geom size='.1' pos='0 1 0' material='d'/>"   \
    "<geom size='.1' pos='0 2 0'/></body></worldbody></mujoco>"

typedef struct Rig {
    mf_Model *model;
    mf_World *world;
    mf_Film *film;
} Rig;

static Rig open_rig(mf_Context *context) {
    Rig rig = {.model = load_text(context, TEXTURED)};
    rig.world = open_world(context, NULL);
    mf_Group *group = add_group(rig.world, &WITH(mf_group_config(), .model = rig.model));
    MUST(mf_motion_add(group, MF_MOTION_ARTICULATED, NULL, &error));
    MUST(mf_film_create_live(rig.world, "t", NULL, NULL, &rig.film, &error));
    return rig;
}

static void rig_close(Rig *rig) {
    mf_film_destroy(rig->film);
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
}

static double number_at(const json_t *list, size_t i) {
    return json_number_value(json_array_get(list, i));
}

// Width and height of a PNG in Base64, from its header.
static void size_of(const json_t *texture, uint32_t size[2]) {
    size_t count;
    AUTO(end_memory)
    uint8_t *bytes = decode(json_string_value(json_object_get(texture, "png")), &count);
    assert_true(count > 24);
    assert_memory_equal(bytes + 1, "PNG", 3);
    for (int k = 0; k < 2; k++)
        size[k] = (uint32_t)bytes[18 + 4 * k] << 8 | bytes[19 + 4 * k];
}

TEST_WITH(what_a_film_contains, make_context, drop_context) {
    AUTO_RIG rig = open_rig(*state);
    AUTO(mf_text_free) mf_Text text = mf_text_begin(*state);
    mf_film_describe(&text, rig.film);
    assert_false(text.failed);
    json_t *json = json_loadb(text.data, text.size, 0, NULL);
    assert_non_null(json);
    const json_t *cast = json_array_get(json_object_get(json, "casts"), 0);
    const json_t *textures = json_object_get(cast, "textures");
    const json_t *shapes = json_object_get(cast, "shapes");
    uint32_t size[2];
    // The plane is the ground, so the model's first texture is there and not with the shapes.
    assert_int_equal(json_array_size(textures), rig.model->texture_count);
    assert_int_equal(rig.model->texture_count, 2); // nothing has the third
    assert_true(json_is_null(json_array_get(textures, 0)));
    size_of(json_array_get(textures, 1), size);
    assert_int_equal(size[0], 4);
    assert_int_equal(size[1], 24);
    assert_true(json_is_true(json_object_get(json_array_get(textures, 1), "cube")));
    const json_t *capsule = json_array_get(shapes, 0), *ball = json_array_get(shapes, 2);
    assert_int_equal(json_integer_value(json_object_get(capsule, "texture")), 1);
    assert_true(number_at(json_object_get(capsule, "factor"), 0) == 10.0);
    assert_true(number_at(json_object_get(capsule, "factor"), 2) == 5.0);
    assert_true(json_number_value(json_object_get(capsule, "half")) == 1.0);
    assert_true(json_number_value(json_object_get(capsule, "stretch")) == 2.0);
    assert_null(json_object_get(ball, "texture"));
    // 4 repeats on 2 m from x = 1 on: u = 2 (x - 1) - 1 / 2, v = -y / 2 - 1 / 2.
    const json_t *floor = json_object_get(json, "floor"), *rows = json_object_get(floor, "rows");
    const double expected[6] = {2.0, 0.0, -2.5, 0.0, -0.5, -0.5};
    for (size_t i = 0; i < 6; i++)
        assert_true(number_at(rows, i) == expected[i]);
    size_of(json_object_get(floor, "texture"), size);
    assert_int_equal(size[0], 512);
    assert_int_equal(size[1], 256);
    json_decref(json);
}

TEST_WITH(without_memory, make_context, drop_context) {
    AUTO_RIG rig = open_rig(*state);
    bool failed = true;
    uint64_t tries = 0;
    while (failed) {
        AUTO(mf_text_free) mf_Text text = mf_text_begin(*state);
        mf_context_fail_after(*state, ++tries);
        mf_film_describe(&text, rig.film);
        mf_context_fail_after(*state, 0);
        failed = text.failed;
    }
    assert_true(tries > 20);
}
