// Values between fields and messages, for all widths, types and parts of blocks, against the
// definition: field [block][component][lane], message [instance][component].
#include "serve/peer.h"

#include "rig/rig.h"

enum { WIDEST = 37, BLOCKS = 3, INSTANCES = BLOCKS * 16 };

typedef struct Case {
    mf_Field field;
    uint8_t *copy; // of the field's bytes
    size_t size;   // [byte] of a value
    size_t bytes;  // [byte] of the field
} Case;

static Case make_case(mf_FieldType type, uint32_t width) {
    Case made = {.size = mf_field_value_size(type)};
    made.bytes = (size_t)INSTANCES * width * made.size;
    made.field = (mf_Field){.info = {.type = type}, .components = width, .blocks = BLOCKS};
    made.field.data = aligned_alloc(64, (made.bytes + 63) / 64 * 64);
    made.copy = malloc(made.bytes);
    for (size_t i = 0; i < made.bytes; i++)
        made.copy[i] = (uint8_t)(i * 131 + i / 251);
    memcpy(made.field.data, made.copy, made.bytes);
    return made;
}

static void drop_case(Case *each) {
    free(each->field.data);
    free(each->copy);
}

// [byte] of a value in the field.
static size_t place(const Case *each, uint32_t instance, uint32_t component) {
    const size_t row = (size_t)(instance / 16) * each->field.components + component;
    return (row * 16 + instance % 16) * each->size;
}

static void check_part(Case *each, uint32_t first, uint32_t count) {
    const uint32_t width = each->field.components;
    const size_t bytes = (size_t)count * width * each->size;
    uint8_t *message = malloc(bytes + 8), *at = message + 4; // as messages are: not aligned to 16
    message[4 + bytes] = 0xa5;
    mf_link_gather(at, &each->field, first, count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < width; c++)
            assert_memory_equal(at + ((size_t)i * width + c) * each->size,
                                each->copy + place(each, first + i, c), each->size);
    assert_int_equal(message[4 + bytes], 0xa5);
    // Back into a field of zeros: the part and nothing else.
    memset(each->field.data, 0, each->bytes);
    mf_link_scatter(&each->field, at, first, count);
    uint8_t *expected = calloc(1, each->bytes);
    for (uint32_t i = first; i < first + count; i++)
        for (uint32_t c = 0; c < width; c++)
            memcpy(expected + place(each, i, c), each->copy + place(each, i, c), each->size);
    assert_memory_equal(each->field.data, expected, each->bytes);
    memcpy(each->field.data, each->copy, each->bytes);
    free(expected);
    free(message);
}

TEST(test_all_widths) {
    static const mf_FieldType types[] = {MF_F32, MF_F64, MF_U32};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (uint32_t width = 1; width <= WIDEST; width++) {
            AUTO(drop_case) Case each = make_case(types[t], width);
            check_part(&each, 0, INSTANCES);
            check_part(&each, 0, 1);
            check_part(&each, 16, 16);
            check_part(&each, 5, 30);
            check_part(&each, 15, 18);
            check_part(&each, INSTANCES - 1, 1);
        }
}
