#!/bin/sh
# What connections cost, server and client on this computer, over TCP, over a Unix socket, and with
# shared memory beside that where states are large:
# - lock-step, microseconds per round of a client in C: one humanoid with 21 joints, and 10,000
#   quadrotors with all of their states out and commands in, beside the time of the step itself;
# - how many times real time ten humanoids run, each controlled at 1 kHz by a client of its own;
# - how much slower a world is whose states, or all fields, somebody takes 100 times a second.
# Where other programs run, repeat it and take medians.
#
#     bench/serve.sh [BUILD_FOLDER [SECONDS]]
#     SPIN_US=200 bench/serve.sh      # both wait so long without a sleep
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1-$root/build} seconds=${2-20}
work=$(mktemp -d)
server=
trap 'rm -rf "$work"; [ -z "$server" ] || kill $server 2>/dev/null || :' EXIT

# serve KINDS NAME SCENE MODE ARGUMENTS...: a client of that mode, with each kind of connection.
serve() {
    kinds=$1 name=$2 scene=$3 mode=$4
    shift 4
    spin=${SPIN_US+--spin $SPIN_US}
    for kind in $kinds; do
        [ "$kind" = tcp ] && place='--port 0' || place="--unix $work/socket"
        [ "$kind" = shared ] && share=16384 || share=18446744073709551615 # bytes from where on
        : >"$work/out"
        # shellcheck disable=SC2086 # options and their values
        "$build/mayfly" serve "$scene" --speed 0 $place $spin >"$work/out" 2>"$work/err" &
        server=$!
        until address=$(sed -n 's/^serving at \(.*\) (Ctrl-C ends it)$/\1/p' "$work/out") &&
            [ -n "$address" ]; do
            kill -0 $server || { cat "$work/err"; exit 1; }
            sleep 0.1
        done
        printf '%s %s %s ' "$name" "$mode" "$kind"
        SHARE=$share SERVER_PID=$server "$build/bench_serve" "$mode" "$address" "$@"
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
  placement: {grid: {center: [0, 0, 60], spacing: [5, 5, 5], layers: 5}}
END
cat >"$work/humanoids.yaml" <<END
world: {step: 0.001}
groups:
- name: humanoids
  model: $root/models/humanoid.urdf
  motion: articulated
  count: 10
  controller: none
  placement: {grid: {spacing: [2, 2, 2]}}
END
serve 'tcp unix' humanoid "$root/models/humanoid.urdf" rounds \
    base.position,base.orientation,base.linear_velocity,base.angular_velocity,joint.angle,joint.rate \
    joint.target 5000
serve 'tcp unix shared' quadrotors-10000 "$work/quads.yaml" rounds \
    base.position,base.orientation,base.linear_velocity,base.angular_velocity,rotor.speed \
    command.position 300
serve 'tcp unix' humanoids-10 "$work/humanoids.yaml" robots "$seconds"
for watch in watch watch-all; do
    serve 'tcp unix' humanoids-10 "$work/humanoids.yaml" $watch "$seconds"
    serve 'tcp unix shared' quadrotors-10000 "$work/quads.yaml" $watch "$seconds"
done

# step NAME FILE SECONDS: the time of a step without a server.
step() {
    "$build/mayfly" run "$2" --duration "$3" --json | tail -n 1 |
        sed -n "s/.*\"step\":\([^,]*\),\"simulated_seconds\":\([^,]*\),\"wall_seconds\":\([^,]*\),.*/\1 \2 \3/p" |
        awk -v name="$1" '{ printf "%s step {\"mean_us\":%.2f}\n", name, 1e6 * $3 * $1 / $2 }'
}
step humanoid "$root/models/humanoid.urdf" 5
step quadrotors-10000 "$work/quads.yaml" 3
