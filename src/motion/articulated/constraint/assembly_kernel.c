// The stages of a step of assemblies (assembly.h), for a few lanes.
//
// A wrench on a link is passed inward by the factors that the joints keep, answered by the base,
// and what it does goes outward again: the same way as the solver of couplings takes (couple.h),
// but to the accelerations of links.
//
// Invariants as in articulated_kernel.c: a lane never reads another lane, and nothing of a robot
// whose new state is not finite or out of range is stored.
#include "motion/articulated/constraint/assembly.h"
#include "motion/articulated/constraint/couple.h"
#include "motion/articulated/robot_step.h"

typedef struct Twist {
    Vec angular, linear; // [rad/s^2], [m/s^2] of the link's origin, own axes
} Twist;

// What stages leave for each other, besides the memory of a step.
typedef struct Assembly {
    Step s;
    Drive drive;
    Vec swirl; // of the base
    Start start;
    bool flies;           // some robot touches no ground
    mf_lane along;        // what the last joint that was passed got
    mf_lane base_root[6]; // as `root`
    StepMemory *memory;
    Wrench *pull;  // per plan link behind the base
    mf_lane *left; // per plan link: share of the joint
    mf_lane *root; // per plan link: root of what it moves by a torque
    Twist *twist;
    bool *on_path;                         // per plan link: on the way to a site
    mf_lane (*pushed)[MF_ART_SITE_WRENCH]; // per site: what `push` has added since `respond`
} Assembly;

static void carve(const mf_ArtPlan *plan, mf_Carver *carver, Assembly *all) {
    const uint32_t links = plan->link_count;
    MF_CARVE(carver, all->pull, links + 1);
    MF_CARVE(carver, all->left, links);
    MF_CARVE(carver, all->root, links);
    MF_CARVE(carver, all->twist, links + 1);
    MF_CARVE(carver, all->on_path, links + 1);
    MF_CARVE(carver, all->pushed, MF_ART_SITES);
}

static size_t own_scratch_size(const mf_ArtPlan *plan) {
    mf_Carver carver = {NULL, 0};
    Assembly all, *own;
    MF_CARVE(&carver, own, 1);
    carve(plan, &carver, &all);
    return (carver.used + 63) / 64 * 64;
}

size_t MF_KERNEL(mf_articulated_assembly_scratch_size)(const mf_ArtPlan *plan) {
    mf_Carver carver = {NULL, 0};
    StepMemory memory, *own;
    MF_CARVE(&carver, own, 1);
    memory_carve_kept(plan, &carver, &memory);
    return own_scratch_size(plan) + carver.used;
}

size_t MF_KERNEL(mf_articulated_assembly_passing)(const mf_ArtPlan *plan) {
    mf_Carver carver = {NULL, 0};
    StepMemory memory;
    memory_carve_passing(plan, &carver, &memory);
    return carver.used + (plan->coupled ? MF_KERNEL(mf_articulated_couple_scratch_size)(plan) : 0);
}

// Before a stage that needs it.
static void open_passing(const mf_ArtAssembly *piece, Assembly *all) {
    mf_Carver carver = {(char *)piece->passing, 0};
    memory_carve_passing(piece->block.plan, &carver, all->memory);
}

static MF_INLINE bool is_used(const mf_ArtAssembly *piece, uint32_t site) {
    return (piece->used >> site & 1) != 0;
}

static Assembly *assembly_of(const mf_ArtAssembly *piece) {
    return (Assembly *)piece->block.scratch;
}

// ---- values between robots ----------------------------------------------------------------------

static MF_INLINE void value_store(void *values, uint32_t c, mf_lane a) {
    mf_store((mf_real *)values + (size_t)c * MF_LANES, a);
}

static MF_INLINE mf_lane value_load(const void *values, uint32_t c) {
    return mf_load((const mf_real *)values + (size_t)c * MF_LANES);
}

