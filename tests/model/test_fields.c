// The table of model fields against the structures that it lists: every member has a row, and hash,
// defaults and export agree with the table.
#include "model/support.h"
#include "model/draft.h"

#include "model/fields.h"

#include <ctype.h>

// ---- every member is listed --------------------------------------------------------------------

typedef struct Member {
    char name[64];
    char comment[800];
} Member;

static void take_name(const char *from, const char *end, Member *member) {
    while (end > from && !isalnum((unsigned char)end[-1]) && end[-1] != '_')
        end--;
    const char *start = end;
    while (start > from && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
        start--;
    snprintf(member->name, sizeof member->name, "%.*s", (int)(end - start), start);
}

// The members of a structure as its header has them, with the comments that follow them.
static uint32_t read_members(const char *header, const char *type, Member *members) {
    const char *pattern = formatted("typedef struct %s {", type);
    const char *at = strstr(header, pattern);
    assert_non_null(at);
    uint32_t count = 0, first = 0;
    const char *start = at += strlen(pattern);
    for (bool bracket = false; *at != '}'; at++) {
        if (at[0] == '/' && at[1] == '/') {
            size_t length = strcspn(at, "\n");
            for (uint32_t i = first; i < count; i++)
                strncat(members[i].comment, at, length);
            start = at += length;
            continue;
        }
        bracket = (bracket || *at == '[') && *at != ']';
        if (*at != ';' && (*at != ',' || bracket))
            continue;
        if (memchr(start, '\n', (size_t)(at - start)) != NULL && start[-1] != ',')
            first = count;
        const char *array = memchr(start, '[', (size_t)(at - start));
        members[count] = (Member){{0}, {0}};
        take_name(start, array ? array : at, &members[count++]);
        start = at + 1;
    }
    return count;
}

// The header that has a structure.
static const char *header_of(int item) {
    return item == MF_ITEM_RATE     ? MAYFLY_SOURCE_DIR "/include/mayfly/base.h"
           : item == MF_ITEM_CAMERA ? MAYFLY_SOURCE_DIR "/include/mayfly/camera.h"
           : item == MF_ITEM_TEXTURE || item == MF_ITEM_MATERIAL
               ? MAYFLY_SOURCE_DIR "/include/mayfly/texture.h"
               : MAYFLY_SOURCE_DIR "/include/mayfly/model.h";
}

TEST(every_member_has_its_row) {
    static Member members[100];
    for (int item = 0; item < MF_ITEM_COUNT; item++) {
        const mf_ItemTable *table = mf_item_table((mf_ItemType)item);
        AUTO(end_memory) char *header = file_get(header_of(item), NULL);
        uint32_t count = read_members(header, table->type, members);
        for (uint32_t i = 0; i < count; i++)
            if (mf_item_field((mf_ItemType)item, members[i].name) == NULL)
                fail_msg("%s: no row for the member %s", table->type, members[i].name);
        assert_int_equal(count, table->count);
    }
}

TEST(units_are_those_of_the_header) {
    static Member members[100];
    for (int item = 0; item < MF_ITEM_COUNT; item++) {
        const mf_ItemTable *table = mf_item_table((mf_ItemType)item);
        AUTO(end_memory) char *header = file_get(header_of(item), NULL);
        uint32_t count = item == MF_ITEM_RATE ? 0 : read_members(header, table->type, members);
        for (uint32_t i = 0; i < count; i++) {
            const mf_ModelField *field = mf_item_field((mf_ItemType)item, members[i].name);
            if (field->type != MF_VALUE_REAL && field->type != MF_VALUE_REALS)
                continue;
            assert_non_null(field->unit);
            const char *unit = formatted("[%s]", field->unit);
            if (strstr(members[i].comment, unit) == NULL)
                fail_msg("%s.%s: the table has %s, the header \"%s\"", table->type, field->name,
                         unit, members[i].comment);
        }
    }
}

// Rows in the order of memory leave no gaps but those of alignment.
TEST(rows_fill_their_structures) {
    for (int item = 0; item < MF_ITEM_COUNT; item++) {
        const mf_ItemTable *table = mf_item_table((mf_ItemType)item);
        size_t end = 0;
        for (uint32_t done = 0; done < table->count; done++) {
            const mf_ModelField *next = NULL;
            for (uint32_t i = 0; i < table->count; i++)
                if (table->fields[i].offset >= end &&
                    (next == NULL || table->fields[i].offset < next->offset))
                    next = &table->fields[i];
            assert_non_null(next);
            assert_true(next->offset - end < 8);
            assert_true(next->count > 0 && next->size % next->count == 0);
            end = next->offset + next->size;
        }
        assert_true(table->size - end < 8);
    }
}

TEST(turns_of_the_hash_are_different) {
    for (int item = 0; item < MF_ITEM_COUNT; item++) {
        const mf_ItemTable *table = mf_item_table((mf_ItemType)item);
        for (uint32_t i = 0; i < table->count; i++) {
            const uint32_t orientation = table->fields[i].hash;
            assert_true(orientation == 0 || orientation == MF_HASHED_BY_CODE ||
                        orientation % 100 <= 32);
            for (uint32_t k = 0; k < i; k++)
                assert_true(orientation == 0 || orientation == MF_HASHED_BY_CODE ||
                            orientation != table->fields[k].hash);
        }
    }
}

// ---- hashing -----------------------------------------------------------------------------------

static mf_Model *load_all(void **state) {
    mf_Model *model = load_file(*state, MAYFLY_SOURCE_DIR "/tests/model/fields.xml", NULL);
    // What MJCF has not.
    ((mf_Joint *)model->joints)[1].servo.gain = 1.0;
    ((mf_Sensor *)model->sensors)[1].field = "x";
    return model;
}

// Another value that a model may have. False: of another kind.
static bool change(const mf_ModelField *field, void *value) {
    uint32_t *number = value;
    double *real = value;
    switch (field->type) {
    case MF_VALUE_REAL:
        *real = isfinite(*real) ? *real + 0.5 : 3.0;
        return true;
    case MF_VALUE_SINGLE:
        *(float *)value += 0.5f;
        return true;
    case MF_VALUE_TIME:
        *(int64_t *)value += 1;
        return true;
    case MF_VALUE_FLAG:
        *(bool *)value = !*(bool *)value;
        return true;
    case MF_VALUE_ENUM: // never a mesh or height field
        *number = *number == 1 ? 0 : 1;
        return true;
    case MF_VALUE_INDEX: // there are two of each at least
        *number = *number == 0 ? 1 : 0;
        return true;
    case MF_VALUE_INTEGER:
        *number += 1;
        return true;
    case MF_VALUE_NUMBER: // may count numbers behind a pointer, so not more
        *number = *number > 0 ? *number - 1 : 1;
        return true;
    default:
        return false;
    }
}

typedef struct Walk {
    const mf_Model *model;
    uint64_t hash;
    uint8_t moved[MF_ITEM_COUNT][100];   // the hash changed with the field
    uint8_t changed[MF_ITEM_COUNT][100]; // the field was changed
} Walk;

static void walk_item(Walk *walk, mf_ItemType item, void *values) {
    const mf_ItemTable *table = mf_item_table(item);
    for (uint32_t i = 0; i < table->count; i++) {
        const mf_ModelField *field = &table->fields[i];
        const size_t size = field->size / field->count;
        for (uint32_t k = 0; k < field->count; k++) {
            char *value = (char *)values + field->offset + k * size, before[1000];
            if (field->type == MF_VALUE_ITEM) {
                walk_item(walk, field->item, value);
                continue;
            }
            memcpy(before, value, size);
            if (!change(field, value))
                continue;
            walk->changed[item][i] = 1;
            walk->moved[item][i] |= mf_model_hash(walk->model) != walk->hash;
            memcpy(value, before, size);
        }
    }
}

TEST_WITH(hashed_fields_change_the_hash_and_no_others, setup_context, teardown_context) {
    AUTO_MODEL *model = load_all(state);
    static Walk walk;
    walk = (Walk){.model = model, .hash = mf_model_hash(model)};
    for (mf_ItemType item = 0; item <= MF_ITEM_NOTE; item++) {
        uint32_t count;
        char *items = (char *)mf_model_items(model, item, &count);
        assert_true(count > 0);
        for (uint32_t i = 0; i < count; i++)
            walk_item(&walk, item, items + i * mf_item_table(item)->size);
    }
    walk_item(&walk, MF_ITEM_PHYSICS, &model->physics);
    for (int item = 0; item < MF_ITEM_MODEL; item++)
        for (uint32_t i = 0; i < mf_item_table((mf_ItemType)item)->count; i++) {
            const mf_ModelField *field = &mf_item_table((mf_ItemType)item)->fields[i];
            if (walk.changed[item][i] && walk.moved[item][i] != (field->hash > 0))
                fail_msg("%s.%s: %s", mf_item_table((mf_ItemType)item)->type, field->name,
                         field->hash ? "hashed, but the hash stays" : "not hashed, but it is");
        }
    assert_true(mf_model_hash(model) == walk.hash);
}

// ---- defaults ----------------------------------------------------------------------------------

TEST(defaults_are_those_of_the_formats) {
    mf_Joint joint;
    mf_Shape shape;
    mf_item_reset(MF_ITEM_JOINT, &joint);
    mf_item_reset(MF_ITEM_SHAPE, &shape);
    assert_true(joint.lower == -(double)INFINITY && joint.effort == (double)INFINITY);
    assert_true(joint.mimic == MF_NONE && joint.multiplier == 1.0 && joint.rotation[0] == 1.0);
    assert_near3(joint.axis, 1.0, 0.0, 0.0, 0.0);
    assert_near(joint.limit_softness.impedance[1], 0.95, 0.0);
    assert_near(joint.servo.gear, 1.0, 0.0);
    assert_near3(shape.friction, 1.0, 0.005, 0.0001, 0.0);
    assert_int_equal(shape.contact_with, 1);
    assert_string_equal(shape.name, "");
    const mf_Physics physics = mf_physics();
    assert_near3(physics.gravity, 0.0, 0.0, -9.81, 0.0);
    assert_near(physics.override_friction[4], 0.0001, 0.0);
    assert_int_equal(physics.solver_iterations, 100);
}

TEST_WITH(words_and_items_are_found, setup_context, teardown_context) {
    AUTO_MODEL *model = load_all(state);
    uint32_t count;
    const mf_Joint *joints = mf_model_items(model, MF_ITEM_JOINT, &count);
    assert_ptr_equal(joints, model->joints);
    assert_int_equal(count, model->joint_count);
    assert_null(mf_model_items(model, MF_ITEM_FRAME, &count));
    assert_int_equal(count, 0);
    const mf_ModelField *type = mf_item_field(MF_ITEM_JOINT, "type");
    assert_string_equal(mf_item_enum_name(type, &joints[0].type), "ball");
    assert_string_equal(mf_item_enum_name(type, &(uint32_t){77}), "unknown");
    assert_null(mf_item_field(MF_ITEM_JOINT, "typo"));
    assert_null(mf_item_table(MF_ITEM_COUNT));
}

// ---- MJCF --------------------------------------------------------------------------------------

// Another value that a file may have.
static void change_all(const mf_ModelField *field, void *value) {
    for (uint32_t i = 0; i < field->count; i++) {
        if (field->type == MF_VALUE_REAL && strcmp(field->name, "axis") == 0)
            ((double *)value)[i] *= -1.0;
        else if (field->type == MF_VALUE_REAL && isfinite(((double *)value)[i]))
            ((double *)value)[i] = ((double *)value)[i] * 1.25 + 0.0625 / 1024.0;
        else if (field->type == MF_VALUE_NUMBER) // 3 and 1, 6 and 4 for directions of contacts
            ((uint32_t *)value)[i] ^= 2;
        else
            change(field, (char *)value + i * (field->size / field->count));
    }
}

static bool survives(mf_Context *context, const mf_Model *model, mf_ItemType item, uint32_t index,
                     size_t offset, const mf_ModelField *field, void *values) {
    char *value = (char *)values + offset, before[128], path[512];
    uint32_t count = 0;
    assert_true(field->size <= sizeof before);
    memcpy(before, value, field->size);
    change_all(field, value);
    snprintf(path, sizeof path, "%s/fields-again.xml", MAYFLY_BINARY_DIR);
    AUTO_MODEL *again = NULL;
    mf_Status status = mf_model_export_mjcf(model, path, NULL);
    if (status == MF_OK)
        status = mf_model_load(context, path, NULL, &again, NULL);
    const char *items = item == MF_ITEM_PHYSICS && again != NULL
                            ? (const char *)&again->physics
                            : mf_model_items(again, item, &count);
    bool same = status == MF_OK && memcmp(before, value, field->size) != 0 &&
                memcmp(items + index * mf_item_table(item)->size + offset, value, field->size) == 0;
    memcpy(value, before, field->size);
    return same;
}

// Each of them in one item of the list at least: balls have no axis, only some ranges are limited.
static void check_spelled(mf_Context *context, const mf_Model *model, mf_ItemType item, void *items,
                          uint32_t count, mf_ItemType inner, size_t start) {
    const mf_ItemTable *table = mf_item_table(inner);
    for (uint32_t f = 0; f < table->count; f++) {
        const mf_ModelField *field = &table->fields[f];
        const bool upper = f > 0 && table->fields[f - 1].spelled & MF_SPELLED_RANGE;
        const size_t size = mf_item_table(item)->size;
        bool same = false;
        if (!upper && (field->mjcf == NULL || field->spelled & MF_SPELLED_OTHER))
            continue;
        if (field->type == MF_VALUE_ITEM) {
            check_spelled(context, model, item, items, count, field->item, start + field->offset);
            continue;
        }
        for (uint32_t i = 0; i < count && !same; i++)
            same = survives(context, model, item, i, start + field->offset, field,
                            (char *)items + i * size);
        if (!same)
            fail_msg("%s.%s does not come back from the file", table->type, field->name);
    }
}

TEST_WITH(spelled_fields_come_back_from_the_file, setup_context, teardown_context) {
    AUTO_MODEL *model = load_file(*state, MAYFLY_SOURCE_DIR "/tests/model/fields.xml", NULL);
    for (mf_ItemType item = 0; item <= MF_ITEM_NOTE; item++) {
        uint32_t count;
        void *items = (void *)mf_model_items(model, item, &count);
        // Where a mesh without a file was before its numbers were moved is not written.
        if (item != MF_ITEM_MESH)
            check_spelled(*state, model, item, items, count, item, 0);
    }
    check_spelled(*state, model, MF_ITEM_PHYSICS, &model->physics, 1, MF_ITEM_PHYSICS, 0);
}

// ---- properties --------------------------------------------------------------------------------

typedef struct Listing {
    mf_ItemType item;
    const char *memory; // of one part
    uint32_t field;     // [1] row to be visited next
    uint32_t visited;   // [1]
} Listing;

static bool check_property(const mf_Property *property, void *user) {
    Listing *listing = user;
    if (property->constant == NULL)
        return true;
    const mf_ItemTable *table = mf_item_table(listing->item);
    double values[MF_PROPERTY_VALUES];
    mf_property_read(property, values);
    listing->visited++;
    while (listing->field < table->count && table->fields[listing->field].type != MF_VALUE_REAL)
        listing->field++;
    if (listing->field == table->count) // of a sensor's signal
        return listing->item == MF_ITEM_SENSOR;
    const mf_ModelField *field = &table->fields[listing->field];
    if (listing->item == MF_ITEM_SENSOR && strcmp(field->name, property->name) != 0)
        return mf_item_field(MF_ITEM_SIGNAL, property->name) != NULL;
    assert_string_equal(property->name, field->name);
    assert_int_equal(property->count, field->count);
    assert_memory_equal(values, listing->memory + field->offset, field->size);
    assert_int_equal(mf_property_write(property, values, NULL), MF_BAD_ARGUMENT);
    listing->field++;
    return true;
}

static uint32_t reals_of(mf_ItemType item) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < mf_item_table(item)->count; i++)
        count += mf_item_table(item)->fields[i].type == MF_VALUE_REAL;
    return count;
}

