// Reading and replacing whole files, on a file system that interrupts, truncates, fills up and
// fails at every call.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include "rig/rig.h"
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"

// ---- a scripted file system --------------------------------------------------------------------
// The program's own open, read, write and fsync take the place of the C library's for the library
// under test, and do what a test asks for on the way to the real system call.

static struct {
    bool interrupts;   // every other call ends in EINTR
    size_t largest;    // [byte] at most this much per call, 0 = no limit
    size_t disk;       // [byte] what may still be written, when `full`
    bool full;         // then ENOSPC
    int names_taken;   // [1] so many exclusive creations end in EEXIST
    int fsync_to_fail; // [1] this one, counted from 1
    unsigned calls, fsyncs;
} script;

static bool interrupted(void) {
    if (!script.interrupts || ++script.calls % 2 == 0)
        return false;
    errno = EINTR;
    return true;
}

static size_t shortened(size_t size) {
    return script.largest != 0 && size > script.largest ? script.largest : size;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (flags & O_EXCL && script.names_taken > 0) {
        script.names_taken--;
        errno = EEXIST;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t read(int file, void *data, size_t size) {
    if (interrupted())
        return -1;
    return syscall(SYS_read, file, data, shortened(size));
}

ssize_t write(int file, const void *data, size_t size) {
    if (interrupted())
        return -1;
    size_t expected = shortened(size);
    if (script.full && expected > script.disk) {
        expected = script.disk;
        if (expected == 0) {
            errno = ENOSPC;
            return -1;
        }
    }
    ssize_t count = syscall(SYS_write, file, data, expected);
    if (script.full && count > 0)
        script.disk -= (size_t)count;
    return count;
}

int fsync(int file) {
    if (interrupted())
        return -1;
    if ((int)++script.fsyncs == script.fsync_to_fail) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, file);
}

// ---- a folder for each test --------------------------------------------------------------------

typedef struct Scratch {
    mf_Context *context;
    char folder[64];
    char path[128]; // of the file most tests use
    int open_files; // [1] descriptors before the test
} Scratch;

static void assert_content(const char *path, const char *text, size_t size) {
    size_t found;
    AUTO(end_memory) char *content = file_get(path, &found);
    assert_int_equal(found, size);
    assert_memory_equal(content, text, size);
}

static int set_up(void **state) {
    memset(&script, 0, sizeof script);
    Scratch *scratch = calloc(1, sizeof *scratch);
    strcpy(scratch->folder, "/tmp/mayfly-test-file-XXXXXX");
    if (mkdtemp(scratch->folder) == NULL)
        return -1;
    snprintf(scratch->path, sizeof scratch->path, "%s/file", scratch->folder);
    mf_ContextConfig config = WITH(mf_context_config(), .threads = 1);
    *state = scratch;
    scratch->open_files = torture_open_files();
    return mf_context_create(&config, &scratch->context, NULL) == MF_OK ? 0 : -1;
}

static int tear_down(void **state) {
    AUTO(end_memory) Scratch *scratch = *state;
    memset(&script, 0, sizeof script);
    bool leak =
        mf_context_live_bytes(scratch->context) != 0 || torture_open_files() != scratch->open_files;
    mf_context_destroy(scratch->context);
    int result = system(formatted("rm -rf %s", scratch->folder));
    return leak || result != 0 ? -1 : 0;
}

#define TEST_IN_FOLDER(name) TEST_ON_WITH(name, Scratch *scratch, set_up, tear_down)

// ---- read --------------------------------------------------------------------------------------

TEST_IN_FOLDER(read_gives_the_bytes_and_a_terminator) {
    file_put(scratch->path, "six\0legs\n", 9);
    char *data = NULL;
    size_t size = 0;
    MUST(mf_file_read(scratch->context, scratch->path, 9, &data, &size, &error));
    assert_true(size == 9);
    assert_memory_equal(data, "six\0legs\n", 10);
    mf_release(scratch->context, data);
    file_put(scratch->path, "", 0);
    MUST(mf_file_read(scratch->context, scratch->path, 0, &data, &size, &error));
    assert_true(size == 0 && data[0] == '\0');
    mf_release(scratch->context, data);
}

TEST_IN_FOLDER(read_survives_interrupts_and_short_reads) {
    char text[10000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 31 >> 3);
    file_put(scratch->path, text, sizeof text);
    for (size_t largest = 0; largest < 8; largest++) {
        script.interrupts = true;
        script.largest = largest;
        char *data = NULL;
        size_t size = 0;
        MUST(mf_file_read(scratch->context, scratch->path, sizeof text, &data, &size, &error));
        assert_true(size == sizeof text);
        assert_memory_equal(data, text, sizeof text);
        mf_release(scratch->context, data);
    }
}

static void assert_unreadable(Scratch *scratch, const char *path, size_t limit, mf_Status expected,
                              const char *text) {
    char mark = 'x', *data = &mark;
    size_t size = 77;
    mf_Error error = {0};
    assert_fails(mf_file_read(scratch->context, path, limit, &data, &size, &error), expected,
                 &error, text);
    assert_string_equal(error.file, path);
    assert_ptr_equal(data, &mark); // outputs untouched
    assert_true(size == 77);
    assert_true(mf_context_live_bytes(scratch->context) == 0);
}

TEST_IN_FOLDER(read_refuses_what_is_not_a_small_regular_file) {
    file_put(scratch->path, "12345", 5);
    assert_unreadable(scratch, scratch->path, 4, MF_LIMIT, "is 5 bytes long; at most 4");
    assert_unreadable(scratch, scratch->folder, 100, MF_BAD_FILE, "is a folder");
    assert_unreadable(scratch, "/dev/null", 100, MF_BAD_FILE, "not a regular file");
    assert_unreadable(scratch, formatted("%s/missing", scratch->folder), 100, MF_NOT_FOUND,
                      "No such file");
    assert_unreadable(scratch, formatted("%s/file/below", scratch->folder), 100, MF_NOT_FOUND,
                      "Not a directory");
    assert_unreadable(scratch, "", 100, MF_NOT_FOUND, "No such file");
    // a pipe nobody writes to must not hang
    const char *path = formatted("%s/pipe", scratch->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_unreadable(scratch, path, 100, MF_BAD_FILE, "not a regular file");
    // a hole of 2^40 bytes costs neither time nor memory
    path = formatted("%s/huge", scratch->folder);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    if (ftruncate(file, (off_t)1 << 40) == 0)
        assert_unreadable(scratch, path, 64 << 20, MF_LIMIT, "is 1099511627776 bytes long");
    close(file);
    // links that go round
    path = formatted("%s/round", scratch->folder);
    assert_int_equal(symlink("round", path), 0);
    assert_unreadable(scratch, path, 100, MF_IO, "Too many levels");
}

TEST_IN_FOLDER(read_notices_a_file_that_changes_meanwhile) {
    // /proc files claim length 0 and then have content, as a growing file has
    struct stat info;
    if (stat("/proc/self/status", &info) != 0 || info.st_size != 0)
        skip();
    assert_unreadable(scratch, "/proc/self/status", 1 << 20, MF_IO, "its length changed");
}

static mf_Status read_scenario(mf_Context *context, void *user, mf_Error *error) {
    char *data = NULL;
    size_t size = 0;
    mf_Status status = mf_file_read(context, user, 100, &data, &size, error);
    if (status != MF_OK) {
        assert_null(data);
        assert_true(size == 0);
        assert_string_equal(error->file, user);
    }
    mf_release(context, data);
    return status;
}

TEST_IN_FOLDER(read_survives_every_failure) {
    file_put(scratch->path, "12345", 5);
    // open, look, memory, read, read the end
    assert_int_equal(torture(scratch->context, read_scenario, scratch->path, TORTURE_MUST_FAIL), 5);
}

// ---- replace -----------------------------------------------------------------------------------

static void assert_not_replaced(Scratch *scratch, const char *path, const void *data, size_t size,
                                mf_Status expected, const char *text) {
    const unsigned before = count_files(scratch->folder);
    MUST_FAIL(mf_file_replace(scratch->context, path, data, size, &error), expected, text);
    assert_int_equal(count_files(scratch->folder), before);
    assert_true(mf_context_live_bytes(scratch->context) == 0);
}

TEST_IN_FOLDER(replace_creates_and_replaces) {
    MUST(mf_file_replace(scratch->context, scratch->path, "old", 3, &error));
    assert_content(scratch->path, "old", 3);
    MUST(mf_file_replace(scratch->context, scratch->path, "newer", 5, &error));
    assert_content(scratch->path, "newer", 5);
    MUST(mf_file_replace(scratch->context, scratch->path, NULL, 0, &error));
    assert_content(scratch->path, "", 0);
    assert_int_equal(count_files(scratch->folder), 1);
}

TEST_IN_FOLDER(replace_keeps_the_permissions) {
    struct stat info;
    mode_t mask = umask(022);
    MUST(mf_file_replace(scratch->context, scratch->path, "1", 1, &error));
    assert_int_equal(stat(scratch->path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0644);
    assert_int_equal(chmod(scratch->path, 0600), 0);
    MUST(mf_file_replace(scratch->context, scratch->path, "2", 1, &error));
    assert_int_equal(stat(scratch->path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    umask(mask);
}

TEST_IN_FOLDER(replace_takes_any_name) {
    // the longest name the system has, so that nothing can be appended to it
    char path[512];
    int length = snprintf(path, sizeof path, "%s/", scratch->folder);
    memset(path + length, 'n', 255);
    path[length + 255] = '\0';
    MUST(mf_file_replace(scratch->context, path, "x", 1, &error));
    assert_content(path, "x", 1);
    // a name without a folder
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(scratch->folder), 0);
    MUST(mf_file_replace(scratch->context, "bare", "y", 1, &error));
    assert_content("bare", "y", 1);
    assert_int_equal(chdir(before), 0);
    // a temporary name that another thread took first
    script.names_taken = 3;
    MUST(mf_file_replace(scratch->context, scratch->path, "z", 1, &error));
    assert_int_equal(script.names_taken, 0);
    assert_content(scratch->path, "z", 1);
    script.names_taken = 1000000; // always
    assert_not_replaced(scratch, scratch->path, "x", 1, MF_IO, "File exists");
    assert_content(scratch->path, "z", 1);
    assert_int_equal(count_files(scratch->folder), 3);
}

TEST_IN_FOLDER(replace_survives_interrupts_and_short_writes) {
    char text[10000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 31 >> 3);
    for (size_t largest = 0; largest < 8; largest++) {
        script.interrupts = true;
        script.largest = largest;
        MUST(mf_file_replace(scratch->context, scratch->path, text, sizeof text, &error));
        memset(&script, 0, sizeof script);
        assert_content(scratch->path, text, sizeof text);
    }
    assert_int_equal(count_files(scratch->folder), 1);
}

TEST_IN_FOLDER(replace_refuses_bad_targets) {
    char path[8192];
    assert_not_replaced(scratch, scratch->folder, "x", 1, MF_BAD_ARGUMENT, "not a regular file");
    assert_not_replaced(scratch, "/dev/null", "x", 1, MF_BAD_ARGUMENT, "not a regular file");
    const char *missing = formatted("%s/none/file", scratch->folder);
    assert_not_replaced(scratch, missing, "x", 1, MF_NOT_FOUND, "No such file");
    assert_not_replaced(scratch, "", "x", 1, MF_NOT_FOUND, "No such file");
    memset(path, 'd', sizeof path);
    for (size_t i = 0; i < sizeof path; i += 200)
        path[i] = '/';
    path[sizeof path - 1] = '\0';
    assert_not_replaced(scratch, path, "x", 1, MF_IO, "File name too long");
    file_put(scratch->path, "x", 1);
    const char *below = formatted("%s/below", scratch->path);
    assert_not_replaced(scratch, below, "x", 1, MF_NOT_FOUND, "Not a directory");
}

TEST_IN_FOLDER(a_full_disk_leaves_the_old_file) {
    file_put(scratch->path, "old", 3);
    for (size_t capacity = 0; capacity < 6; capacity++) {
        script.full = true;
        script.disk = capacity;
        assert_not_replaced(scratch, scratch->path, "newer!", 6, MF_IO, "No space left");
        assert_content(scratch->path, "old", 3);
    }
    script.disk = 6;
    MUST(mf_file_replace(scratch->context, scratch->path, "newer!", 6, &error));
    assert_content(scratch->path, "newer!", 6);
}

TEST_IN_FOLDER(a_failing_sync_leaves_the_old_state) {
    // first the file's own sync, then the folder's, without and with an old file
    for (int n = 1; n <= 2; n++) {
        script.fsyncs = 0;
        script.fsync_to_fail = n;
        assert_not_replaced(scratch, scratch->path, "new", 3, MF_IO, "sync");
        assert_int_equal(access(scratch->path, F_OK), -1);
    }
    file_put(scratch->path, "old", 3);
    for (int n = 1; n <= 2; n++) {
        script.fsyncs = 0;
        script.fsync_to_fail = n;
        assert_not_replaced(scratch, scratch->path, "new", 3, MF_IO, "sync");
        assert_content(scratch->path, "old", 3);
    }
}

typedef struct ReplaceScenario {
    const Scratch *scratch;
    bool exists;
} ReplaceScenario;

static mf_Status replace_scenario(mf_Context *context, void *user, mf_Error *error) {
    const ReplaceScenario *scenario = user;
    const Scratch *scratch = scenario->scratch;
    mf_Status status = mf_file_replace(context, scratch->path, "newer", 5, error);
    if (status == MF_OK) {
        assert_content(scratch->path, "newer", 5);
        assert_int_equal(count_files(scratch->folder), 1);
        return status;
    }
    assert_string_equal(error->file, scratch->path);
    assert_int_equal(count_files(scratch->folder), scenario->exists);
    if (scenario->exists)
        assert_content(scratch->path, "old", 3);
    return status;
}

TEST_IN_FOLDER(replace_survives_every_failure) {
    ReplaceScenario scenario = {.scratch = scratch, .exists = false};
    // look, open folder, open, write, sync, close, rename, sync folder
    assert_int_equal(torture(scratch->context, replace_scenario, &scenario, TORTURE_MUST_FAIL), 8);
    file_put(scratch->path, "old", 3);
    scenario.exists = true;
    // and permissions
    assert_int_equal(torture(scratch->context, replace_scenario, &scenario, TORTURE_MUST_FAIL), 9);
}

// ---- output files -------------------------------------------------------------------------------

TEST_IN_FOLDER(try_touches_nothing) {
    MUST(mf_file_try(scratch->context, scratch->path, &error));
    assert_int_equal(count_files(scratch->folder), 0);
    file_put(scratch->path, "old", 3);
    MUST(mf_file_try(scratch->context, scratch->path, &error));
    assert_content(scratch->path, "old", 3);
    assert_int_equal(count_files(scratch->folder), 1);
}

TEST_IN_FOLDER(try_refuses_what_replace_refuses) {
    file_put(scratch->path, "x", 1);
    const char *const paths[] = {scratch->folder,
                                 "/dev/null",
                                 formatted("%s/none/file", scratch->folder),
                                 formatted("%s/below", scratch->path),
                                 "",
                                 "/proc/file"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        mf_Error error = {0}, other = {0};
        const mf_Status status = mf_file_try(scratch->context, paths[i], &error);
        assert_int_not_equal(status, MF_OK);
        assert_int_equal(status, mf_file_replace(scratch->context, paths[i], "x", 1, &other));
        assert_true(error.message[0] != '\0');
    }
    assert_int_equal(mf_file_try(NULL, scratch->path, NULL), MF_BAD_ARGUMENT);
}

static mf_Status try_scenario(mf_Context *context, void *user, mf_Error *error) {
    const Scratch *scratch = user;
    mf_Status status = mf_file_try(context, scratch->path, error);
    assert_int_equal(count_files(scratch->folder), 0);
    return status;
}

TEST_IN_FOLDER(try_survives_every_failure) {
    // look, open folder, open
    assert_int_equal(torture(scratch->context, try_scenario, scratch, TORTURE_MUST_FAIL), 3);
}

TEST_IN_FOLDER(a_killed_writer_leaves_old_or_new) {
    enum { SIZE = 200000 };
    static char old[SIZE], new[SIZE];
    memset(old, 'o', SIZE);
    memset(new, 'n', SIZE);
    file_put(scratch->path, old, SIZE);
    for (unsigned trial = 0; trial < 20; trial++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            script.largest = 1000;
            for (unsigned i = 0;; i++)
                mf_file_replace(scratch->context, scratch->path, i & 1 ? old : new, SIZE, NULL);
        }
        usleep(500 + trial * 777);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        char *data = NULL;
        size_t size = 0;
        MUST(mf_file_read(scratch->context, scratch->path, SIZE, &data, &size, &error));
        assert_true(size == SIZE);
        assert_true(memcmp(data, old, SIZE) == 0 || memcmp(data, new, SIZE) == 0);
        mf_release(scratch->context, data);
    }
}