static MF_INLINE void values_store(void *values, uint32_t c, Vec a) {
    value_store(values, c, a.x);
    value_store(values, c + 1, a.y);
    value_store(values, c + 2, a.z);
}

static MF_INLINE Vec values_load(const void *values, uint32_t c) {
    return MF_VALUE(Vec, value_load(values, c), value_load(values, c + 1),
                    value_load(values, c + 2));
}

static MF_INLINE void raise_flags(const mf_ArtAssembly *piece, mf_mask lanes, uint32_t flag) {
    mf_index word = mf_load_index((const int32_t *)piece->flags);
    word = mf_select_index(lanes, word | mf_set_index((int32_t)flag), word);
    mf_store_index((int32_t *)piece->flags, word);
}

static MF_INLINE mf_mask lanes_with(const mf_ArtAssembly *piece, uint32_t flag) {
    const mf_index word = mf_load_index((const int32_t *)piece->flags);
    return mf_not(mf_index_equal(word & mf_set_index((int32_t)flag), mf_set_index(0)));
}

static MF_INLINE const Mat *site_rotation(const Assembly *all, int32_t link) {
    return &all->memory->work.contacts.pose[link + 1].rotation;
}

// ---- begin and look -----------------------------------------------------------------------------

static void open_assembly(const mf_ArtAssembly *piece, Assembly *all) {
    const mf_ArtPlan *plan = piece->block.plan;
    mf_Carver carver = {(char *)piece->block.scratch, 0};
    Assembly *own;
    MF_CARVE(&carver, own, 1);
    carve(plan, &carver, all);
    mf_Carver rest = {(char *)piece->block.scratch + own_scratch_size(plan), 0};
    MF_CARVE(&rest, all->memory, 1);
    memory_carve_kept(plan, &rest, all->memory);
    for (uint32_t l = 0; l <= plan->link_count; l++)
        all->on_path[l] = false;
    for (uint32_t i = 0; i < piece->site_count; i++)
        for (int32_t l = piece->sites[i]; l >= 0 && is_used(piece, i);
             l = mf_art_links(plan)[l].parent)
            all->on_path[l] = true;
}

static void store_swirls(const mf_ArtAssembly *piece, const Assembly *all) {
    values_store(piece->swirl, 0, mat_apply(site_rotation(all, -1), all->swirl));
    for (uint32_t i = 0; i < piece->site_count; i++) {
        const int32_t link = piece->sites[i];
        if (!is_used(piece, i))
            continue;
        const Vec swirl = link < 0 ? all->swirl : all->memory->work.links[link].swirl;
        values_store(piece->swirl, 3 + 3 * i, mat_apply(site_rotation(all, link), swirl));
    }
}

void MF_KERNEL(mf_articulated_assembly_begin)(const mf_ArtAssembly *piece) {
    Assembly *all = assembly_of(piece);
    const mf_ArtPlan *plan = piece->block.plan;
    open_assembly(piece, all);
    Step *s = &all->s;
    *s = MF_VALUE(Step, .block = &piece->block, .plan = plan);
    s->alive = mf_index_equal(mf_load_index((const int32_t *)piece->block.fault), mf_set_index(0));
    s->all_alive = mf_all(s->alive);
    all->drive = drive_begin(s, all->memory);
    State *state = &all->memory->state;
    Work *work = &all->memory->work;
    all->drive.state = state;
    all->swirl = base_swirl(plan, state, &all->drive);
    aba_velocity_all(plan, state, &all->drive, work);
    work->contacts.pose[0] =
        MF_VALUE(Pose, quat_matrix(state->attitude), state->position, state->velocity);
    find_poses(plan, state, work);
    store_swirls(piece, all);
    mf_store_index((int32_t *)piece->flags, mf_set_index(0));
    value_store(piece->unsettled, 2, mf_zero());
    raise_flags(piece, mf_not(s->alive), MF_ART_DEAD);
}

