// Sensors. One table defines what each type measures and where; their values are contiguous in the
// file's order.
#include "import/mjcf_rows.h"

#include "math/scalar.h"
#include "model/sensor_kind.h"

#include <string.h>

typedef struct SensorAttributes {
    const char *name, *site, *joint, *tendon, *actuator, *body, *object_type, *object,
        *reference_type, *reference;
    double noise, cutoff, delay, interval[2];
    const char *interpolation;
    int32_t count, samples;
} SensorAttributes;

#define T SensorAttributes
#define COMMON                                                                                     \
    TEXT("name", name), NUMBER("noise", noise), NUMBER("cutoff", cutoff), PASSED("user"),          \
        TEXT("interp", interpolation), INTEGER("nsample", samples), NUMBER("delay", delay), {      \
        "interval", MF_MJCF_NUMBERS, 1, 2, offsetof(SensorAttributes, interval), NULL              \
    }

static const mf_MjcfField fields[] = {COMMON,
                                      TEXT("site", site),
                                      TEXT("joint", joint),
                                      TEXT("tendon", tendon),
                                      TEXT("actuator", actuator),
                                      TEXT("body", body),
                                      TEXT("objtype", object_type),
                                      TEXT("objname", object),
                                      TEXT("reftype", reference_type),
                                      TEXT("refname", reference),
                                      INTEGER("dim", count),
                                      PASSED("needstage datatype"),
                                      REFUSED("camera data"),
                                      END};

static const mf_MjcfField contact_fields[] = {
    COMMON, ELSEWHERE("geom1 geom2 body1 body2 subtree1 subtree2 site data reduce num"), END};

static mf_Status find_named(mf_Mjcf *m, const mf_XmlNode *node, const char *kind, const char *name,
                            const mf_Names *names, uint32_t *out) {
    if (name == NULL)
        return mf_mjcf_fail(m, node, "<%.80s> needs the attribute '%s'", node->name, kind);
    return mf_mjcf_find(m, node, kind, name, names, kind, out);
}

// ---- frames ------------------------------------------------------------------------------------

static mf_Frame frame_of_body(const mf_Mjcf *m, uint32_t index, bool inertial) {
    const double zero[3] = {0.0, 0.0, 0.0}, identity[4] = {1.0, 0.0, 0.0, 0.0};
    const mf_MjcfBody *body = &mf_mjcf_bodies(m)[index];
    return inertial && index > 0 ? mf_mjcf_frame(m, index, body->center, body->axes)
                                 : mf_mjcf_frame(m, index, zero, identity);
}

// MuJoCo's geom frame of a mesh is at the mesh's center of mass, along its principal axes.
static mf_Status frame_of_geom(mf_Mjcf *m, uint32_t index, mf_Frame *frame) {
    const mf_MjcfGeom *geom = &mf_mjcf_geoms(m)[index];
    double position[3], rotation[4];
    mf_vec3_copy(position, geom->position);
    memcpy(rotation, geom->rotation, sizeof rotation);
    if (geom->type == MF_SHAPE_MESH && geom->asset != MF_NONE) {
        mf_MjcfMesh *mesh = &mf_mjcf_meshes(m)[geom->asset];
        MF_TRY(mf_mjcf_weigh_mesh(m, mesh));
        mf_mjcf_compose(position, rotation, position, rotation, mesh->center, mesh->axes);
    }
    *frame = mf_mjcf_frame(m, geom->body, position, rotation);
    return MF_OK;
}

static mf_Status find_frame(mf_Mjcf *m, const mf_XmlNode *node, const char *type, const char *name,
                            const char *attribute, mf_Frame *frame, mf_Object *object,
                            uint32_t *object_index, bool *found) {
    static const char *const types[] = {"body", "xbody", "geom", "site", "camera", NULL};
    const mf_Names *names[] = {&m->body_names, &m->body_names, &m->geom_names, &m->site_names,
                               &m->camera_names};
    uint32_t kind = 0, index;
    *found = false;
    if (type == NULL || name == NULL)
        return mf_mjcf_fail(m, node, "<%.80s> needs the attributes '%stype' and '%sname'",
                            node->name, attribute, attribute);
    while (types[kind] && strcmp(types[kind], type) != 0)
        kind++;
    if (types[kind] == NULL)
        return mf_mjcf_fail(
            m, node, "<%.80s> %stype: expected body, xbody, geom, site or camera, found \"%.60s\"",
            node->name, attribute, type);
    MF_TRY(mf_mjcf_find(m, node, attribute, name, names[kind], type, &index));
    if (index == MF_NONE)
        return MF_OK;
    *found = true;
    *object = (mf_Object)kind;
    *object_index = kind < 2    ? mf_mjcf_draft_body(index)
                    : kind == 2 ? mf_mjcf_geoms(m)[index].shape
                                : mf_mjcf_sites(m)[index].draft;
    if (kind < 2) {
        *frame = frame_of_body(m, index, kind == 0);
    } else if (kind == 2) {
        MF_TRY(frame_of_geom(m, index, frame));
    } else {
        const mf_MjcfSite *site = &mf_mjcf_sites(m)[index];
        *frame = mf_mjcf_frame(m, site->body, site->position, site->rotation);
    }
    return MF_OK;
}

