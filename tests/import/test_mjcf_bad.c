// Bad MJCF: every file is rejected with its line and a message that states what was expected; no
// memory is leaked. The mistake is on line 2 unless noted.
#include "model/support.h"

GROUP_FIXTURE(setup_context, teardown_context);

#define TOP(text)                                                                                  \
    "<mujoco>\n" text "\n<worldbody><body name='a'><joint name='j'/><geom name='g' "               \
    "size='1'/><site name='s'/></body><body name='b'><freejoint name='f'/><geom "                  \
    "name='h' size='1'/></body></worldbody></mujoco>"
#define BODY(text)                                                                                 \
    "<mujoco><worldbody><body name='a'>\n" text "\n<geom size='1'/></body></worldbody></mujoco>"
#define WORLD(text)                                                                                \
    "<mujoco><worldbody>\n" text "\n<body><freejoint/><geom "                                      \
    "size='1'/></body></worldbody></mujoco>"
#define MESH(attributes, geom)                                                                     \
    "<mujoco><asset>\n<mesh name='m' " attributes "/></asset><worldbody><body><freejoint/><geom "  \
    "type='mesh' mesh='m' " geom "/></body></worldbody></mujoco>"
#define TETRA "vertex='0 0 0 1 0 0 0 1 0 0 0 1'"