static void store_sites(const mf_ArtAssembly *piece, const Assembly *all) {
    const Work *work = &all->memory->work;
    for (uint32_t i = 0; i < piece->site_count; i++) {
        const int32_t link = piece->sites[i];
        if (!is_used(piece, i))
            continue;
        const Pose *pose = &work->contacts.pose[link + 1];
        const Mat *r = &pose->rotation;
        const Vec rate = link < 0 ? all->memory->state.rate : work->links[link].rate;
        const mf_lane values[9] = {r->xx, r->xy, r->xz, r->yx, r->yy, r->yz, r->zx, r->zy, r->zz};
        const uint32_t first = MF_ART_SITE_POSE * i;
        for (uint32_t c = 0; c < 9; c++)
            value_store(piece->pose, first + c, values[c]);
        values_store(piece->pose, first + 9, pose->position);
        values_store(piece->pose, first + 12, pose->speed);
        values_store(piece->pose, first + 15, mat_apply(r, rate));
    }
}

static void store_whole(const mf_ArtAssembly *piece, const Assembly *all, uint32_t first) {
    Whole whole;
    whole_find(piece->block.plan, &all->memory->state, all->memory->riders, &whole);
    values_store(piece->whole, first, whole.center);
    values_store(piece->whole, first + 3, whole.drift);
    values_store(piece->whole, first + 6, whole.own);
    const Sym *j = &whole.inertia;
    const mf_lane inertia[6] = {j->xx, j->yy, j->zz, j->xy, j->xz, j->yz};
    for (uint32_t i = 0; i < 6; i++)
        value_store(piece->whole, first + 9 + i, inertia[i]);
}

void MF_KERNEL(mf_articulated_assembly_look)(const mf_ArtAssembly *piece) {
    Assembly *all = assembly_of(piece);
    const mf_ArtPlan *plan = piece->block.plan;
    const State *state = &all->memory->state;
    Work *work = &all->memory->work;
    open_passing(piece, all);
    if (!plan->fixed) {
        const Vec more = values_load(piece->swirl, 0);
        all->swirl = vec_add(all->swirl, mat_apply_transposed(site_rotation(all, -1), more));
        all->drive.swirl = &all->swirl;
    }
    bind_contacts(&all->s, work);
    forward_look(plan, state, &all->drive, true, work);
    store_swirls(piece, all);
    store_sites(piece, all);
    for (uint32_t i = 0; work->contacts.any && i < plan->contact_count; i++)
        if (work->contacts.touch[i].near)
            raise_flags(piece, work->contacts.touch[i].may, MF_ART_STANDS);
    all->flies = mf_any(mf_and(all->s.alive, mf_not(lanes_with(piece, MF_ART_STANDS))));
    if (all->flies)
        store_whole(piece, all, 0);
    const Rates *force = &all->memory->force;
    values_store(piece->whole, 2 * MF_ART_WHOLE_VALUES, force->linear);
    values_store(piece->whole, 2 * MF_ART_WHOLE_VALUES + 3,
                 mat_apply(site_rotation(all, -1), force->angular));
    // The list is not kept: robots that have such contacts do not go on here.
    raise_flags(piece, link_contacts_lanes(plan, &work->contacts, &work->link_contacts),
                MF_ART_TOUCHES);
    work->link_contacts.count = 0;
    stale_set(plan, true, work);
}

// ---- respond ------------------------------------------------------------------------------------

