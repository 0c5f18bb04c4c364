// Reading an archive: family trees, diversity, and the cells of MAP-Elites.
//
// A parent is older than its child (checked for every row that is read), so every line ends, also
// in a damaged file.
#include "search/archive_format.h"
#include "search/database.h"
#include "base/floats.h"
#include "search/population.h"

#include <inttypes.h>
#include <string.h>

enum { LEAF_LIMIT = 1024, SAMPLE = 32 };

static uint32_t different_bytes(const uint8_t *a, const uint8_t *b, uint32_t bytes) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < bytes; i++)
        count += a[i] != b[i];
    return count;
}

// ---- nodes of a tree ---------------------------------------------------------------------------

// Nodes that grow, and a query for one individual by id.
typedef struct Walk {
    mf_Archive *archive;
    sqlite3_stmt *statement;
    mf_Ancestor *nodes;
    uint32_t count, capacity;
    uint8_t *genome, *other; // scratch, one allocation
} Walk;

static mf_Status begin_walk(Walk *walk, mf_Archive *archive, mf_Error *error) {
    mf_Context *context = archive->database.context;
    uint32_t bytes = archive->run.search.genome_bytes;
    *walk = (Walk){.archive = archive, .genome = mf_allocate(context, bytes, 2)};
    if (walk->genome == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, archive->database.path, 0, 0,
                          "no memory for genomes");
    walk->other = walk->genome + bytes;
    return mf_database_prepare(&archive->database,
                               "SELECT " MF_ARCHIVE_INDIVIDUAL_COLUMNS
                               ", i.fitness FROM individual i WHERE i.id = ?1",
                               &walk->statement, error);
}

// Ends the walk; on success the caller owns the nodes.
static mf_Status end_walk(Walk *walk, mf_Status status, mf_Ancestor **out, uint32_t *count) {
    mf_Context *context = walk->archive->database.context;
    sqlite3_finalize(walk->statement);
    mf_release(context, walk->genome);
    if (status != MF_OK) {
        mf_release(context, walk->nodes);
        return status;
    }
    *out = walk->nodes;
    *count = walk->count;
    return MF_OK;
}

static mf_Status read_one(Walk *walk, uint64_t id, mf_Individual *out, uint32_t *generation,
                          uint8_t *genome, mf_Error *error) {
    mf_Archive *archive = walk->archive;
    bool row = false;
    if (id <= INT64_MAX) {
        sqlite3_bind_int64(walk->statement, 1, (int64_t)id);
        MF_TRY(mf_database_step(&archive->database, walk->statement, &row, error));
    }
    mf_Status status = row ? mf_archive_read_member(archive, walk->statement, out, genome, error)
                           : mf_fail_at(error, MF_NOT_FOUND, archive->database.path, 0, 0,
                                        "there is no individual %" PRIu64, id);
    if (status == MF_OK)
        *generation = (uint32_t)sqlite3_column_int64(walk->statement, 1);
    sqlite3_reset(walk->statement);
    return status;
}

static mf_Status reserve(Walk *walk, mf_Error *error) {
    mf_Context *context = walk->archive->database.context;
    if (walk->count < walk->capacity)
        return MF_OK;
    uint32_t capacity = walk->capacity < 32 ? 64 : 2 * walk->capacity;
    mf_Ancestor *nodes = mf_allocate(context, capacity, sizeof *nodes);
    if (nodes == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, walk->archive->database.path, 0, 0,
                          "no memory for %" PRIu32 " ancestors", capacity);
    if (walk->count > 0)
        memcpy(nodes, walk->nodes, walk->count * sizeof *nodes);
    mf_release(context, walk->nodes);
    walk->nodes = nodes;
    walk->capacity = capacity;
    return MF_OK;
}

// Appends individual `id` to the nodes.
static mf_Status visit(Walk *walk, uint64_t id, mf_Error *error) {
    uint32_t bytes = walk->archive->run.search.genome_bytes, generation, born;
    mf_Individual individual, parent;
    MF_TRY(reserve(walk, error));
    MF_TRY(read_one(walk, id, &individual, &generation, walk->genome, error));
    mf_Ancestor node = {.id = id,
                        .parent = individual.parent,
                        .generation = generation,
                        .bytes = mf_genome_used(walk->genome, bytes),
                        .fitness = individual.fitness};
    if (individual.parent != UINT64_MAX) {
        mf_Status status = read_one(walk, individual.parent, &parent, &born, walk->other, error);
        if (status == MF_NOT_FOUND)
            return mf_fail_at(error, MF_CORRUPT, walk->archive->database.path, 0, 0,
                              "individual %" PRIu64 ": its parent %" PRIu64 " is missing", id,
                              individual.parent);
        if (status != MF_OK)
            return status;
        node.changed = different_bytes(walk->genome, walk->other, bytes);
    }
    walk->nodes[walk->count++] = node;
    return MF_OK;
}

