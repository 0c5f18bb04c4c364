#include "start_check.h"

#include <stdio.h>

#include "app.h"
#include "math/scalar.h"
#include "motion/articulated/host.h"

#define SHALLOW 1e-3 // [m] less is how things rest

// "shape 'toe' of link 'foot'", as far as there are names.
static void put_shape(FILE *out, const mf_Model *model, uint32_t index) {
    const mf_Shape *shape = &model->shapes[index];
    if (shape->name[0] != '\0')
        fprintf(out, "shape '%s'", shape->name);
    else
        fprintf(out, "shape %u", index);
    if (shape->link != MF_NONE)
        fprintf(out, " of link '%s'", model->links[shape->link].name);
    else
        fputs(" of the world", out);
}

static double depth_in_ground(const mf_Model *model, uint32_t index, const mf_ModelStart *start) {
    const mf_Shape *shape = &model->shapes[index];
    double point[3], place[3], at[3];
    const double *link = start->place[shape->link];
    double low = mf_model_shape_lowest(model, index, link, start->turn[shape->link], point);
    mf_quat_rotate(place, start->turn[shape->link], point);
    mf_vec3_add(at, place, link);
    double ground =
        start->ground == NULL ? 0.0 : mf_terrain_height(start->ground, at[0], at[1], NULL);
    return ground - low;
}

static void check_ground(FILE *out, const mf_ModelStart *start) {
    const mf_Model *model = start->model;
    uint32_t worst = MF_NONE, count = 0;
    double most = SHALLOW;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (!shape->collides || shape->link == MF_NONE)
            continue;
        const double depth = depth_in_ground(model, i, start);
        count += depth > SHALLOW;
        if (depth > most) {
            most = depth;
            worst = i;
        }
    }
    if (worst == MF_NONE)
        return;
    fprintf(out, "warning: starts in the ground: ");
    put_shape(out, model, worst);
    fprintf(out, " is %.3g mm deep", 1e3 * most);
    if (count > 1)
        fprintf(out, ", and %u more", count - 1);
    fputc('\n', out);
}

void mf_start_check(FILE *out, mf_Group *group, const mf_ModelStart *start) {
    uint32_t shapes[2] = {0, 0};
    if (mf_model_touches(start->model) && start->place != NULL)
        check_ground(out, start);
    const double depth = mf_art_deepest(group, 0, shapes);
    if (!(depth > SHALLOW))
        return;
    fprintf(out, "warning: starts with links in each other: ");
    put_shape(out, start->model, shapes[0]);
    fprintf(out, " and ");
    put_shape(out, start->model, shapes[1]);
    fprintf(out, ", %.3g mm deep\n", 1e3 * depth);
}

int mf_end_check(mf_World *world) {
    static const struct {
        uint32_t bit;
        const char *words;
    } reasons[] = {{MF_FAULT_NONFINITE, "the state became NaN or infinite"},
                   {MF_FAULT_RANGE, "the state left its range"},
                   {MF_FAULT_INPUT, "a target or force is NaN or infinite"},
                   {MF_FAULT_CONTROL, "the controller failed"},
                   {MF_FAULT_PLUGIN, "a plugin broke its rules"}};
    const uint32_t meant = MF_FAULT_COLLISION | MF_FAULT_TERRAIN | MF_FAULT_FENCE;
    uint32_t robots = 0, faulty = 0, words = 0;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        const mf_Group *group = mf_world_group(world, g);
        robots += mf_group_count(group);
        for (uint32_t i = 0; i < mf_group_count(group); i++) {
            const uint32_t word = mf_group_fault(group, i) & ~meant;
            faulty += word != 0;
            words |= word;
        }
    }
    if (robots == 0 || faulty < robots)
        return MF_EXIT_DONE;
    fprintf(stderr, "mayfly: %s out of order:", robots == 1 ? "the robot is" : "all robots are");
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (words & reasons[i].bit)
            fprintf(stderr, " %s;", reasons[i].words);
    fprintf(stderr, " what is printed is of before\n");
    return MF_EXIT_FAILED;
}
