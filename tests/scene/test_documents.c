// docs/reference/swarm.md holds the tables of keys between marks; MAYFLY_UPDATE=1 writes them
// there.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment/vehicle_keys.h"
#include "support.h"

#include <stdlib.h>

static void compare(mf_Context *context, const char *mark, const mf_KeyTable *table) {
    char path[1024], begin[64], end[64], *text, *page;
    size_t size;
    snprintf(path, sizeof path, "%s/docs/reference/swarm.md", MAYFLY_SOURCE_DIR);
    snprintf(begin, sizeof begin, "<!-- %s: begin -->\n", mark);
    snprintf(end, sizeof end, "<!-- %s: end -->", mark);
    assert_int_equal(mf_file_read(context, path, 1 << 20, &page, &size, NULL), MF_OK);
    assert_int_equal(mf_keys_describe(context, table, true, &text, NULL), MF_OK);
    char *start = strstr(page, begin);
    assert_non_null(start);
    start += strlen(begin);
    char *stop = strstr(start, end);
    assert_non_null(stop);
    if (getenv("MAYFLY_UPDATE") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%.*s%s%s", (int)(start - page), page, text, stop);
        fclose(file);
    } else if ((size_t)(stop - start) != strlen(text) || strncmp(start, text, strlen(text)) != 0) {
        fail_msg("docs/reference/swarm.md is out of date: run this test with MAYFLY_UPDATE=1");
    }
    mf_release(context, text);
    mf_release(context, page);
}

static void the_documents_hold_the_tables(void **state) {
    compare(*state, "keys", mf_swarm_table());
    for (mf_VehicleKind kind = MF_VEHICLE_QUADROTOR; kind <= MF_VEHICLE_CAR;
         kind = (mf_VehicleKind)(kind + 1))
        compare(*state, mf_vehicle_kind_name(kind), mf_vehicle_table(kind));
}

static void the_help_text_fits_a_terminal(void **state) {
    const mf_KeyTable *tables[] = {mf_swarm_table(), mf_vehicle_table(MF_VEHICLE_QUADROTOR),
                                   mf_vehicle_table(MF_VEHICLE_FIXED_WING),
                                   mf_vehicle_table(MF_VEHICLE_CAR)};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char *text;
        assert_int_equal(mf_keys_describe(*state, tables[i], false, &text, NULL), MF_OK);
        for (uint32_t k = 0; k < tables[i]->count; k++)
            assert_non_null(strstr(text, tables[i]->keys[k].path));
        for (const char *line = text; *line != '\0';) {
            const char *next = strchr(line, '\n');
            assert_non_null(next);
            assert_true(next - line <= 100);
            line = next + 1;
        }
        mf_release(*state, text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documents_hold_the_tables),
        cmocka_unit_test(the_help_text_fits_a_terminal),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
