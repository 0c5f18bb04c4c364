// Docks of a URDF file:
//
//   <mayfly><dock name="front" link="nose" xyz="0.1 0 0" rpy="0 0 0" gender="male"
//   orientations="4"/></mayfly>
//
// Only name and link are required; the x axis of the dock points outwards.
#include "import/item.h"
#include "import/urdf.h"

mf_Status mf_urdf_read_dock(mf_Urdf *urdf, const mf_XmlNode *node) {
    static const char *const place[] = {"link", "xyz", "rpy", NULL};
    mf_Dock dock;
    MF_TRY(mf_import_dock(&urdf->xml, node, place, &dock));
    MF_TRY(mf_urdf_read_frame(urdf, node, &dock.frame));
    return mf_import_add_dock(&urdf->xml, node, &urdf->draft, &dock);
}