// What a joint keeps of the wrench on its link; hands the rest to the parent.
static MF_INLINE void pass_in(const mf_ArtPlan *plan, uint32_t l, Assembly *all) {
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const Constant *c = link_constants(plan, l);
    const LinkWork *own = &all->memory->work.links[l];
    Wrench pull = all->pull[l + 1];
    const mf_lane along = link->kind == MF_ART_HINGE ? pull.torque.z : pull.force.z;
    all->along = along;
    all->left[l] = along * own->inverse;
    pull.torque = vec_fma(own->angular, -along, pull.torque);
    pull.force = vec_fma(own->linear, -along, pull.force);
    if (link->kind == MF_ART_SLIDE) {
        const mf_lane distance = all->memory->state.angle[l] + constant_at(c, MF_ART_OFFSET);
        pull.torque.x = mf_fma(-distance, pull.force.y, pull.torque.x);
        pull.torque.y = mf_fma(distance, pull.force.x, pull.torque.y);
    }
    pull.torque = dof_rotation(link, c, vec_rotate_z(pull.torque, own->cosine, own->sine));
    pull.force = dof_rotation(link, c, vec_rotate_z(pull.force, own->cosine, own->sine));
    if (link->shift != 0)
        pull.torque = vec_cross_add(vec_constant(c + MF_ART_POSITION), pull.force, pull.torque);
    Wrench *sum = &all->pull[link->parent + 1];
    sum->torque = vec_add(sum->torque, pull.torque);
    sum->force = vec_add(sum->force, pull.force);
}

static MF_INLINE void answer_base(const mf_ArtPlan *plan, Assembly *all) {
    const Work *work = &all->memory->work;
    const Wrench *pull = &all->pull[0];
    if (plan->fixed) {
        all->twist[0] = MF_VALUE(Twist, vec_zero(), vec_zero());
        return;
    }
    mf_lane r[6] = {pull->torque.x, pull->torque.y, pull->torque.z,
                    pull->force.x,  pull->force.y,  pull->force.z};
    for (int k = 0; k < 6; k++) {
        const mf_lane part = r[k] * work->base_inverse[k];
        for (int i = k + 1; i < 6; i++)
            r[i] = mf_fma(-work->base_factor[i][k], part, r[i]);
        r[k] = part;
    }
    for (int k = 5; k >= 0; k--)
        for (int i = k + 1; i < 6; i++)
            r[k] = mf_fma(-(work->base_factor[i][k] * work->base_inverse[k]), r[i], r[k]);
    all->twist[0] = MF_VALUE(Twist, {r[0], r[1], r[2]}, {r[3], r[4], r[5]});
}

// Returns the joint's acceleration.
static MF_INLINE mf_lane pass_out(const mf_ArtPlan *plan, uint32_t l, Assembly *all) {
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const Constant *c = link_constants(plan, l);
    const LinkWork *own = &all->memory->work.links[l];
    const Twist *from = &all->twist[link->parent + 1];
    Vec angular = from->angular, linear = from->linear;
    if (link->shift != 0)
        linear = vec_cross_add(angular, vec_constant(c + MF_ART_POSITION), linear);
    angular = vec_back_z(into_joint(link, c, angular), own->cosine, own->sine);
    linear = vec_back_z(into_joint(link, c, linear), own->cosine, own->sine);
    if (link->kind == MF_ART_SLIDE) {
        const mf_lane distance = all->memory->state.angle[l] + constant_at(c, MF_ART_OFFSET);
        linear.x = mf_fma(angular.y, distance, linear.x);
        linear.y = mf_fma(-angular.x, distance, linear.y);
    }
    const mf_lane back = vec_dot_add(own->angular, angular, vec_dot(own->linear, linear));
    const mf_lane joint = all->left[l] - back;
    if (link->kind == MF_ART_HINGE)
        angular.z = angular.z + joint;
    else
        linear.z = linear.z + joint;
    all->twist[l + 1] = MF_VALUE(Twist, angular, linear);
    return joint;
}

