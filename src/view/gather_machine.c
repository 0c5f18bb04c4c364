// Gathers what a report says of machines. The champion, the best alive and the champion's ancestors
// are instances of one scene, which is stepped once; results do not depend on who is beside whom.
#include "view/report_machine.h"
#include "scene/script/script.h"
#include "search/database.h"

#include "math/scalar.h"

#include <string.h>

enum {
    POOL = 1024,   // [1] most alive among which those shown are chosen
    FEW = 4,       // [1] plans; of fewer, machines of the same plan are shown too
    SAMPLES = 4096 // [1] most of the trial
};

// ---- who is shown ------------------------------------------------------------------------------

static mf_Status read_kin(mf_Archive *archive, uint64_t id, uint32_t bytes, mf_ReportKin *kin,
                          uint8_t *genome, mf_Error *error) {
    mf_Individual individual;
    MF_TRY(mf_archive_individual(archive, id, &individual, genome, bytes, error));
    memset(kin, 0, sizeof *kin);
    kin->id = id;
    if (mf_machine_decode(genome, bytes, &kin->machine, NULL) != MF_OK)
        memset(&kin->machine, 0, sizeof kin->machine); // what is no machine is an empty one
    mf_machine_stand(&kin->machine);
    return MF_OK;
}

// Of all that matters of a machine, or of its plan: who is connected to whom, and which bars are
// actuators. 0: nothing that moves.
static uint64_t hash_of(mf_ReportMachine *all, const uint8_t *genome, uint32_t bytes, bool plan) {
    uint64_t hash = 0;
    const mf_Machine *m = &all->pruned;
    if (!mf_machine_read(genome, bytes, &all->pruned, &hash) || m->actuator_count == 0)
        return 0;
    if (!plan)
        return hash;
    hash = MF_HASH_START;
    for (uint32_t b = 0; b < m->bar_count; b++)
        hash = mf_hash_bytes(hash, m->bars[b].ends, sizeof m->bars[b].ends);
    for (uint32_t a = 0; a < m->actuator_count; a++)
        hash = mf_hash_bytes(hash, &m->actuators[a].bar, sizeof m->actuators[a].bar);
    return hash;
}

// The best alive that differ from each other.
static mf_Status choose_alive(mf_ReportData *data, mf_Archive *archive, uint8_t *genome, bool plan,
                              mf_Error *error) {
    mf_ReportMachine *all = data->machine;
    uint64_t ids[POOL], seen[MF_REPORT_ALIVE];
    uint32_t count;
    mf_Status status = mf_archive_alive(archive, POOL, ids, &count, error);
    all->alive = 0;
    all->plans = plan;
    for (uint32_t i = 0; i < count && all->alive < MF_REPORT_ALIVE && status == MF_OK; i++) {
        status =
            read_kin(archive, ids[i], data->genome_bytes, &all->kin[1 + all->alive], genome, error);
        const uint64_t hash = status == MF_OK ? hash_of(all, genome, data->genome_bytes, plan) : 0;
        bool is_new = hash != 0;
        for (uint32_t k = 0; k < all->alive; k++)
            is_new = is_new && seen[k] != hash;
        if (is_new)
            seen[all->alive++] = hash;
    }
    return status;
}

// Marks the first ancestor (from the oldest on) that reaches each of some shares of the best
// fitness, then ancestors in the middle of the longest times without one, up to `most`.
static void mark_milestones(const mf_Ancestor *line, uint32_t count, uint32_t most, bool *marked) {
    uint32_t marks = 1, oldest = count; // the line begins with the youngest
    marked[0] = true;
    while (oldest > 1 && line[oldest - 1].bytes <= 8)
        oldest--; // without a body
    if (oldest > 1)
        marks += marked[oldest - 1] = true;
    for (uint32_t k = 1; k + 1 < most; k++) {
        uint32_t i = oldest - 1;
        while (i > 0 && !(line[i].fitness >= line[0].fitness * k / (most - 1)))
            i--;
        marks += !marked[i];
        marked[i] = true;
    }
    for (; marks < most && marks < oldest; marks++) {
        uint32_t widest = 0, at = 0;
        for (uint32_t i = 0, last = 0; i < oldest; i++) {
            if (marked[i] && i - last > widest) {
                widest = i - last;
                at = last + widest / 2;
            }
            last = marked[i] ? i : last;
        }
        if (widest < 2)
            return;
        marked[at] = true;
    }
}

