// Schemes of selection: who becomes a parent, and who is replaced.
//
// Chances are running sums in the order of ranks, in double precision, so that a choice is the same
// on every machine; the first sum above u times the last one is chosen, with u in [0, 1) from the
// child's id. Chances in proportion to a quantity are those of a roulette wheel (Goldberg, Genetic
// Algorithms in Search, Optimization and Machine Learning, 1989); in proportion to n - rank, those
// of linear ranking with the largest pressure (Baker, Adaptive selection methods for genetic
// algorithms, 1985). Fitness that can be negative is measured from the least one: a shift for all,
// so the worst then has no chance.
//
// Invariant: a chance is >= 0 and finite, and the sum is > 0.
#include "search/population.h"
#include "base/random.h"

static uint32_t index_at(const uint32_t *order, uint32_t rank) {
    return order == NULL ? rank : order[rank];
}

// Sums chances in place; equal ones if none is above 0.
static void accumulate(double *weights, uint32_t count) {
    double largest = 0;
    for (uint32_t i = 0; i < count; i++)
        largest = weights[i] > largest ? weights[i] : largest;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        // In units of the largest, so that the sum is finite.
        sum += largest > 0 ? weights[i] / largest : 1;
        weights[i] = sum;
    }
}

// The rank whose share of the running sums contains u = [0, 1).
static uint32_t spin(const double *weights, uint32_t count, double u) {
    double target = u * weights[count - 1];
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (weights[middle] > target)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Chances by fitness; half of it, so that no difference of finite values overflows.
static void weigh_fitness(double *weights, const double *fitness, const uint32_t *order,
                          uint32_t count) {
    bool unbounded = false;
    double least = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        double value = fitness[index_at(order, rank)];
        unbounded = unbounded || value == __builtin_inf();
        if (__builtin_isfinite(value) && value < least)
            least = value;
    }
    for (uint32_t rank = 0; rank < count; rank++) {
        double value = fitness[index_at(order, rank)];
        if (unbounded)
            weights[rank] = value == __builtin_inf();
        else
            weights[rank] = __builtin_isfinite(value) ? 0.5 * value - 0.5 * least : 0;
    }
}

void mf_search_weigh_parents(mf_Search *search, const mf_Population *population,
                             const uint32_t *order, uint32_t count) {
    double *weights = search->weights;
    if (search->config.selection == MF_SELECTION_PROPORTIONATE)
        weigh_fitness(weights, population->fitness, order, count);
    else if (search->config.selection == MF_SELECTION_RANK)
        for (uint32_t rank = 0; rank < count; rank++)
            weights[rank] = count - rank;
    else
        return;
    accumulate(weights, count);
}

static uint32_t hold_tournament(const mf_Search *search, uint64_t id, uint32_t count) {
    uint32_t words[4], best = count - 1;
    for (uint32_t i = 0; i < search->config.tournament; i++) {
        if (i % 4 == 0)
            mf_search_draw(search, id, MF_STREAM_PARENT, i / 4, words);
        uint32_t rank = mf_random_below(words[i % 4], count);
        best = rank < best ? rank : best;
    }
    return best;
}

uint32_t mf_search_choose_parent(const mf_Search *search, uint64_t id, uint32_t count) {
    const mf_SearchConfig *config = &search->config;
    uint32_t words[4];
    if (config->selection == MF_SELECTION_TOURNAMENT)
        return hold_tournament(search, id, count);
    mf_search_draw(search, id, MF_STREAM_PARENT, 0, words);
    if (config->selection == MF_SELECTION_TRUNCATION)
        return mf_random_below(words[0], config->survivors < count ? config->survivors : count);
    if (config->selection == MF_SELECTION_UNIFORM)
        return mf_random_below(words[0], count);
    return spin(search->weights, count, mf_random_unit_double(words[0], words[1]));
}

// ---- replacement -------------------------------------------------------------------------------

// Chances of ranks from `first` on by their distance from the best. NaN and -infinity, which rank
// last, go first; next to an infinite best, everybody else has the same distance.
static void weigh_unfit(mf_Search *search, uint32_t first) {
    const double *fitness = search->next.fitness;
    const uint32_t *order = search->order;
    double best = fitness[order[0]], infinity = __builtin_inf();
    bool failed = !(fitness[order[search->next_count - 1]] > -infinity);
    for (uint32_t rank = first; rank < search->next_count; rank++) {
        double value = fitness[order[rank]], *weight = &search->weights[rank - first];
        if (failed)
            *weight = !(value > -infinity);
        else if (best == infinity)
            *weight = value < best;
        else
            *weight = 0.5 * best - 0.5 * value;
    }
}

// Share of equal bytes, of the longer one's used bytes.
static double similarity(const uint8_t *a, const uint8_t *b, uint32_t bytes) {
    uint32_t one = mf_genome_used(a, bytes), other = mf_genome_used(b, bytes), equal = 0;
    uint32_t longer = one > other ? one : other;
    for (uint32_t i = 0; i < longer; i++)
        equal += a[i] == b[i];
    return longer == 0 ? 1 : (double)equal / longer;
}

static void weigh_similar(mf_Search *search, uint32_t child, uint32_t first) {
    uint32_t bytes = search->config.genome_bytes;
    const uint8_t *genome = search->spare.genomes + (size_t)child * bytes;
    for (uint32_t rank = first; rank < search->next_count; rank++)
        search->weights[rank - first] =
            similarity(genome, search->next.genomes + (size_t)search->order[rank] * bytes, bytes);
}

uint32_t mf_search_choose_victim(mf_Search *search, uint32_t child) {
    const mf_SearchConfig *config = &search->config;
    uint32_t first = config->protect, count = search->next_count - first, words[4];
    if (config->replacement == MF_REPLACEMENT_WORST)
        return search->next_count - 1;
    mf_search_draw(search, search->spare.id[child], MF_STREAM_PLACEMENT, 0, words);
    if (config->replacement == MF_REPLACEMENT_RANDOM)
        return first + mf_random_below(words[0], count);
    if (config->replacement == MF_REPLACEMENT_UNFIT)
        weigh_unfit(search, first);
    else
        weigh_similar(search, child, first);
    accumulate(search->weights, count);
    return first + spin(search->weights, count, mf_random_unit_double(words[0], words[1]));
}