// The row of a site's acceleration about the world's axis k, or along it: what a unit wrench leaves
// at each degree of freedom on its way inward, over the root of what that moves (couple.h).
static void find_root(const mf_ArtAssembly *piece, Assembly *all, uint32_t site, uint32_t k) {
    const mf_ArtPlan *plan = piece->block.plan;
    const Work *work = &all->memory->work;
    const Mat *rotation = site_rotation(all, piece->sites[site]);
    const uint32_t axis = k % 3, width = 6 + plan->link_count, first = (6 * site + k) * width;
    const Vec unit = axis == 0   ? MF_VALUE(Vec, rotation->xx, rotation->xy, rotation->xz)
                     : axis == 1 ? MF_VALUE(Vec, rotation->yx, rotation->yy, rotation->yz)
                                 : MF_VALUE(Vec, rotation->zx, rotation->zy, rotation->zz);
    const Wrench none = {vec_zero(), vec_zero()};
    Wrench *at = &all->pull[piece->sites[site] + 1];
    all->pull[0] = none;
    for (uint32_t c = 0; c < width; c++)
        value_store(piece->roots, first + c, mf_zero());
    for (int32_t l = piece->sites[site]; l >= 0; l = mf_art_links(plan)[l].parent)
        all->pull[l + 1] = none;
    if (k < 3)
        at->torque = unit;
    else
        at->force = unit;
    for (int32_t l = piece->sites[site]; l >= 0; l = mf_art_links(plan)[l].parent) {
        pass_in(plan, (uint32_t)l, all);
        value_store(piece->roots, first + 6 + (uint32_t)l, all->along * all->root[l]);
    }
    if (plan->fixed)
        return;
    const Wrench *pull = &all->pull[0];
    mf_lane r[6] = {pull->torque.x, pull->torque.y, pull->torque.z,
                    pull->force.x,  pull->force.y,  pull->force.z};
    for (uint32_t c = 0; c < 6; c++) {
        const mf_lane part = r[c] * work->base_inverse[c];
        for (uint32_t i = c + 1; i < 6; i++)
            r[i] = mf_fma(-work->base_factor[i][c], part, r[i]);
        value_store(piece->roots, first + c, r[c] * all->base_root[c]);
    }
}

void MF_KERNEL(mf_articulated_assembly_respond)(const mf_ArtAssembly *piece) {
    Assembly *all = assembly_of(piece);
    const mf_ArtPlan *plan = piece->block.plan;
    StepMemory *memory = all->memory;
    Work *work = &memory->work;
    open_passing(piece, all);
    solve(plan, &memory->state, &all->drive, &memory->force, site_rotation(all, -1), work,
          &memory->rates);
    for (uint32_t l = 0; l < plan->link_count; l++)
        all->root[l] = mf_sqrt(work->links[l].inverse);
    for (uint32_t c = 0; c < 6 && !plan->fixed; c++)
        all->base_root[c] = mf_sqrt(work->base_inverse[c]);
    for (uint32_t i = 0; i < piece->site_count; i++) {
        const int32_t link = piece->sites[i];
        if (!is_used(piece, i))
            continue;
        const Mat *rotation = site_rotation(all, link);
        const Vec angular = link < 0 ? work->base_angular : work->angular[link];
        const Vec linear = link < 0 ? work->base_linear : work->linear[link];
        for (uint32_t c = 0; c < MF_ART_SITE_WRENCH; c++)
            all->pushed[i][c] = mf_zero();
        values_store(piece->free, MF_ART_SITE_MOTION * i, mat_apply(rotation, angular));
        values_store(piece->free, MF_ART_SITE_MOTION * i + 3, mat_apply(rotation, linear));
        for (uint32_t k = 0; k < 6; k++)
            find_root(piece, all, i, k);
    }
}

// ---- push and revise ----------------------------------------------------------------------------

