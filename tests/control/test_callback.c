// Controllers in C: order and times of their calls, and the effect of a failure.
#include "control/robot.h"

#include <stdatomic.h>

enum { COUNT = 37 }; // the last block is not full

typedef struct Calls {
    atomic_uint per_robot[48];
    _Atomic int64_t last_time; // [ns]
    uint32_t refuses;          // [1] the robot that fails
} Calls;

static bool count_calls(mf_Group *group, uint32_t instance, mf_Time time, void *user) {
    Calls *calls = user;
    atomic_fetch_add(&calls->per_robot[instance], 1);
    atomic_store(&calls->last_time, time);
    set_field(group, "joint.target", instance, 0, 0.01 * instance);
    return instance != calls->refuses;
}

TEST(every_robot_is_called_at_the_rate) {
    Calls calls = {.refuses = MF_NONE};
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, COUNT);
    mf_Rate rate = mf_rate_from_period(20 * MF_MILLISECOND);
    MUST(mf_callback_add(fixture.group, rate, count_calls, &calls, &error));
    mf_world_step(fixture.world, 9); // 0, 20, 40, 60, 80 ms
    for (uint32_t i = 0; i < 48; i++)
        assert_int_equal(calls.per_robot[i], i < COUNT ? 5 : 0);
    assert_true(calls.last_time == 80 * MF_MILLISECOND);
    assert_near(fixture_get(&fixture, "joint.target", 36, 0), 0.36, 1e-7);
}

TEST(failure_raises_the_fault_and_ends_the_calls) {
    Calls calls = {.refuses = 20};
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, COUNT);
    MUST(mf_callback_add(fixture.group, fixture_every_step(), count_calls, &calls, &error));
    fixture_set(&fixture, "fault.word", 3, 0, MF_FAULT_RANGE);
    mf_world_step(fixture.world, 4);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(calls.per_robot[i], i == 3 ? 0 : i == 20 ? 1 : 4);
    assert_int_equal(mf_group_fault(fixture.group, 20), MF_FAULT_CONTROL);
    assert_int_equal(mf_group_fault(fixture.group, 3), MF_FAULT_RANGE);
    assert_int_equal(mf_group_fault_total(fixture.group), 2);
}

TEST(several_run_in_order) {
    Calls first = {.refuses = 5}, second = {.refuses = MF_NONE};
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, COUNT);
    MUST(mf_callback_add(fixture.group, fixture_every_step(), count_calls, &first, &error));
    MUST(mf_callback_add(fixture.group, fixture_every_step(), count_calls, &second, &error));
    mf_world_step(fixture.world, 1);
    assert_int_equal(first.per_robot[5], 1);
    assert_int_equal(second.per_robot[5], 0);
    assert_int_equal(second.per_robot[6], 1);
}

TEST(bad_settings_are_refused) {
    Calls calls = {0};
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, 1);
    mf_Rate rate = fixture_every_step();
    assert_int_equal(mf_callback_add(fixture.group, rate, NULL, NULL, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_callback_add(fixture.group, (mf_Rate){-1, 1}, count_calls, &calls, NULL),
                     MF_BAD_ARGUMENT);
    mf_context_fail_after(fixture.context, 1);
    assert_int_equal(mf_callback_add(fixture.group, rate, count_calls, &calls, NULL), MF_NO_MEMORY);
    assert_int_equal(mf_group_system_count(fixture.group), 0);
}
