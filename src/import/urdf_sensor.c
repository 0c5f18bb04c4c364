// Sensors of a URDF file, in Gazebo's form:
//
//   <gazebo reference="LINK"><sensor name="N" type="contact"/></gazebo>
//   <gazebo reference="LINK"><sensor name="N" type="ray"><pose>x y z roll pitch yaw</pose>
//       <ray><range><max>1.5</max></range></ray></sensor></gazebo>
//
// The reference may also be a joint, which stands for the link that it moves. A ray points along x
// of its pose. A file without contact sensors gets one on every leaf link that can touch the
// ground.
#include "import/urdf.h"

#include "math/scalar.h"

#include <string.h>

mf_Status mf_urdf_add_sensor(mf_Urdf *urdf, const mf_XmlNode *node, const char *name,
                             mf_SensorType type, mf_Sensor **out) {
    if (mf_names_find(&urdf->sensor_names, name) != UINT32_MAX)
        return mf_xml_refuse(&urdf->xml, node, "two sensors are named '%.100s'", name);
    *out = mf_draft_add_sensor(&urdf->draft, name, type);
    if (*out == NULL ||
        !mf_names_add(&urdf->sensor_names, (*out)->name, urdf->draft.sensors.count - 1))
        return mf_urdf_no_memory(urdf);
    return MF_OK;
}

static mf_Status read_ray(mf_Urdf *urdf, const mf_XmlNode *node, const mf_UrdfLink *link,
                          mf_Sensor *sensor) {
    static const char *const known[] = {"pose", "ray", NULL};
    const mf_XmlNode *pose = mf_xml_child(node, "pose");
    const mf_XmlNode *max = mf_xml_child(mf_xml_child(mf_xml_child(node, "ray"), "range"), "max");
    double values[6] = {0};
    if (max == NULL)
        return mf_xml_refuse(&urdf->xml, node, "sensor '%.100s' needs <ray><range><max>",
                             sensor->name);
    MF_TRY(mf_xml_text_numbers(&urdf->xml, max, 1, &sensor->range));
    if (!(sensor->range > 0.0))
        return mf_xml_refuse(&urdf->xml, max, "sensor '%.100s': the range must be > 0, found %g",
                             sensor->name, sensor->range);
    if (pose != NULL)
        MF_TRY(mf_xml_text_numbers(&urdf->xml, pose, 6, values));
    const double forward[3] = {1.0, 0.0, 0.0};
    double rotation[4];
    mf_quat_from_rpy(rotation, values + 3);
    mf_quat_rotate(sensor->direction, rotation, forward);
    mf_quat_rotate(sensor->direction, link->rotation, sensor->direction);
    mf_vec3_normalize(sensor->direction);
    mf_quat_rotate(sensor->start, link->rotation, values);
    mf_vec3_add(sensor->start, sensor->start, link->position);
    return mf_urdf_ignore_others(urdf, node, known);
}

static mf_Status read_sensor(mf_Urdf *urdf, const mf_XmlNode *node, const mf_UrdfLink *link) {
    const char *name, *type;
    mf_Sensor *sensor = NULL;
    MF_TRY(mf_xml_name(&urdf->xml, node, "name", &name));
    MF_TRY(mf_xml_name(&urdf->xml, node, "type", &type));
    bool contact = strcmp(type, "contact") == 0, ray = strcmp(type, "ray") == 0;
    if (!contact && !ray)
        return mf_draft_note(&urdf->draft, false, node->line,
                             "sensor '%.100s' of type '%.60s' ignored", name, type);
    MF_TRY(
        mf_urdf_add_sensor(urdf, node, name, contact ? MF_SENSOR_CONTACT : MF_SENSOR_RAY, &sensor));
    sensor->link = link->draft;
    return ray ? read_ray(urdf, node, link, sensor) : MF_OK;
}

static mf_Status read_gazebo(mf_Urdf *urdf, const mf_XmlNode *node) {
    static const char *const known[] = {"sensor", "mu1", "mu2", NULL};
    const char *reference = mf_xml_attribute(node, "reference");
    uint32_t link = mf_urdf_reference(urdf, node);
    MF_TRY(mf_urdf_ignore_others(urdf, node, known));
    MF_XML_EACH (sensor, node, "sensor") {
        if (link != MF_NONE)
            MF_TRY(read_sensor(urdf, sensor, &mf_urdf_links(urdf)[link]));
        else
            MF_TRY(mf_draft_note(&urdf->draft, true, node->line,
                                 "<gazebo> with a sensor dropped: there is no link or joint "
                                 "'%.100s'",
                                 reference ? reference : ""));
    }
    return MF_OK;
}

// A contact sensor, named like its link, on every leaf that can touch the ground.
static mf_Status sense_leaves(mf_Urdf *urdf) {
    mf_Draft *draft = &urdf->draft;
    bool *inner = mf_allocate(urdf->context, draft->links.count, sizeof *inner);
    bool *touches = mf_allocate(urdf->context, draft->links.count, sizeof *touches);
    mf_Status status = inner && touches ? MF_OK : mf_urdf_no_memory(urdf);
    for (uint32_t i = 0; status == MF_OK && i < draft->joints.count; i++)
        inner[mf_draft_joints(draft)[i].parent] = true;
    for (uint32_t i = 0; status == MF_OK && i < draft->points.count; i++) {
        const mf_Point *point = &mf_draft_points(draft)[i];
        touches[point->link] |= (point->flags & MF_POINT_COLLIDES) != 0;
    }
    uint32_t added = 0;
    for (uint32_t i = 0; status == MF_OK && i < draft->links.count; i++) {
        const char *name = mf_draft_links(draft)[i].name;
        mf_Sensor *sensor = NULL;
        if (inner[i] || !touches[i] || mf_names_find(&urdf->sensor_names, name) != UINT32_MAX)
            continue;
        status = mf_urdf_add_sensor(urdf, urdf->xml.root, name, MF_SENSOR_CONTACT, &sensor);
        if (status == MF_OK)
            sensor->link = i;
        added++;
    }
    mf_release(urdf->context, inner);
    mf_release(urdf->context, touches);
    if (status == MF_OK && added > 0)
        status = mf_draft_note(draft, false, 0,
                               "no contact sensor in the file: %u leaf link%s got one each", added,
                               added == 1 ? "" : "s");
    return status;
}

static mf_Status note_contacts(mf_Urdf *urdf) {
    if (urdf->draft.base_type == MF_BASE_FIXED) // it does not fall
        return MF_OK;
    for (uint32_t i = 0; i < urdf->draft.points.count; i++) {
        if (mf_draft_points(&urdf->draft)[i].flags & MF_POINT_COLLIDES)
            return MF_OK;
    }
    return mf_draft_note(&urdf->draft, true, 0,
                         "nothing collides: the robot will fall through the ground");
}

mf_Status mf_urdf_read_sensors(mf_Urdf *urdf) {
    bool has_contact = false;
    MF_XML_EACH (node, urdf->xml.root, "gazebo")
        MF_TRY(read_gazebo(urdf, node));
    for (uint32_t i = 0; i < urdf->draft.sensors.count; i++)
        has_contact |= mf_draft_sensors(&urdf->draft)[i].type == MF_SENSOR_CONTACT;
    if (!has_contact)
        MF_TRY(sense_leaves(urdf));
    return note_contacts(urdf);
}