static const Refusal cases[] = {
    // The file as a whole.
    {"<mujoco>", MF_BAD_FILE, 1, "well-formed XML"},
    {"<mujoco>\n<worldbody>\n</mujoco>", MF_BAD_FILE, 3, "well-formed XML"},
    {"<mujoco model='\xff'/>", MF_BAD_FILE, 1, "well-formed XML in UTF-8"},
    {"<!DOCTYPE m [\n<!ENTITY a 'aa'>]><mujoco model='&a;'/>", MF_BAD_FILE, 2, "entity"},
    {"<!DOCTYPE m [\n<!ENTITY a 'aa'><!ENTITY b '&a;&a;&a;&a;'>]><mujoco model='&b;'/>",
     MF_BAD_FILE, 2, "entity declarations are rejected"},
    {"<!DOCTYPE m [\n<!ENTITY a SYSTEM '/etc/passwd'>]><mujoco>&a;</mujoco>", MF_BAD_FILE, 2,
     "entity"},
    {"<mujoco motto='x'>\n</mujoco>", MF_UNSUPPORTED, 1, "<mujoco> motto is not supported"},
    {TOP("<robot/>"), MF_UNSUPPORTED, 2, "<robot> in <mujoco>"},
    {TOP("<deformable><flex/></deformable>"), MF_UNSUPPORTED, 2, "<deformable>"},
    // compiler and option
    {TOP("<compiler angle='grad'/>"), MF_BAD_FILE, 2, "one of degree, radian, found \"grad\""},
    {TOP("<compiler coordinate='global'/>"), MF_BAD_FILE, 2, "expected local"},
    {TOP("<compiler eulerseq='xy'/>"), MF_BAD_FILE, 2, "three of xyzXYZ"},
    {TOP("<compiler eulerseq='abc'/>"), MF_BAD_FILE, 2, "three of xyzXYZ"},
    {TOP("<compiler autolimits='maybe'/>"), MF_BAD_FILE, 2, "true or false"},
    {TOP("<compiler boundmass='-1'/>"), MF_BAD_FILE, 2, "must be >= 0"},
    {TOP("<compiler settotalmass='heavy'/>"), MF_BAD_FILE, 2, "1 finite number"},
    {TOP("<compiler strippath='true'/>"), MF_UNSUPPORTED, 2, "strippath"},
    {TOP("<compiler wish='1'/>"), MF_UNSUPPORTED, 2, "<compiler> wish"},
    {TOP("<option timestep='0'/>"), MF_BAD_FILE, 2, "timestep: expected > 0"},
    {TOP("<option timestep='nan'/>"), MF_BAD_FILE, 2, "1 finite number"},
    {TOP("<option gravity='0 0'/>"), MF_BAD_FILE, 2, "3 finite numbers, found \"0 0\""},
    {TOP("<option gravity='0 0 inf'/>"), MF_BAD_FILE, 2, "3 finite numbers"},
    {TOP("<option integrator='leapfrog'/>"), MF_BAD_FILE, 2, "Euler, RK4, implicit"},
    {TOP("<option cone='square'/>"), MF_BAD_FILE, 2, "pyramidal, elliptic"},
    {TOP("<option density='-1'/>"), MF_BAD_FILE, 2, "density and viscosity must be >= 0"},
    {TOP("<option impratio='0'/>"), MF_BAD_FILE, 2, "impratio: expected > 0"},
    {TOP("<option noslip_iterations='20000'/>"), MF_BAD_FILE, 2, "noslip_iterations <= 10000"},
    {TOP("<option noslip_tolerance='-1'/>"), MF_BAD_FILE, 2, "noslip_tolerance >= 0"},
    {TOP("<option><flag contact='off'/></option>"), MF_BAD_FILE, 2, "enable or disable"},
    {TOP("<option><flag magic='enable'/></option>"), MF_UNSUPPORTED, 2, "<flag> magic"},
    {TOP("<option o_solref='1 2 3'/>"), MF_BAD_FILE, 2, "1 to 2 finite numbers"},
    // classes
    {TOP("<default class='x'/>"), MF_BAD_FILE, 2, "is the class 'main'"},
    {TOP("<default><default/></default>"), MF_BAD_FILE, 2, "needs the attribute 'class'"},
    {TOP("<default><default class='x'/><default class='x'/></default>"), MF_BAD_FILE, 2,
     "used twice"},
    {TOP("<default><rocket/></default>"), MF_UNSUPPORTED, 2, "<rocket> in <default>"},
    {TOP("<default><geom size='a'/></default>"), MF_BAD_FILE, 2, "1 to 3 finite numbers"},
    {BODY("<geom size='1' class='none'/>"), MF_BAD_FILE, 2, "no default class 'none'"},
    {BODY("<body childclass='none'/>"), MF_BAD_FILE, 2, "no default class 'none'"},
    // bodies
    {BODY("<body name='a'><geom size='1'/></body>"), MF_BAD_FILE, 2, "'a' is used twice"},
    {BODY("<body name='world'><geom size='1'/></body>"), MF_BAD_FILE, 2, "is used twice"},
    {BODY("<body pos='1 2'/>"), MF_BAD_FILE, 2, "3 finite numbers"},
    {BODY("<body pos='1 2 3 4'/>"), MF_BAD_FILE, 2, "3 finite numbers"},
    {BODY("<body quat='0 0 0 0'/>"), MF_BAD_FILE, 2, "orientation is zero"},
    {BODY("<body quat='1 0 0'/>"), MF_BAD_FILE, 2, "4 finite numbers"},
    {BODY("<body quat='1 0 0 0' euler='0 0 0'/>"), MF_BAD_FILE, 2, "two orientations"},
    {BODY("<body axisangle='0 0 0 1'/>"), MF_BAD_FILE, 2, "orientation is zero"},
    {BODY("<body xyaxes='1 0 0 2 0 0'/>"), MF_BAD_FILE, 2, "axes are parallel"},
    {BODY("<body zaxis='0 0 0'/>"), MF_BAD_FILE, 2, "orientation is zero"},
    {BODY("<body mocap='true'/>"), MF_BAD_FILE, 2, "must be in the world body"},
    {WORLD("<body mocap='true'><joint/><geom size='1'/></body>"), MF_BAD_FILE, 2,
     "mocap body cannot have joints"},
    {BODY("<composite type='rope'/>"), MF_UNSUPPORTED, 2, "<composite> in <body>"},
    {BODY("<flexcomp name='x'/>"), MF_UNSUPPORTED, 2, "<flexcomp> in <body>"},
    {BODY("<plugin plugin='x'/>"), MF_UNSUPPORTED, 2, "<plugin> in <body>"},
    {BODY("<attach model='x' prefix='y'/>"), MF_BAD_FILE, 2, "there is no <model> 'x'"},
    {BODY("<attach prefix='y'/>"), MF_BAD_FILE, 2, "needs the attribute body or frame"},
    {BODY("<attach frame='x' prefix='y'/>"), MF_BAD_FILE, 2, "the model has no frame 'x'"},
    {BODY("<attach body='a' prefix='y'/>"), MF_BAD_FILE, 2, "cannot contain a copy of itself"},
    {BODY("<replicate/>"), MF_BAD_FILE, 2, "count: expected 0 to 1000"},
    {BODY("<replicate count='1001'/>"), MF_BAD_FILE, 2, "count: expected 0 to 1000"},
    {BODY("<replicate count='2' offset='1 2'/>"), MF_BAD_FILE, 2, "expected 3 finite numbers"},
    {BODY("<replicate count='2' childclass='x'/>"), MF_BAD_FILE, 2, "no default class"},
    {BODY("<replicate count='1000'><replicate count='1000'><replicate count='1000'><site/>"
          "</replicate></replicate></replicate>"),
     MF_LIMIT, 2, "attached and replicated elements"},
    {BODY("<frame childclass='none'/>"), MF_BAD_FILE, 2, "no default class"},
    {BODY("<frame mass='1'/>"), MF_UNSUPPORTED, 2, "<frame> mass"},
    {WORLD("<inertial pos='0 0 0' mass='1'/>"), MF_BAD_FILE, 2, "world body cannot have an"},
    // inertia
    {BODY("<inertial pos='0 0 0'/>"), MF_BAD_FILE, 2, "needs the attributes 'pos' and 'mass'"},
    {BODY("<inertial mass='1' diaginertia='1 1 1'/>"), MF_BAD_FILE, 2, "'pos' and 'mass'"},
    {BODY("<inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>"), MF_BAD_FILE, 2,
     "must be >= 0 and finite"},
    {BODY("<inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/>"), MF_BAD_FILE, 2,
     "no solid has the principal moments 1, 1, 3"},
    {BODY("<inertial pos='0 0 0' mass='1' diaginertia='-1 1 1'/>"), MF_BAD_FILE, 2, ">= 0"},
    {BODY("<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 2 0 0'/>"), MF_BAD_FILE, 2,
     "principal moments must be > 0"},
    {BODY("<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 0 0 0' quat='1 0 0 0'/>"), MF_BAD_FILE,
     2, "fullinertia excludes quat"},
    {BODY("<inertial pos='0 0 0' mass='1' fullinertia='1 1 1'/>"), MF_BAD_FILE, 2,
     "6 finite numbers"},
    {BODY("<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>\n<inertial pos='0 0 0' mass='1' "
          "diaginertia='1 1 1'/>"),
     MF_BAD_FILE, 3, "two <inertial>"},
    {WORLD("<body name='light'><joint/></body>"), MF_BAD_FILE, 2,
     "'light' moves, so it needs mass"},
    {WORLD("<body><joint/><geom size='1' mass='0'/></body>"), MF_BAD_FILE, 2, "needs mass"},
    // joints
    {BODY("<joint axis='0 0 0'/>"), MF_BAD_FILE, 2, "axis: expected a direction, found zeros"},
    {BODY("<joint type='screw'/>"), MF_BAD_FILE, 2, "free, ball, slide, hinge"},
    {BODY("<joint limited='true' range='1 -1'/>"), MF_BAD_FILE, 2,
     "expected lower < upper, found 1 and -1"},
    {BODY("<joint limited='true' range='1 1'/>"), MF_BAD_FILE, 2, "lower < upper"},
    {BODY("<joint limited='true'/>"), MF_BAD_FILE, 2, "lower < upper, found 0 and 0"},
    {BODY("<joint type='ball' range='1 2'/>"), MF_BAD_FILE, 2, "ball joint's starts at 0"},
    {BODY("<joint damping='-1'/>"), MF_BAD_FILE, 2, "damping: expected >= 0"},
    {BODY("<joint stiffness='-1'/>"), MF_BAD_FILE, 2, "stiffness: expected >= 0"},
    {BODY("<joint stiffness='1 2'/>"), MF_UNSUPPORTED, 2, "<joint> stiffness"},
    {BODY("<joint armature='-1'/>"), MF_BAD_FILE, 2, "must be >= 0"},
    {BODY("<joint frictionloss='-1'/>"), MF_BAD_FILE, 2, "must be >= 0"},
    {BODY("<joint springdamper='1 -1'/>"), MF_BAD_FILE, 2, "two numbers > 0"},
    {BODY("<joint actuatorfrclimited='true' actuatorfrcrange='1 0'/>"), MF_BAD_FILE, 2,
     "lower < upper"},
    {BODY("<freejoint/>\n<joint/>"), MF_BAD_FILE, 3, "must be the only joint"},
    {BODY("<joint/>\n<freejoint/>"), MF_BAD_FILE, 3, "must be the only joint"},
    {BODY("<body>\n<freejoint/><geom size='1'/></body>"), MF_BAD_FILE, 3, "body of the world"},
    {BODY("<joint name='x'/>\n<joint name='x'/>"), MF_BAD_FILE, 3, "'x' is used twice"},
    {BODY("<joint torque='1'/>"), MF_UNSUPPORTED, 2, "<joint> torque"},
    {WORLD("<joint/>"), MF_BAD_FILE, 2, "world body cannot have a joint"},
    {"<mujoco><compiler autolimits='false'/><worldbody><body>\n<joint range='0 1'/><geom size='1'/>"
     "</body></worldbody></mujoco>",
     MF_BAD_FILE, 2, "has range but not limited"},
    // geoms and sites
    {BODY("<geom/>"), MF_BAD_FILE, 2, "size, sphere: expected 1 numbers > 0"},
    {BODY("<geom size='-1'/>"), MF_BAD_FILE, 2, "numbers > 0, found -1"},
    {BODY("<geom type='box' size='1 1'/>"), MF_BAD_FILE, 2, "size, box: expected 3"},
    {BODY("<geom type='capsule' size='1'/>"), MF_BAD_FILE, 2, "size, capsule: expected 2"},
    {BODY("<geom size='1 2 3 4'/>"), MF_BAD_FILE, 2, "1 to 3 finite numbers"},
    {BODY("<geom size='1e999'/>"), MF_BAD_FILE, 2, "finite"},
    {BODY("<geom size='0x10'/>"), MF_BAD_FILE, 2, "finite"},
    {BODY("<geom type='torus' size='1'/>"), MF_BAD_FILE, 2, "mesh, plane, ellipsoid"},
    {BODY("<geom type='sdf' size='1'/>"), MF_UNSUPPORTED, 2, "type sdf"},
    {BODY("<geom size='1' condim='2'/>"), MF_BAD_FILE, 2, "1, 3, 4 or 6, found 2"},
    {BODY("<geom size='1' contype='1.5'/>"), MF_BAD_FILE, 2, "whole number, found \"1.5\""},
    {BODY("<geom size='1' friction='-1'/>"), MF_BAD_FILE, 2, "friction: expected numbers >= 0"},
    {BODY("<geom size='1' mass='-1'/>"), MF_BAD_FILE, 2, "mass and density must be >= 0"},
    {BODY("<geom size='1' density='-1'/>"), MF_BAD_FILE, 2, "mass and density must be >= 0"},
    {BODY("<geom size='1' surfacevel='1'/>"), MF_UNSUPPORTED, 2, "surfacevel"},
    {BODY("<geom size='1' fluidshape='round'/>"), MF_BAD_FILE, 2, "none, ellipsoid"},
    {BODY("<geom size='1' fluidcoef='1 2 3 4 5 6'/>"), MF_BAD_FILE, 2, "1 to 5 finite numbers"},
    {BODY("<geom type='capsule' size='1' fromto='0 0 0 0 0 0'/>"), MF_BAD_FILE, 2,
     "the two points are the same"},
    {BODY("<geom type='sphere' size='1' fromto='0 0 0 1 0 0'/>"), MF_BAD_FILE, 2,
     "expected a capsule, cylinder"},
    {BODY("<geom type='ellipsoid' size='1 1 1' shellinertia='true'/>"), MF_UNSUPPORTED, 2,
     "shellinertia"},
    {BODY("<joint/><geom type='plane' size='1 1 1'/>"), MF_BAD_FILE, 2, "cannot move"},
    {BODY("<geom type='mesh'/>"), MF_BAD_FILE, 2, "needs the attribute 'mesh'"},
    {BODY("<geom type='mesh' mesh='none'/>"), MF_BAD_FILE, 2, "there is no mesh 'none'"},
    {BODY("<geom type='hfield' hfield='none'/>"), MF_BAD_FILE, 2, "there is no hfield 'none'"},
    {BODY("<geom size='1' hfield='none'/>"), MF_BAD_FILE, 2, "expected type hfield"},
    {BODY("<site type='mesh'/>"), MF_BAD_FILE, 2, "expected sphere, capsule"},
    {BODY("<site size='0'/>"), MF_BAD_FILE, 2, "numbers > 0"},
    {BODY("<site fromto='0 0 0 1 0 0'/>"), MF_BAD_FILE, 2, "a sphere has no ends"},
    {BODY("<site type='plane' size='1 1 1'/>"), MF_BAD_FILE, 2,
     "<site> type: expected sphere, capsule or another solid, found plane"},
    // assets
    {TOP("<asset><mesh/></asset>"), MF_BAD_FILE, 2, "needs the attribute 'file' or 'vertex'"},
    {TOP("<asset><mesh name='m' file='x' vertex='0 0 0'/></asset>"), MF_BAD_FILE, 2, "both 'file'"},
    {TOP("<asset><mesh file='x' scale='1 0 1'/></asset>"), MF_BAD_FILE, 2, "other than 0"},
    {TOP("<asset><mesh file='x' maxhullvert='3'/></asset>"), MF_BAD_FILE, 2, "at least 4, found 3"},
    {TOP("<asset><mesh file='x.stl'/><mesh file='y/x.stl'/></asset>"), MF_BAD_FILE, 2,
     "'x' is used twice"},
    {TOP("<asset><volume/></asset>"), MF_UNSUPPORTED, 2, "<volume> in <asset>"},
    {MESH("file='none.stl'", ""), MF_NOT_FOUND, 2, "mesh 'none.stl' not found"},
    {MESH("file='../../../../../../etc/passwd'", ""), MF_BAD_FILE, 2,
     "leaves its root folder by '..'"},
    {MESH("file='$(touch /tmp/pwned).stl'", ""), MF_NOT_FOUND, 2, "not found"},
    {MESH("file=\"'; rm x; '\"", ""), MF_NOT_FOUND, 2, "not found"},
    {MESH("file='http://x/y.stl'", ""), MF_UNSUPPORTED, 2, "only package://"},
    {MESH("vertex='0 0 0 1 0 0 0 1 0'", ""), MF_BAD_FILE, 2, "at least 4 vertices"},
    {MESH("vertex='0 0 0 1 0 0 0 1 0 0 x'", ""), MF_BAD_FILE, 2, "finite numbers, found \"x"},
    {MESH("vertex='0 0 0 1 0 0 0 1 0 1 1 0'", ""), MF_BAD_FILE, 2, "are in a plane"},
    {MESH(TETRA " face='0 1 4'", ""), MF_BAD_FILE, 2, "vertex numbers below 4, found 4"},
    {MESH(TETRA " face='0 1'", ""), MF_BAD_FILE, 2, "whole triangles"},
    {MESH(TETRA " inertia='exact' face='0 1 2 0 3 1 0 2 3 1 3 2'", ""), MF_BAD_FILE, 2,
     "triangles are oriented inward"},
    {MESH(TETRA " inertia='exact' face='0 2 1 0 3 1 0 3 2 1 2 3'", ""), MF_BAD_FILE, 2,
     "have inconsistent orientations"},
    {MESH(TETRA " face='0 0 1'", "contype='0' conaffinity='0'"), MF_BAD_FILE, 2,
     "surface has no area"},
    {MESH(TETRA " face='0 1 2'", "contype='0' conaffinity='0'"), MF_BAD_FILE, 2,
     "volume must be > 0"},
    {MESH(TETRA " refquat='0 0 0 0'", ""), MF_BAD_FILE, 2, "refquat"},
    {MESH("builtin='cone' params='5'", ""), MF_UNSUPPORTED, 2, "<mesh> builtin"},
    {"<mujoco><asset>\n<hfield name='x' size='1 1 0 1' nrow='2' ncol='2'/></asset></mujoco>",
     MF_BAD_FILE, 2, "4 numbers > 0"},
    {"<mujoco><asset>\n<hfield name='x' size='1 1 1 1' nrow='1' ncol='2'/></asset><worldbody><geom "
     "type='hfield' hfield='x'/><body><freejoint/><geom size='1'/></body></worldbody></mujoco>",
     MF_BAD_FILE, 2, "nrow and ncol >= 2"},
    {"<mujoco><asset>\n<hfield name='x' size='1 1 1 1' nrow='2' ncol='2' elevation='1 2 3'/>"
     "</asset><worldbody><geom type='hfield' hfield='x'/><body><freejoint/><geom size='1'/></body>"
     "</worldbody></mujoco>",
     MF_BAD_FILE, 2, "expected 4 numbers, found 3"},
    // contacts, tendons, equalities
    {TOP("<contact><pair geom1='g'/></contact>"), MF_BAD_FILE, 2, "needs the attribute 'geom2'"},
    {TOP("<contact><pair geom1='g' geom2='none'/></contact>"), MF_BAD_FILE, 2, "no geom 'none'"},
    {TOP("<contact><pair geom1='g' geom2='h' condim='5'/></contact>"), MF_BAD_FILE, 2, "found 5"},
    {TOP("<contact><exclude body1='a'/></contact>"), MF_BAD_FILE, 2, "needs the attribute 'body2'"},
    {TOP("<contact><exclude body1='a' body2='none'/></contact>"), MF_BAD_FILE, 2, "no body 'none'"},
    {TOP("<contact><glue/></contact>"), MF_UNSUPPORTED, 2, "<glue> in <contact>"},
    {TOP("<tendon><spatial><site site='s'/></spatial></tendon>"), MF_BAD_FILE, 2, "two sites"},
    {TOP("<tendon><spatial><site site='q'/></spatial></tendon>"), MF_BAD_FILE, 2, "no site 'q'"},
    {TOP("<tendon><spatial/></tendon>"), MF_BAD_FILE, 2, "at least two sites"},
    {TOP("<tendon><spatial><pulley divisor='0'/></spatial></tendon>"), MF_BAD_FILE, 2, "> 0"},
    {TOP("<tendon><spatial><geom geom='zz'/></spatial></tendon>"), MF_BAD_FILE, 2, "no geom 'zz'"},
    {TOP("<tendon><spatial><joint joint='j'/></spatial></tendon>"), MF_UNSUPPORTED, 2, "<joint>"},
    {TOP("<tendon><fixed name='t'/></tendon>"), MF_BAD_FILE, 2, "at least one <joint>"},
    {TOP("<tendon><fixed><joint joint='j'/></fixed></tendon>"), MF_BAD_FILE, 2, "'coef'"},
    {TOP("<tendon><fixed><joint joint='none' coef='1'/></fixed></tendon>"), MF_BAD_FILE, 2,
     "no joint 'none'"},
    {TOP("<tendon><fixed><joint joint='f' coef='1'/></fixed></tendon>"), MF_BAD_FILE, 2,
     "expected a hinge or slide"},
    {TOP("<tendon><fixed limited='true' range='1 0'><joint joint='j' coef='1'/></fixed></tendon>"),
     MF_BAD_FILE, 2, "lower < upper"},
    {TOP("<tendon><fixed springlength='1 0'><joint joint='j' coef='1'/></fixed></tendon>"),
     MF_BAD_FILE, 2, "lower <= upper"},
    {TOP("<equality><connect body1='a'/></equality>"), MF_BAD_FILE, 2, "'anchor'"},
    {TOP("<equality><connect body1='none' anchor='0 0 0'/></equality>"), MF_BAD_FILE, 2,
     "no body 'none'"},
    {TOP("<equality><connect site1='s'/></equality>"), MF_BAD_FILE, 2, "site1 and site2"},
    {TOP("<equality><weld/></equality>"), MF_BAD_FILE, 2, "expected body1"},
    {TOP("<equality><weld body1='a' site1='s' site2='s'/></equality>"), MF_BAD_FILE, 2,
     "expected body1"},
    {TOP("<equality><joint joint2='j'/></equality>"), MF_BAD_FILE, 2,
     "needs the attribute 'joint1'"},
    {TOP("<equality><joint joint1='f'/></equality>"), MF_BAD_FILE, 2, "expected a hinge or slide"},
    {TOP("<equality><joint joint1='j' polycoef='1 2 3 4 5 6'/></equality>"), MF_BAD_FILE, 2,
     "1 to 5 finite numbers"},
    {TOP("<equality><flex flex='x'/></equality>"), MF_UNSUPPORTED, 2, "<flex> in <equality>"},
    // actuators
    {TOP("<actuator><motor/></actuator>"), MF_BAD_FILE, 2, "expected one of joint"},
    {TOP("<actuator><motor joint='j' site='s'/></actuator>"), MF_BAD_FILE, 2, "found 2"},
    {TOP("<actuator><motor joint='none'/></actuator>"), MF_BAD_FILE, 2, "there is no joint 'none'"},
    {TOP("<actuator><motor tendon='none'/></actuator>"), MF_BAD_FILE, 2, "no tendon 'none'"},
    {TOP("<actuator><motor site='none'/></actuator>"), MF_BAD_FILE, 2, "there is no site 'none'"},
    {TOP("<actuator><motor joint='j' ctrllimited='true' ctrlrange='1 -1'/></actuator>"),
     MF_BAD_FILE, 2, "ctrlrange: expected lower < upper"},
    {TOP("<actuator><motor joint='j' forcelimited='true' forcerange='1 -1'/></actuator>"),
     MF_BAD_FILE, 2, "forcerange: expected lower < upper"},
    {TOP("<actuator><motor joint='j' kp='1'/></actuator>"), MF_UNSUPPORTED, 2, "<motor> kp"},
    {TOP("<actuator><position joint='j' kv='-1'/></actuator>"), MF_BAD_FILE, 2,
     "kv: expected >= 0"},
    {TOP("<actuator><position joint='j' kv='1' dampratio='1'/></actuator>"), MF_BAD_FILE, 2,
     "both kv and dampratio"},
    {TOP("<actuator><position joint='j' inheritrange='1'/></actuator>"), MF_BAD_FILE, 2,
     "has no range"},
    {TOP("<actuator><general joint='j' actrange='0 1'/></actuator>"), MF_BAD_FILE, 2,
     "it has no activation"},
    {TOP("<actuator><general joint='j' dyntype='filter' dynprm='-1'/></actuator>"), MF_BAD_FILE, 2,
     "time constant must be >= 0"},
    {TOP("<actuator><general joint='j' gaintype='muscle'/></actuator>"), MF_UNSUPPORTED, 2,
     "muscle"},
    {TOP("<actuator><general body='none'/></actuator>"), MF_BAD_FILE, 2, "no body 'none'"},
    {TOP("<actuator><general body='world'/></actuator>"), MF_UNSUPPORTED, 2, "body (the world)"},
    {TOP("<compiler><lengthrange accel='5'/></compiler><actuator><muscle joint='j'/></actuator>"),
     MF_UNSUPPORTED, 2, "lengthrange"},
    {TOP("<actuator><muscle joint='j' lmin='2'/></actuator>"), MF_BAD_FILE, 2, "lmin < 1"},
    {TOP("<actuator><adhesion ctrlrange='0 1'/></actuator>"), MF_BAD_FILE, 2, "found 0"},
    {TOP("<actuator><adhesion body='a' ctrlrange='-1 1'/></actuator>"), MF_BAD_FILE, 2, ">= 0"},
    {TOP("<actuator><adhesion body='a' gain='-1' ctrlrange='0 1'/></actuator>"), MF_BAD_FILE, 2,
     "gain: expected >= 0"},
    {TOP("<sensor><contact geom1='none'/></sensor>"), MF_BAD_FILE, 2, "no geom 'none'"},
    {TOP("<sensor><contact body1='a' geom1='g'/></sensor>"), MF_BAD_FILE, 2, "expected one of"},
    {TOP("<sensor><contact data='pos found'/></sensor>"), MF_BAD_FILE, 2, "in this order"},
    {TOP("<sensor><contact data='weight'/></sensor>"), MF_BAD_FILE, 2, "expected words"},
    {TOP("<sensor><contact data=' '/></sensor>"), MF_BAD_FILE, 2, "at least one word"},
    {TOP("<sensor><contact num='0'/></sensor>"), MF_BAD_FILE, 2, "expected >= 1"},
    {TOP("<sensor><contact num='17'/></sensor>"), MF_UNSUPPORTED, 2, "num above 16"},
    {TOP("<sensor><contact data='force'/></sensor>"), MF_UNSUPPORTED, 2, "data force"},
    {TOP("<sensor><contact reduce='netforce'/></sensor>"), MF_UNSUPPORTED, 2, "reduce by force"},
    {TOP("<sensor><contact color='red'/></sensor>"), MF_UNSUPPORTED, 2, "<contact> color"},
    {TOP("<actuator><plugin plugin='x'/></actuator>"), MF_UNSUPPORTED, 2, "<plugin>"},
    {TOP("<actuator><motor cranksite='s' slidersite='s'/></actuator>"), MF_UNSUPPORTED, 2,
     "cranksite"},
    // sensors and keyframes
    {TOP("<sensor><gyro/></sensor>"), MF_BAD_FILE, 2, "needs the attribute 'site'"},
    {TOP("<sensor><gyro site='none'/></sensor>"), MF_BAD_FILE, 2, "there is no site 'none'"},
    {TOP("<sensor><jointpos joint='f'/></sensor>"), MF_BAD_FILE, 2, "not of the right type"},
    {TOP("<sensor><ballquat joint='j'/></sensor>"), MF_BAD_FILE, 2, "not of the right type"},
    {TOP("<sensor><jointlimitpos joint='j'/></sensor>"), MF_BAD_FILE, 2, "has no limits"},
    {TOP("<sensor><framepos objtype='body'/></sensor>"), MF_BAD_FILE, 2, "'objtype' and 'objname'"},
    {TOP("<sensor><framepos objtype='ghost' objname='a'/></sensor>"), MF_BAD_FILE, 2,
     "body, xbody, geom, site or camera"},
    {TOP("<sensor><gyro site='s' noise='-1'/></sensor>"), MF_BAD_FILE, 2, "must be >= 0"},
    {TOP("<sensor><user dim='0'/></sensor>"), MF_BAD_FILE, 2, "1 to 1000000"},
    {TOP("<sensor><crystal/></sensor>"), MF_UNSUPPORTED, 2, "<crystal> in <sensor>"},
    {TOP("<keyframe><key qpos='1 2 3 4 5 6 7 8 9'/></keyframe>"), MF_BAD_FILE, 2,
     "the model has 8, found 9 numbers"},
    {TOP("<keyframe><key qvel='1 2 3 4 5 6 7 8'/></keyframe>"), MF_BAD_FILE, 2,
     "the model has 7, found 8"},
    {TOP("<keyframe><key ctrl='1'/></keyframe>"), MF_BAD_FILE, 2, "the model has 0, found 1"},
    {TOP("<keyframe><key qpos='a'/></keyframe>"), MF_BAD_FILE, 2, "finite numbers"},
    {TOP("<size nkey='1e9'/>"), MF_LIMIT, 2, "nkey: at most"},
    // includes
    {"<mujoco>\n<include/></mujoco>", MF_BAD_FILE, 2, "needs the attribute 'file'"},
    {"<mujoco>\n<include file='none.xml'/></mujoco>", MF_NOT_FOUND, 2, "'none.xml' not found"},
    {"<mujoco>\n<include file='refused.urdf'/></mujoco>", MF_BAD_FILE, 2, "a second time"},
    {"<mujoco>\n<include file='../../../../../../etc/passwd'/></mujoco>", MF_BAD_FILE, 2, "'..'"},
    {"<mujoco>\n<include file='$(id).xml'/></mujoco>", MF_NOT_FOUND, 2, "not found"},
    {"<mujoco>\n<include file='x'><geom/></include></mujoco>", MF_BAD_FILE, 2, "must be empty"},
};

