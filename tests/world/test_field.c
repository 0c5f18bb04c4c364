// Fields: addresses in memory, clamping of integers, names, and rejected declarations.
#include "motion/rig.h"

static Rig open_group(uint32_t count, bool wide) {
    Rig rig = rig_begin(1);
    make_hexapod(rig.hand);
    points_open(&rig, WITH(points_config(wide), .group.count = count));
    return rig;
}

// Value c of instance i is data[((i / 16) * components + c) * 16 + i % 16], aligned to 64 bytes.
TEST(values_lie_where_the_header_says) {
    for (int wide = 0; wide < 2; wide++) {
        AUTO_RIG rig = open_group(37, wide != 0);
        mf_Field *field = rig_field(&rig, "joint.target");
        assert_int_equal(field->components, 18);
        assert_int_equal(field->blocks, 3);
        assert_int_equal((uintptr_t)field->data % 64, 0);
        assert_int_equal(field->info.type, wide ? MF_F64 : MF_F32);
        for (uint32_t i = 0; i < 48; i++)
            for (uint32_t c = 0; c < 18; c++)
                mf_field_set(field, i, c, 0.25 * i - c);
        for (uint32_t i = 0; i < 48; i++)
            for (uint32_t c = 0; c < 18; c++) {
                size_t at = ((i / 16) * 18 + c) * 16 + i % 16;
                double raw =
                    wide ? ((double *)field->data)[at] : (double)((float *)field->data)[at];
                assert_true(raw == 0.25 * i - c && mf_field_get(field, i, c) == raw);
            }
    }
}

TEST(whole_numbers_are_clamped) {
    static const double in[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30, 2147483648.0, -5.0, 7.9};
    static const int64_t as_i32[] = {0,         INT32_MAX, INT32_MIN, INT32_MAX,
                                     INT32_MIN, INT32_MAX, -5,        7};
    static const int64_t as_u32[] = {0, UINT32_MAX, 0, UINT32_MAX, 0, INT64_C(2147483648), 0, 7};
    static const mf_FieldInfo info[2] = {
        {"test.signed", "1", "", MF_I32, MF_FIXED_COUNT, 1, 0, "a test"},
        {"test.unsigned", "1", "", MF_U32, MF_FIXED_COUNT, 1, 0, "a test"}};
    AUTO_RIG rig = open_group(3, false);
    for (int type = 0; type < 2; type++) {
        mf_Field *field;
        MUST(mf_group_add_field(rig.group, &info[type], 2, &field, &error));
        assert_int_equal(mf_field_value_size(field->info.type), 4);
        for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
            mf_field_set(field, 2, 1, in[i]);
            assert_int_equal((int64_t)mf_field_get(field, 2, 1), type ? as_u32[i] : as_i32[i]);
        }
    }
}

TEST(names_are_unique_and_limited) {
    mf_Error error = {0};
    AUTO_RIG rig = open_group(1, false);
    mf_FieldInfo info = {"base.position", "m", "", MF_REAL, MF_PER_INSTANCE, 3, 0, "taken"};
    mf_Field *field = NULL;
    assert_int_equal(mf_group_add_field(rig.group, &info, 0, &field, &error), MF_BAD_ARGUMENT);
    assert_null(field);
    assert_null(mf_group_find_field(rig.group, "base"));
    assert_null(mf_group_find_field(rig.group, ""));
    static char names[200][16];
    uint32_t added = 0;
    for (; added < 200; added++) {
        snprintf(names[added], sizeof names[added], "test.%u", added);
        info.name = names[added];
        if (mf_group_add_field(rig.group, &info, 0, &field, &error) != MF_OK)
            break;
    }
    assert_true(added > 10 && added < 200);
    assert_int_equal(error.status, MF_LIMIT);
}

// The bytes of an instance are what all its fields hold together.
TEST(memory_is_counted) {
    AUTO_RIG rig = open_group(1, true);
    size_t sum = 0;
    for (uint32_t f = 0; f < mf_group_field_count(rig.group); f++) {
        const mf_Field *field = mf_group_field(rig.group, f);
        sum += field->components * (field->info.type == MF_F64 ? 8u : 4u);
    }
    assert_int_equal(mf_group_bytes_per_instance(rig.group), sum);
}
