// A step of assemblies that move as one tree (assemblies.h).
//
// The stages of their robots' steps (motion/articulated/constraint/assembly.h) run piece by piece,
// and between them what goes from robot to robot, assembly by assembly. Contacts with the ground
// and limits are corrected as in a single robot: where one was wrong in some robot, all of the
// assembly are solved again, at most as often.
#include "solve/modules/assemblies.h"
#include "base/context.h"
#include "math/scalar.h"

#include <string.h>

enum {
    ROUNDS = 3,       // [1] solutions, as CONTACT_ROUNDS of a single robot
    MORE_ROUNDS = 10, // [1] an assembly has more contacts: further ones, where much is wrong
    TOGETHER = 32     // [1] robots of a task
};

// ---- tasks --------------------------------------------------------------------------------------

typedef void (*Task)(mf_Assemblies *all, uint32_t index);

typedef struct Tasks {
    mf_Assemblies *all;
    Task task;
    uint32_t count; // [1]
    bool backward;
} Tasks;

static void run_task(void *user, uint32_t index) {
    const Tasks *tasks = user;
    tasks->task(tasks->all, tasks->backward ? tasks->count - 1 - index : index);
}

static void run(mf_Assemblies *all, uint32_t count, Task task, bool backward) {
    Tasks tasks = {all, task, count, backward};
    if (count > 1 && mf_context_threads(all->context) > 1) {
        mf_parallel_for(all->context, count, run_task, &tasks);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        run_task(&tasks, i);
}

static void run_tasks(mf_Assemblies *all, uint32_t count, Task task) {
    run(all, count, task, false);
}

// A pass over all robots begins where the last one ended: there memory is still in the caches.
static void run_pass(mf_Assemblies *all, uint32_t count, Task task) {
    all->backward = !all->backward;
    run(all, count, task, all->backward);
}

static void run_piece(mf_Assemblies *all, uint32_t index) {
    const mf_AssemblyPiece *piece = &all->pieces[index];
    mf_art_pieces_run(all->groups[piece->group].pieces, piece->piece, all->stage);
}

static void run_stage(mf_Assemblies *all, mf_ArtStage stage) {
    all->stage = stage;
    run_pass(all, all->piece_count, run_piece);
}

// Stages that need nothing from other robots follow each other while a piece is in the caches.
static void look(mf_Assemblies *all, uint32_t index) {
    const mf_AssemblyPiece *piece = &all->pieces[index];
    const mf_ArtPieces *pieces = all->groups[piece->group].pieces;
    mf_art_pieces_run(pieces, piece->piece, MF_ART_LOOK);
    mf_art_pieces_run(pieces, piece->piece, MF_ART_RESPOND);
}

static uint32_t piece_flags(const mf_AssemblyPiece *piece) {
    uint32_t flags = 0;
    for (uint32_t lanes = piece->lanes; lanes != 0; lanes &= lanes - 1)
        flags |= piece->flags[__builtin_ctz(lanes)];
    return flags;
}

// All of an assembly are solved again where one is wrong (judge), so from the first one on pieces
// go on at once, while they are in the caches.
static void go_on(mf_Assemblies *all, mf_AssemblyPiece *piece) {
    const mf_ArtPieces *pieces = all->groups[piece->group].pieces;
    if (all->late || piece->assembly == MF_NONE)
        return;
    bool *again = &all->assemblies[piece->assembly].again;
    if ((piece_flags(piece) & MF_ART_WRONG) != 0)
        __atomic_store_n(again, true, __ATOMIC_RELAXED);
    if (!__atomic_load_n(again, __ATOMIC_RELAXED))
        return;
    for (uint32_t lanes = piece->lanes; lanes != 0; lanes &= lanes - 1)
        piece->flags[__builtin_ctz(lanes)] |= MF_ART_WRONG;
    mf_art_pieces_run(pieces, piece->piece, MF_ART_REVISE);
    mf_art_pieces_run(pieces, piece->piece, MF_ART_RESPOND);
    piece->ready = true;
}

static void push(mf_Assemblies *all, uint32_t index) {
    mf_AssemblyPiece *piece = &all->pieces[index];
    const mf_ArtPieces *pieces = all->groups[piece->group].pieces;
    if (!piece->wrong)
        return;
    pieces->pieces[piece->piece].late = all->late;
    mf_art_pieces_run(pieces, piece->piece, MF_ART_PUSH);
    go_on(all, piece);
}

static void fly(mf_Assemblies *all, uint32_t index) {
    const mf_AssemblyPiece *piece = &all->pieces[index];
    const mf_ArtPieces *pieces = all->groups[piece->group].pieces;
    uint32_t flags = 0;
    for (uint32_t lane = 0; lane < pieces->lanes; lane++)
        flags |= pieces->pieces[piece->piece].flags[lane];
    if ((flags & MF_ART_FLIES) != 0)
        mf_art_pieces_run(pieces, piece->piece, MF_ART_FLY);
    mf_art_pieces_keep_faults(pieces, piece->piece);
}

// ---- flags --------------------------------------------------------------------------------------

// Of a robot of the order that is not anchored.
static uint32_t *flags_of(const mf_Assemblies *all, uint32_t robot) {
    const mf_AssemblySeat *seat = &all->seats[robot];
    return &all->pieces[seat->piece].flags[seat->lane];
}

// Of an active one.
static uint32_t gather_flags(const mf_Assemblies *all, const mf_Assembly *assembly) {
    uint32_t flags = 0;
    for (uint32_t i = mf_assembly_first(all, assembly); i < assembly->end; i++)
        flags |= *flags_of(all, i);
    return flags;
}

static void count(mf_Assemblies *all) {
    mf_DocksStatistics *sum = &all->docks->statistics;
    for (uint32_t a = 0; a < all->count; a++) {
        const mf_Assembly *assembly = &all->assemblies[a];
        uint64_t *which = assembly->active ? &sum->trees
                          : assembly->loop_end - assembly->first_loop > MF_ASSEMBLY_LOOPS
                              ? &sum->loops
                          : assembly->touched ? &sum->touched
                                              : &sum->others;
        ++*which;
    }
}

// Assemblies of which some robot has a flag of these move by run-time joints.
static void give_up_with(mf_Assemblies *all, uint32_t flags) {
    for (uint32_t a = 0; a < all->count; a++)
        if (all->assemblies[a].active && (gather_flags(all, &all->assemblies[a]) & flags) != 0) {
            mf_assembly_give_up(all, &all->assemblies[a]);
            all->assemblies[a].touched = flags == MF_ART_TOUCHES;
        }
}

// ---- between robots -----------------------------------------------------------------------------

// Gyroscopic forces are those of the middle of the step: the rate there goes from the root outward,
// as in a single tree.
static void site_swirl(const mf_Assemblies *all, const mf_AssemblyRobot *robot, uint32_t site,
                       double out[3]) {
    const mf_ArtPieces *pieces;
    const mf_ArtAssembly *piece = mf_assembly_piece(all, robot, &pieces);
    mf_art_pieces_get(pieces, piece->swirl, robot->lane, 3 + 3 * site, 3, out);
}

static void spread_swirl(mf_Assemblies *all, uint32_t index) {
    const mf_Assembly *assembly = &all->assemblies[index];
    const uint32_t first = mf_assembly_first(all, assembly);
    for (uint32_t i = first; i < assembly->end && assembly->active; i++) {
        mf_AssemblyRobot *robot = &all->order[i];
        mf_vec3_set(robot->swirl, 0.0, 0.0, 0.0);
        if (robot->parent == MF_NONE)
            continue;
        const mf_AssemblyRobot *parent = &all->order[robot->parent];
        double there[3], here[3];
        site_swirl(all, robot, robot->edge.frames[1].site, here);
        if (parent->anchored) {
            mf_vec3_copy(there, robot->edge.anchors[0].rate);
        } else {
            site_swirl(all, parent, robot->edge.frames[0].site, there);
            mf_vec3_add(there, there, parent->swirl);
        }
        mf_vec3_sub(robot->swirl, there, here);
    }
    for (uint32_t i = first; i < assembly->end && assembly->active; i++) {
        const mf_ArtPieces *pieces;
        const mf_AssemblyRobot *robot = &all->order[i];
        mf_ArtAssembly *piece = mf_assembly_piece(all, robot, &pieces);
        mf_art_pieces_set(pieces, piece->swirl, robot->lane, 0, 3, robot->swirl);
    }
}

// The robot of the order in a lane of a piece; MF_NONE: it takes no part any more.
static uint32_t robot_in(const mf_Assemblies *all, const mf_AssemblyPiece *piece, uint32_t lane) {
    const mf_AssemblyGroup *group = &all->groups[piece->group];
    const uint32_t instance = piece->piece / group->pieces->per_block * MF_BLOCK +
                              piece->piece % group->pieces->per_block * group->pieces->lanes + lane;
    return group->taken[instance] ? all->frames[group->group->first_robot + instance] : MF_NONE;
}

static void measure(mf_Assemblies *all, uint32_t index) {
    const uint32_t first = TOGETHER * index, end = first + TOGETHER;
    for (uint32_t i = first; i < end && i < all->order_count; i++)
        if (all->assemblies[all->order[i].assembly].active)
            mf_assembly_measure(all, i);
}

static void note(mf_Assemblies *all, uint32_t index) {
    mf_Assembly *assembly = &all->assemblies[index];
    if (!assembly->active)
        return;
    mf_assembly_measure_loops(all, assembly);
    if ((gather_flags(all, assembly) & MF_ART_STANDS) == 0)
        mf_assembly_note(all, assembly);
}

static uint32_t task_count(const mf_Assemblies *all) {
    return (all->order_count + TOGETHER - 1) / TOGETHER;
}

// Robots of assemblies with branches are filled when these are eliminated, robot by robot.
static void fill(mf_Assemblies *all, const mf_AssemblyRobot *robot) {
    if (!all->assemblies[robot->assembly].branched)
        mf_assembly_fill(all, robot, all->matrices + robot->values);
}

// The responses of the robots of a piece.
static void fill_piece(mf_Assemblies *all, const mf_AssemblyPiece *piece) {
    if (piece->assembly != MF_NONE && all->assemblies[piece->assembly].branched)
        return;
    for (uint32_t lanes = piece->lanes; lanes != 0; lanes &= lanes - 1) {
        const uint32_t robot = robot_in(all, piece, (uint32_t)__builtin_ctz(lanes));
        if (robot != MF_NONE && all->assemblies[all->order[robot].assembly].wrong)
            fill(all, &all->order[robot]);
    }
}

static void respond(mf_Assemblies *all, uint32_t index) {
    mf_AssemblyPiece *piece = &all->pieces[index];
    const mf_ArtPieces *pieces = all->groups[piece->group].pieces;
    if (!piece->wrong)
        return;
    if (all->round > 0 && !piece->ready)
        mf_art_pieces_run(pieces, piece->piece, MF_ART_REVISE);
    if ((all->round > 0 || !all->looked) && !piece->ready)
        mf_art_pieces_run(pieces, piece->piece, MF_ART_RESPOND);
    piece->ready = false;
    fill_piece(all, piece);
}

// Roots that move by themselves are in no piece.
static void fill_anchors(mf_Assemblies *all) {
    for (uint32_t a = 0; a < all->count; a++) {
        const mf_Assembly *assembly = &all->assemblies[a];
        if (assembly->active && assembly->wrong && all->order[assembly->first].anchored)
            fill(all, &all->order[assembly->first]);
    }
}

static bool is_solved_again(const mf_Assemblies *all, uint32_t branch) {
    const mf_Assembly *assembly = &all->assemblies[all->branches[branch].assembly];
    return assembly->active && assembly->wrong;
}

static void branch_in(mf_Assemblies *all, uint32_t index) {
    if (is_solved_again(all, index))
        mf_assembly_branch_in(all, &all->branches[index]);
}

static void branch_out(mf_Assemblies *all, uint32_t index) {
    if (is_solved_again(all, index))
        mf_assembly_branch_out(all, &all->branches[index]);
}

static void solve(mf_Assemblies *all, uint32_t index) {
    mf_Assembly *assembly = &all->assemblies[index];
    if (assembly->active && assembly->wrong)
        mf_assembly_solve(all, assembly);
}

// By what part of all loads, or of the weight, contacts of an assembly are wrong.
static double unsettled_part(const mf_Assemblies *all, const mf_Assembly *assembly) {
    const double gravity = mf_world_config_of(all->docks->world)->gravity;
    double wrong = 0.0, sum = 0.0, weight = 0.0, own[2];
    for (uint32_t i = mf_assembly_first(all, assembly); i < assembly->end; i++) {
        const mf_ArtPieces *pieces;
        const mf_ArtAssembly *piece = mf_assembly_piece(all, &all->order[i], &pieces);
        mf_art_pieces_get(pieces, piece->unsettled, all->order[i].lane, 0, 2, own);
        wrong += own[0];
        sum += own[1];
        weight += pieces->motion->plan->mass * gravity;
    }
    const double most = sum > weight ? sum : weight;
    return wrong / (most > 1e-12 ? most : 1e-12);
}

static void share_part(const mf_Assemblies *all, const mf_Assembly *assembly, double part) {
    for (uint32_t i = mf_assembly_first(all, assembly); i < assembly->end; i++) {
        const mf_ArtPieces *pieces;
        mf_ArtAssembly *piece = mf_assembly_piece(all, &all->order[i], &pieces);
        mf_art_pieces_set(pieces, piece->unsettled, all->order[i].lane, 2, 1, &part);
    }
}

static void judge(mf_Assemblies *all, uint32_t index) {
    mf_Assembly *assembly = &all->assemblies[index];
    if (!assembly->active || !assembly->wrong)
        return;
    assembly->again = false;
    assembly->flags = gather_flags(all, assembly);
    assembly->wrong = (assembly->flags & MF_ART_WRONG) != 0;
    if (all->late) {
        const double part = unsettled_part(all, assembly);
        assembly->wrong = assembly->wrong && part > MF_ART_UNSETTLED;
        share_part(all, assembly, part);
    }
    // In a single robot all contacts take over their loads where one was wrong.
    for (uint32_t i = mf_assembly_first(all, assembly);
         i < assembly->end && assembly->wrong && !all->late; i++)
        *flags_of(all, i) |= MF_ART_WRONG;
}

static bool is_wrong(const mf_Assemblies *all, uint32_t assembly) {
    return all->assemblies[assembly].active && all->assemblies[assembly].wrong;
}

static bool has_wrong(const mf_Assemblies *all, const mf_AssemblyPiece *piece) {
    if (piece->assembly != MF_NONE)
        return is_wrong(all, piece->assembly);
    bool wrong = false;
    for (uint32_t lanes = piece->lanes; lanes != 0 && !wrong; lanes &= lanes - 1) {
        const uint32_t robot = robot_in(all, piece, (uint32_t)__builtin_ctz(lanes));
        wrong = robot != MF_NONE && is_wrong(all, all->order[robot].assembly);
    }
    return wrong;
}

// Which pieces have robots of assemblies that are wrong. All they do is done again, so that no
// result depends on who else is in a piece.
static bool mark_wrong(mf_Assemblies *all) {
    bool any = false;
    for (uint32_t p = 0; p < all->piece_count; p++) {
        all->pieces[p].wrong = has_wrong(all, &all->pieces[p]);
        any = any || all->pieces[p].wrong;
    }
    return any;
}

void mf_assemblies_solve(mf_Assemblies *all) {
    for (uint32_t a = 0; a < all->count; a++) {
        mf_Assembly *assembly = &all->assemblies[a];
        assembly->wrong = assembly->active && !assembly->solved;
        assembly->solved = true;
    }
    for (all->round = 0; all->round < MORE_ROUNDS && mark_wrong(all); all->round++) {
        all->late = all->round + 1 >= ROUNDS;
        run_tasks(all, all->piece_count, respond);
        fill_anchors(all);
        all->looked = false;
        run_pass(all, all->branch_count, branch_in);
        run_tasks(all, all->count, solve);
        run_pass(all, all->branch_count, branch_out);
        run_pass(all, all->piece_count, push);
        run_tasks(all, all->count, judge);
    }
}

// ---- the end of a step --------------------------------------------------------------------------

static void share_flags(mf_Assemblies *all, uint32_t index) {
    const mf_Assembly *assembly = &all->assemblies[index];
    const uint32_t struck = assembly->node_end > assembly->first_node ? MF_ART_STRUCK : 0;
    for (uint32_t i = mf_assembly_first(all, assembly); i < assembly->end && assembly->active; i++)
        *flags_of(all, i) |= (assembly->flags & MF_ART_STRUCK) | struck;
}

static void chain(mf_Assemblies *all, uint32_t index) {
    mf_Assembly *assembly = &all->assemblies[index];
    if (!assembly->active)
        return;
    mf_assembly_store(all, assembly);
    mf_assembly_chain(all, assembly);
    mf_assembly_gather(all, assembly);
}

static void check(mf_Assemblies *all, uint32_t index) {
    mf_Assembly *assembly = &all->assemblies[index];
    assembly->failed = assembly->active && mf_assembly_has_failed(all, assembly);
}

static void place(mf_Assemblies *all, uint32_t index) {
    const uint32_t first = TOGETHER * index, end = first + TOGETHER;
    mf_assembly_update_poses(all, first, end < all->order_count ? end : all->order_count);
}

// Once per robot, by the loop that is open most.
static void warn_of_loops(const mf_Assemblies *all, const mf_Assembly *assembly) {
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end && assembly->active; l++)
        for (uint32_t s = 0; s < 2; s++) {
            const mf_AssemblyEdge *loop = &all->loops[l];
            bool most = loop->stuck > 0.0;
            for (uint32_t k = assembly->first_loop; k < assembly->loop_end && most; k++) {
                const mf_AssemblyEdge *other = &all->loops[k];
                const bool beside =
                    other->robots[0] == loop->robots[s] || other->robots[1] == loop->robots[s];
                most = k == l || !beside || other->stuck < loop->stuck ||
                       (k > l && !(other->stuck > loop->stuck));
            }
            const mf_AssemblyRobot *robot = &all->order[loop->robots[s]];
            if (most)
                mf_trial_step_warn(all->docks->joints->solver->trials[robot->group->index],
                                   robot->instance, MF_WARNING_LOOPS, 3, loop->stuck);
        }
}