TEST(bad_models_are_refused_with_their_line) {
    check_refusals(*state, cases, sizeof cases / sizeof *cases);
}

TEST(lenient_loading_drops_what_is_not_supported) {
    uint32_t dropped = 0;
    mf_ImportConfig config = WITH(mf_import_config(), .lenient = true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[512];
        mf_Model *model = NULL;
        // What is missing altogether (a mesh from the network) stays an error.
        if (cases[i].status != MF_UNSUPPORTED || strstr(cases[i].names, "package://"))
            continue;
        write_text(path, "lenient.xml", cases[i].text);
        mf_Error error = {0};
        mf_Status status = mf_model_load(*state, path, &config, &model, &error);
        // Leaving a whole mesh out may leave a body without mass, which is an error of its own.
        if (status == MF_OK) {
            bool noted = false;
            for (uint32_t k = 0; k < model->note_count; k++)
                noted |= model->notes[k].unsupported && model->notes[k].suspicious;
            if (!noted)
                fail_msg("case %zu: dropped without a note", i);
            dropped++;
        } else if (status == MF_UNSUPPORTED) {
            fail_msg("case %zu: %s", i, error.message);
        }
        mf_model_destroy(model);
        remove(path);
    }
    assert_true(dropped > 20);
}

TEST(include_loops_are_refused) {
    char first[512], second[512];
    mf_Model *model = NULL;
    mf_Error error = {0};
    write_text(second, "loop/second.xml", "<mujoco>\n\n<include file='first.xml'/></mujoco>");
    write_text(first, "loop/first.xml", "<mujoco>\n<include file='second.xml'/></mujoco>");
    assert_fails(mf_model_load(*state, first, NULL, &model, &error), MF_BAD_FILE, &error,
                 "a second time");
    assert_contains(error.file, "second.xml");
    // the file that holds the fault
    assert_int_equal(error.line, 3);
    write_text(second, "loop/second.xml",
               "<mujoco>\n<worldbody>\n<body><geom/></body></worldbody></mujoco>");
    assert_int_equal(mf_model_load(*state, first, NULL, &model, &error), MF_BAD_FILE);
    assert_non_null(strstr(error.file, "second.xml"));
    remove(first);
    remove(second);
}

