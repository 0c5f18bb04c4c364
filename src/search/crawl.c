// The trial of machines: how far the center of mass comes in some cycles of the network.
//
// A machine is put on level ground, relaxes for some frames, and runs its network: all neurons at
// once in each cycle, then each actuator goes towards the length that its neuron wants, by at most
// `change`, spread over the frames of the cycle. The trial ends at the first frame that
// quasi-static motion cannot vouch for (a jump, a frame that is not relaxed) or that breaks the
// machine (yield, buckling): what was reached before counts.
//
// Invariant: the result of a machine depends on its own parts and the settings alone. Machines are
// sorted so that lanes side by side have the same bars where there are such; noise is drawn by the
// machine's hash.
#include "math/scalar.h"
#include "search/machine.h"

#include <mayfly/world.h>

#include <stdlib.h>
#include <string.h>

typedef struct Score { // remembered
    uint64_t hash;
    mf_CrawlResult result;
} Score;

typedef struct Life { // one machine of a call
    mf_Machine machine;
    uint64_t hash, shape; // of all that matters, and of its bars alone
    uint32_t genome;      // [1] its place in the call
    double states[MF_MACHINE_NEURONS];
    double from[MF_MACHINE_ACTUATORS], to[MF_MACHINE_ACTUATORS]; // [m] in this cycle
    double start[2]; // [m] of the center, after settling
    bool over;
    mf_CrawlResult result;
} Life;

struct mf_Crawl {
    mf_Context *context;
    mf_CrawlConfig config;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    mf_Field *base, *position, *load, *command, *fault, *warning;
    Score *scores;
};

mf_CrawlConfig mf_crawl_config(void) {
    mf_CrawlConfig config = {.struct_size = sizeof(mf_CrawlConfig),
                             .capacity = 256,
                             .cycles = 12,
                             .frames = 4,
                             .settle = 8,
                             .change = 0.01,
                             .noise = 1e-4,
                             .stop = MF_WARNING_JUMP | MF_WARNING_SOLVER | MF_WARNING_YIELD |
                                     MF_WARNING_BUCKLING,
                             .cache = 65536,
                             .motion = mf_quasistatic_config()};
    // The tighter defaults of the motion cost several times as much.
    config.motion.tolerance = 1e-4;
    config.motion.iterations = 100;
    return config;
}

static mf_Status check_config(const mf_CrawlConfig *config, mf_Error *error) {
    if (config == NULL || config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "crawl: start from mf_crawl_config()");
    const struct {
        const char *name;
        double value, lower, upper;
    } ranges[] = {{"capacity", config->capacity, 1, 65536}, {"cycles", config->cycles, 1, 1e6},
                  {"frames", config->frames, 1, 1000},      {"settle", config->settle, 0, 1000},
                  {"change", config->change, 1e-9, 1e3},    {"noise", config->noise, 0, 1e6},
                  {"cache", config->cache, 0, 1 << 24}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (!(ranges[i].value >= ranges[i].lower && ranges[i].value <= ranges[i].upper))
            return mf_fail(error, MF_BAD_ARGUMENT, "crawl.%s: %g, need %g .. %g", ranges[i].name,
                           ranges[i].value, ranges[i].lower, ranges[i].upper);
    }
    return MF_OK;
}

// ---- the world
// -----------------------------------------------------------------------------------

static mf_Status build_world(mf_Crawl *crawl, mf_Error *error) {
    // A bar, until machines come.
    const mf_TrussVertex vertices[2] = {{.position = {0, 0, 0}}, {.position = {0.1, 0, 0}}};
    const mf_TrussBar bar = {{0, 1}, 0.01, 0.0};
    const mf_Truss truss = {.name = "machine",
                            .material = mf_truss_material(),
                            .vertices = vertices,
                            .bars = &bar,
                            .vertex_count = 2,
                            .bar_count = 1};
    const mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    mf_QuasistaticConfig motion = crawl->config.motion;
    motion.truss = &truss;
    motion.vertices = MF_MACHINE_VERTICES;
    motion.bars = MF_MACHINE_BARS;
    motion.actuators = MF_MACHINE_ACTUATORS;
    motion.noise = 0.0;
    motion.actuator_speed = 1e6; // commands are limited by `change` here
    mf_Status status = mf_truss_model(crawl->context, &truss, &crawl->model, error);
    group.model = crawl->model;
    group.count = crawl->config.capacity;
    group.double_precision = true;
    if (status == MF_OK)
        status = mf_world_create(crawl->context, &world, &crawl->world, error);
    if (status == MF_OK)
        status = mf_world_add_group(crawl->world, &group, &crawl->group, error);
    if (status == MF_OK)
        status = mf_quasistatic_add(crawl->group, &motion, error);
    return status;
}

