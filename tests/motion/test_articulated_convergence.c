#include "motion/articulated_text.h"
int main(int argc, char **argv) {
    char text[8192]; int count = atoi(argv[1]); int hard = atoi(argv[2]), twice = atoi(argv[3]); int steps=atoi(argv[4]);
    int at = snprintf(text, sizeof text, "<mujoco><worldbody><geom type='plane' size='1 1 1'/>");
    for (int i = 0; i < count; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "<body pos='0 0 %g'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='%g'/></body>",
                       0.1 + 0.2 * i, i == 1 && count == 2 ? 1000. : 1.);
    snprintf(text + at, sizeof text - (size_t)at, "</worldbody></mujoco>");
    Text t;
    TextConfig config = text_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND);
    config.motion.shapes = true;
    config.group.double_precision = twice;
    config.motion.solver_rounds = argc > 5 ? (uint32_t)atoi(argv[5]) : 100;
    config.motion.contact_law = hard ? MF_CONTACT_LAW_HARD : MF_CONTACT_LAW_COMPLIANT;
    text_open(&t, text, &config);
    for (int i = 0; i < steps; i++) {
        mf_world_step(t.world, 1);
        if (i < 10 || i % (steps/20) == 0) {
        double load = 0.0;
        const mf_Field *loads = mf_group_find_field(t.group, "contact.load");
        for (uint32_t k = 0; k < loads->components; k++)
            load += mf_field_get(loads, 0, k);
        printf("%d load %.9g x %g %g %g residual %g iterations %g fault %g\n", i, load, text_get(&t,"free.position",0), text_get(&t,"free.position",1), text_get(&t,"free.position",2), text_get(&t,"solver.residual",0),  text_get(&t,"solver.iterations",0), text_get(&t,"fault",0));
        }
    }
    text_close(&t);
}
