// Adding a model's sensors to a group: fields, and the plan of the kernel.
//
// The kernel writes true values: to the readings or, if contacts or rays have a signal (signal.h),
// to the fields from which readings are computed.
//
// Invariant: sensor fields are state, because between two ticks of a slow sensor their values
// cannot be recomputed, so a snapshot must contain them.
#include "sense/sensors.h"
#include "model/points.h"
#include "base/floats.h"
#include "math/kernel_table.h"

#include "world/attach.h"
#include "math/scalar.h"

#include <mayfly/control.h>

static const char system_name[] = "sensors";

// The arrays of the plan, and how many entries they have; the arrays are NULL while counting.
typedef struct Plan {
    mf_SensorContact *contacts;
    mf_SensorRow *rows;
    mf_SensorRay *rays;
    uint32_t *links;
    uint32_t contact_count, row_count, ray_count, link_count; // [1]
} Plan;

static void run_batch(const mf_SensorSystem *system, mf_SensorBatch *batch,
                      const mf_SystemRun *run) {
    batch->scratch = batch->ray != NULL ? mf_scratch_borrow(system->scratch) : NULL;
    system->run(batch, run->first_block, run->block_count);
    if (batch->scratch != NULL)
        mf_scratch_return(system->scratch, batch->scratch);
}

static void run_sensors(const mf_SystemRun *run, void *user) {
    const mf_SensorSystem *system = user;
    mf_SensorBatch batch = system->batch;
    run_batch(system, &batch, run);
}

// Selects the sensors measured now, and their destination field.
static bool choose_signals(const mf_SignalSet *set, uint64_t tick, bool due,
                           mf_SignalMoments *moments, void **target) {
    if (set == NULL) {
        *target = due ? *target : NULL;
        return false;
    }
    bool any = mf_signal_set_measure(set, tick, moments);
    *target = moments->due != 0 ? mf_signal_set_raw(set)->data : NULL;
    return any;
}

static void run_treated(const mf_SystemRun *run, void *user) {
    const mf_SensorSystem *system = user;
    mf_SensorBatch batch = system->batch;
    mf_SignalMoments contacts, rays;
    bool due = mf_rate_due(system->rate, run->time, run->step);
    bool touch = choose_signals(system->contact_signals, run->tick, due, &contacts, &batch.contact);
    bool see = choose_signals(system->ray_signals, run->tick, due, &rays, &batch.ray);
    batch.joint = due ? batch.joint : NULL;
    batch.attitude = due ? batch.attitude : NULL;
    if (batch.contact != NULL || batch.ray != NULL || due)
        run_batch(system, &batch, run);
    if (touch)
        mf_signal_set_run(system->contact_signals, run, &contacts);
    if (see)
        mf_signal_set_run(system->ray_signals, run, &rays);
}

static void clear_field(mf_Field *field, uint32_t instance) {
    if (field == NULL)
        return;
    for (uint32_t i = 0; i < field->components; i++)
        mf_field_set(field, instance, i, 0.0);
}

// An episode begins with true values of 0, to which noise and conversion apply.
static void start_signals(const mf_SignalSet *set, uint32_t instance) {
    if (set == NULL)
        return;
    clear_field(mf_signal_set_raw(set), instance);
    mf_signal_set_start(set, instance);
}

static void reset_sensors(mf_Group *group, uint32_t instance, void *user) {
    const mf_SensorSystem *system = user;
    (void)group;
    clear_field(system->fields.contact, instance);
    clear_field(system->fields.ray, instance);
    clear_field(system->fields.joint, instance);
    clear_field(system->fields.attitude, instance);
    start_signals(system->contact_signals, instance);
    start_signals(system->ray_signals, instance);
}

static void destroy_sensors(mf_Context *context, void *user) {
    mf_SensorSystem *system = user;
    mf_signal_set_destroy(context, system->contact_signals);
    mf_signal_set_destroy(context, system->ray_signals);
    mf_scratch_destroy(context, system->scratch);
    mf_release(context, system->image);
    mf_release(context, system);
}

// ---- the plan ----------------------------------------------------------------------------------