mf_Status mf_crawl_create(mf_Context *context, const mf_CrawlConfig *config, mf_Crawl **out,
                          mf_Error *error) {
    if (context == NULL || out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_crawl_create: an argument is NULL");
    *out = NULL;
    mf_Status status = check_config(config, error);
    if (status != MF_OK)
        return status;
    mf_Crawl *crawl = mf_allocate(context, 1, sizeof *crawl);
    if (crawl == NULL)
        return mf_fail(error, MF_NO_MEMORY, "crawl: out of memory");
    crawl->context = context;
    crawl->config = *config;
    status = build_world(crawl, error);
    if (status == MF_OK && config->cache > 0) {
        crawl->scores = mf_allocate(context, config->cache, sizeof *crawl->scores);
        if (crawl->scores == NULL)
            status = mf_fail(error, MF_NO_MEMORY, "crawl: out of memory");
    }
    if (status != MF_OK) {
        mf_crawl_destroy(crawl);
        return status;
    }
    crawl->base = mf_group_find_field(crawl->group, "base.position");
    crawl->position = mf_group_find_field(crawl->group, "vertex.position");
    crawl->load = mf_group_find_field(crawl->group, "vertex.load");
    crawl->command = mf_group_find_field(crawl->group, "actuator.control");
    crawl->fault = mf_group_find_field(crawl->group, "fault.word");
    crawl->warning = mf_group_find_field(crawl->group, "warning.word");
    *out = crawl;
    return MF_OK;
}

void mf_crawl_destroy(mf_Crawl *crawl) {
    if (crawl == NULL)
        return;
    mf_world_destroy(crawl->world);
    mf_model_destroy(crawl->model);
    mf_release(crawl->context, crawl->scores);
    mf_release(crawl->context, crawl);
}

// ---- what matters of a machine
// -------------------------------------------------------------------

// Removes neurons from which no way leads to an actuator.
static void prune(mf_Machine *m) {
    bool matters[MF_MACHINE_NEURONS] = {false};
    uint32_t place[MF_MACHINE_NEURONS] = {0}, neurons = 0, synapses = 0;
    for (uint32_t a = 0; a < m->actuator_count; a++)
        matters[m->actuators[a].neuron] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t s = 0; s < m->synapse_count; s++) {
            const mf_Synapse *synapse = &m->synapses[s];
            if (matters[synapse->to] && !matters[synapse->from])
                more = matters[synapse->from] = true;
        }
    }
    for (uint32_t n = 0; n < m->neuron_count; n++) {
        place[n] = neurons;
        if (matters[n])
            m->neurons[neurons++] = m->neurons[n];
    }
    for (uint32_t s = 0; s < m->synapse_count; s++) {
        const mf_Synapse synapse = m->synapses[s];
        if (matters[synapse.to])
            m->synapses[synapses++] =
                (mf_Synapse){place[synapse.from], place[synapse.to], synapse.weight};
    }
    for (uint32_t a = 0; a < m->actuator_count; a++)
        m->actuators[a].neuron = place[m->actuators[a].neuron];
    m->neuron_count = neurons;
    m->synapse_count = synapses;
}

static bool begin_life(Life *life, const uint8_t *genome, uint32_t genome_bytes, uint32_t index) {
    uint8_t bytes[MF_MACHINE_BYTES];
    mf_Machine *m = &life->machine;
    if (mf_machine_decode(genome, genome_bytes, m, NULL) != MF_OK || m->actuator_count == 0)
        return false;
    prune(m);
    if (mf_machine_encode(m, bytes, sizeof bytes, NULL) != MF_OK)
        return false;
    life->hash = mf_hash_bytes(MF_HASH_START, bytes, mf_machine_bytes(m));
    life->shape = MF_HASH_START;
    for (uint32_t b = 0; b < m->bar_count; b++)
        life->shape = mf_hash_bytes(life->shape, m->bars[b].ends, sizeof m->bars[b].ends);
    life->genome = index;
    life->over = false;
    life->result = (mf_CrawlResult){0};
    for (uint32_t n = 0; n < m->neuron_count; n++)
        life->states[n] = m->neurons[n].state;
    return true;
}