static mf_Status choose_ancestors(mf_ReportData *data, mf_Archive *archive, uint8_t *genome,
                                  mf_Error *error) {
    mf_ReportMachine *all = data->machine;
    mf_Ancestor *line = NULL;
    uint32_t count = 0;
    MF_TRY(mf_archive_ancestry(archive, data->champion.id, &line, &count, error));
    mf_Status status = MF_OK;
    bool *marked = mf_allocate(data->context, count, sizeof *marked);
    if (marked == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "report: out of memory");
    else
        mark_milestones(line, count, MF_REPORT_ANCESTORS, marked);
    for (uint32_t i = count; i-- > 0 && status == MF_OK;) {
        mf_ReportKin *kin = &all->kin[1 + all->alive + all->ancestors];
        if (!marked[i] || all->ancestors == MF_REPORT_ANCESTORS)
            continue;
        status = read_kin(archive, line[i].id, data->genome_bytes, kin, genome, error);
        kin->generation = line[i].generation;
        all->ancestors += status == MF_OK && kin->machine.bar_count > 0;
    }
    mf_release(data->context, marked);
    mf_release(data->context, line);
    return status;
}

static mf_Status choose(mf_ReportData *data, mf_Archive *archive, mf_Error *error) {
    mf_ReportMachine *all = data->machine;
    uint8_t *genome = mf_allocate(data->context, data->genome_bytes, 1);
    MF_NEED_MEMORY(genome != NULL, error, "report");
    mf_Status status =
        read_kin(archive, data->champion.id, data->genome_bytes, &all->kin[0], genome, error);
    MF_THEN(status, choose_alive(data, archive, genome, true, error));
    if (status == MF_OK && all->alive < FEW)
        status = choose_alive(data, archive, genome, false, error);
    MF_THEN(status, choose_ancestors(data, archive, genome, error));
    mf_release(data->context, genome);
    return status;
}

// ---- the trial ---------------------------------------------------------------------------------

static double value_at(const mf_Scene *scene, const char *field, uint32_t instance, uint32_t c) {
    return mf_field_get(mf_group_find_field(scene->group, field), instance, c);
}

static bool moves(const mf_ReportKin *kin) {
    return kin->machine.actuator_count > 0;
}

// As it stands on the ground where nothing was simulated.
static void stand(mf_ReportKin *kin) {
    double lowest = 0.0;
    for (uint32_t v = 0; v < kin->machine.vertex_count; v++)
        mf_vec3_copy(kin->vertex + 3 * v, kin->machine.vertices[v].position);
    const mf_MachinePose pose = mf_report_pose(kin);
    lowest = mf_pose_ground(&pose);
    for (uint32_t v = 0; v < kin->machine.vertex_count; v++)
        kin->vertex[3 * v + 2] -= lowest;
}

static void come_to_rest(const mf_Scene *scene, mf_ReportMachine *all) {
    for (uint32_t i = 0; i < 1 + all->alive + all->ancestors; i++) {
        mf_ReportKin *kin = &all->kin[i];
        stand(kin);
        for (uint32_t c = 0; moves(kin) && c < 3 * kin->machine.vertex_count; c++)
            kin->vertex[c] = value_at(scene, "vertex.position", i, c);
    }
}

