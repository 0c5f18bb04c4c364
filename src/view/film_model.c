// What a film contains of a model besides its appearance, for what can be shown over them: masses,
// shapes that collide, cameras, the motion.
#include "view/film.h"

#include "math/scalar.h"
#include "model/shape_kinds.h"
#include "multibody/numbers.h"
#include "world/attach.h"

#include <math.h>
#include <string.h>
#include <mayfly/camera.h>
#include <mayfly/motion.h>

#define FEW 64u // [1] robots of a group that also masses tell apart

static bool same_number(const mf_Field *field, uint32_t one, uint32_t other, uint32_t component) {
    const double *values = field->data;
    return memcmp(&values[mf_field_index(field, one, component)],
                  &values[mf_field_index(field, other, component)], sizeof *values) == 0;
}

uint32_t mf_film_alike(const mf_Visual *visual, uint32_t first) {
    const mf_Group *group = visual->group;
    const mf_Field *numbers = mf_group_numbers(group);
    const mf_Model *model = mf_group_model(group);
    const uint32_t count = mf_group_count(group), masses = mf_numbers_of_joint(model, 0);
    const uint32_t shapes = model->shape_count * MF_SHAPE_NUMBERS;
    uint32_t end = first + 1;
    bool same = true;
    if (numbers == NULL)
        return count;
    for (; end < count; end++) {
        same = mf_group_model_of(group, end) == mf_group_model_of(group, first);
        for (uint32_t c = 0; c < numbers->components && same; c++)
            if (c >= numbers->components - shapes || (c < masses && count <= FEW))
                same = same_number(numbers, first, end, c);
        if (!same)
            break;
    }
    return end;
}

// Of each link its name, mass [kg], center of mass [m], inertia about it [kg m^2], link axes.
static void put_bodies(mf_Text *text, const mf_FilmCast *cast) {
    mf_text_put(text, ",\"bodies\":[");
    for (uint32_t l = 0; l < cast->links; l++) {
        const mf_Link link = mf_own_link(cast->group, cast->first, l);
        mf_text_format(text, "%s{\"name\":", l > 0 ? "," : "");
        mf_film_put_string(text, link.name);
        mf_text_format(text, ",\"mass\":%.7g", link.mass);
        mf_film_put_numbers(text, "center", link.center, 3);
        mf_film_put_numbers(text, "inertia", link.inertia, 6);
        mf_text_put(text, "}");
    }
    mf_text_put(text, "]");
}

static void put_collisions(mf_Text *text, const mf_FilmCast *cast, bool live, bool *used) {
    const mf_Model *model = mf_group_model(cast->group);
    const char *comma = "";
    mf_text_put(text, ",\"collisions\":[");
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape shape = mf_own_shape(cast->group, cast->first, i);
        if (!shape.collides || shape.link == MF_NONE || !mf_shape_is_solid(shape.type) ||
            (shape.type == MF_SHAPE_MESH && !live && !used[shape.mesh]))
            continue;
        mf_text_put(text, comma);
        mf_film_put_shape(text, NULL, &shape, used);
        comma = ",";
    }
    mf_text_put(text, "]");
}

// [rad] Between the upper and the lower edge, as far as a page can show it.
static double height_of(const mf_Camera *camera) {
    const double wide = 2.0 * atan2(0.5 * camera->height, camera->focal[1]);
    return camera->lens == MF_LENS_ANGLE ? fmin(camera->height / camera->focal[1], 2.4) : wide;
}

static void put_cameras(mf_Text *text, const mf_Model *model) {
    const char *comma = "";
    mf_text_put(text, ",\"cameras\":[");
    for (uint32_t i = 0; i < model->camera_count; i++) {
        const mf_Camera *camera = &model->cameras[i];
        if (camera->frame.link == MF_NONE)
            continue;
        mf_text_format(text,
                       "%s{\"link\":%u,\"height\":%.6g,\"aspect\":%.6g,\"nearest\":%.6g,\"name\":",
                       comma, camera->frame.link, height_of(camera),
                       (double)camera->width / camera->height, camera->nearest);
        mf_film_put_string(text, camera->name);
        mf_film_put_numbers(text, "place", camera->frame.position, 3);
        mf_film_put_numbers(text, "turn", camera->frame.rotation, 4);
        mf_text_put(text, "}");
        comma = ",";
    }
    mf_text_put(text, "]");
}

void mf_film_put_model(mf_Text *text, const mf_FilmCast *cast, bool live, bool *used) {
    const mf_Model *model = mf_group_model(cast->group);
    const mf_Motion motion = mf_motion_of(cast->group, cast->first);
    if (motion < MF_MOTION_COUNT)
        mf_text_format(text, ",\"motion\":\"%s\"", mf_motion_name(motion));
    if (mf_film_cast_switches(cast))
        mf_text_put(text, ",\"switches\":true");
    if (cast->surface || model->link_count != cast->links)
        return;
    put_bodies(text, cast);
    put_collisions(text, cast, live, used);
    put_cameras(text, mf_group_model_of(cast->group, cast->first));
}
