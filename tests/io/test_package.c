// Files that a page sends: what is read of them, and which are refused with which words.
#include "rig/rig.h"
#include "io/package.h"

static size_t put(uint8_t *out, const char *path, const char *data) {
    const uint32_t lengths[2] = {(uint32_t)strlen(path), (uint32_t)strlen(data)};
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(lengths[i / 4] >> (8 * (i % 4)));
    memcpy(out + 8, path, lengths[0]);
    memcpy(out + 8 + lengths[0], data, lengths[1]);
    return 8 + (size_t)lengths[0] + lengths[1];
}

TEST(test_files_come_back) {
    uint8_t data[256];
    size_t size = put(data, "go/robot.urdf", "<robot/>");
    mf_PackageFile file;
    mf_Error error = {0};
    size += put(data + size, "go/meshes/leg 1.stl", "");
    mf_Package package = {.at = data, .end = data + size};
    assert_true(mf_package_next(&package, &file, &error));
    assert_string_equal(file.path, "go/robot.urdf");
    assert_int_equal(file.size, 8);
    assert_memory_equal(file.data, "<robot/>", 8);
    assert_true(mf_package_next(&package, &file, &error));
    assert_string_equal(file.path, "go/meshes/leg 1.stl");
    assert_int_equal(file.size, 0);
    assert_false(mf_package_next(&package, &file, &error));
    assert_int_equal(error.status, MF_OK);
    for (size_t cut = 1; cut < size; cut++) { // at every byte, but between files
        package = (mf_Package){.at = data, .end = data + cut};
        error = (mf_Error){0};
        while (mf_package_next(&package, &file, &error))
            ;
        assert_int_equal(error.status, cut == 29 ? MF_OK : MF_BAD_FILE);
    }
}

TEST(test_paths_stay_in_their_folder) {
    static const char *const bad[] = {"",      "/etc/passwd", "..",    "../a",  "a/..", "a/../b",
                                      "a//b",  "a/",          ".ssh",  "a/.b",  "a\\b", "a\nb",
                                      "a\x7f", "./a",         "a/./b", "~/.ssh"};
    static const char *const good[] = {"a", "robot.urdf", "go2 (1)/assets/base_0.obj",
                                       "\xc3\xa4/b..c", "~/a"};
    uint8_t data[1024];
    mf_PackageFile file;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mf_Package package = {.at = data, .end = data + put(data, bad[i], "x")};
        mf_Error error = {0};
        assert_false(mf_package_next(&package, &file, &error));
        assert_int_equal(error.status, MF_BAD_FILE);
        assert_null(strchr(error.message, '\n'));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        mf_Package package = {.at = data, .end = data + put(data, good[i], "x")};
        assert_true(mf_package_next(&package, &file, NULL));
        assert_string_equal(file.path, good[i]);
    }
}

TEST(test_they_are_not_too_many) {
    static uint8_t data[(MF_PACKAGE_FILES + 1) * 9];
    size_t size = 0;
    mf_PackageFile file;
    mf_Error error = {0};
    for (int i = 0; i <= MF_PACKAGE_FILES; i++)
        size += put(data + size, "a", "");
    mf_Package package = {.at = data, .end = data + size};
    while (mf_package_next(&package, &file, &error))
        ;
    assert_int_equal(error.status, MF_LIMIT);
    assert_int_equal(package.count, MF_PACKAGE_FILES);
}