// ---- one sensor --------------------------------------------------------------------------------

static mf_Status on_site(mf_Mjcf *m, const mf_XmlNode *node, const char *name, mf_Sensor *sensor,
                         bool *found) {
    uint32_t index = MF_NONE;
    if (name != NULL || mf_xml_attribute(node, "camera") == NULL) // that one is dropped
        MF_TRY(find_named(m, node, "site", name, &m->site_names, &index));
    *found = index != MF_NONE;
    if (!*found)
        return MF_OK;
    const mf_MjcfSite *site = &mf_mjcf_sites(m)[index];
    sensor->site = site->draft;
    sensor->body = mf_mjcf_draft_body(site->body);
    sensor->frame = mf_mjcf_frame(m, site->body, site->position, site->rotation);
    return MF_OK;
}

static mf_Status on_joint(mf_Mjcf *m, const mf_XmlNode *node, const char *name,
                          mf_SensorMount target, mf_Sensor *sensor, bool *found) {
    uint32_t index;
    MF_TRY(find_named(m, node, "joint", name, &m->joint_names, &index));
    *found = index != MF_NONE;
    if (!*found)
        return MF_OK;
    const mf_MjcfJoint *joint = &mf_mjcf_joints(m)[index];
    bool ball = joint->type == MF_MJCF_BALL, single = joint->type >= MF_MJCF_SLIDE;
    if (target == MF_AT_BALL ? !ball : target == MF_AT_JOINT ? !single : !single && !ball)
        return mf_mjcf_fail(m, node, "<%.80s> joint: '%.100s' is not of the right type", node->name,
                            name);
    sensor->joint = joint->draft;
    if (target == MF_AT_LIMITED_JOINT &&
        !mf_is_finite(mf_draft_joints(&m->draft)[joint->draft].upper))
        return mf_mjcf_fail(m, node, "<%.80s> joint: '%.100s' has no limits", node->name, name);
    return MF_OK;
}

static mf_Status on_frame(mf_Mjcf *m, const mf_XmlNode *node, const SensorAttributes *attributes,
                          mf_Sensor *sensor, bool *found) {
    MF_TRY(find_frame(m, node, attributes->object_type, attributes->object, "obj", &sensor->frame,
                      &sensor->object, &sensor->object_index, found));
    if (!*found || (attributes->reference == NULL && attributes->reference_type == NULL))
        return MF_OK;
    sensor->has_reference = true;
    return find_frame(m, node, attributes->reference_type, attributes->reference, "ref",
                      &sensor->reference, &sensor->reference_object, &sensor->reference_index,
                      found);
}

static mf_Status find_target(mf_Mjcf *m, const mf_XmlNode *node, mf_SensorMount target,
                             const SensorAttributes *attributes, mf_Sensor *sensor, bool *found) {
    uint32_t index = MF_NONE;
    mf_Status status = MF_OK;
    switch (target) {
    case MF_AT_SITE:
        return on_site(m, node, attributes->site, sensor, found);
    case MF_AT_JOINT:
    case MF_AT_LIMITED_JOINT:
    case MF_AT_BALL:
        return on_joint(m, node, attributes->joint, target, sensor, found);
    case MF_AT_TENDON:
        status = find_named(m, node, "tendon", attributes->tendon, &m->tendon_names, &index);
        sensor->tendon = index;
        break;
    case MF_AT_ACTUATOR:
        status = find_named(m, node, "actuator", attributes->actuator, &m->actuator_names, &index);
        sensor->actuator = index;
        break;
    case MF_AT_FRAME:
        return on_frame(m, node, attributes, sensor, found);
    case MF_AT_BODY:
        status = find_named(m, node, "body", attributes->body, &m->body_names, &index);
        sensor->body = mf_mjcf_draft_body(index);
        break;
    case MF_AT_CONTACTS:
        return mf_mjcf_read_query(m, node, &sensor->query, &sensor->count, found);
    case MF_AT_LINK:
    case MF_AT_OWN_JOINT:
    case MF_AT_FIELD:
    case MF_AT_NOTHING:
        index = 0;
        break;
    }
    *found = status == MF_OK && index != MF_NONE;
    return status;
}