// Every real number of a part is a property that says what the model has, and cannot be written.
TEST_WITH(reals_are_properties, setup_context, teardown_context) {
    AUTO_MODEL *model = load_file(*state, MAYFLY_SOURCE_DIR "/tests/model/fields.xml", NULL);
    mf_Group *group = NULL;
    mf_GroupConfig config = WITH(mf_group_config(), .model = model);
    AUTO_WORLD *world = open_world(*state, NULL);
    group = add_group(world, &config);
    const struct {
        const char *pattern;
        mf_ItemType item;
        const void *memory;
        uint32_t more;
    } parts[] = {
        {"*", MF_ITEM_MODEL, model, 0},
        {"shin/*", MF_ITEM_LINK, &model->links[mf_model_find(model, MF_ITEM_LINK, "shin")], 0},
        {"knee/*", MF_ITEM_JOINT, &model->joints[mf_model_find(model, MF_ITEM_JOINT, "knee")], 0},
        {"target/*", MF_ITEM_BODY, &model->bodies[mf_model_find(model, MF_ITEM_BODY, "target")], 0},
        {"servo/*", MF_ITEM_ACTUATOR, &model->actuators[0], 0},
        // The range of the converter goes behind that of the ray.
        {"gyro/*", MF_ITEM_SENSOR, &model->sensors[0], reals_of(MF_ITEM_SIGNAL) - 1},
        {"cord/*", MF_ITEM_TENDON, &model->tendons[2], 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        Listing listing = {.item = parts[i].item, .memory = parts[i].memory};
        mf_property_list_in(group, 0, parts[i].pattern, check_property, &listing);
        assert_int_equal(listing.visited, reals_of(parts[i].item) + parts[i].more);
    }
}
