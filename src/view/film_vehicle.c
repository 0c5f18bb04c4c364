// The appearance of vehicles in films (camera/vehicle_look.h).
#include "view/film.h"

#include "camera/vehicle_look.h"
#include "model/shape_kinds.h"

bool mf_film_put_vehicle(mf_Text *text, const mf_Group *group) {
    mf_Shape parts[MF_VEHICLE_PARTS];
    const uint32_t count = mf_vehicle_look(group, parts);
    for (uint32_t i = 0; i < count; i++) {
        const double color[3] = {parts[i].color[0], parts[i].color[1], parts[i].color[2]};
        mf_text_format(text, "%s\n{\"type\":\"%s\",\"link\":0", i == 0 ? "" : ",",
                       mf_shape_kinds[parts[i].type].name);
        mf_film_put_numbers(text, "place", parts[i].position, 3);
        mf_film_put_numbers(text, "turn", parts[i].rotation, 4);
        mf_film_put_numbers(text, "size", parts[i].size, 3);
        mf_film_put_numbers(text, "color", color, 3);
        mf_text_put(text, "}");
    }
    return count > 0;
}