mf_Status mf_archive_ancestry(mf_Archive *archive, uint64_t id, mf_Ancestor **out, uint32_t *count,
                              mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (archive == NULL || out == NULL || count == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "archive: archive, out or count is NULL");
    Walk walk;
    mf_Status status = begin_walk(&walk, archive, error);
    while (status == MF_OK && id != UINT64_MAX) {
        status = visit(&walk, id, error);
        if (status == MF_OK)
            id = walk.nodes[walk.count - 1].parent;
    }
    if (status == MF_OK && walk.count == 0)
        status = mf_fail_at(error, MF_NOT_FOUND, archive->database.path, 0, 0,
                            "there is no individual %" PRIu64, id);
    return end_walk(&walk, status, out, count);
}

// ---- the newest generation ---------------------------------------------------------------------

// Ids of the best alive, at most `most`; the champion, which a verification may have chosen, first.
static mf_Status find_leaves(mf_Archive *archive, uint32_t most, uint64_t *ids, uint32_t *count,
                             mf_Error *error) {
    mf_Database *database = &archive->database;
    uint32_t generation = 0;
    MF_TRY(mf_archive_find_generation(archive, &generation, error));
    int64_t champion = -1;
    mf_Status status = mf_database_integer(
        database, "SELECT champion FROM generation ORDER BY number DESC LIMIT 1", &champion, error);
    sqlite3_stmt *statement = NULL;
    MF_THEN(status, mf_archive_prepare_members(archive, generation, "ORDER BY 5 DESC, 1 DESC",
                                               &statement, error));
    *count = 0;
    if (champion >= 0)
        ids[(*count)++] = (uint64_t)champion;
    bool row = true;
    while (status == MF_OK && row && *count < most) {
        status = mf_database_step(database, statement, &row, error);
        int64_t id = status == MF_OK && row ? sqlite3_column_int64(statement, 0) : champion;
        if (id != champion)
            ids[(*count)++] = (uint64_t)id;
    }
    sqlite3_finalize(statement);
    return status;
}

mf_Status mf_archive_alive(mf_Archive *archive, uint32_t most, uint64_t *ids, uint32_t *count,
                           mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(archive != NULL && ids != NULL && count != NULL && most >= 1 && most <= LEAF_LIMIT,
            error, "archive: archive, ids or count is NULL, or most not 1 .. %d", LEAF_LIMIT);
    return find_leaves(archive, most, ids, count, error);
}

// Replaces the youngest of the front by its parent, unless that is there already.
static uint32_t step_back(uint64_t *front, uint32_t count, uint32_t youngest, uint64_t parent) {
    bool known = parent == UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        known = known || front[i] == parent;
    front[youngest] = known ? front[count - 1] : parent;
    return known ? count - 1 : count;
}

mf_Status mf_archive_phylogeny(mf_Archive *archive, uint32_t leaves, mf_Ancestor **out,
                               uint32_t *count, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (archive == NULL || out == NULL || count == NULL || leaves < 1 || leaves > LEAF_LIMIT)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "archive: archive, out or count is NULL, or leaves not 1 .. %d", LEAF_LIMIT);
    uint64_t front[LEAF_LIMIT];
    uint32_t open = 0;
    MF_TRY(find_leaves(archive, leaves, front, &open, error));
    Walk walk;
    mf_Status status = begin_walk(&walk, archive, error);
    // By decreasing id, so that a line is met before it goes on past the meeting.
    while (status == MF_OK && open > 0) {
        uint32_t youngest = 0;
        for (uint32_t i = 1; i < open; i++)
            youngest = front[i] > front[youngest] ? i : youngest;
        status = visit(&walk, front[youngest], error);
        if (status == MF_OK)
            open = step_back(front, open, youngest, walk.nodes[walk.count - 1].parent);
    }
    return end_walk(&walk, status, out, count);
}

// ---- diversity ---------------------------------------------------------------------------------

