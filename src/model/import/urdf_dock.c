// Docks of a URDF file:
//
//   <mayfly><dock name="front" link="nose" xyz="0.1 0 0" rpy="0 0 0" gender="male"
//   turns="4"/></mayfly>
//
// Only name and link are required; the x axis of the dock points outwards.
#include "model/import/dock.h"
#include "model/import/urdf.h"

#include "math/scalar.h"

mf_Status mf_urdf_read_dock(mf_Urdf *urdf, const mf_XmlNode *node) {
    static const char *const place[] = {"link", "xyz", "rpy", NULL};
    double xyz[3] = {0.0, 0.0, 0.0}, rpy[3] = {0.0, 0.0, 0.0}, rotation[4];
    const char *name;
    mf_Dock dock;
    mf_Status status = mf_import_dock(&urdf->xml, node, place, &dock, urdf->error);
    if (status == MF_OK)
        status = mf_xml_name(&urdf->xml, node, "link", &name, urdf->error);
    if (status == MF_OK)
        status = mf_xml_numbers(&urdf->xml, node, "xyz", 3, xyz, urdf->error);
    if (status == MF_OK)
        status = mf_xml_numbers(&urdf->xml, node, "rpy", 3, rpy, urdf->error);
    if (status != MF_OK)
        return status;
    const uint32_t index = mf_names_find(&urdf->link_names, name);
    if (index == UINT32_MAX)
        return mf_xml_fail(&urdf->xml, node, urdf->error, MF_BAD_FILE,
                           "<dock>: there is no link '%.100s'", name);
    const mf_UrdfLink *link = &mf_urdf_links(urdf)[index];
    mf_quat_from_rpy(rotation, rpy);
    dock.frame.link = link->draft;
    mf_quat_rotate(dock.frame.position, link->rotation, xyz);
    mf_vec3_add(dock.frame.position, dock.frame.position, link->position);
    mf_quat_multiply(dock.frame.rotation, link->rotation, rotation);
    return mf_import_add_dock(&urdf->xml, node, &urdf->draft, &dock, urdf->error);
}
