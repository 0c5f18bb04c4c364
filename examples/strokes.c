// Dependence of a stored champion's walk on the physics step: it is simulated with its own step and
// with steps 2, 5, 10 and 20 times smaller, and its strokes (the motion between two updates of the
// joints) are classified by their phase in the program's cycle and by the contact points that were
// loaded when they began. Strokes before the walk is steady, and classes of less than 1 %, are
// omitted. usage: example_strokes ARCHIVE [CYCLE [INTERVAL]]; CYCLE is the length of the program's
// cycle in strokes (1 unless given), INTERVAL another joint interval in milliseconds.
#include <mayfly/mayfly.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CYCLE_MOST = 16, KINDS_MOST = 64, SETTLING = 200 }; // [1]

static const double pi = 3.141592653589793;

// Strokes that began with the same contact points.
typedef struct Kind {
    uint64_t points; // one bit for each contact point
    double forward;  // [m] sum, relative to the heading at their beginning
    double left;     // [m]
    double yaw;      // [rad]
    uint32_t count;  // [1]
} Kind;

typedef struct Pose {
    double x, y, yaw; // [m], [m], [rad]
} Pose;

typedef struct Walk {
    Kind kinds[CYCLE_MOST][KINDS_MOST];
    uint32_t cycle, strokes; // [1]
    uint32_t settling;       // [1] strokes omitted at the beginning
    double path;             // [m] length of the path through the ends of the cycles
    double turned;           // [rad] total
    double distance;         // [m] from the start
} Walk;

static Pose find_pose(mf_Group *group) {
    const mf_Field *position = mf_group_find_field(group, "base.position");
    const mf_Field *attitude = mf_group_find_field(group, "base.orientation");
    double q[4];
    for (uint32_t c = 0; c < 4; c++)
        q[c] = mf_field_get(attitude, 0, c);
    return (Pose){
        mf_field_get(position, 0, 0), mf_field_get(position, 0, 1),
        atan2(2.0 * (q[0] * q[3] + q[1] * q[2]), 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]))};
}

static uint64_t find_loaded(mf_Group *group) {
    const mf_Field *load = mf_group_find_field(group, "point.load");
    uint64_t loaded = 0;
    for (uint32_t i = 0; i < load->components && i < 64; i++)
        loaded |= (uint64_t)(mf_field_get(load, 0, i) > 0.0) << i;
    return loaded;
}

static void add_stroke(Walk *walk, uint32_t stroke, uint64_t points, Pose from, Pose to) {
    double x = to.x - from.x, y = to.y - from.y, angle = remainder(to.yaw - from.yaw, 2.0 * pi);
    walk->turned += angle;
    if (stroke < walk->settling)
        return;
    Kind *kind = walk->kinds[stroke % walk->cycle], *end = kind + KINDS_MOST;
    while (kind < end && kind->count > 0 && kind->points != points)
        kind++;
    if (kind == end)
        return; // too many classes for a walk
    kind->points = points;
    kind->forward += x * cos(from.yaw) + y * sin(from.yaw);
    kind->left += y * cos(from.yaw) - x * sin(from.yaw);
    kind->yaw += angle;
    kind->count++;
}

static void live(mf_Scene *scene, uint64_t stroke_steps, Walk *walk) {
    Pose last = find_pose(scene->group), corner = last;
    for (uint32_t stroke = 0; stroke < walk->strokes; stroke++) {
        uint64_t points = find_loaded(scene->group);
        mf_world_step(scene->world, stroke_steps);
        Pose pose = find_pose(scene->group);
        add_stroke(walk, stroke, points, last, pose);
        last = pose;
        if ((stroke + 1) % walk->cycle == 0) {
            walk->path += hypot(pose.x - corner.x, pose.y - corner.y);
            corner = pose;
        }
    }
    walk->distance = mf_scene_distance(scene, 0);
}

static void print_kind(const Walk *walk, uint32_t index, const Kind *kind) {
    double of_point = (double)(walk->strokes - walk->settling) / walk->cycle, count = kind->count;
    if (count < 0.01 * of_point)
        return;
    printf("    stroke %" PRIu32 " of %" PRIu32 ", %3.0f %%: (%6.1f, %6.1f) mm, %6.2f deg, on",
           index + 1, walk->cycle, 100.0 * count / of_point, 1000.0 * kind->forward / count,
           1000.0 * kind->left / count, kind->yaw / count * 180.0 / pi);
    for (uint32_t i = 0; i < 64; i++)
        if (kind->points >> i & 1)
            printf(" %" PRIu32, i);
    putchar('\n');
}