TEST(deep_and_long_files_are_refused) {
    char text[9000] = "<mujoco><worldbody>\n";
    for (int i = 0; i < 1023; i++)
        strcat(text, "<body>");
    assert_refused(*state, text, MF_LIMIT, 2, "nested more than 1024 deep");
    char name[400];
    memset(name, 'n', 300);
    name[300] = '\0';
    snprintf(text, sizeof text, BODY("<joint name='%s'/>"), name);
    assert_refused(*state, text, MF_LIMIT, 2, "at most 255 bytes, found 300");
    snprintf(text, sizeof text, "<mujoco model='%s'/>", name);
    assert_refused(*state, text, MF_LIMIT, 1, "at most 255 bytes");
}

// Depth counts across included files.
TEST(deep_includes_are_refused) {
    char outer[512], inner[512], text[20000] = "<mujoco><worldbody>";
    mf_Model *model = NULL;
    for (int i = 0; i < 1020; i++)
        strcat(text, "<body>");
    strcat(text, "<include file='inner.xml'/>");
    for (int i = 0; i < 1020; i++)
        strcat(text, "</body>");
    strcat(text, "</worldbody></mujoco>");
    write_text(outer, "deep/outer.xml", text);
    write_text(inner, "deep/inner.xml", "<m><body><body><body><body/></body></body></body></m>");
    MUST_FAIL(mf_model_load(*state, outer, NULL, &model, &error), MF_LIMIT,
              "nested more than 1024 deep");
    remove(outer);
    remove(inner);
}