static mf_Status sum_generation(mf_Archive *archive, sqlite3_stmt *statement, uint64_t *hashes,
                                uint32_t most, uint8_t *sample, mf_ArchiveDiversity *out,
                                uint32_t *sampled, mf_Error *error) {
    uint32_t bytes = archive->run.search.genome_bytes, capacity = SAMPLE * 2, stride = 1;
    uint8_t *genome = sample + (size_t)capacity * bytes;
    bool row = true;
    *sampled = 0;
    for (;;) {
        mf_Individual individual;
        mf_Status status = mf_database_step(&archive->database, statement, &row, error);
        if (status != MF_OK || !row)
            return status;
        MF_TRY(mf_archive_read_member(archive, statement, &individual, genome, error));
        if (out->alive == most)
            return mf_fail_at(error, MF_CORRUPT, archive->database.path, 0, 0,
                              "the archive is damaged (more individuals than %" PRIu32 ")", most);
        // Keeps every stride-th; when the buffer is full, every second of them.
        if (out->alive % stride == 0) {
            memcpy(sample + (size_t)(*sampled)++ * bytes, genome, bytes);
            for (uint32_t i = 1; *sampled == capacity && i < SAMPLE; i++)
                memcpy(sample + (size_t)i * bytes, sample + 2 * (size_t)i * bytes, bytes);
            stride *= *sampled == capacity ? 2 : 1;
            *sampled = *sampled == capacity ? SAMPLE : *sampled;
        }
        hashes[out->alive++] = mf_hash_bytes(MF_HASH_START, genome, bytes);
        if (__builtin_isfinite(individual.fitness))
            out->quality += individual.fitness;
    }
}

static void sift(uint64_t *heap, uint32_t root, uint32_t count) {
    for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
        child += child + 1 < count && heap[child + 1] > heap[child];
        if (heap[root] >= heap[child])
            return;
        uint64_t swap = heap[root];
        heap[root] = heap[child];
        heap[child] = swap;
    }
}

// Number of different values; sorts them.
static uint32_t count_distinct(uint64_t *values, uint32_t count) {
    for (uint32_t i = count / 2; i-- > 0;)
        sift(values, i, count);
    for (uint32_t end = count; end > 1; end--) {
        uint64_t swap = values[0];
        values[0] = values[end - 1];
        values[end - 1] = swap;
        sift(values, 0, end - 1);
    }
    uint32_t distinct = count > 0;
    for (uint32_t i = 1; i < count; i++)
        distinct += values[i] != values[i - 1];
    return distinct;
}

// Over all pairs of up to SAMPLE genomes, evenly spaced among those given.
static double mean_distance(const uint8_t *sample, uint32_t count, uint32_t bytes) {
    uint32_t taken = count < SAMPLE ? count : SAMPLE, pairs = 0;
    double sum = 0;
    for (uint32_t a = 0; a < taken; a++) {
        const uint8_t *one = sample + (size_t)(a * count / taken) * bytes;
        for (uint32_t b = 0; b < a; b++) {
            const uint8_t *other = sample + (size_t)(b * count / taken) * bytes;
            uint32_t x = mf_genome_used(one, bytes), y = mf_genome_used(other, bytes);
            uint32_t longer = x > y ? x : y;
            sum += longer == 0 ? 0 : (double)different_bytes(one, other, longer) / longer;
            pairs++;
        }
    }
    return pairs == 0 ? 0 : sum / pairs;
}

mf_Status mf_archive_diversity(mf_Archive *archive, uint32_t generation, mf_ArchiveDiversity *out,
                               mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(archive != NULL && out != NULL, error, "archive: archive or out is NULL");
    MF_TRY(mf_archive_find_generation(archive, &generation, error));
    mf_Status status = MF_OK;
    mf_Context *context = archive->database.context;
    uint32_t bytes = archive->run.search.genome_bytes, sampled = 0;
    uint32_t most = mf_search_capacity(&archive->run.search);
    uint64_t *hashes = mf_allocate(context, most, sizeof *hashes);
    uint8_t *sample = mf_allocate(context, 2 * SAMPLE + 1, bytes);
    sqlite3_stmt *statement = NULL;
    mf_ArchiveDiversity result = {0};
    if (hashes == NULL || sample == NULL)
        status = mf_fail_at(error, MF_NO_MEMORY, archive->database.path, 0, 0,
                            "no memory for a generation");
    MF_THEN(status,
            mf_archive_prepare_members(archive, generation, "ORDER BY 1", &statement, error));
    MF_THEN(status,
            sum_generation(archive, statement, hashes, most, sample, &result, &sampled, error));
    if (status == MF_OK) {
        result.distinct = count_distinct(hashes, result.alive);
        result.distance = mean_distance(sample, sampled, bytes);
        *out = result;
    }
    sqlite3_finalize(statement);
    mf_release(context, sample);
    mf_release(context, hashes);
    return status;
}
