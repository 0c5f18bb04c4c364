// Vehicle files: Mayfly's own are read, defaults are those of the library, and every kind of
// mistake gives one line with its position.
#include "rig/rig.h"
#include "rig/bodies.h"
#include "io/document.h"
#include "io/keys.h"
#include "motion/vehicle/keys.h"

GROUP_FIXTURE(make_context, drop_context);

static mf_Vehicle *load(mf_Context *context, const char *name) {
    mf_Vehicle *vehicle = NULL;
    MUST(mf_vehicle_load(context, formatted("%s/models/%s.yaml", MAYFLY_SOURCE_DIR, name), &vehicle,
                         &error));
    assert_string_equal(vehicle->name, name);
    return vehicle;
}

// Figures of the sources that the files name.
TEST(our_vehicles_are_read) {
    mf_Vehicle *v = load(*state, "crazyflie");
    assert_int_equal(v->kind, MF_VEHICLE_QUADROTOR);
    assert_true(v->quadrotor.mass == 0.03 && v->quadrotor.inertia[2] == 2.89e-5);
    assert_true(v->quadrotor.rotor_speed_max == 2500.0);
    mf_body_destroy(v);
    v = load(*state, "sun2022");
    double speed[4];
    mf_quadrotor_hover(&v->quadrotor, 9.81, speed);
    assert_float_equal(speed[0], 1086.4265, 5e-5); // sqrt(m g / 4 k)
    mf_body_destroy(v);
    v = load(*state, "hummingbird");
    assert_true(v->quadrotor.mass == 0.5);
    mf_body_destroy(v);
    v = load(*state, "aerosonde");
    assert_int_equal(v->kind, MF_VEHICLE_FIXED_WING);
    assert_true(v->fixed_wing.mass == 11.0 && v->fixed_wing.lift_alpha == 5.61);
    mf_body_destroy(v);
    v = load(*state, "car_orca");
    assert_int_equal(v->kind, MF_VEHICLE_CAR);
    assert_true(v->car.mass == 0.041 && v->car.front_b == 2.579);
    mf_body_destroy(v);
    mf_body_destroy(load(*state, "car_full_size"));
    mf_body_destroy(load(*state, "car_racing"));
}

TEST(tables_hold_every_member_once) {
    for (int kind = 0; kind < 3; kind++) {
        const mf_KeyTable *table = mf_vehicle_table((mf_VehicleKind)kind);
        size_t bytes = 0;
        for (uint32_t i = 0; i < table->count; i++) {
            const mf_Key *key = &table->keys[i];
            assert_ptr_equal(mf_keys_find(table, key->path, strlen(key->path)), key);
            assert_true(key->lower <= key->upper && key->description[0] != '\0');
            bytes += key->kind == MF_KEY_CHOICE ? sizeof(int) : key->length * sizeof(double);
        }
        // All but the size field, and the gaps that alignment leaves behind it and an enum.
        assert_true(bytes < table->size && bytes + 3 * sizeof(double) > table->size);
    }
}

TEST(a_written_vehicle_reads_back_the_same) {
    static const char *const names[] = {"crazyflie", "aerosonde", "car_racing"};
    for (size_t i = 0; i < 3; i++) {
        mf_Vehicle *v = load(*state, names[i]), *again = NULL;
        char *once, *twice;
        MUST(mf_body_write(*state, &mf_vehicle_body, v, &once, &error));
        MUST(mf_vehicle_parse(*state, "again.yaml", once, strlen(once), &again, &error));
        MUST(mf_body_write(*state, &mf_vehicle_body, again, &twice, &error));
        assert_string_equal(once, twice);
        assert_memory_equal(&v->quadrotor, &again->quadrotor, sizeof v->quadrotor);
        assert_memory_equal(&v->fixed_wing, &again->fixed_wing, sizeof v->fixed_wing);
        assert_memory_equal(&v->car, &again->car, sizeof v->car);
        mf_release(*state, once);
        mf_release(*state, twice);
        mf_body_destroy(v);
        mf_body_destroy(again);
    }
}

#define BODY "  mass: 1\n  inertia: [0.01, 0.01, 0.02, 0, 0, 0]\n"

