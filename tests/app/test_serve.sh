#!/bin/sh
# mayfly serve: refused options, its end by SIGTERM, Unix sockets, a client in Perl, a token for other
# addresses, what a client in C does: sh test_serve.sh SOURCE_DIR BUILD_DIR
. "$1/tests/app/command.sh"
hexapod=$source_dir/models/hexapod.urdf

refused 2 'exclude each other' serve "$hexapod" --unix s --port 1
refused 1 "expected an address such as 127.0.0.1, 0.0.0.0 or ::1, found 'localhorst'" \
    serve "$hexapod" --listen localhorst
refused 1 'cannot bind' serve "$hexapod" --unix /no/such/folder/socket

# begin OPTIONS...: a server in the background; sets server, and address from its first line.
begin() {
    : >out # not the line of the one before
    "$mayfly" serve "$hexapod" --speed 0 "$@" >out 2>err &
    server=$!
    for try in $(seq 200); do
        address=$(sed -n 's/^serving at \(.*\) (Ctrl-C ends it)$/\1/p' out)
        [ -z "$address" ] || return 0
        sleep 0.1
    done
    fail "serve $*: it does not serve"
}

# end SIGNAL: its exit code is 0, and its last line says what it did.
end() {
    kill -s "$1" $server
    wait $server
    code=$?
    [ $code -eq 0 ] || fail "SIG$1: exit code $code"
    grep -q '^served .* connections .* states, .* writes, .* turns' out || fail "SIG$1: no last line"
}

begin --unix "$work/socket"
[ -S socket ] || fail 'there is no socket'
[ "$(stat -c %a socket)" = 700 ] || fail 'others may use the socket'
refused 1 'cannot bind' serve "$hexapod" --unix "$work/socket"
if command -v perl >/dev/null; then
    perl "$source_dir/examples/serve_client.pl" "$work/socket" 50 >client || fail 'the client in Perl'
    grep -q '^tick [0-9]* time [0-9.]* angle -*0\.[0-9]* target 0\.0830$' client ||
        fail "the client in Perl says $(cat client)"
fi
end TERM
[ ! -e socket ] || fail 'the socket is left'

# A server that was killed leaves a socket, which the next one takes over.
begin --unix "$work/socket"
kill -s KILL $server
wait $server 2>/dev/null
begin --unix "$work/socket"
end INT

begin --port 0 --listen 0.0.0.0
token=$(sed -n 's/^token \([0-9a-f]\{32\}\)$/\1/p' out)
[ -n "$token" ] || fail 'another address has no token'
if command -v perl >/dev/null; then
    perl "$source_dir/examples/serve_client.pl" "127.0.0.1:${address##*:}" 1 >client 2>&1 &&
        fail 'a client without the token is served'
    grep -q 'expected the token that the server printed' client || fail 'the token is not asked for'
fi
end TERM

if [ -x "$build/example_remote" ]; then
    begin --unix "$work/socket" --paused --files "$source_dir"
    "$build/example_remote" "$work/socket" >client 2>&1 || fail "the client in C: $(cat client)"
    for said in 'Yard: .* 6 docks on a module, 1 camera' 'the same bits' 'sees 3\.[0-9]* m far' \
        'leg1_femur/joint.target: .* now' '^[1-9][0-9]* events'; do
        grep -q "$said" client || fail "the client in C does not say $said: $(cat client)"
    done
    end TERM
fi

begin --port 0 --duration 0.5
wait $server || fail 'the end of --duration is a failure'
grep -q 'for 0\.5 s of simulated time' out || fail '--duration does not end it'

[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo 'all is well'
