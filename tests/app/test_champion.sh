#!/bin/sh
# The champion of a run: how it stands, and who shows it.
#     test_champion.sh SOURCE_DIR BUILD_DIR
. "$1/tests/app/command.sh"

expect 0 evolve "$source_dir/scenes/hexapod.yaml" --generations 2 --population 16 --survivors 8 --set search.verify.best=16 \
    --duration 1 --out run
grep -q '^see it live .*view run$' out || fail 'evolve does not say how to see its best robot'
! grep -q '^posture' out || fail 'a hexapod that stands is said to lie'
expect 0 view run --port 0 --duration 0.1
grep -q '^champion  individual [0-9]* of run, fitness [0-9.e-]* m$' out || fail 'view shows no champion'
expect 0 view run/report.html --port 0 --duration 0.1
refused 1 'run: is the folder of an evolution run: `mayfly view` and `mayfly replay` show' run run
mkdir empty
refused 1 'empty: is a folder; need a file' view empty
refused 1 'empty: is a folder, and not that of an evolution run' info empty

# A tall box with an arm to the side falls over, whatever the arm does.
cat >tower.urdf <<'END'
<robot name="tower">
  <link name="base">
    <inertial><mass value="1"/>
      <inertia ixx="0.08" iyy="0.08" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.06 0.06 1"/></geometry></collision>
  </link>
  <link name="arm">
    <inertial><origin xyz="0.4 0 0"/><mass value="1"/>
      <inertia ixx="0.001" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="arm"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
    <limit lower="-0.1" upper="0.1" effort="20" velocity="5"/>
  </joint>
</robot>
END
cat >fall.yaml <<'END'
world: {step: 0.005}
groups:
  - {name: towers, model: tower.urdf, controller: {oscillator: {}}}
run: {duration: 3}
search: {generations: 1, population: 2, survivors: 1}
END
expect 0 evolve fall.yaml --out lies
grep -q '^posture  *the best robot lies at the end, .* degrees off upright: search.falls: count' out ||
    fail 'evolve does not say that its best robot lies'
grep -q 'lies at the end</b>' lies/report.html || fail 'nor does the report'
expect 0 replay lies --json
free=$(value fitness)
expect 0 evolve fall.yaml --set search.falls=count --out counts --json
grep -q '"lies": *true' out || fail 'nor does --json'
expect 0 replay counts --json
awk "BEGIN { exit !($(value fitness) < 0.7 * $(value distance) && $free > 0.1) }" ||
    fail "falls cost nothing: $(value fitness) of $(value distance) m, $free m"

[ "$failures" -eq 0 ] || exit 1
echo 'champions: passed'