TEST(mistakes_are_one_line_with_their_position) {
    static const struct {
        const char *text, *message; // the message's beginning
    } cases[] = {
        {"", "t.yaml:1:1: expected"},
        {"boat: {mass: 1}\n",
         "t.yaml:1:1: expected one key: quadrotor, fixed_wing or car, found boat"},
        {"quadroter: {mass: 1}\n", "t.yaml:1:1: quadroter: unknown key, did you mean quadrotor?"},
        {"quadrotor: {mass: 1}\ncar: {mass: 1}\n",
         "t.yaml:2:1: expected one key: quadrotor, fixed_wing or car, found car, too"},
        {"quadrotor: 5\n",
         "t.yaml:1:12: quadrotor: expected a group of keys such as mass, found 5"},
        {"quadrotor:\n  inertia: [1, 1, 1, 0, 0, 0]\n",
         "t.yaml:2:3: expected the key quadrotor.mass, which is missing"},
        {"quadrotor:\n" BODY "  rotor_sped_max: 5\n",
         "t.yaml:4:3: quadrotor.rotor_sped_max: unknown key, did you mean "
         "quadrotor.rotor_speed_max?"},
        {"quadrotor:\n  mass: 1\n  mass: 2\n",
         "t.yaml:3:3: expected each key once, found mass again (first in line 2)"},
        {"quadrotor:\n  mass: 0\n  inertia: [1, 1, 1, 0, 0, 0]\n",
         "t.yaml:2:9: quadrotor.mass: expected a number from"},
        {"quadrotor:\n  mass: .nan\n  inertia: [1, 1, 1, 0, 0, 0]\n",
         "t.yaml:2:9: quadrotor.mass: expected a number from"},
        {"quadrotor:\n  mass: heavy\n  inertia: [1, 1, 1, 0, 0, 0]\n",
         "t.yaml:2:9: quadrotor.mass: expected a number from"},
        {"quadrotor:\n  mass: 1\n  inertia: [1, 1, 1]\n",
         "t.yaml:3:12: quadrotor.inertia: expected a list of 6 numbers from"},
        {"quadrotor:\n  mass: 1\n  inertia: [1, 1, -1, 0, 0, 0]\n",
         "t.yaml:3:12: quadrotor.inertia"},
        {"quadrotor:\n  mass: 1\n  inertia: [1, 1, 5, 0, 0, 0]\n",
         "t.yaml:3:12: quadrotor.inertia"},
        {"quadrotor:\n" BODY "  rotor_x: [0, 0, 0, 0]\n  rotor_y: [0, 0, 0, 0]\n",
         "t.yaml:"}, // rotors in one position cannot turn the body
        {"fixed_wing:\n  mass: 1\n  inertia_xx: 1\n  inertia_yy: 1\n  inertia_zz: 1\n"
         "  drag: cubic\n",
         "t.yaml:6:9: fixed_wing.drag: expected one of polar, linear, found cubic"},
        {"car:\n  mass: 1\n  yaw_inertia: -1\n",
         "t.yaml:3:16: car.yaw_inertia: expected a number from 1e-12 to"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mf_Vehicle *vehicle = (mf_Vehicle *)*state;
        mf_Error error = {0};
        char line[900];
        size_t live = mf_context_live_bytes(*state);
        assert_int_not_equal(mf_vehicle_parse(*state, "t.yaml", cases[i].text,
                                              strlen(cases[i].text), &vehicle, &error),
                             MF_OK);
        assert_null(vehicle);
        mf_error_format(&error, line, sizeof line);
        if (strncmp(line, cases[i].message, strlen(cases[i].message)) != 0)
            assert_string_equal(line, cases[i].message);
        assert_null(strchr(line, '\n'));
        assert_int_equal(mf_context_live_bytes(*state), live);
    }
}

static mf_Status read_all(mf_Context *context, void *user, mf_Error *error) {
    mf_Vehicle *vehicle = NULL;
    char *text = NULL, *page = NULL;
    mf_Status status = mf_vehicle_load(context, user, &vehicle, error);
    assert_int_equal(status != MF_OK, vehicle == NULL);
    if (status == MF_OK)
        status = mf_body_write(context, &mf_vehicle_body, vehicle, &text, error);
    if (status == MF_OK)
        status = mf_vehicle_describe(vehicle, 9.81, &page, error);
    mf_release(context, text);
    mf_release(context, page);
    mf_body_destroy(vehicle);
    return status;
}

TEST(every_failing_call_is_survived) {
    char path[] = MAYFLY_SOURCE_DIR "/models/aerosonde.yaml";
    assert_true(torture(*state, read_all, path, TORTURE_MUST_FAIL) > 20);
}
