#include "motion/articulated_text.h"
static const char brawl[] =
    "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
    "<geom type='cylinder' size='0.1 0.5' pos='0.4 0 0.5'/>"
    "<body pos='0 0 0.5'><freejoint/><geom type='box' size='0.1 0.1 0.1' condim='6' "
    "friction='1 0.01 0.01'/>"
    "<body pos='0.15 0 0.1'><joint axis='0 1 0'/><geom type='capsule' size='0.04' "
    "fromto='0.05 0 0 0.2 0 0' condim='4'/><body pos='0.25 0 0'><joint type='ball'/>"
    "<geom type='capsule' size='0.04' fromto='0.05 0 0 0.2 0 0'/></body></body>"
    "<body pos='0 0.15 0'><joint axis='1 0 1'/><geom type='capsule' size='0.04' "
    "fromto='0 0.05 0 0 0.2 0'/><body pos='0 0.25 0'><joint axis='1 0 0'/>"
    "<geom type='ellipsoid' size='0.04 0.1 0.05' pos='0 0.15 0'/></body></body>"
    "<body pos='-0.15 0 0'><joint axis='0 1 0'/><geom type='sphere' size='0.05' pos='-0.1 0 0'/>"
    "</body></body>"
    "<body pos='0.1 0.1 0.8'><freejoint/><geom type='box' size='0.08 0.06 0.05'/></body>"
    "</worldbody></mujoco>";


int main(void) {
  for (int kind=getenv("K")?atoi(getenv("K")):0; kind<4; kind++) for (uint32_t which=getenv("W")?(uint32_t)atoi(getenv("W")):0; which<20; which++) {
    Text t;
    TextConfig config = text_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND);
    config.group.double_precision = kind&1;
    config.motion.shapes = true;
    config.motion.contact_law = kind&2 ? MF_CONTACT_LAW_HARD : MF_CONTACT_LAW_COMPLIANT;
    if (getenv("NS")) config.motion.solver_rounds=(uint32_t)atoi(getenv("NS"));
    text_open(&t, brawl, &config);
    mf_Field *rate = mf_group_find_field(t.group, "joint.rate");
    mf_Field *spin = mf_group_find_field(t.group, "base.angular_velocity");
        for (uint32_t c = 0; c < rate->components; c++)
            mf_field_set(rate, 0, c, (double)(which * (c + 3) % 23) - 11.0);
        mf_field_set(spin, 0, which % 3, 6.0);
    double most=0, rounds=0, e0=text_energy(&t), emax=e0; int steps=0; uint32_t capped=0;
    for (int i=0;i<200;i++) { mf_world_step(t.world,1);
      double r=text_get(&t,"solver.residual",0), n=text_get(&t,"solver.iterations",0); rounds+=n; if (r>most) most=r; if(n>=100) capped++; steps++;
      double e=text_energy(&t); if (e>emax) emax=e;
      if (getenv("V")&&atoi(getenv("V"))==(int)which+100*kind) printf("   %d residual %g rounds %g energy %g\n", i,r,n,e);
      if (mf_group_fault_total(t.group)) break; }
    printf("kind %d which %u fault %u after %d residual %g rounds %g capped %u energy %g max %g end %g\n", kind, which, mf_group_fault(t.group,0), steps, most, rounds/steps, capped, e0, emax, text_energy(&t));
    text_close(&t);
  }
}