static void print_walk(const Walk *walk, double step) {
    printf("step %4.1f ms: distance %6.2f m, path %6.2f m, turned %7.1f deg\n", 1000.0 * step,
           walk->distance, walk->path, walk->turned * 180.0 / pi);
    for (uint32_t index = 0; index < walk->cycle; index++)
        for (uint32_t i = 0; i < KINDS_MOST && walk->kinds[index][i].count > 0; i++)
            print_kind(walk, index, &walk->kinds[index][i]);
}

// One run with a step that is `divisor` times smaller. `stroke` is the time of one stroke.
static mf_Status try_step(mf_Context *context, mf_SceneFile *file, const uint8_t *genome,
                          mf_Time stroke, uint32_t divisor, uint32_t cycle, mf_Error *error) {
    mf_SceneConfig config = mf_scene_config();
    mf_Scene scene = {0};
    config.evaluates = true;
    config.count = 1;
    config.divisor = divisor;
    mf_Status status = mf_scene_create(context, file, &config, &scene, error);
    Walk *walk = status == MF_OK ? calloc(1, sizeof *walk) : NULL;
    if (status == MF_OK && walk == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "out of memory");
    if (status == MF_OK) {
        mf_scene_apply_genome(&scene, 0, genome);
        walk->cycle = cycle;
        walk->strokes = (uint32_t)(mf_time_from_seconds(file->duration) / stroke);
        walk->settling = walk->strokes > 2 * SETTLING ? SETTLING : walk->strokes / 2;
        live(&scene, (uint64_t)(stroke / scene.step), walk);
        print_walk(walk, mf_time_to_seconds(scene.step));
    }
    free(walk);
    mf_scene_destroy(&scene);
    return status;
}

static mf_Status load(mf_Context *context, const char *path, mf_SceneFile **file, uint8_t **genome,
                      mf_Error *error) {
    mf_Archive *archive = NULL;
    mf_ArchiveRun run = {0};
    mf_Individual champion;
    mf_Status status = mf_archive_open(context, path, false, &archive, error);
    if (status == MF_OK)
        status = mf_archive_run(archive, &run, error);
    if (status == MF_OK)
        status = mf_scene_file_parse(context, path, run.settings, strlen(run.settings), NULL, 0,
                                     file, error);
    if (status == MF_OK && (*genome = malloc(run.search.genome_bytes)) == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "out of memory");
    if (status == MF_OK)
        status = mf_archive_best(archive, 0, &champion, *genome, run.search.genome_bytes, error);
    mf_archive_close(archive);
    return status;
}

int main(int argc, char **argv) {
    static const uint32_t divisors[] = {1, 2, 5, 10, 20};
    mf_Context *context = NULL;
    mf_SceneFile *file = NULL;
    uint8_t *genome = NULL;
    mf_Error error = {0};
    char text[1024];
    long cycle = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    if (argc < 2 || argc > 4 || cycle < 1 || cycle > CYCLE_MOST) {
        fprintf(stderr, "usage: %s ARCHIVE [CYCLE (1 .. %d) [INTERVAL]]\n", argv[0], CYCLE_MOST);
        return 2;
    }
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = load(context, argv[1], &file, &genome, &error);
    mf_Time stroke = status == MF_OK ? file->groups[0].motions.points.joint_interval : 0;
    if (stroke == 0)
        stroke = mf_motions_config().points.joint_interval;
    if (status == MF_OK && argc > 3)
        file->groups[0].motions.points.joint_interval =
            mf_time_from_seconds(0.001 * strtod(argv[3], NULL));
    for (size_t i = 0; i < sizeof divisors / sizeof *divisors && status == MF_OK; i++)
        status = try_step(context, file, genome, stroke, divisors[i], (uint32_t)cycle, &error);
    if (status != MF_OK)
        fprintf(stderr, "%s\n", mf_error_format(&error, text, sizeof text));
    free(genome);
    mf_scene_file_destroy(file);
    mf_context_destroy(context);
    return status == MF_OK ? 0 : 1;
}
