// Adding a model's sensors to a group: fields, and the plan of the kernel.
//
// The kernel writes true values: to the readings or, if contacts or rays have a signal (signal.h),
// to the fields from which readings are computed.
//
// Invariant: sensor fields are state, because between two ticks of a slow sensor their values
// cannot be recomputed, so a snapshot must contain them.
#include "sense/sensors.h"
#include "math/kernel_table.h"

#include "sense/signal.h"
#include "world/attach.h"
#include "math/scalar.h"

#include <mayfly/control.h>

static const char system_name[] = "sensors";

typedef struct SensorFields {
    mf_Field *contact, *ray; // NULL when the model has none
    mf_Field *joint, *attitude;
} SensorFields;

// The system's memory is one allocation: this and the arrays behind it.
typedef struct SensorSystem {
    mf_SensorBatch batch;
    mf_SensorRunFn run;
    SensorFields fields;
    mf_Rate rate;
    mf_SignalSet *contact_signals, *ray_signals; // NULL: true values are readings
    const char *reads[10], *writes[11];          // [1] names, NULL-terminated
} SensorSystem;

// Sizes of the arrays.
typedef struct PlanSize {
    uint32_t contacts, rows, rays, chain; // [1]
} PlanSize;

static void run_sensors(const mf_SystemRun *run, void *user) {
    const SensorSystem *system = user;
    system->run(&system->batch, run->first_block, run->block_count);
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
    const SensorSystem *system = user;
    mf_SensorBatch batch = system->batch;
    mf_SignalMoments contacts, rays;
    bool due = mf_rate_due(system->rate, run->time, run->step);
    bool touch = choose_signals(system->contact_signals, run->tick, due, &contacts, &batch.contact);
    bool see = choose_signals(system->ray_signals, run->tick, due, &rays, &batch.ray);
    batch.joint = due ? batch.joint : NULL;
    batch.attitude = due ? batch.attitude : NULL;
    if (batch.contact != NULL || batch.ray != NULL || due)
        system->run(&batch, run->first_block, run->block_count);
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
    const SensorSystem *system = user;
    (void)group;
    clear_field(system->fields.contact, instance);
    clear_field(system->fields.ray, instance);
    clear_field(system->fields.joint, instance);
    clear_field(system->fields.attitude, instance);
    start_signals(system->contact_signals, instance);
    start_signals(system->ray_signals, instance);
}

static void destroy_sensors(mf_Context *context, void *user) {
    SensorSystem *system = user;
    mf_signal_set_destroy(context, system->contact_signals);
    mf_signal_set_destroy(context, system->ray_signals);
    mf_release(context, system);
}

// ---- the plan ----------------------------------------------------------------------------------

static uint32_t depth_of(const mf_Model *model, uint32_t link) {
    uint32_t depth = 0;
    for (; link != 0; link = model->links[link].parent)
        depth++;
    return depth;
}

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

static PlanSize measure(mf_Group *group) {
    const mf_Model *model = mf_group_model(group);
    PlanSize size = {0};
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        if (sensor->type == MF_SENSOR_CONTACT) {
            size.contacts++;
            size.rows += find_rows(group, sensor->link, NULL);
        } else if (sensor->type == MF_SENSOR_RAY) {
            size.rays++;
            size.chain += depth_of(model, sensor->link);
        }
    }
    return size;
}

// The joints from the base to `link`, base first.
static uint32_t write_chain(const mf_Model *model, uint32_t link, mf_SensorJoint *chain) {
    uint32_t depth = depth_of(model, link);
    for (uint32_t i = depth; i-- > 0; link = model->links[link].parent) {
        uint32_t index = model->links[link].joint;
        const mf_Joint *joint = &model->joints[index];
        bool moves = joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE;
        chain[i].joint = moves ? index : MF_NONE;
        chain[i].slides = joint->type == MF_JOINT_SLIDE;
        mf_quat_to_matrix(chain[i].rotation, joint->rotation);
        mf_vec3_copy(chain[i].position, joint->position);
        mf_vec3_copy(chain[i].axis, joint->axis);
    }
    return depth;
}

static void write_plan(mf_Group *group, mf_SensorContact *contacts, mf_SensorRow *rows,
                       mf_SensorRay *rays, mf_SensorJoint *chain) {
    const mf_Model *model = mf_group_model(group);
    uint32_t contact = 0, row = 0, ray = 0, link = 0;
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        if (sensor->type == MF_SENSOR_CONTACT) {
            uint32_t found = find_rows(group, sensor->link, rows + row);
            contacts[contact++] = (mf_SensorContact){row, found};
            row += found;
        } else if (sensor->type == MF_SENSOR_RAY) {
            mf_SensorRay *out = &rays[ray++];
            mf_vec3_copy(out->start, sensor->start);
            mf_vec3_copy(out->direction, sensor->direction);
            out->range = sensor->range;
            out->first = link;
            out->count = write_chain(model, sensor->link, chain + link);
            link += out->count;
        }
    }
}

