// The tables of keys are consistent, docs/reference/scenes.md and models.md contain them between
// marks (MAYFLY_UPDATE=1 writes them), and the help text fits a terminal.
#include "rig/rig.h"
#include "io/keys.h"
#include "motion/vehicle/keys.h"
#include "scene/keys.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

static void check_rows(const mf_KeyTable *table) {
    for (uint32_t i = 0; i < table->count; i++) {
        const mf_Key *key = &table->keys[i];
        assert_ptr_equal(mf_keys_find(table, key->path, strlen(key->path)), key);
        assert_true(key->lower <= key->upper);
        assert_true(key->description[0] != '\0');
        assert_true(key->kind == MF_KEY_SECTION || key->offset < table->size);
        if (key->kind == MF_KEY_LIST)
            check_rows(key->items);
        size_t length = mf_key_group_length(key->path);
        if (length == 0)
            continue;
        const mf_Key *outer = mf_keys_find(table, key->path, length);
        assert_non_null(outer);
        assert_true(outer < key); // groups come before what is in them
    }
}

TEST(every_row_of_the_tables_is_sound) {
    check_rows(mf_scene_table());
}

// What stands in a page of docs/reference between two marks.
static void compare(mf_Context *context, const char *name, const char *mark,
                    const mf_KeyTable *table) {
    char *text;
    MUST(mf_keys_describe(context, table, true, &text, &error));
    check_made_part(formatted(MAYFLY_SOURCE_DIR "/docs/reference/%s.md", name), mark, text);
    mf_release(context, text);
}

TEST(the_documents_hold_the_tables) {
    compare(*state, "scenes", "keys", mf_scene_table());
    for (mf_VehicleKind kind = MF_VEHICLE_QUADROTOR; kind <= MF_VEHICLE_CAR;
         kind = (mf_VehicleKind)(kind + 1))
        compare(*state, "models", mf_vehicle_kind_name(kind), mf_vehicle_table(kind));
}

// Of a table and those of the lists in it.
static void check_paths(const mf_KeyTable *table, const char *text) {
    for (uint32_t k = 0; k < table->count; k++) {
        assert_non_null(strstr(text, table->keys[k].path));
        if (table->keys[k].kind == MF_KEY_LIST)
            check_paths(table->keys[k].items, text);
    }
}

TEST(the_help_text_fits_a_terminal) {
    const mf_KeyTable *tables[] = {mf_scene_table(), mf_vehicle_table(MF_VEHICLE_QUADROTOR),
                                   mf_vehicle_table(MF_VEHICLE_FIXED_WING),
                                   mf_vehicle_table(MF_VEHICLE_CAR)};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char *text;
        assert_int_equal(mf_keys_describe(*state, tables[i], false, &text, NULL), MF_OK);
        check_paths(tables[i], text);
        for (const char *line = text; *line != '\0';) {
            const char *next = strchr(line, '\n');
            assert_non_null(next);
            if (next - line > 100)
                fail_msg("%.*s", (int)(next - line), line);
            line = next + 1;
        }
        mf_release(*state, text);
    }
}