// Noise, limits, rate and delay. MuJoCo's history buffer may be longer than the delay needs,
// without effect.
static mf_Status read_signal(mf_Mjcf *m, const mf_XmlNode *node, const SensorAttributes *attributes,
                             mf_Signal *out) {
    const char *direction = attributes->interpolation;
    double period = attributes->interval[0];
    if (!(attributes->noise >= 0.0) || !(attributes->cutoff >= 0.0))
        return mf_mjcf_fail(m, node, "<%.80s>: noise and cutoff must be >= 0, found %g and %g",
                            node->name, attributes->noise, attributes->cutoff);
    if (!(attributes->delay >= 0.0 && attributes->delay <= 1000.0))
        return mf_mjcf_fail(m, node, "<%.80s> delay: expected 0 to 1000 s, found %g", node->name,
                            attributes->delay);
    if (period != 0.0 && !(period >= 1e-9 && period <= 1000.0))
        return mf_mjcf_fail(m, node, "<%.80s> interval: expected 1e-9 to 1000 s, found %g",
                            node->name, period);
    if (attributes->delay > 0.0 && attributes->samples < 1)
        return mf_mjcf_fail(m, node, "<%.80s> delay: needs nsample > 0", node->name);
    if (attributes->interval[1] != 0.0)
        return mf_mjcf_refuse(m, node, "interval");
    if (attributes->delay > 0.0 && direction != NULL && strcmp(direction, "zoh") != 0)
        return mf_mjcf_refuse(m, node, "interp");
    out->noise = attributes->noise;
    out->range[0] = -attributes->cutoff;
    out->range[1] = attributes->cutoff;
    out->delay = mf_time_from_seconds(attributes->delay);
    if (period > 0.0 && attributes->samples > 0) // without a history MuJoCo measures each step
        out->rate = mf_rate_from_period(mf_time_from_seconds(period));
    return MF_OK;
}

static mf_Status read_sensor(mf_Mjcf *m, const mf_XmlNode *node) {
    SensorAttributes attributes = {0};
    mf_SensorType type = 0;
    bool found = false;
    const mf_SensorKind *kind = mf_sensor_kind(type);
    while (kind != NULL && (kind->mjcf == NULL || strcmp(kind->mjcf, node->name) != 0))
        kind = mf_sensor_kind(++type);
    if (kind == NULL)
        return mf_mjcf_refuse(m, node, NULL);
    const bool contacts = kind->mount == MF_AT_CONTACTS;
    mf_Status status = mf_mjcf_read(m, node, contacts ? contact_fields : fields, &attributes);
    if (status != MF_OK)
        return status;
    mf_Signal signal = {0};
    MF_TRY(read_signal(m, node, &attributes, &signal));
    bool user = type == MF_SENSOR_USER;
    if (user && (attributes.count < 1 || attributes.count > 1000000))
        return mf_mjcf_fail(m, node, "<user> dim: expected 1 to 1000000, found %d",
                            attributes.count);
    mf_Sensor *sensor =
        mf_draft_add_sensor(&m->draft, attributes.name ? attributes.name : "", type);
    if (sensor == NULL)
        return mf_mjcf_no_memory(m);
    sensor->signal = signal;
    sensor->count = user ? (uint32_t)attributes.count : kind->count;
    status = find_target(m, node, kind->mount, &attributes, sensor, &found);
    if (status != MF_OK || !found) {
        m->draft.sensors.count--;
        return status;
    }
    return mf_mjcf_name(m, node, &m->sensor_names, attributes.name, m->draft.sensors.count - 1);
}

mf_Status mf_mjcf_read_sensors(mf_Mjcf *m) {
    return mf_mjcf_read_section(m, "sensor", read_sensor);
}
