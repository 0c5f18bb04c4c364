// Simulates a scene, or a robot's own file, for ten seconds and prints where its first group ends.
// usage: example_run_scene [FILE]; FILE is models/humanoid.urdf unless given
#include <mayfly/mayfly.h>

#include <stdio.h>

int main(int argc, char **argv) {
    mf_Scene *scene = NULL;
    mf_Error error = {0};
    char text[1024];
    const char *path = argc > 1 ? argv[1] : "models/humanoid.urdf";
    if (mf_scene_open(NULL, path, NULL, 0, &scene, &error) != MF_OK ||
        mf_scene_run(scene, 10.0, &error) != MF_OK) { // [s]
        fprintf(stderr, "%s\n", mf_error_format(&error, text, sizeof text));
        mf_scene_close(scene);
        return 1;
    }
    const mf_Field *position = mf_group_find_field(scene->group, "base.position");
    for (uint32_t robot = 0; robot < mf_group_count(scene->group); robot++)
        printf("%3u: %8.3f %8.3f %8.3f m\n", robot, mf_field_get(position, robot, 0),
               mf_field_get(position, robot, 1), mf_field_get(position, robot, 2));
    mf_scene_close(scene);
    return 0;
}