// The state of the neurons by their numbers in the genome: the network has the useful ones only.
static void sample_neurons(const mf_Scene *scene, const mf_ReportMachine *all, double *state) {
    for (uint32_t n = 0, index = 0; n < all->kin[0].machine.neuron_count; n++)
        state[n] = all->useful[n] ? value_at(scene, "neuron.state", 0, index++) : 0.0;
}

static void take_sample(const mf_Scene *scene, mf_ReportMachine *all) {
    mf_ReportCrawl *crawl = &all->crawl;
    const mf_Machine *m = &all->kin[0].machine;
    double *vertex = crawl->vertex + (size_t)3 * m->vertex_count * crawl->samples;
    for (uint32_t c = 0; c < 3 * m->vertex_count; c++)
        vertex[c] = value_at(scene, "vertex.position", 0, c);
    for (uint32_t c = 0; c < 3; c++)
        crawl->center[3 * crawl->samples + c] = value_at(scene, "base.position", 0, c);
    sample_neurons(scene, all, crawl->state + (size_t)m->neuron_count * crawl->samples);
    for (uint32_t a = 0; a < m->actuator_count; a++) {
        const uint32_t *ends = m->bars[m->actuators[a].bar].ends;
        double offset[3];
        mf_vec3_sub(offset, vertex + 3 * ends[1], vertex + 3 * ends[0]);
        crawl->length[(size_t)m->actuator_count * crawl->samples + a] = mf_vec3_length(offset);
    }
    crawl->samples++;
}

// Counts the warnings of the step that was just made; returns their bits.
static uint32_t count_warnings(const mf_Scene *scene, uint32_t before[MF_WARNING_KINDS],
                               mf_ReportCrawl *crawl, bool counts) {
    uint32_t bits = 0;
    for (uint32_t k = 0; k < MF_WARNING_KINDS; k++) {
        const uint32_t steps = (uint32_t)value_at(scene, "warning.steps", 0, k);
        bits |= steps > before[k] ? 1u << k : 0u;
        crawl->warned[k] += counts ? steps - before[k] : 0u;
        before[k] = steps;
    }
    return bits;
}

static void count_forces(const mf_Scene *scene, mf_ReportMachine *all) {
    for (uint32_t b = 0; b < all->kin[0].machine.bar_count; b++) {
        const double force = value_at(scene, "bar.force", 0, b);
        double *most = force > 0.0 ? &all->crawl.tension[b] : &all->crawl.compression[b];
        *most = mf_abs(force) > *most ? mf_abs(force) : *most;
    }
}

// Forces of steps that are not relaxed, or in which the machine falls, mean nothing.
static mf_Status crawl_on(mf_Scene *scene, mf_ReportMachine *all, uint64_t stride,
                          mf_Error *error) {
    const uint64_t rest = mf_machine_rest_steps(scene), steps = mf_scene_steps(scene);
    uint32_t before[MF_WARNING_KINDS] = {0};
    mf_ReportCrawl *crawl = &all->crawl;
    if (rest == 0)
        come_to_rest(scene, all);
    take_sample(scene, all);
    for (uint64_t step = 1; step <= steps; step++) {
        const bool over = mf_group_fault(scene->group, 0) != 0;
        MF_TRY(mf_scene_step(scene, 1, NULL, error));
        const uint32_t bits = count_warnings(scene, before, crawl, !over && step > rest);
        if (!over && step >= rest && (bits & (MF_WARNING_SOLVER | MF_WARNING_JUMP)) == 0)
            count_forces(scene, all);
        if (step == rest)
            come_to_rest(scene, all);
        if (!over && mf_group_fault(scene->group, 0) != 0)
            crawl->ending = bits;
        if (step % stride == 0)
            take_sample(scene, all);
    }
    crawl->rest = (uint32_t)(rest / stride);
    crawl->counted = (uint64_t)value_at(scene, "trial.frames", 0, 0);
    crawl->steps = steps - rest;
    crawl->end = (uint32_t)((rest + crawl->counted) / stride);
    for (uint32_t i = 0; i < 1 + all->alive + all->ancestors; i++)
        if (moves(&all->kin[i]))
            all->kin[i].result = mf_machine_result(scene, i);
    return MF_OK;
}

