// Machines that evolve as the body of a group: the truss before any genome is applied, the ancestor
// in its file, and the truss of an instance (scene/machines.h).
#include "body/kind.h"

#include "motion/truss/machine.h"

mf_Truss mf_machine_placeholder(const mf_SceneMachine *settings) {
    static const mf_TrussVertex vertices[2] = {{.position = {0, 0, 0}}, {.position = {0.1, 0, 0}}};
    static const mf_TrussBar bars[1] = {{.ends = {0, 1}, .diameter = 0.01}};
    return (mf_Truss){.name = "machine",
                      .material = mf_truss_material(),
                      .vertices = vertices,
                      .bars = bars,
                      .vertex_count = 2,
                      .bar_count = 1,
                      .cycle = mf_time_to_seconds(settings->cycle),
                      .delay = mf_time_to_seconds(settings->rest),
                      .change = settings->change};
}

mf_Status mf_machine_prepare(const mf_Reader *reader, mf_SceneGroup *group) {
    mf_Reader own = *reader;
    mf_Truss *truss = mf_reader_allocate(&own, sizeof *truss);
    mf_Error cause = {0};
    if (truss == NULL)
        return MF_NO_MEMORY;
    const bool named = group->kind == &mf_truss_body;
    if (group->model_path != NULL && !named)
        return mf_reader_refuse(reader, "model", NULL,
                                "expected the file of a truss (YAML) for `controller: machine`");
    if (named) {
        mf_Machine *ancestor = mf_reader_allocate(&own, sizeof *ancestor);
        if (ancestor == NULL)
            return MF_NO_MEMORY;
        if (mf_machine_of_truss(group->body, ancestor, &cause) != MF_OK)
            return mf_reader_refuse(reader, "model", NULL, "%s", cause.message);
        group->ancestor = ancestor;
    }
    *truss = mf_machine_placeholder(&group->machine);
    group->kind = &mf_truss_body;
    group->body = truss;
    return MF_OK;
}

mf_Status mf_machine_put(mf_Group *group, uint32_t instance, const mf_Machine *machine,
                         mf_Error *error) {
    const mf_Truss truss = mf_machine_truss(machine);
    MF_TRY(mf_quasistatic_set(group, instance, &truss, error));
    return mf_neurons_set_truss(group, instance, &truss, error);
}
