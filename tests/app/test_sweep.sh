#!/bin/sh
# Sweeps: every setting with every seed, each as mayfly evolve does it; complete ones are skipped,
# killed ones continue with the same bits, shares make the same whole; table, report and mistakes.
#
#     test_sweep.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

cat >scene.yaml <<END
world: {step: 0.01, seed: 5}
groups:
  - name: walkers
    model: "$source_dir/models/quadruped.urdf"
    motion: points
    controller: gp
run: {duration: 1}
search: {generations: 6, population: 12, survivors: 4}
END
cat >sweep.yaml <<END
scene: scene.yaml
seeds: [3, 8]
set:
  search: {population: 8, generations: 4}
grid:
  search.mutation_rate: [0.02, 0.2]
settings:
  - {name: one}
  - {name: islands, search: {islands: 2, population: 4, survivors: 2, migration.every: 1}}
END

# hash FOLDER: of the last stored generation, and how many there are.
hash_of() {
    sqlite3 "$1/archive.sqlite" \
        "SELECT printf('%016x', hash), number FROM generation ORDER BY number DESC LIMIT 1"
}

# ---- the whole ------------------------------------------------------------------------------------
expect 0 sweep sweep.yaml --threads 2
head -n 1 out | grep -q '^1 of 8  one+mutation_rate=0.02, seed 3: ' ||
    fail "the first line is: $(head -n 1 out)"
grep -q 'complete         8 of 8 searches' out || fail 'not all searches are complete'
[ "$(wc -l <runs/sweep/table.csv)" -eq 5 ] || fail 'table.csv has not four settings'
[ "$(wc -l <runs/sweep/searches.csv)" -eq 9 ] || fail 'searches.csv has not eight searches'
head -n 1 runs/sweep/table.csv | grep -q \
    '^setting,search.mutation_rate,search.islands,search.population,search.survivors,' ||
    fail "the columns of table.csv: $(head -n 1 runs/sweep/table.csv)"
for section in curves settings searches facts; do
    grep -q "<section id=\"$section\">" runs/sweep/report.html || fail "no section $section"
done
[ "$(grep -c 'class="area s[0-3]"' runs/sweep/report.html)" -eq 4 ] || fail 'not four bands'

# A search of the sweep is that of the command; its median is in the table.
expect 0 evolve scene.yaml --seed 8 --generations 4 --population 8 --set search.mutation_rate=0.2 \
    --out alone --json
best=$(value best)
grep -q "^one+mutation_rate=0.2,0.2,,8,,,8,$best," runs/sweep/searches.csv ||
    fail "searches.csv lacks the best $best of the same search"
awk -F , 'NR > 1 && $1 == "one+mutation_rate=0.2" { s += $8 / 2 }
    END { printf "%.12g", s }' runs/sweep/searches.csv >mean
awk -F , '$1 == "one+mutation_rate=0.2" { printf "%.12g", $9 }' runs/sweep/table.csv >median
cmp -s mean median || fail "the median of two seeds is $(cat median), expected $(cat mean)"
awk -F , 'NR > 1 && $(NF - 1) != "" { print $(NF - 1) }' runs/sweep/table.csv | sort -u >evaluations
[ "$(cat evaluations)" = 32 ] || fail "evaluations of a setting: $(cat evaluations), expected 32"

# ---- skipping and continuing ----------------------------------------------------------------------
cp runs/sweep/table.csv first.csv
expect 0 sweep sweep.yaml --json
[ "$(wc -l <out)" -eq 1 ] || fail 'complete searches were not skipped'
[ "$(value complete)" = 8 ] || fail 'not all are complete the second time'
cmp -s first.csv runs/sweep/table.csv || fail 'another table without a search'
if command -v sqlite3 >/dev/null; then
    # The last generations of one are lost, and another one is missing altogether.
    broken="runs/sweep/islands+mutation_rate=0.2/seed-3"
    before=$(hash_of "$broken")
    sqlite3 "$broken/archive.sqlite" 'DELETE FROM generation WHERE number > 2;
        DELETE FROM individual WHERE generation > 2; DELETE FROM survivor WHERE generation > 2'
    rm -r "runs/sweep/one+mutation_rate=0.02/seed-8"
    expect 0 sweep sweep.yaml --report
    grep -q 'complete         6 of 8 searches' out || fail '--report counts other searches'
    expect 0 sweep sweep.yaml --json
    [ "$(wc -l <out)" -eq 3 ] || fail "not two searches, but $(($(wc -l <out) - 1))"
    [ "$(hash_of "$broken")" = "$before" ] || fail 'the search continued with other bits'
    cut -d , -f 1-14 runs/sweep/table.csv >second
    cut -d , -f 1-14 first.csv | cmp -s - second || fail 'another table after continuing'
fi

