// Flat images contain offsets only: a copy in other memory is equivalent.
#include "rig/rig.h"
#include "base/flat.h"

typedef struct Plan {
    uint32_t bytes;
    uint32_t number_count;
    MF_FLAT_ARRAY(numbers);
    MF_FLAT_ARRAY(letters);
    MF_FLAT_ARRAY(none);
} Plan;
MF_FLAT_READER(Plan, plan, double, numbers)
MF_FLAT_READER(Plan, plan, char, letters)
MF_FLAT_READER(Plan, plan, double, none)

static const double numbers[] = {1.5, -2.0, 1e300};
static const char letters[] = "image";

static Plan *make(mf_Context *context) {
    Plan plan = {.number_count = 3};
    const double *none = NULL;
    const mf_FlatPart parts[] = {MF_FLAT_PART(&plan, numbers, numbers, 3),
                                 MF_FLAT_PART(&plan, none, none, 7),
                                 MF_FLAT_PART(&plan, letters, letters, sizeof letters)};
    void *image = NULL;
    MUST(mf_flat_pack(context, &plan, sizeof plan, parts, 3, &image, &error));
    assert_memory_equal(&plan, image, sizeof plan); // the structure learns what it became
    return image;
}

TEST(a_copy_is_equal) {
    AUTO_CONTEXT *context;
    MUST(mf_context_create(NULL, &context, &error));
    Plan *image = make(context);
    Plan *copy = aligned_alloc(MF_FLAT_ALIGNMENT, image->bytes);
    assert_non_null(copy);
    memcpy(copy, image, image->bytes);
    memset(image, 0xee, image->bytes);
    assert_memory_equal(plan_numbers(copy), numbers, sizeof numbers);
    assert_string_equal(plan_letters(copy), letters);
    assert_null(plan_none(copy));
    assert_int_equal((uintptr_t)plan_numbers(copy) % MF_FLAT_ALIGNMENT, 0);
    assert_int_equal((uintptr_t)plan_letters(copy) % MF_FLAT_ALIGNMENT, 0);
    free(copy);
    mf_release(context, image);
}

TEST(four_gigabytes_are_refused) {
    AUTO_CONTEXT *context;
    MUST(mf_context_create(NULL, &context, &error));
    Plan plan = {0};
    const mf_FlatPart parts[] = {{&plan.numbers_at, numbers, UINT32_MAX}};
    void *image = NULL;
    MUST_FAIL(mf_flat_pack(context, &plan, sizeof plan, parts, 1, &image, &error), MF_LIMIT, "");
    assert_null(image);
}