// Sizes first, so that a block has no lane that is much larger than the others.
static int compare_lives(const void *one, const void *two) {
    const Life *const *first = one, *const *second = two;
    const uint64_t a[5] = {(*first)->machine.bar_count, (*first)->machine.vertex_count,
                           (*first)->shape, (*first)->hash, (*first)->genome};
    const uint64_t b[5] = {(*second)->machine.bar_count, (*second)->machine.vertex_count,
                           (*second)->shape, (*second)->hash, (*second)->genome};
    for (int i = 0; i < 5; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

// ---- a life
// --------------------------------------------------------------------------------------

// The next state of every neuron from those before, then where the actuators go.
static void think(const mf_CrawlConfig *config, Life *life) {
    const mf_Machine *m = &life->machine;
    double sums[MF_MACHINE_NEURONS];
    for (uint32_t n = 0; n < m->neuron_count; n++)
        sums[n] = m->neurons[n].bias;
    for (uint32_t s = 0; s < m->synapse_count; s++)
        sums[m->synapses[s].to] += m->synapses[s].weight * life->states[m->synapses[s].from];
    for (uint32_t n = 0; n < m->neuron_count; n++) {
        life->states[n] = m->neurons[n].kind == MF_NEURON_THRESHOLD
                              ? (sums[n] > 0.0 ? 1.0 : 0.0)
                              : 1.0 / (1.0 + mf_exp(-sums[n]));
    }
    for (uint32_t a = 0; a < m->actuator_count; a++) {
        const mf_TrussActuator *actuator = &m->actuators[a];
        const double wanted =
            actuator->lower + (actuator->upper - actuator->lower) * life->states[actuator->neuron];
        life->from[a] = life->to[a];
        life->to[a] += mf_clamp(wanted - life->to[a], -config->change, config->change);
    }
}

static double gaussian_like(const uint32_t words[4]) {
    // Sum of four uniform numbers, scaled to a deviation of 1: no logarithm is needed.
    double sum = 0.0;
    for (int i = 0; i < 4; i++)
        sum += (double)words[i] * 0x1p-32 - 0.5;
    return sum * 1.7320508075688772;
}

static void push(const mf_Crawl *crawl, const Life *life, uint32_t instance, uint32_t frame) {
    if (!(crawl->config.noise > 0.0))
        return;
    for (uint32_t c = 0; c < 3 * life->machine.vertex_count; c++) {
        uint32_t words[4];
        mf_random(crawl->config.seed ^ life->hash, c, 0x63726177, frame, words);
        mf_field_set(crawl->load, instance, c, crawl->config.noise * gaussian_like(words));
    }
}

static double longest_distance(const mf_Crawl *crawl, const Life *life, uint32_t instance) {
    double most = 0.0;
    for (uint32_t v = 0; v < life->machine.vertex_count; v++) {
        for (uint32_t w = 0; w < v; w++) {
            double square = 0.0;
            for (uint32_t i = 0; i < 3; i++) {
                const double d = mf_field_get(crawl->position, instance, 3 * v + i) -
                                 mf_field_get(crawl->position, instance, 3 * w + i);
                square += d * d;
            }
            most = square > most ? square : most;
        }
    }
    return mf_sqrt(most);
}

static void end_settling(const mf_Crawl *crawl, Life *life, uint32_t instance) {
    if (mf_field_get(crawl->fault, instance, 0) != 0.0) {
        life->over = true;
        return;
    }
    life->result.length = longest_distance(crawl, life, instance);
    for (uint32_t i = 0; i < 2; i++)
        life->start[i] = mf_field_get(crawl->base, instance, i);
    mf_field_set(crawl->warning, instance, 0, 0.0);
    for (uint32_t a = 0; a < life->machine.actuator_count; a++)
        life->from[a] = life->to[a] = mf_field_get(crawl->command, instance, a);
}

static void look(const mf_Crawl *crawl, Life *life, uint32_t instance) {
    const uint32_t warnings = (uint32_t)mf_field_get(crawl->warning, instance, 0);
    life->result.warnings |= warnings;
    if ((warnings & crawl->config.stop) != 0 || mf_field_get(crawl->fault, instance, 0) != 0.0) {
        life->over = true;
        mf_field_set(crawl->fault, instance, 0, MF_FAULT_CONTROL); // no more frames
        return;
    }
    const double x = mf_field_get(crawl->base, instance, 0) - life->start[0];
    const double y = mf_field_get(crawl->base, instance, 1) - life->start[1];
    life->result.distance = mf_sqrt(x * x + y * y);
    life->result.frames++;
}

static void frame_of(const mf_Crawl *crawl, Life *const *lives, uint32_t count, uint32_t frame) {
    const mf_CrawlConfig *config = &crawl->config;
    const uint32_t within = frame < config->settle ? 0 : (frame - config->settle) % config->frames;
    const double share = (double)(within + 1) / (double)config->frames;
    for (uint32_t i = 0; i < count; i++) {
        Life *life = lives[i];
        if (life->over)
            continue;
        push(crawl, life, i, frame);
        if (frame < config->settle)
            continue;
        if (within == 0)
            think(config, life);
        for (uint32_t a = 0; a < life->machine.actuator_count; a++)
            mf_field_set(crawl->command, i, a,
                         life->from[a] + share * (life->to[a] - life->from[a]));
    }
}

static mf_Status live(const mf_Crawl *crawl, Life *const *lives, uint32_t count, mf_Error *error) {
    const mf_CrawlConfig *config = &crawl->config;
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < config->capacity && status == MF_OK; i++) {
        if (i >= count) {
            mf_field_set(crawl->fault, i, 0, MF_FAULT_CONTROL); // nobody
            continue;
        }
        const mf_Truss truss = mf_machine_truss(&lives[i]->machine);
        status = mf_quasistatic_set(crawl->group, i, &truss, error);
    }
    for (uint32_t f = 0; f < config->settle + config->cycles * config->frames; f++) {
        if (status != MF_OK)
            return status;
        for (uint32_t i = 0; i < count && f == config->settle; i++)
            end_settling(crawl, lives[i], i);
        frame_of(crawl, lives, count, f);
        mf_world_step(crawl->world, 1);
        for (uint32_t i = 0; i < count && f >= config->settle; i++) {
            if (!lives[i]->over)
                look(crawl, lives[i], i);
        }
    }
    return status;
}

// ---- scores
// --------------------------------------------------------------------------------------

static Score *score_of(const mf_Crawl *crawl, uint64_t hash) {
    return crawl->scores != NULL ? &crawl->scores[hash % crawl->config.cache] : NULL;
}

static bool remember(const mf_Crawl *crawl, const Life *life, mf_CrawlResult *result) {
    const Score *score = score_of(crawl, life->hash);
    if (score == NULL || score->hash != life->hash)
        return false;
    *result = score->result;
    return true;
}

// Simulates lives in order; of equal neighbors only the first.
static mf_Status run_sorted(mf_Crawl *crawl, Life **sorted, uint32_t count, mf_CrawlResult *results,
                            mf_Error *error) {
    qsort(sorted, count, sizeof *sorted, compare_lives);
    uint32_t single = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (single == 0 || sorted[i]->hash != sorted[single - 1]->hash) {
            Life *swap = sorted[single];
            sorted[single++] = sorted[i];
            sorted[i] = swap;
        }
    }
    for (uint32_t first = 0; first < single; first += crawl->config.capacity) {
        const uint32_t left = single - first;
        mf_Status status =
            live(crawl, sorted + first,
                 left < crawl->config.capacity ? left : crawl->config.capacity, error);
        if (status != MF_OK)
            return status;
    }
    for (uint32_t i = 0; i < single; i++) {
        Score *score = score_of(crawl, sorted[i]->hash);
        if (score != NULL)
            *score = (Score){sorted[i]->hash, sorted[i]->result};
        results[sorted[i]->genome] = sorted[i]->result;
    }
    for (uint32_t i = single; i < count; i++) {
        for (uint32_t k = 0; k < single; k++) {
            if (sorted[k]->hash == sorted[i]->hash)
                results[sorted[i]->genome] = sorted[k]->result;
        }
    }
    return MF_OK;
}