# ---- shares ---------------------------------------------------------------------------------------
for task in 3 1 2; do
    expect 0 sweep sweep.yaml --task $task --of 3 --out shares --json
    [ "$(wc -l <out)" -eq $((task == 3 ? 3 : 4)) ] || fail "task $task has $(wc -l <out) lines"
done
[ "$(value done)" = true ] || fail 'three shares are not the whole'
cut -d , -f 1-14 shares/table.csv >third
cut -d , -f 1-14 first.csv | cmp -s - third || fail 'shares have another table'
# Two processes at once without shares: each leaves to the other what that does.
"$mayfly" sweep sweep.yaml --out both --set search.generations=8 >lines 2>other &
expect 0 sweep sweep.yaml --out both --set search.generations=8
wait $! || fail "the other process failed: $(cat other)"
[ ! -s other ] && [ ! -s err ] || fail "two processes complain: $(cat other)"
[ "$(cat lines out | grep -c ' in [0-9.]* s$')" -eq 8 ] || fail 'a search was made twice or never'
expect 0 sweep sweep.yaml --out both --set search.generations=8 --json
[ "$(wc -l <out)" -eq 1 ] && [ "$(value complete)" = 8 ] || fail 'two processes: not complete'

# An engine gives the same table.
expect 0 sweep sweep.yaml --out engines --engine processes --workers 2
cut -d , -f 1-14 engines/table.csv >fourth
cut -d , -f 1-14 first.csv | cmp -s - fourth || fail 'another table with --engine processes'

# ---- stopping -------------------------------------------------------------------------------------
"$mayfly" sweep sweep.yaml --out stopped --set search.generations=4000 >lines 2>err &
victim=$!
tries=0
while [ ! -e stopped/one+mutation_rate=0.02/seed-3/archive.sqlite ] && [ $tries -lt 1000 ]; do
    sleep 0.01
    tries=$((tries + 1))
done
kill -TERM $victim
wait $victim
[ $? -eq 75 ] || fail 'a stopped sweep does not end with 75'
grep -q 'the same command continues' err || fail 'a stopped sweep does not say how to continue'
grep -q 'table' lines && fail 'a stopped sweep prints a table'

# ---- mistakes -------------------------------------------------------------------------------------
mistake() { # TEXT, file on stdin
    cat >bad.yaml
    refused 1 "$1" sweep bad.yaml --out bad
    [ ! -e bad ] || fail "a folder in spite of: $1"
}
mistake 'bad.yaml:2:1: seedz: unknown key, expected one of scene, seeds' <<END
scene: scene.yaml
seedz: 3
END
mistake 'bad.yaml:1:1: seeds: missing' <<END
scene: scene.yaml
END
mistake 'bad.yaml:1:1: scene: missing' <<END
seeds: 2
END
mistake 'bad.yaml:1:8: scene: there is no file nothing.yaml' <<END
scene: nothing.yaml
seeds: 2
END
mistake 'bad.yaml:2:8: seeds: expected their number from 1 to 10000' <<END
scene: scene.yaml
seeds: 0
END
mistake 'bad.yaml:2:12: seeds: 1 is there twice' <<END
scene: scene.yaml
seeds: [1, 1]
END
mistake 'bad.yaml:4:26: search.population: expected a whole number from 2' <<END
scene: scene.yaml
seeds: 2
grid:
  search.population: [8, 1]
END
mistake 'expected fewer than search.population = 3, found 4 (setting population=3)' <<END
scene: scene.yaml
seeds: 2
grid: {search.population: [5, 3]}
END
mistake 'bad.yaml:3:27: search.selection: expected one of truncation' <<END
scene: scene.yaml
seeds: 2
set: {search: {selection: luck}}
END
mistake 'bad.yaml:3:24: grid: search.islands: expected a list of values' <<END
scene: scene.yaml
seeds: 2
grid: {search.islands: 3}
END
mistake 'bad.yaml:4:20: search.islands: the setting has it twice, also in line 5' <<END
scene: scene.yaml
seeds: 2
grid:
  search.islands: [1, 2]
settings: [{search.islands: 3}]
END
mistake 'two settings have the name a' <<END
scene: scene.yaml
seeds: 2
settings: [{name: a}, {name: a, search.islands: 2}]
END
mistake 'the seeds of a sweep are those of' <<END
scene: scene.yaml
seeds: 2
set: {world.seed: 3}
END
refused 1 "made with different settings: it has 'population: 8', this run 'population: 9'" \
    sweep sweep.yaml --set search.population=9
refused 1 'more than the 2 of the sweep' sweep sweep.yaml --set search.generations=2
refused 2 'expected --task I --of N' sweep sweep.yaml --task 3 --of 2
refused 2 'expected --task I --of N' sweep sweep.yaml --task 1
refused 1 'cannot open' sweep none.yaml

# The example.
expect 0 sweep "$source_dir/examples/sweep.yaml" --out example --set search.generations=1
grep -q 'complete         20 of 20 searches' out || fail 'the example is not complete'

[ $failures -eq 0 ] || exit 1
echo "all good"
