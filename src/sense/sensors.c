// Adding a model's sensors to a group: fields, and the plan that the kernel follows.
//
// Invariant: sensor fields are state, because between two ticks of a slow sensor they hold what
// cannot be computed again; a snapshot taken there must carry them.
#include "sense/sensors.h"

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
    const char *reads[7], *writes[6]; // [1] names, NULL-terminated
} SensorSystem;

// How many entries the arrays need.
typedef struct PlanSize {
    uint32_t contacts, rows, rays, chain; // [1]
} PlanSize;

static void run_sensors(const mf_SystemRun *run, void *user) {
    const SensorSystem *system = user;
    system->run(&system->batch, run->first_block, run->block_count);
}

static void clear_field(mf_Field *field, uint32_t instance) {
    if (field == NULL)
        return;
    for (uint32_t i = 0; i < field->components; i++)
        mf_field_set(field, instance, i, 0.0);
}

static void reset_sensors(mf_Group *group, uint32_t instance, void *user) {
    const SensorSystem *system = user;
    (void)group;
    clear_field(system->fields.contact, instance);
    clear_field(system->fields.ray, instance);
    clear_field(system->fields.joint, instance);
    clear_field(system->fields.attitude, instance);
}

// ---- the plan ----------------------------------------------------------------------------------

static uint32_t depth_of(const mf_Model *model, uint32_t link) {
    uint32_t depth = 0;
    for (; link != 0; link = model->links[link].parent)
        depth++;
    return depth;
}

// Components of point.load that belong to `link`; written to `rows` unless it is NULL.
static uint32_t find_rows(const mf_Model *model, uint32_t link, uint32_t *rows) {
    uint32_t found = 0, row = 0;
    for (uint32_t i = 0; i < model->point_count; i++) {
        if (!(model->points[i].flags & MF_POINT_COLLIDES))
            continue;
        if (model->points[i].link == link) {
            if (rows != NULL)
                rows[found] = row;
            found++;
        }
        row++;
    }
    return found;
}

static PlanSize measure(const mf_Model *model) {
    PlanSize size = {0};
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        if (sensor->type == MF_SENSOR_CONTACT) {
            size.contacts++;
            size.rows += find_rows(model, sensor->link, NULL);
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

static void write_plan(const mf_Model *model, mf_SensorContact *contacts, uint32_t *rows,
                       mf_SensorRay *rays, mf_SensorJoint *chain) {
    uint32_t contact = 0, row = 0, ray = 0, link = 0;
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        if (sensor->type == MF_SENSOR_CONTACT) {
            uint32_t found = find_rows(model, sensor->link, rows + row);
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

static SensorSystem *create_plan(mf_Context *context, const mf_Model *model) {
    PlanSize size = measure(model);
    size_t bytes = sizeof(SensorSystem) + size.rays * sizeof(mf_SensorRay) +
                   size.chain * sizeof(mf_SensorJoint) + size.contacts * sizeof(mf_SensorContact) +
                   size.rows * sizeof(uint32_t);
    SensorSystem *system = mf_allocate(context, 1, bytes);
    if (system == NULL)
        return NULL;
    // From the strictest alignment to the weakest.
    mf_SensorRay *rays = (mf_SensorRay *)(system + 1);
    mf_SensorJoint *chain = (mf_SensorJoint *)(rays + size.rays);
    mf_SensorContact *contacts = (mf_SensorContact *)(chain + size.chain);
    uint32_t *rows = (uint32_t *)(contacts + size.contacts);
    write_plan(model, contacts, rows, rays, chain);
    system->batch.contact_count = size.contacts;
    system->batch.ray_count = size.rays;
    system->batch.joint_count = model->joint_count;
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
        MF_PER_SENSOR,    1,   FLAGS, "1 while a point of the sensor's link bears load, else 0"};
    static const mf_FieldInfo ray = {
        "sensor.ray",  "m", "",    MF_REAL,
        MF_PER_SENSOR, 1,   FLAGS, "distance along the ray to the ground, at most its range"};
    static const mf_FieldInfo joint = {
        "sensor.joint", "rad", "joint", MF_REAL,
        MF_PER_JOINT,   1,     FLAGS,   "joint positions; metres for slides"};
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

// Names of what is really read and written, for people who look at the schedule.
static void list_names(SensorSystem *system) {
    uint32_t reads = 0, writes = 0;
    system->reads[reads++] = "base.position";
    system->reads[reads++] = "base.orientation";
    system->reads[reads++] = "joint.angle";
    system->reads[reads++] = "fault.word";
    if (system->batch.load != NULL)
        system->reads[reads++] = "point.load";
    if (system->fields.contact != NULL)
        system->writes[writes++] = "sensor.contact";
    if (system->fields.ray != NULL)
        system->writes[writes++] = "sensor.ray";
    system->writes[writes++] = "sensor.joint";
    system->writes[writes++] = "sensor.attitude";
}

static void bind_fields(mf_Group *group, SensorSystem *system) {
    mf_SensorBatch *batch = &system->batch;
    const SensorFields *fields = &system->fields;
    const mf_Field *load = mf_group_find_field(group, "point.load");
    if (load != NULL) {
        batch->load = load->data;
        batch->load_components = load->components;
    }
    batch->position = mf_group_find_field(group, "base.position")->data;
    batch->orientation = mf_group_find_field(group, "base.orientation")->data;
    batch->angle = mf_group_find_field(group, "joint.angle")->data;
    batch->fault = mf_group_find_field(group, "fault.word")->data;
    batch->contact = fields->contact == NULL ? NULL : fields->contact->data;
    batch->ray = fields->ray == NULL ? NULL : fields->ray->data;
    batch->joint = fields->joint->data;
    batch->attitude = fields->attitude->data;
    batch->terrain = mf_world_settings(mf_group_world(group))->terrain;
}

mf_Status mf_sensors_add(mf_Group *group, mf_Rate rate, mf_Error *error) {
    static const mf_SensorRunFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_sensor_run);
    mf_Status status = mf_attach_check(group, system_name, rate, error);
    if (status != MF_OK)
        return status;
    mf_World *world = mf_group_world(group);
    mf_Context *context = mf_world_context(world);
    SensorSystem *system = create_plan(context, mf_group_model(group));
    if (system == NULL)
        return mf_fail(error, MF_NO_MEMORY, "sensors: out of memory");
    status = add_fields(group, &system->batch, &system->fields, error);
    if (status == MF_OK) {
        bind_fields(group, system);
        list_names(system);
        system->run =
            kernels[mf_kernel_row(mf_world_isa(world))][mf_group_settings(group)->double_precision];
        mf_SystemConfig entry = mf_system_config();
        entry.name = system_name;
        entry.phase = MF_PHASE_SENSE;
        entry.rate = rate;
        entry.run = run_sensors;
        entry.reset = reset_sensors;
        entry.destroy = mf_attach_release;
        entry.user = system;
        entry.reads = system->reads;
        entry.writes = system->writes;
        status = mf_group_add_system(group, &entry, error);
    }
    if (status != MF_OK)
        mf_release(context, system);
    return status;
}