static void add_pushes(const mf_ArtAssembly *piece, Assembly *all) {
    const mf_ArtPlan *plan = piece->block.plan;
    for (uint32_t l = 0; l <= plan->link_count; l++)
        all->pull[l] = MF_VALUE(Wrench, vec_zero(), vec_zero());
    for (uint32_t i = 0; i < piece->site_count; i++) {
        if (!is_used(piece, i))
            continue;
        const Mat *rotation = site_rotation(all, piece->sites[i]);
        Wrench *pull = &all->pull[piece->sites[i] + 1];
        mf_lane more[MF_ART_SITE_WRENCH];
        for (uint32_t c = 0; c < MF_ART_SITE_WRENCH; c++) {
            const mf_lane now = value_load(piece->wrench, MF_ART_SITE_WRENCH * i + c);
            more[c] = now - all->pushed[i][c];
            all->pushed[i][c] = now;
        }
        pull->torque = mat_apply_transposed(rotation, MF_VALUE(Vec, more[0], more[1], more[2]));
        pull->force = mat_apply_transposed(rotation, MF_VALUE(Vec, more[3], more[4], more[5]));
    }
    for (uint32_t l = plan->link_count; l-- > 0;) {
        if (all->on_path[l])
            pass_in(plan, l, all);
        else
            all->left[l] = mf_zero();
    }
    answer_base(plan, all);
}

void MF_KERNEL(mf_articulated_assembly_push)(const mf_ArtAssembly *piece) {
    Assembly *all = assembly_of(piece);
    const mf_ArtPlan *plan = piece->block.plan;
    StepMemory *memory = all->memory;
    Work *work = &memory->work;
    add_pushes(piece, all);
    work->base_angular = vec_add(work->base_angular, all->twist[0].angular);
    work->base_linear = vec_add(work->base_linear, all->twist[0].linear);
    if (!plan->fixed) {
        memory->rates.angular = vec_add(memory->rates.angular, all->twist[0].angular);
        memory->rates.linear =
            mat_apply_add(site_rotation(all, -1), all->twist[0].linear, memory->rates.linear);
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        memory->rates.joint[l] = memory->rates.joint[l] + pass_out(plan, l, all);
        if (links[l].leaf && !links[l].posed)
            continue;
        work->angular[l] = vec_add(work->angular[l], all->twist[l + 1].angular);
        work->linear[l] = vec_add(work->linear[l], all->twist[l + 1].linear);
    }
    mf_index word = mf_load_index((const int32_t *)piece->flags);
    word = word & mf_set_index((int32_t) ~(uint32_t)(MF_ART_WRONG | MF_ART_STRUCK));
    mf_store_index((int32_t *)piece->flags, word);
    const mf_mask wrong = revise_find(plan, &memory->state, &all->drive, work, &memory->rates);
    if (piece->late) {
        const Unsettled own = contacts_sum(plan, &memory->state, &all->drive, work, NULL);
        value_store(piece->unsettled, 0, own.wrong);
        value_store(piece->unsettled, 1, own.sum);
    }
    raise_flags(piece, wrong, MF_ART_WRONG);
    raise_flags(piece, lanes_struck(&all->s, &all->drive, work), MF_ART_STRUCK);
}

void MF_KERNEL(mf_articulated_assembly_revise)(const mf_ArtAssembly *piece) {
    Assembly *all = assembly_of(piece);
    Work *work = &all->memory->work;
    revise_apply(piece->block.plan, lanes_with(piece, MF_ART_WRONG), work);
    stale_set(piece->block.plan, true, work);
}

// ---- finish -------------------------------------------------------------------------------------

static void load_whole(const mf_ArtAssembly *piece, uint32_t first, Whole *out) {
    out->center = values_load(piece->whole, first);
    out->drift = values_load(piece->whole, first + 3);
    out->own = values_load(piece->whole, first + 6);
    mf_lane j[6];
    for (uint32_t i = 0; i < 6; i++)
        j[i] = value_load(piece->whole, first + 9 + i);
    out->inertia = MF_VALUE(Sym, j[0], j[1], j[2], j[3], j[4], j[5]);
}

// Sites as the joints have moved them, seen from the base as if it were at rest at the origin.
static void store_joints_only(const mf_ArtAssembly *piece, Assembly *all) {
    const mf_ArtPlan *plan = piece->block.plan;
    const Drive still = {.step = mf_zero()};
    State *state = &all->memory->state, kept = *state;
    Work *work = &all->memory->work;
    state->position = state->velocity = state->rate = vec_zero();
    state->attitude = quat_unit();
    aba_velocity_all(plan, state, &still, work);
    work->contacts.pose[0] =
        MF_VALUE(Pose, quat_matrix(state->attitude), state->position, state->velocity);
    find_poses(plan, state, work);
    store_sites(piece, all);
    *state = kept;
}

