// kill -9 at random moments: a process evolves into an archive, is killed, and the next one resumes
// until the run is done. The final population must be that of an uninterrupted run, and at no
// moment may the file be unreadable or have lost a stored generation.
#include "support.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { GENERATIONS = 150, KILLS = 25 };

// Truncation in generations, steady state and MAP-Elites.
static mf_SearchConfig config_of(mf_Replacement replacement) {
    mf_SearchConfig config = WITH(small_config(), .replacement = replacement, .batch = 7);
    if (replacement != MF_REPLACEMENT_GENERATION)
        config.selection = MF_SELECTION_PROPORTIONATE;
    return replacement == MF_REPLACEMENT_CELL ? in_cells(config) : config;
}

static void sleep_microseconds(long microseconds) {
    struct timespec time = {.tv_sec = microseconds / 1000000,
                            .tv_nsec = microseconds % 1000000 * 1000};
    nanosleep(&time, NULL);
}

// Evolution takes its time, so that a kill also falls between two commits.
static mf_Status slow(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                      double *fitness, mf_Error *error) {
    sleep_microseconds(200);
    return rugged(user, genomes, count, genome_bytes, fitness, error);
}

// Creates the archive or goes on with it. The exit status is the number of the step that failed.
static int live(const char *path, mf_Replacement replacement) {
    mf_ContextConfig context_config = WITH(mf_context_config(), .threads = 1);
    mf_SearchConfig config = WITH(config_of(replacement), .evaluate = slow);
    mf_Context *context = NULL;
    mf_Search *search = NULL;
    mf_Archive *archive = NULL;
    mf_Error error = {0};
    if (mf_context_create(&context_config, &context, &error) != MF_OK ||
        mf_search_create(context, &config, &search, &error) != MF_OK)
        return 1;
    mf_Status status = mf_archive_open(context, path, true, &archive, &error);
    if (status == MF_NOT_FOUND)
        status = mf_archive_create(context, path, &config, SETTINGS, 1, 2, &archive, &error);
    double seconds = 0, simulated = 0;
    if (status == MF_OK)
        status = mf_archive_resume(archive, search, &seconds, &simulated, &error);
    while (status == MF_OK && mf_search_generation(search) < GENERATIONS) {
        status = mf_search_advance(search, &error);
        if (status == MF_OK)
            status = mf_archive_append(archive, search, seconds += 1, simulated += 240, &error);
    }
    mf_archive_close(archive);
    if (status != MF_OK) {
        fprintf(stderr, "%s: %s\n", mf_status_name(status), error.message);
        return 2;
    }
    mf_search_destroy(search);
    mf_context_destroy(context);
    return 0;
}

enum { UNTIL_DONE = -1 };

// Starts a life and kills it after `microseconds`. True when it was done before that.
static bool live_and_die(const char *path, mf_Replacement replacement, long microseconds) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(live(path, replacement));
    if (microseconds != UNTIL_DONE) {
        sleep_microseconds(microseconds);
        kill(child, SIGKILL);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    else
        assert_int_equal(WTERMSIG(status), SIGKILL);
    return WIFEXITED(status);
}

// Generations in the file; a file that is not there has none.
static uint32_t stored_generations(const Fixture *fixture) {
    if (access(fixture->path, F_OK) != 0)
        return 0;
    AUTO_ARCHIVE *archive = open_archive(fixture, false);
    mf_ArchiveRun run;
    MUST(mf_archive_run(archive, &run, &error));
    assert_true(run.seconds == run.generations && run.simulated == 240.0 * run.generations);
    return run.generations;
}

static void assert_final_population(const Fixture *fixture, mf_Replacement replacement,
                                    uint64_t expected) {
    mf_SearchConfig config = config_of(replacement);
    AUTO_ARCHIVE *archive = open_archive(fixture, false);
    AUTO_SEARCH *search = resumed(fixture->context, archive, &config);
    assert_int_equal(mf_search_generation(search), GENERATIONS);
    assert_true(mf_search_hash(search) == expected);
}

static void kill_and_resume(const Fixture *fixture, mf_Replacement replacement) {
    mf_SearchConfig config = config_of(replacement);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    advance(search, GENERATIONS);
    const uint64_t expected = mf_search_hash(search);

    srand((unsigned)time(NULL) ^ (unsigned)getpid());
    uint32_t kills = 0, finished = 0, before = 0, in_the_middle = 0;
    long longest = 30000; // [us] of a life; more on a machine too busy to get anywhere in it
    // Runs that are done begin anew, so that creation is hit as well; after the kills the last one
    // goes on to its end.
    while (kills < KILLS || before < GENERATIONS) {
        long limit = kills % 5 == 0 ? longest / 10 : longest;
        bool done =
            live_and_die(fixture->path, replacement, kills < KILLS ? rand() % limit : UNTIL_DONE);
        uint32_t now = stored_generations(fixture);
        if (now < before)
            fail_msg("%u generations were there, %u are left", before, now);
        longest += now == before ? 2000 : 0;
        before = now;
        kills += !done;
        in_the_middle += !done && now > 0 && now < GENERATIONS;
        if (now < GENERATIONS)
            continue;
        assert_final_population(fixture, replacement, expected);
        finished++;
        if (kills < KILLS) {
            empty_folder(fixture->folder);
            before = 0;
        }
    }
    printf("%u kills, %u of them with a run under way; %u runs came to the end\n", kills,
           in_the_middle, finished);
    assert_true(in_the_middle > 0 && finished > 0);
    empty_folder(fixture->folder);
}

#define KILL_TEST(name, replacement)                                                               \
    TEST_ON_WITH(name, const Fixture *fixture, setup_fixture_on_disk, teardown_fixture) {          \
        kill_and_resume(fixture, replacement);                                                     \
    }
KILL_TEST(killed_generations_end_like_unbroken_ones, MF_REPLACEMENT_GENERATION)
KILL_TEST(killed_steady_states_end_like_unbroken_ones, MF_REPLACEMENT_RANDOM)
KILL_TEST(killed_repertoires_end_like_unbroken_ones, MF_REPLACEMENT_CELL)
