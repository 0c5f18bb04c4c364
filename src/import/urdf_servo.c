// Motors of joints, an extension of URDF:
//
//   <mayfly><servo joint="NAME" gain damping effort speed no_load_speed rotor_inertia gear
//                  backlash/></mayfly>
//
// Without `joint` it applies to every hinge and slide. Later elements override earlier ones,
// attribute by attribute.
#include "import/urdf.h"
#include "model/fields.h"
#include "model/points.h"

#include <string.h>

// Unknown attributes are rejected rather than silently ignored.
static mf_Status check_names(mf_Urdf *urdf, const mf_XmlNode *node) {
    for (uint32_t a = 0; a < node->attribute_count; a++) {
        const mf_XmlAttribute *own = &node->attributes[a];
        bool known =
            strcmp(own->name, "joint") == 0 || mf_item_field(MF_ITEM_SERVO, own->name) != NULL;
        if (!known)
            return mf_xml_refuse(
                &urdf->xml, node,
                "<servo>: unknown attribute '%.60s'; there are joint, gain, damping, "
                "effort, speed, no_load_speed, rotor_inertia, gear and backlash",
                own->name);
    }
    return MF_OK;
}

static mf_Status change(mf_Urdf *urdf, const mf_XmlNode *node, mf_Joint *joint) {
    mf_Servo servo = joint->servo.gain > 0.0 ? joint->servo : mf_servo();
    const mf_ItemTable *table = mf_item_table(MF_ITEM_SERVO);
    for (uint32_t i = 0; i < table->count; i++) {
        const mf_ModelField *field = &table->fields[i];
        double *value = (double *)(void *)((char *)&servo + field->offset);
        MF_TRY(mf_xml_numbers(&urdf->xml, node, field->name, 1, value));
        // A motor needs a gain; other attributes with positive defaults must be positive.
        bool above = i == 0 || field->initial != NULL;
        if (above ? *value > 0.0 : *value >= 0.0)
            continue;
        if (i == 0 && mf_xml_attribute(node, "gain") == NULL)
            return mf_xml_refuse(&urdf->xml, node, "<servo> of joint '%.100s' needs a gain",
                                 joint->name);
        return mf_xml_refuse(&urdf->xml, node, "<servo>: %s must be %s 0, found %g", field->name,
                             above ? ">" : ">=", *value);
    }
    joint->servo = servo;
    return MF_OK;
}

static mf_Status read_servo(mf_Urdf *urdf, const mf_XmlNode *node) {
    const char *name = mf_xml_attribute(node, "joint");
    mf_UrdfJoint *joints = mf_urdf_joints(urdf);
    MF_TRY(check_names(urdf, node));
    for (uint32_t i = 0; name == NULL && i < urdf->joints.count; i++) {
        if (mf_joint_has_motor(&joints[i].joint))
            MF_TRY(change(urdf, node, &joints[i].joint));
    }
    if (name == NULL)
        return MF_OK;
    uint32_t index = mf_names_find(&urdf->joint_names, name);
    if (index == UINT32_MAX)
        return mf_xml_refuse(&urdf->xml, node, "<servo>: there is no joint '%.100s'", name);
    if (!mf_joint_has_motor(&joints[index].joint))
        return mf_xml_refuse(&urdf->xml, node,
                             "<servo>: joint '%.100s' has no motor: it is fixed or follows another",
                             name);
    return change(urdf, node, &joints[index].joint);
}

mf_Status mf_urdf_read_servos(mf_Urdf *urdf) {
    MF_XML_EACH (node, urdf->xml.root, "mayfly")
        MF_XML_EACH (servo, node, "servo")
            MF_TRY(read_servo(urdf, servo));
    return MF_OK;
}
