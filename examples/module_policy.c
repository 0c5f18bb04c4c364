// Six modules crawl as a snake by a policy of 15 lines, which runs on each and learns its place
// from messages. usage: example_module_mind [SCENE]; SCENE is scenes/snake.yaml unless given
#include <mayfly/mayfly.h>

#include <math.h>
#include <stdio.h>

static const char *const percepts[] = {"dock.state", NULL};
static const char *const actions[] = {"joint.target", NULL};

// A percept made of others: any type of C.
typedef struct Place {
    bool head;    // nobody is docked in front
    double phase; // [rad]
} Place;

static void find_place(mf_Policy *policy, void *out, void *user) {
    const double *speed = user; // [rad/s]
    Place *place = out;
    place->head = mf_policy_percept(policy, 0, 0) != MF_DOCK_ENGAGED;
    place->phase = *speed * mf_time_to_seconds(mf_policy_time(policy));
}

// Dock 0 is the front, dock 1 the back; the memory holds the place in the chain.
static bool wave(mf_Policy *policy, void *user) {
    const Place *place = mf_policy_made(policy, 0);
    mf_Message message;
    (void)user;
    while (mf_policy_receive(policy, 0, &message))
        mf_policy_set_memory(policy, 0, message.content.words[0] + 1.0);
    if (place->head)
        mf_policy_set_memory(policy, 0, 0.0);
    message = (mf_Message){.type = 1, .size = 4};
    message.content.words[0] = (uint32_t)mf_policy_memory(policy, 0);
    mf_policy_send(policy, 1, &message);
    return mf_policy_act(policy, 0, 0, 0.6 * sin(place->phase - 1.2 * mf_policy_memory(policy, 0)));
}

static mf_Status crawl(mf_Scene *scene, mf_Error *error) {
    static double speed = 4.0;
    mf_PolicyConfig config = mf_policy_config();
    config.function = wave;
    config.user = &speed;
    config.percepts = percepts;
    config.actions = actions;
    config.noise = (double[]){0.01}; // [rad] standard deviation of what is added to commands
    config.made = &(mf_MadePercept){sizeof(Place), find_place};
    config.made_count = 1;
    config.memory = 1;
    config.rate = mf_rate_from_period(20 * MF_MILLISECOND);
    MF_TRY(mf_policy_add(scene->group, &config, error));
    mf_world_step(scene->world, (uint64_t)(10.0 / mf_time_to_seconds(scene->step)));
    const mf_Field *position = mf_group_find_field(scene->group, "base.position");
    const mf_Field *memory = mf_group_find_field(scene->group, "policy.memory");
    for (uint32_t i = 0; i < mf_group_count(scene->group); i++)
        printf("module %u: place %g, at %.2f, %.2f m\n", i, mf_field_get(memory, i, 0),
               mf_field_get(position, i, 0), mf_field_get(position, i, 1));
    const mf_MessagesStatistics sum = mf_messages_statistics(mf_messages_of(scene->world));
    printf("%llu messages delivered\n", (unsigned long long)sum.delivered);
    return MF_OK;
}

int main(int count, char **arguments) {
    const mf_Override none = {"groups.modules.behavior", "hold"}; // the policy is ours
    mf_Context *context = NULL;
    mf_SceneFile *file = NULL;
    mf_Scene scene = {0};
    mf_Error error = {0};
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = mf_scene_file_load(context, count > 1 ? arguments[1] : "scenes/snake.yaml", &none,
                                    1, &file, &error);
    if (status == MF_OK)
        status = mf_scene_create(context, file, NULL, &scene, &error);
    if (status == MF_OK)
        status = crawl(&scene, &error);
    if (status != MF_OK) {
        char line[900];
        fprintf(stderr, "%s\n", mf_error_format(&error, line, sizeof line));
    }
    mf_scene_destroy(&scene);
    mf_scene_file_destroy(file);
    mf_context_destroy(context);
    return status == MF_OK ? 0 : 1;
}
