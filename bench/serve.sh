#!/bin/sh
# Lock-step over sockets: microseconds per round of a client in C, server and client on this
# computer. One humanoid with 21 joints, and 10,000 quadrotors with all of their states out and
# commands in; over TCP and over a Unix socket, and the time of the step itself.
#
#     bench/serve.sh [BUILD_FOLDER]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1-$root/build}
work=$(mktemp -d)
server=
trap 'rm -rf "$work"; [ -z "$server" ] || kill $server 2>/dev/null || :' EXIT

# measure NAME SCENE STATES INPUT ROUNDS OPTIONS...
measure() {
    name=$1 scene=$2 states=$3 input=$4 rounds=$5
    shift 5
    for kind in tcp unix; do
        [ $kind = tcp ] && set -- --port 0 || set -- --unix "$work/socket"
        : >"$work/out"
        "$build/mayfly" serve "$scene" --speed 0 "$@" >"$work/out" 2>"$work/err" &
        server=$!
        until address=$(sed -n 's/^serving at \(.*\) (Ctrl-C ends it)$/\1/p' "$work/out") &&
            [ -n "$address" ]; do
            kill -0 $server || { cat "$work/err"; exit 1; }
            sleep 0.1
        done
        printf '%s %s ' "$name" $kind
        "$build/bench_serve" "$address" "$states" "$input" "$rounds"
        kill $server
        wait $server || :
        server=
    done
}

cat >"$work/quads.yaml" <<END
world: {step: 0.01}
groups:
- name: quads
  model: $root/models/sun2022.yaml
  count: 10000
  controller: none
  place: {grid: {center: [0, 0, 60], spacing: [5, 5, 5], layers: 5}}
END
measure humanoid "$root/models/humanoid.urdf" \
    base.position,base.orientation,base.linear_velocity,base.angular_velocity,joint.angle,joint.rate \
    joint.target 5000
measure quadrotors-10000 "$work/quads.yaml" \
    base.position,base.orientation,base.linear_velocity,base.angular_velocity,rotor.speed \
    command.position 300
# step NAME FILE SECONDS: the time of a step without a server.
step() {
    "$build/mayfly" run "$2" --duration "$3" --json | tail -n 1 |
        sed -n "s/.*\"step\":\([^,]*\),\"simulated_seconds\":\([^,]*\),\"wall_seconds\":\([^,]*\),.*/\1 \2 \3/p" |
        awk -v name="$1" '{ printf "%s step {\"mean_us\":%.2f}\n", name, 1e6 * $3 * $1 / $2 }'
}
step humanoid "$root/models/humanoid.urdf" 5
step quadrotors-10000 "$work/quads.yaml" 3