static SensorSystem *create_plan(mf_Context *context, mf_Group *group) {
    PlanSize size = measure(group);
    size_t bytes = sizeof(SensorSystem) + size.rays * sizeof(mf_SensorRay) +
                   size.chain * sizeof(mf_SensorJoint) + size.contacts * sizeof(mf_SensorContact) +
                   size.rows * sizeof(mf_SensorRow);
    SensorSystem *system = mf_allocate(context, 1, bytes);
    if (system == NULL)
        return NULL;
    // In order of decreasing alignment.
    mf_SensorRay *rays = (mf_SensorRay *)(system + 1);
    mf_SensorJoint *chain = (mf_SensorJoint *)(rays + size.rays);
    mf_SensorContact *contacts = (mf_SensorContact *)(chain + size.chain);
    mf_SensorRow *rows = (mf_SensorRow *)(contacts + size.contacts);
    write_plan(group, contacts, rows, rays, chain);
    system->batch.contact_count = size.contacts;
    system->batch.ray_count = size.rays;
    system->batch.joint_count = mf_group_model(group)->joint_count;
    system->batch.contacts = contacts;
    system->batch.rows = rows;
    system->batch.rays = rays;
    system->batch.chain = chain;
    return system;
}

// ---- the system --------------------------------------------------------------------------------

static mf_Status add_fields(mf_Group *group, const mf_SensorBatch *batch, SensorFields *fields,
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
    if (batch->contact_count > 0)
        status = mf_attach_field(group, &contact, batch->contact_count, &fields->contact, error);
    if (status == MF_OK && batch->ray_count > 0)
        status = mf_attach_field(group, &ray, batch->ray_count, &fields->ray, error);
    if (status == MF_OK)
        status = mf_attach_field(group, &joint, 0, &fields->joint, error);
    if (status == MF_OK)
        status = mf_attach_field(group, &attitude, 0, &fields->attitude, error);
    return status;
}

// Names of the fields that are read and written, for the schedule.
static void list_names(SensorSystem *system) {
    uint32_t reads = 0, writes = 0;
    system->reads[reads++] = "base.position";
    system->reads[reads++] = "base.orientation";
    system->reads[reads++] = "joint.angle";
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

static void bind_fields(mf_Group *group, SensorSystem *system) {
    mf_SensorBatch *batch = &system->batch;
    const SensorFields *fields = &system->fields;
    const mf_Field *load = mf_group_find_field(group, "contact.load");
    const mf_Field *point_load = mf_group_find_field(group, "point.load");
    const mf_Field *level = mf_group_find_field(group, "motion.level");
    batch->load = load != NULL ? load->data : NULL;
    batch->point_load = point_load != NULL ? point_load->data : NULL;
    batch->level = level != NULL ? level->data : NULL;
    batch->load_components = load != NULL ? load->components : 0;
    batch->point_components = point_load != NULL ? point_load->components : 0;
    batch->position = mf_group_find_field(group, "base.position")->data;
    batch->orientation = mf_group_find_field(group, "base.orientation")->data;
    batch->angle = mf_group_find_field(group, "joint.angle")->data;
    batch->fault = mf_group_find_field(group, "fault.word")->data;
    batch->contact = fields->contact == NULL ? NULL : fields->contact->data;
    batch->ray = fields->ray == NULL ? NULL : fields->ray->data;
    batch->joint = fields->joint->data;
    batch->attitude = fields->attitude->data;
    batch->terrain = mf_world_config_of(mf_group_world(group))->terrain;
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

static mf_Status add_all_signals(mf_Group *group, SensorSystem *system, mf_Error *error) {
    mf_Status status = add_signals(group, MF_SENSOR_CONTACT, system->fields.contact, system->rate,
                                   &system->contact_signals, error);
    if (status == MF_OK)
        status = add_signals(group, MF_SENSOR_RAY, system->fields.ray, system->rate,
                             &system->ray_signals, error);
    return status;
}

static mf_Status add_system(mf_Group *group, SensorSystem *system, mf_Error *error) {
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

mf_Status mf_sensors_add(mf_Group *group, mf_Rate rate, mf_Error *error) {
    static const mf_SensorRunFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_sensor_run);
    mf_Status status = mf_attach_check(group, system_name, rate, error);
    if (status != MF_OK)
        return status;
    mf_World *world = mf_group_world(group);
    mf_Context *context = mf_world_context(world);
    SensorSystem *system = create_plan(context, group);
    if (system == NULL)
        return mf_fail(error, MF_NO_MEMORY, "sensors: out of memory");
    system->rate = rate;
    status = add_fields(group, &system->batch, &system->fields, error);
    if (status == MF_OK)
        status = add_all_signals(group, system, error);
    if (status == MF_OK) {
        bind_fields(group, system);
        list_names(system);
        system->run = kernels[mf_kernel_row(mf_world_isa(world))]
                             [mf_group_config_of(group)->double_precision];
        status = add_system(group, system, error);
    }
    if (status != MF_OK)
        destroy_sensors(context, system);
    return status;
}
