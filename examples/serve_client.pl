#!/usr/bin/perl
# A client of `mayfly serve` in Perl, with nothing but sockets: it moves the first joints of the
# robots in lock-step, as docs/reference/protocol.md describes it.
#
#     mayfly serve models/hexapod.urdf --speed 0 &
#     perl examples/serve_client.pl 127.0.0.1:8766 100
#
# Prints the tick, the time and the first robot's first joint angle and target at the end.
use strict;
use warnings;
use IO::Socket::INET;
use IO::Socket::UNIX;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

my ($address, $turns) = @ARGV;
die "usage: serve_client.pl HOST:PORT|PATH TURNS\n" unless defined $turns;
my $socket =
    $address =~ m{/}
    ? IO::Socket::UNIX->new(Peer => $address)
    : IO::Socket::INET->new(PeerAddr => $address, Proto => 'tcp');
die "cannot connect to $address: $!\n" unless $socket;
setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, 1) if $address !~ m{/};
$socket->autoflush(1);

# Kinds of messages.
my ($HELLO, $LIST, $SUBSCRIBE, $WRITE, $LOCK_STEP, $DRAW) = (1, 2, 3, 5, 6, 31);
my ($ERROR, $WELCOME, $LISTING, $STATE, $DONE, $TURN) = (128, 129, 130, 131, 132, 136);

sub send_message {
    my ($kind, $tag, $payload) = @_;
    print {$socket} pack('L<S<S<', length $payload, $kind, $tag) . $payload;
}

sub read_bytes {
    my ($size) = @_;
    my $bytes = '';
    while (length $bytes < $size) {
        read($socket, $bytes, $size - length $bytes, length $bytes) or die "the server is gone\n";
    }
    return $bytes;
}

# The next message of a kind; others are given to `state`.
my $state = '';

sub await {
    my ($wanted) = @_;
    while (1) {
        my ($size, $kind, $tag) = unpack 'L<S<S<', read_bytes(8);
        my $payload = read_bytes($size);
        die 'the server says: ' . substr($payload, 4) . "\n" if $kind == $ERROR;
        return $payload if $kind == $wanted;
        $state = $payload if $kind == $STATE;
    }
}

# ---- hello and list ------------------------------------------------------------------------------
send_message($HELLO, 1, pack 'L<S<S<L<', 0x594c464d, 1, 0, 0);
my ($magic, $major, $minor, $number, $limit, $step) = unpack 'L<S<S<L<L<q<', await($WELCOME);
send_message($LIST, 2, '');
my $listing = await($LISTING);
my ($groups, $fields) = unpack 'L<L<', $listing;
my ($at, $field, %found) = (8, 0);

sub padded { return int(($_[0] + 3) / 4) * 4 }

for my $group (1 .. $groups) {
    my ($instances, $count, $motions, $length) = unpack "x$at L<L<L<C", $listing;
    $at += 16 + padded($length);
    for (1 .. $count) {
        my ($type, $elements, $width, $flags, @lengths) = unpack "x$at L<L<L<CxxxC4", $listing;
        my $name = substr $listing, $at + 20, $lengths[0];
        my $texts = 0;
        $texts += $_ for @lengths;
        $found{$name} //= {number => $field, values => $instances * $elements * $width, type => $type};
        $field++;
        $at += 20 + padded($texts);
    }
}
my ($angle, $target) = map { $found{$_} or die "no $_\n" } qw(joint.angle joint.target);
die "expected joints of type f32\n" if $angle->{type} != 0 || $angle->{values} == 0;

# ---- a line on the page of `mayfly serve --page`: 2 m ahead, blue, 2 cm thick ---------------------
my $all = 0xffffffff;
send_message($DRAW, 5,
    pack('L<L<d<L<6', 1, 0x1c7ed6ff, 0.02, $all, 0, 0, 6, length 'ahead', 0)
        . pack('f<6', 0, 0, 0.05, 2, 0, 0.05) . 'ahead');
await($DONE);

# ---- lock-step -----------------------------------------------------------------------------------
send_message($SUBSCRIBE, 3, pack 'L<L<q<L<3', 0, 1, 0, $angle->{number}, 0, 0xffffffff);
await($DONE);
send_message($LOCK_STEP, 4, pack 'L<L<q<q<', 1, 0, 0, 5_000_000_000);
await($DONE);
my ($tick, $time, @targets);
for my $turn (0 .. $turns) {
    ($tick, $time) = unpack 'Q<q<', await($TURN);
    last if $turn == $turns;
    @targets = (0.1 * sin(0.02 * $turn)) x $target->{values};
    my $values = pack 'f<*', @targets;
    my $padding = "\0" x (-length($values) % 8);
    send_message($WRITE, 0,
        pack('Q<L<L<L<4', $tick, 1, 1, $target->{number}, 0, 0xffffffff, length $values)
            . $values . $padding);
}
my @angles = unpack "x32 f<$angle->{values}", $state;
printf "tick %d time %.3f angle %.4f target %.4f\n", $tick, 1e-9 * $time, $angles[0], $targets[0];