// Loads that belong to `link`; written to `out` unless it is NULL.
static uint32_t find_rows(mf_Group *group, uint32_t link, mf_SensorRow *out) {
    const mf_Model *model = mf_group_model(group);
    const mf_Field *load = mf_group_find_field(group, "contact.load");
    bool points = mf_group_find_field(group, "point.load") != NULL;
    double position[3];
    uint32_t found = 0, row = 0;
    for (uint32_t i = 0; load != NULL && i < load->components; i++)
        if (mf_contacts_position(group, i, link, position)) {
            if (out != NULL)
                out[found] = (mf_SensorRow){i, false};
            found++;
        }
    for (uint32_t i = 0; points && i < model->point_count; i++) {
        if (!(model->points[i].flags & MF_POINT_COLLIDES))
            continue;
        if (model->points[i].link == link) {
            if (out != NULL)
                out[found] = (mf_SensorRow){row, true};
            found++;
        }
        row++;
    }
    return found;
}

static void put_sensors(mf_Group *group, Plan *plan) {
    const mf_Model *model = mf_group_model(group);
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        if (sensor->type == MF_SENSOR_CONTACT) {
            const uint32_t found = find_rows(
                group, sensor->link, plan->rows != NULL ? plan->rows + plan->row_count : NULL);
            if (plan->contacts != NULL)
                plan->contacts[plan->contact_count] = (mf_SensorContact){plan->row_count, found};
            plan->contact_count++;
            plan->row_count += found;
        } else if (sensor->type == MF_SENSOR_RAY) {
            mf_SensorRay out = {.range = sensor->range, .link = sensor->link};
            mf_vec3_copy(out.start, sensor->start);
            mf_vec3_copy(out.direction, sensor->direction);
            if (plan->rays != NULL)
                plan->rays[plan->ray_count] = out;
            plan->ray_count++;
        }
    }
}

// Whether a ray is on `link` or on what it carries.
static bool carries_ray(const mf_Model *model, uint32_t link) {
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        uint32_t at = model->sensors[i].type == MF_SENSOR_RAY ? model->sensors[i].link : 0;
        while (at > link)
            at = model->links[at].parent;
        if (at == link)
            return true;
    }
    return false;
}

static void put_links(const mf_Model *model, Plan *plan) {
    for (uint32_t l = 1; l < model->link_count; l++) {
        if (!carries_ray(model, l))
            continue;
        if (plan->links != NULL)
            plan->links[plan->link_count] = l;
        plan->link_count++;
    }
}

static Plan counts_of(mf_Group *group) {
    Plan plan = {.contacts = NULL};
    put_sensors(group, &plan);
    put_links(mf_group_model(group), &plan);
    return plan;
}

static uint32_t components_of(mf_Group *group, const char *name) {
    const mf_Field *field = mf_group_find_field(group, name);
    return field != NULL ? field->components : 0;
}

static mf_Status pack(mf_Context *context, mf_Group *group, const Plan *plan, const mf_Tree *tree,
                      mf_SensorImage **out, mf_Error *error) {
    mf_SensorImage draft = {.contact_count = plan->contact_count,
                            .ray_count = plan->ray_count,
                            .row_count = plan->row_count,
                            .link_count = plan->link_count,
                            .joint_count = mf_group_model(group)->joint_count,
                            .ball_count = components_of(group, "ball.orientation") / 4,
                            .free_count = components_of(group, "free.position") / 3,
                            .load_components = components_of(group, "contact.load"),
                            .point_components = components_of(group, "point.load"),
                            .fixed = mf_group_model(group)->base == MF_BASE_FIXED};
    const mf_FlatPart parts[] = {
        {&draft.tree_at, tree, tree->bytes},
        MF_FLAT_PART(&draft, links, plan->links, plan->link_count),
        MF_FLAT_PART(&draft, contacts, plan->contacts, plan->contact_count),
        MF_FLAT_PART(&draft, rows, plan->rows, plan->row_count),
        MF_FLAT_PART(&draft, rays, plan->rays, plan->ray_count)};
    void *image = NULL;
    mf_Status status = mf_flat_pack(context, &draft, sizeof draft, parts,
                                    sizeof parts / sizeof *parts, &image, error);
    *out = image;
    return status;
}

static mf_Status create_image(mf_Context *context, mf_Group *group, mf_SensorImage **out,
                              mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    const Plan counted = counts_of(group);
    mf_Tree *tree = NULL;
    Plan plan = {.contacts = mf_allocate(context, counted.contact_count + 1, sizeof *plan.contacts),
                 .rows = mf_allocate(context, counted.row_count + 1, sizeof *plan.rows),
                 .rays = mf_allocate(context, counted.ray_count + 1, sizeof *plan.rays),
                 .links = mf_allocate(context, counted.link_count + 1, sizeof *plan.links)};
    mf_Status status = plan.contacts && plan.rows && plan.rays && plan.links
                           ? mf_tree_create(context, model, MF_TREE_FIELDS,
                                            model->base == MF_BASE_FREE, NULL, &tree, error)
                           : mf_fail(error, MF_NO_MEMORY, "sensors: out of memory");
    if (status == MF_OK) {
        put_sensors(group, &plan);
        put_links(model, &plan);
        status = pack(context, group, &plan, tree, out, error);
    }
    mf_release(context, tree);
    mf_release(context, plan.contacts);
    mf_release(context, plan.rows);
    mf_release(context, plan.rays);
    mf_release(context, plan.links);
    return status;
}