mf_Status mf_crawl_run(mf_Crawl *crawl, const uint8_t *genomes, uint32_t count,
                       uint32_t genome_bytes, mf_CrawlResult *results, mf_Error *error) {
    if (crawl == NULL || genomes == NULL || results == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_crawl_run: an argument is NULL");
    Life *lives = mf_allocate(crawl->context, count, sizeof *lives);
    Life **sorted = mf_allocate(crawl->context, count, sizeof(Life *));
    mf_Status status = MF_OK;
    uint32_t alive = 0;
    if (count > 0 && (lives == NULL || sorted == NULL))
        status = mf_fail(error, MF_NO_MEMORY, "crawl: out of memory");
    for (uint32_t i = 0; i < count && status == MF_OK; i++) {
        results[i] = (mf_CrawlResult){0};
        if (!begin_life(&lives[i], genomes + (size_t)i * genome_bytes, genome_bytes, i))
            continue;
        if (!remember(crawl, &lives[i], &results[i]))
            sorted[alive++] = &lives[i];
    }
    if (status == MF_OK)
        status = run_sorted(crawl, sorted, alive, results, error);
    mf_release(crawl->context, sorted);
    mf_release(crawl->context, lives);
    return status;
}

mf_Status mf_crawl_evaluate(void *user, const uint8_t *genomes, uint32_t count,
                            uint32_t genome_bytes, double *fitness, mf_Error *error) {
    mf_Crawl *crawl = user;
    if (crawl == NULL || fitness == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_crawl_evaluate: an argument is NULL");
    mf_CrawlResult *results = mf_allocate(crawl->context, count, sizeof *results);
    if (results == NULL)
        return mf_fail(error, MF_NO_MEMORY, "crawl: out of memory");
    mf_Status status = mf_crawl_run(crawl, genomes, count, genome_bytes, results, error);
    const double whole = (double)crawl->config.cycles * (double)crawl->config.frames;
    for (uint32_t i = 0; i < count && status == MF_OK; i++)
        fitness[i] = results[i].distance * ((double)results[i].frames / whole);
    mf_release(crawl->context, results);
    return status;
}
