// Rays of range sensors in films: from the sensor to where its reading says that something is, or
// to the end of its reach. They are readings, so noise and delay show.
#include "view/film.h"

#include "math/scalar.h"

#include <math.h>

enum { MOST = 256 }; // [1] rays of a film, the first ones

// The ray of a sensor in the frame of its link; false: it has none.
static bool ray_of(const mf_Sensor *sensor, mf_FilmRay *out) {
    const double ahead[3] = {0.0, 0.0, 1.0};
    *out = (mf_FilmRay){.link = sensor->link, .range = sensor->range, .reading = sensor->address};
    if (sensor->type == MF_SENSOR_RAY) {
        mf_vec3_copy(out->start, sensor->start);
        mf_vec3_copy(out->direction, sensor->direction);
        return true;
    }
    out->link = sensor->frame.link;
    out->range = INFINITY;
    mf_vec3_copy(out->start, sensor->frame.position);
    mf_quat_rotate(out->direction, sensor->frame.rotation, ahead);
    return sensor->type == MF_SENSOR_RANGEFINDER && out->link != MF_NONE;
}

// Lists the rays of the robots that are shown; only counts them into nothing.
static uint32_t list(const mf_Film *film, mf_FilmRay *rays) {
    uint32_t count = 0, pose = 0;
    for (uint32_t i = 0; i < film->cast_count; i++) {
        const mf_FilmCast *cast = &film->casts[i];
        const mf_Model *model = mf_group_model(cast->group);
        const bool measured = mf_group_find_field(cast->group, "sensor.value") != NULL;
        for (uint32_t r = 0; r < cast->robots; r++, pose += cast->links)
            for (uint32_t s = 0; s < model->sensor_count && measured && count < MOST; s++) {
                mf_FilmRay ray;
                if (!ray_of(&model->sensors[s], &ray))
                    continue;
                ray.value = mf_group_find_field(cast->group, "sensor.value");
                ray.instance = r;
                ray.pose = pose + ray.link;
                if (rays != NULL)
                    rays[count] = ray;
                count++;
            }
    }
    return count;
}

bool mf_film_take_rays(mf_Film *film) {
    film->ray_count = list(film, NULL);
    film->rays = mf_allocate(film->context, (size_t)film->ray_count + 1, sizeof *film->rays);
    if (film->rays != NULL)
        list(film, film->rays);
    return film->rays != NULL;
}

void mf_film_sample_rays(mf_Film *film) {
    float *row = film->ray_rows + (size_t)film->filled * film->ray_count * MF_FILM_RAY;
    const float *poses = film->poses + (size_t)film->filled * film->poses_each * MF_FILM_POSE;
    for (uint32_t i = 0; i < film->ray_count; i++, row += MF_FILM_RAY) {
        const mf_FilmRay *ray = &film->rays[i];
        const float *pose = poses + (size_t)ray->pose * MF_FILM_POSE;
        const double rotation[4] = {pose[3], pose[4], pose[5], pose[6]};
        const double reading = mf_field_get(ray->value, ray->instance, ray->reading);
        double from[3], direction[3];
        mf_quat_rotate(from, rotation, ray->start);
        mf_quat_rotate(direction, rotation, ray->direction);
        // A range finder reads -1 where nothing is.
        const double length = mf_clamp(reading, 0.0, ray->range);
        for (int c = 0; c < 3; c++) {
            row[c] = pose[c] + (float)from[c];
            row[3 + c] = row[c] + (float)(length * direction[c]);
        }
        row[6] = reading >= 0.0 && reading < ray->range ? 1.0f : 0.0f;
    }
}