// ---- the system --------------------------------------------------------------------------------

static mf_Status add_fields(mf_Group *group, const mf_SensorImage *image, mf_SensorFields *fields,
                            mf_Error *error) {
    enum { FLAGS = MF_FIELD_STATE | MF_FIELD_OUTPUT };
    static const mf_FieldInfo contact = {
        "sensor.contact", "1", "",    MF_REAL,
        MF_PER_SENSOR,    1,   FLAGS, "1 while a point of the sensor's link carries load, else 0"};
    static const mf_FieldInfo ray = {
        "sensor.ray",  "m", "",    MF_REAL,
        MF_PER_SENSOR, 1,   FLAGS, "distance along the ray to the ground, at most its range"};
    static const mf_FieldInfo joint = {
        "sensor.joint", "rad", "joint", MF_REAL,
        MF_PER_JOINT,   1,     FLAGS,   "joint positions; meters for slides"};
    static const mf_FieldInfo attitude = {
        "sensor.attitude",
        "rad",
        "world",
        MF_REAL,
        MF_PER_INSTANCE,
        3,
        FLAGS,
        "roll, pitch and yaw of the base: about the fixed axes x, y, z"};
    mf_Status status = MF_OK;
    if (image->contact_count > 0)
        status = mf_attach_field(group, &contact, image->contact_count, &fields->contact, error);
    if (status == MF_OK && image->ray_count > 0)
        status = mf_attach_field(group, &ray, image->ray_count, &fields->ray, error);
    if (status == MF_OK)
        status = mf_attach_field(group, &joint, 0, &fields->joint, error);
    if (status == MF_OK)
        status = mf_attach_field(group, &attitude, 0, &fields->attitude, error);
    return status;
}

// Names of the fields that are read and written, for the schedule.
static void list_names(mf_SensorSystem *system) {
    uint32_t reads = 0, writes = 0;
    system->reads[reads++] = "base.position";
    system->reads[reads++] = "base.orientation";
    system->reads[reads++] = "joint.angle";
    if (system->fields.ray != NULL) {
        static const char *const names[] = {
            "base.linear_velocity", "base.angular_velocity", "joint.rate",    "?ball.orientation",
            "?ball.rate",           "?free.position",        "?free.velocity"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            system->reads[reads++] = names[i];
    }
    system->reads[reads++] = "fault.word";
    system->reads[reads++] = "fault.count";
    system->reads[reads++] = "?motion.level";
    if (system->batch.point_load != NULL)
        system->reads[reads++] = "point.load";
    if (system->batch.load != NULL)
        system->reads[reads++] = "contact.load";
    if (system->fields.contact != NULL)
        system->writes[writes++] = "sensor.contact";
    if (system->fields.ray != NULL)
        system->writes[writes++] = "sensor.ray";
    system->writes[writes++] = "sensor.joint";
    system->writes[writes++] = "sensor.attitude";
    if (system->contact_signals != NULL)
        writes += mf_signal_set_fields(system->contact_signals, system->writes + writes);
    if (system->ray_signals != NULL)
        writes += mf_signal_set_fields(system->ray_signals, system->writes + writes);
}

static void *data_of(const mf_Field *field) {
    return field != NULL ? field->data : NULL;
}

static void bind_fields(mf_Group *group, mf_SensorSystem *system) {
    const mf_SensorFields *fields = &system->fields;
    const mf_TreeFields tree = mf_tree_fields(group);
    system->batch = (mf_SensorBatch){
        .image = system->image,
        .terrain = mf_terrain_image(mf_world_config_of(mf_group_world(group))->terrain),
        .load = data_of(mf_group_find_field(group, "contact.load")),
        .point_load = data_of(mf_group_find_field(group, "point.load")),
        .level = data_of(mf_group_find_field(group, "motion.level")),
        .position = data_of(tree.position),
        .orientation = data_of(tree.orientation),
        .linear = data_of(tree.linear),
        .angular = data_of(tree.angular),
        .angle = data_of(tree.angle),
        .rate = data_of(tree.rate),
        .ball = data_of(tree.ball),
        .ball_rate = data_of(tree.ball_rate),
        .free = data_of(tree.free),
        .free_rate = data_of(tree.free_rate),
        .fault = data_of(mf_group_find_field(group, "fault.word")),
        .contact = data_of(fields->contact),
        .ray = data_of(fields->ray),
        .joint = data_of(fields->joint),
        .attitude = data_of(fields->attitude)};
}

// The signals of the sensors of one type; none: *out stays NULL.
static mf_Status add_signals(mf_Group *group, mf_SensorType type, mf_Field *field, mf_Rate rate,
                             mf_SignalSet **out, mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    mf_Context *context = mf_world_context(mf_group_world(group));
    bool plain = true;
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->sensor_count; i++)
        plain &= model->sensors[i].type != type || mf_signal_is_plain(&model->sensors[i].signal);
    if (plain)
        return MF_OK;
    mf_SignalSpec *specs = mf_allocate(context, model->sensor_count, sizeof *specs);
    if (specs == NULL)
        return mf_fail(error, MF_NO_MEMORY, "sensors: out of memory");
    for (uint32_t i = 0; i < model->sensor_count; i++)
        if (model->sensors[i].type == type) {
            specs[count] = (mf_SignalSpec){.signal = &model->sensors[i].signal,
                                           .first = count,
                                           .count = 1,
                                           .stream = i,
                                           .always = true};
            count++;
        }
    mf_Status status =
        mf_signal_set_create(group, field->info.name, field, rate, specs, count, out, error);
    mf_release(context, specs);
    return status;
}

