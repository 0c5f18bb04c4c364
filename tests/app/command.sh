# What the tests of the command have in common; they read it with `.`, with SOURCE_DIR BUILD_DIR as
# their own arguments. Sets source_dir, build, mayfly, sanitized, failures, and works in an empty
# folder, work.
source_dir=$1
build=$2
mayfly=$build/mayfly
[ -x "$mayfly" ] || { echo "skipped: $mayfly has not been built"; exit 77; }
work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 77
failures=0
# 1: the command is many times slower; tests then run the same code for less long.
sanitized=$(grep -c '^MAYFLY_SANITIZE:STRING=[a-z]' "$build/CMakeCache.txt")

fail() {
    echo "FAILED: $*"
    [ ! -s err ] || sed 's/^/    stderr: /' err
    failures=$((failures + 1))
}

# expect CODE WORDS...: runs mayfly, keeps its output in out and err.
expect() {
    wanted=$1
    shift
    "$mayfly" "$@" >out 2>err
    code=$?
    [ "$code" -eq "$wanted" ] || fail "mayfly $*: exit code $code, expected $wanted"
}

# refused CODE TEXT WORDS...: as expect, and stderr is one line that holds TEXT, stdout is empty.
refused() {
    wanted=$1 text=$2
    shift 2
    expect "$wanted" "$@"
    [ "$(wc -l <err)" -eq 1 ] || fail "mayfly $*: $(wc -l <err) lines on stderr, expected one"
    [ ! -s out ] || fail "mayfly $*: wrote to stdout"
    grep -qF -- "$text" err || fail "mayfly $*: the message lacks '$text'"
}

# value NAME: that member of the last line of out, quotes taken off.
value() {
    tail -n 1 out | sed -n "s/.*\"$1\":\"*\([^,\"}]*\).*/\1/p"
}

# killed_evolve LINES HASH WORDS...: evolves, is killed after so many lines of JSON, and resumes; the
# final population has this hash.
killed_evolve() {
    enough=$1 undisturbed=$2
    shift 2
    : >lines
    "$mayfly" evolve "$@" --json >lines 2>/dev/null &
    victim=$!
    tries=0
    while [ "$(wc -l <lines)" -lt "$enough" ] && [ $tries -lt 3000 ]; do
        sleep 0.01
        tries=$((tries + 1))
    done
    kill -9 $victim 2>/dev/null
    wait $victim 2>/dev/null
    expect 0 evolve "$@" --json --resume
    [ "$(value hash)" = "$undisturbed" ] || fail "evolve $*: killed, it has another final population"
}