// Force and torque sensors feel joints of robots as forces from outside.
static void add_joint_wrenches(const mf_ArtAssembly *piece, Assembly *all) {
    const mf_ArtPlan *plan = piece->block.plan;
    const uint64_t *zones = mf_art_link_zones(plan);
    for (uint32_t i = 0; plan->zone_count > 0 && i < piece->site_count; i++) {
        const int32_t link = piece->sites[i];
        sensor_wrench_add(zones[link + 1], all->memory->work.contacts.pose[link + 1].position,
                          values_load(piece->wrench, 6 * i + 3), values_load(piece->wrench, 6 * i),
                          &all->memory->work);
    }
}

void MF_KERNEL(mf_articulated_assembly_finish)(const mf_ArtAssembly *piece) {
    Assembly *all = assembly_of(piece);
    const mf_ArtPlan *plan = piece->block.plan;
    Step *s = &all->s;
    StepMemory *memory = all->memory;
    Work *work = &memory->work;
    open_passing(piece, all);
    // Robots that the caller gave up since, because they or one of their assembly meets itself.
    s->alive = mf_and(s->alive, mf_index_equal(mf_load_index((const int32_t *)piece->block.fault),
                                               mf_set_index(0)));
    s->all_alive = mf_all(s->alive);
    work->link_contacts.alive = work->solver.alive = s->alive;
    couple_links(plan, &memory->state, &all->drive, work, &memory->rates);
    find_loads(plan, &memory->state, &all->drive, work, memory->loads);
    warn_unsettled(value_load(piece->unsettled, 2), work);
    keep_actuators(s, &work->actuation, &memory->actuated);
    add_joint_wrenches(piece, all);
    keep_requested(plan, &memory->state, &all->drive, &memory->force, &memory->rates, work,
                   &memory->requested);
    all->start = start_of(&memory->state, &memory->low, mf_mask_all());
    integrate_euler(plan, &memory->state, &memory->low, &memory->rates, setting(plan, MF_ART_STEP));
    if (all->flies)
        store_whole(piece, all, MF_ART_WHOLE_VALUES);
    if (all->drive.before != NULL)
        keep_accelerations(s, lanes_with(piece, MF_ART_STRUCK), &memory->rates);
    store_step(s, memory);
    store_joints_only(piece, all);
}

void MF_KERNEL(mf_articulated_assembly_fly)(const mf_ArtAssembly *piece) {
    Assembly *all = assembly_of(piece);
    const mf_ArtPlan *plan = piece->block.plan;
    Step *s = &all->s;
    StepMemory *memory = all->memory;
    Whole whole[2];
    for (uint32_t k = 0; k < 2; k++)
        load_whole(piece, k * MF_ART_WHOLE_VALUES, &whole[k]);
    const uint32_t force = 2 * MF_ART_WHOLE_VALUES;
    Start start = all->start;
    const Mat before = quat_matrix(start.attitude);
    start.whole = whole[0];
    memory->force.linear = values_load(piece->whole, force);
    memory->force.angular = mat_apply_transposed(&before, values_load(piece->whole, force + 3));
    memory->work.warnings.any = false;
    keep_whole(plan, &start, &whole[1], value_load(piece->whole, force + 6), &memory->force,
               setting(plan, MF_ART_STEP), &memory->work.warnings, &memory->state, &memory->low);
    s->alive = mf_and(s->alive, lanes_with(piece, MF_ART_FLIES));
    s->all_alive = mf_all(s->alive);
    check_state(s, &memory->state);
    store_state(s, &memory->state);
    store_low(s, &memory->low);
    warnings_store(&memory->work.warnings, &piece->block.warnings, s->alive);
}