static mf_Status add_all_signals(mf_Group *group, mf_SensorSystem *system, mf_Error *error) {
    mf_Status status = add_signals(group, MF_SENSOR_CONTACT, system->fields.contact, system->rate,
                                   &system->contact_signals, error);
    if (status == MF_OK)
        status = add_signals(group, MF_SENSOR_RAY, system->fields.ray, system->rate,
                             &system->ray_signals, error);
    return status;
}

static mf_Status add_system(mf_Group *group, mf_SensorSystem *system, mf_Error *error) {
    const mf_SignalSet *sets[] = {system->contact_signals, system->ray_signals};
    mf_SystemConfig entry = mf_system_config();
    entry.name = system_name;
    entry.phase = MF_PHASE_SENSE;
    entry.rate = system->rate;
    entry.run = run_sensors;
    entry.reset = reset_sensors;
    entry.destroy = destroy_sensors;
    entry.user = system;
    entry.reads = system->reads;
    entry.writes = system->writes;
    for (int i = 0; i < 2; i++) {
        if (sets[i] == NULL)
            continue;
        entry.rate = (mf_Rate){0, 0}; // each sensor has its own
        entry.run = run_treated;
        entry.settings_hash = mf_signal_set_hash(sets[i], entry.settings_hash);
    }
    return mf_group_add_system(group, &entry, error);
}

static mf_Status choose_kernels(mf_Group *group, mf_SensorSystem *system, mf_Error *error) {
    static const mf_SensorRunFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_sensor_run);
    static size_t (*const scratch_sizes[MF_KERNEL_ROWS][2])(const mf_SensorImage *image) =
        MF_KERNEL_TABLE(mf_sensor_scratch_size);
    const uint32_t row = mf_kernel_row(mf_world_isa(mf_group_world(group)));
    const bool precise = mf_group_config_of(group)->double_precision;
    system->run = kernels[row][precise];
    if (system->fields.ray == NULL)
        return MF_OK;
    return mf_scratch_create(mf_world_context(mf_group_world(group)),
                             scratch_sizes[row][precise](system->image),
                             mf_group_block_count(group), &system->scratch, error);
}

mf_Status mf_sensors_add(mf_Group *group, mf_Rate rate, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Status status = mf_attach_check(group, system_name, rate, error);
    if (status != MF_OK)
        return status;
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_SensorSystem *system = mf_allocate(context, 1, sizeof *system);
    if (system == NULL)
        return mf_fail(error, MF_NO_MEMORY, "sensors: out of memory");
    system->rate = rate;
    status = create_image(context, group, &system->image, error);
    if (status == MF_OK)
        status = add_fields(group, system->image, &system->fields, error);
    if (status == MF_OK)
        status = add_all_signals(group, system, error);
    if (status == MF_OK)
        status = choose_kernels(group, system, error);
    if (status == MF_OK) {
        bind_fields(group, system);
        list_names(system);
        status = add_system(group, system, error);
    }
    if (status != MF_OK)
        destroy_sensors(context, system);
    return status;
}