static mf_Status reserve(mf_ReportData *data, uint64_t samples, mf_Error *error) {
    mf_ReportCrawl *crawl = &data->machine->crawl;
    const mf_Machine *m = &data->machine->kin[0].machine;
    const size_t each = 3 * (size_t)m->vertex_count + 3 + m->neuron_count + m->actuator_count;
    crawl->vertex = mf_allocate(data->context, (size_t)samples * each, sizeof(double));
    MF_NEED_MEMORY(crawl->vertex != NULL, error, "report");
    crawl->center = crawl->vertex + (size_t)samples * 3 * m->vertex_count;
    crawl->state = crawl->center + (size_t)samples * 3;
    crawl->length = crawl->state + (size_t)samples * m->neuron_count;
    return MF_OK;
}

// Without neurons that do not matter, as in the evaluation.
static mf_Status begin(const mf_Scene *scene, uint32_t instance, mf_ReportMachine *all,
                       mf_Error *error) {
    uint64_t hash = 0;
    MF_TRY(mf_machine_encode(&all->kin[instance].machine, all->genome, sizeof all->genome, error));
    const bool is_one = mf_machine_read(all->genome, sizeof all->genome, &all->pruned, &hash);
    return mf_machine_begin(scene, instance, is_one ? &all->pruned : NULL, hash, error);
}

static mf_Status simulate(mf_ReportData *data, mf_Error *error) {
    mf_ReportMachine *all = data->machine;
    mf_SceneConfig config = mf_scene_config();
    mf_Scene scene;
    config.count = 1 + all->alive + all->ancestors;
    config.evaluates = true;
    MF_TRY(mf_scene_create(data->context, data->file, &config, &scene, error));
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < config.count && status == MF_OK; i++)
        status = begin(&scene, i, all, error);
    const uint64_t steps = mf_scene_steps(&scene), stride = steps / SAMPLES + 1;
    MF_THEN(status, reserve(data, steps / stride + 1, error));
    if (status == MF_OK) {
        all->crawl.period = mf_time_to_seconds(scene.step) * (double)stride;
        status = crawl_on(&scene, all, stride, error);
    }
    mf_scene_destroy(&scene);
    return status;
}

// ---- all of it ---------------------------------------------------------------------------------

mf_Status mf_report_gather_machine(mf_ReportData *data, mf_Archive *archive, mf_Error *error) {
    mf_ReportMachine *all = mf_allocate(data->context, 1, sizeof *all);
    data->machine = all;
    MF_NEED_MEMORY(all != NULL, error, "report");
    mf_Status status = choose(data, archive, error);
    mf_machine_useful(&all->kin[0].machine, all->useful);
    MF_THEN(status, simulate(data, error));
    if (status == MF_OK && all->kin[0].machine.bar_count > 0) {
        const mf_Truss truss = mf_machine_truss(&all->kin[0].machine);
        all->mass = mf_truss_mass(&truss);
        status = mf_truss_statics(data->context, &truss, &all->statics, error);
    }
    return status;
}

void mf_report_release_machine(mf_ReportData *data) {
    if (data->machine != NULL)
        mf_release(data->context, data->machine->crawl.vertex);
    mf_release(data->context, data->machine);
}

mf_MachinePose mf_report_pose(const mf_ReportKin *kin) {
    return (mf_MachinePose){&kin->machine, kin->vertex};
}

mf_MachinePose mf_report_pose_at(const mf_ReportData *data, uint32_t sample) {
    const mf_ReportMachine *all = data->machine;
    const mf_Machine *m = &all->kin[0].machine;
    if (!moves(&all->kin[0]))
        return mf_report_pose(&all->kin[0]);
    return (mf_MachinePose){m, all->crawl.vertex + (size_t)3 * m->vertex_count * sample};
}