// The motions of the groups skip carried robots while these are shown.
static void show_carried(mf_Assemblies *all, bool shown) {
    for (uint32_t g = 0; g < all->group_count; g++)
        if (all->groups[g].pieces != NULL)
            mf_art_set_carried(all->groups[g].group->group,
                               shown && all->piece_count > 0 ? all->groups[g].carried : NULL);
}

void mf_assemblies_finish(mf_Assemblies *all) {
    count(all);
    for (uint32_t a = 0; a < all->count; a++)
        warn_of_loops(all, &all->assemblies[a]);
    run_tasks(all, all->count, share_flags);
    run_stage(all, MF_ART_FINISH);
    run_tasks(all, all->count, chain);
    run_pass(all, all->piece_count, fly);
    run_tasks(all, all->count, check);
    run_tasks(all, task_count(all), place);
    for (uint32_t a = 0; a < all->count; a++) {
        const mf_Assembly *assembly = &all->assemblies[a];
        for (uint32_t i = mf_assembly_first(all, assembly); i < assembly->end && assembly->active;
             i++)
            all->order[i].group->assemblies->carried[all->order[i].instance] = 1;
    }
    show_carried(all, true);
}

bool mf_assemblies_begin(mf_Assemblies *all, const mf_SystemRun *run) {
    if (all == NULL)
        return false;
    mf_docks_begin(all->docks, run);
    mf_assemblies_refresh(all);
    if (all->count == 0 && all->piece_count == 0)
        return false;
    all->step = (double)run->step * 1e-9;
    const mf_WorldConfig *world = mf_world_config_of(all->docks->world);
    const double size = mf_vec3_length(world->gravity_direction);
    mf_vec3_scale(all->lift, world->gravity_direction, size > 0.0 ? -world->gravity / size : 0.0);
    all->time = all->docks->config.time > 0.0 ? all->docks->config.time : 4.0 * all->step;
    if (!mf_assemblies_choose(all)) {
        count(all);
        return false;
    }
    run_stage(all, MF_ART_BEGIN);
    give_up_with(all, MF_ART_DEAD);
    run_tasks(all, all->count, spread_swirl);
    run_pass(all, all->piece_count, look);
    all->looked = true;
    give_up_with(all, MF_ART_TOUCHES);
    run_tasks(all, task_count(all), measure);
    run_tasks(all, all->count, note);
    return true;
}

void mf_assemblies_end(mf_Assemblies *all) {
    if (all == NULL)
        return;
    show_carried(all, false);
    mf_docks_end(all->docks);
}
