#!/bin/sh
# Schemes of the search from the command line: the same bits for any number of threads and after a
# kill, champions that repeat their fitness, family trees, and the sections of the report.
#
#     test_schemes.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

write_scene() { # FILE, lines of `search`
    cat >"$1" <<END
world: {step: 0.01, seed: 5}
groups:
  - name: walkers
    model: "$source_dir/models/quadruped.urdf"
    motion: points
    controller: gp
run: {duration: 1}
search:
  population: 20
  survivors: 6
$2
END
}

write_scene rank.yaml "  selection: rank"
write_scene golem.yaml "  selection: proportionate
  replacement: random
  batch: 7"
write_scene islands.yaml "  selection: tournament
  replacement: worst
  batch: 7
  islands: 3
  migration: {every: 2, best: 2}"
write_scene elites.yaml "  selection: uniform
  replacement: cell
  batch: 8
  descriptors:
    - {measure: forward, lower: -0.5, upper: 0.5, cells: 5}
    - {measure: upright, lower: 0, upper: 1, cells: 4}"

for scheme in rank golem islands elites; do
    expect 0 evolve $scheme.yaml --generations 12 --json --threads 1 --out $scheme
    hash=$(value hash)
    grep -q '<section id="family">' $scheme/report.html || fail "$scheme: no family tree"
    grep -q '<section id="diversity">' $scheme/report.html || fail "$scheme: no diversity"
    expect 0 evolve $scheme.yaml --generations 12 --json --threads 3 --out $scheme-threads
    [ "$(value hash)" = "$hash" ] || fail "$scheme: other bits with three threads"

    # Killed at some moment, and resumed.
    killed_evolve 4 "$hash" $scheme.yaml --generations 12 --out $scheme-killed

    expect 0 replay $scheme --json
    [ "$(value equal)" = true ] || fail "$scheme: replay gets another fitness"
    individual=$(value individual)
    expect 0 replay $scheme --ancestry best --json
    [ "$(value individual)" = "$individual" ] || fail "$scheme: the line is not of the best"
    grep -q '"parent":null,"generation":1,' out || fail "$scheme: the line has no beginning"
    lines=$(grep -o '"id"' out | wc -l)
    expect 0 replay $scheme --ancestry "$individual"
    [ "$(wc -l <out)" -eq $((lines + 1)) ] || fail "$scheme: --ancestry prints $(wc -l <out) lines"
    tail -n 1 out | grep -q 'no parent' || fail "$scheme: --ancestry does not end at the beginning"
done

expect 0 evolve elites.yaml --generations 12 --json --out elites --resume
grep -q '<section id="repertoire">' elites/report.html || fail "no repertoire in the report"
grep -q '<section id="repertoire">' golem/report.html && fail "a repertoire without descriptors"
expect 0 evolve elites.yaml --generations 3 --json --out grid
grep -q '"coverage"' out || fail "no coverage in the lines"

expect 0 evolve islands.yaml --generations 2 --out counted
grep -q 'after 2 generations of 60 robots' out || fail "islands: not 60 robots in a generation"
grep -q 'There are 3 such populations, the islands. Every 2 generations the best 2' \
    counted/report.html || fail "islands: not in the report"
refused 1 "this run 'every: 3'" evolve islands.yaml --generations 3 --out counted --resume \
    --set search.migration.every=3
refused 1 "search.islands: expected 1 with \`replacement: cell\`" evolve elites.yaml \
    --set search.islands=2

refused 2 "--ancestry: expected best or the number" replay elites --ancestry worst
refused 2 "--ancestry simulates nothing" replay elites --ancestry best --plot a.html
refused 1 "there is no individual 12345" replay elites --ancestry 12345
refused 1 "this run 'selection: rank'" evolve golem.yaml --generations 13 --out golem \
    --resume --set search.selection=rank

[ $failures -eq 0 ] || exit 1
echo "all good"
