// The row of a spatial tendon in a given position, for the host.
#include "motion/articulated/build.h"
#include "motion/articulated/forward.h"
#include "motion/articulated/problem_rows.h"

typedef struct Room { // large, so not on the stack of a caller that is deep already
    State state;
    Work work;
    Problem problem;
} Room;

static Quat quat_at(const double *q) {
    return (Quat){mf_set(q[0]), mf_set(q[1]), mf_set(q[2]), mf_set(q[3])};
}

// The file's reference position, which may be out of the range of limits.
static void state_at_reference(const mf_ArtPlan *plan, const mf_Model *model, State *state) {
    const double *start = model->start_position;
    state->attitude.w = mf_set(1);
    if (!plan->fixed) {
        state->place = (Vec){mf_set(start[0]), mf_set(start[1]), mf_set(start[2])};
        state->attitude = quat_at(start + 3);
    }
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &plan->links[l];
        const mf_Joint *joint = &model->joints[link->joint];
        const double *own = start + joint->position_address;
        if (link->kind == MF_ART_BALL)
            state->ball[link->row] = quat_at(own + (joint->type == MF_JOINT_FLOATING ? 3 : 0));
        else
            state->angle[l] = mf_set(link->inner ? own[link->row % 3] : joint->reference);
    }
}

mf_Status mf_art_path_row(const mf_ArtPlan *plan, const mf_Model *model, uint32_t tendon,
                          double *row, mf_Context *context, mf_Error *error) {
    Room *room = mf_allocate(context, 1, sizeof *room);
    TendonPath path;
    Sum sum = {.count = 0};
    if (room == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    State *state = &room->state;
    state_at_reference(plan, model, state);
    const Mat world = quat_matrix(state->attitude);
    room->work.contacts.pose[0] = (Pose){world, state->place, vec_zero()};
    for (uint32_t l = 0; l < plan->link_count; l++)
        spread_rate(plan, state, l, &room->work);
    find_poses(plan, state, &room->work);
    room->problem.plan = plan;
    room->problem.work = &room->work;
    room->problem.state = state;
    axes_find(&room->problem);
    tendon_path(plan, state, &room->work, tendon, &path);
    sum_path(&room->problem, &path, &sum);
    memset(row, 0, plan->dof_count * sizeof *row);
    for (uint32_t i = 0; i < sum.count; i++)
        row[sum.slot[i]] = sum.value[i];
    if (!plan->fixed) {
        const Vec way = mat_apply_transposed(&world, (Vec){row[0], row[1], row[2]});
        row[0] = way.x, row[1] = way.y, row[2] = way.z;
    }
    mf_release(context, room);
    return MF_OK;
}
