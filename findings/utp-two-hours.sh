#!/usr/bin/env bash
# Finding: a uTP transfer that is never idle lets its own queue grow for ever, by 100 ms each 13 minutes.
# Versions: libutp as utp-native 2.5.3 (npm) ships it; g++ 12.2. Its clock is the program's own, so a run repeats.
# Input: one transfer with always data to send, 2 Mbit/s, RTT 40 ms, a buffer of 4 MB; then a second one 60 s later.
# Seen: the queue's mean is 99 ms in minutes 5 to 10 (libutp's target is 100), 490 ms after one hour, 930 after two.
# Seen too: the second transfer takes 1.91 Mbit/s, and the first is left with 0.01 (one share of 150), minute by minute.
# Misled: who takes 100 ms for a bound (LEDBAT, RFC 6817), or tests for some minutes. The least delay of the last 13
# minutes counts as the empty path's; after 13 minutes each of them has the queue in it. A pause would empty the queue.
# Needs npm, g++ and seconds of CPU time. Fails if this changes.
set -euo pipefail
EXPECTED="minutes 5 to 10: 99 ms
minutes 55 to 60: 490 ms
minutes 115 to 120: 930 ms
first 0.01, second 1.91 Mbit/s"

fail() { echo "utp-two-hours: $1" >&2; exit 1; }
for tool in npm g++; do command -v "$tool" >/dev/null || fail "found no $tool; accepted: apt-get install npm g++"; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent utp-native@2.5.3 >/dev/null || fail "npm did not get utp-native 2.5.3"
tar xzf utp-native-2.5.3.tgz
cat >run.cpp <<'PROGRAM'
#include "utp.h"
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>
using Time = unsigned long long; // microseconds
constexpr double RATE = 2e6;     // bit/s
constexpr Time ONE_WAY = 20000;
constexpr double BUFFER = 4e6; // bytes
struct End { utp_context *context; Time received; };
struct Datagram { std::vector<unsigned char> data; int from; };
Time now = 1000000000, link_free = 0;
double waits = 0, waited = 0;
unsigned long long state = 1;
std::vector<End> ends; // a sender, its receiver, a second sender, …
std::multimap<Time, Datagram> underway;
unsigned char zeros[65536];

int number(utp_callback_arguments *a) { return (int)(size_t)utp_context_get_userdata(a->context); }
sockaddr_in address(int end) {
    sockaddr_in a{};
    a.sin_family = AF_INET, a.sin_port = htons(1000 + end), a.sin_addr.s_addr = htonl(0x0a000001 + end);
    return a;
}
uint64 send(utp_callback_arguments *a) {
    int from = number(a);
    Time at = now;
    if (from % 2 == 0) { // data: a link with tail drop; the way back has no limit
        if (link_free < now) link_free = now;
        double bytes = a->len + 42, wait = link_free - now;
        if (wait * RATE / 8e6 + bytes > BUFFER) return 0;
        waits += 1, waited += wait;
        at = link_free += bytes * 8e6 / RATE;
    }
    underway.insert({at + ONE_WAY, {{a->buf, a->buf + a->len}, from}});
    return 0;
}
uint64 writable(utp_callback_arguments *a) {
    if ((a->state == UTP_STATE_CONNECT || a->state == UTP_STATE_WRITABLE) && number(a) % 2 == 0)
        while (utp_write(a->socket, zeros, sizeof zeros) > 0) {}
    return 0;
}
uint64 read(utp_callback_arguments *a) { ends[number(a)].received += a->len; utp_read_drained(a->socket); return 0; }
void start() {
    for (int i = 0; i < 2; i++) {
        utp_context *c = utp_init(2);
        utp_context_set_userdata(c, (void *)ends.size());
        auto set = [c](int name, utp_callback_t *call) { utp_set_callback(c, name, call); };
        set(UTP_GET_MILLISECONDS, [](utp_callback_arguments *) -> uint64 { return now / 1000; });
        set(UTP_GET_MICROSECONDS, [](utp_callback_arguments *) -> uint64 { return now; });
        set(UTP_GET_RANDOM, [](utp_callback_arguments *) -> uint64 { return (state = state * 6364136223846793005 + 1) >> 33; });
        set(UTP_GET_UDP_MTU, [](utp_callback_arguments *) -> uint64 { return 1472; });
        set(UTP_GET_UDP_OVERHEAD, [](utp_callback_arguments *) -> uint64 { return 28; });
        set(UTP_GET_READ_BUFFER_SIZE, [](utp_callback_arguments *) -> uint64 { return 0; });
        set(UTP_ON_ACCEPT, [](utp_callback_arguments *) -> uint64 { return 0; });
        set(UTP_SENDTO, send), set(UTP_ON_STATE_CHANGE, writable), set(UTP_ON_READ, read);
        utp_context_set_option(c, UTP_SNDBUF, 4 << 20), utp_context_set_option(c, UTP_RCVBUF, 4 << 20);
        ends.push_back({c, 0});
    }
    sockaddr_in to = address(ends.size() - 1);
    utp_connect(utp_create_socket(ends[ends.size() - 2].context), (sockaddr *)&to, sizeof to);
}
void run(Time until) {
    static Time check = now;
    while (now < until) {
        now = underway.empty() ? check : std::min(check, underway.begin()->first);
        if (now == check) {
            for (End &e : ends) utp_check_timeouts(e.context);
            check += 50000;
        }
        while (!underway.empty() && underway.begin()->first <= now) {
            Datagram d = underway.begin()->second;
            underway.erase(underway.begin());
            sockaddr_in from = address(d.from);
            utp_context *to = ends[d.from ^ 1].context;
            utp_process_udp(to, d.data.data(), d.data.size(), (sockaddr *)&from, sizeof from);
            utp_issue_deferred_acks(to);
        }
    }
}
int main(int count, char **) {
    Time begin = now;
    auto minutes = [begin](double m) { return begin + (Time)(m * 60e6); };
    ends.reserve(4);
    start();
    if (count > 1) { // a second transfer after one minute, and what both get from minute 3 to minute 10
        run(minutes(1)), start(), run(minutes(3));
        Time first = ends[1].received, second = ends[3].received;
        run(minutes(10));
        printf("first %.2f, second %.2f Mbit/s\n", (ends[1].received - first) * 8 / 420e6, (ends[3].received - second) * 8 / 420e6);
        return 0;
    }
    for (int m : {5, 55, 115}) {
        run(minutes(m)), waits = waited = 0, run(minutes(m + 5));
        printf("minutes %d to %d: %.0f ms\n", m, m + 5, waited / waits / 1000);
    }
}
PROGRAM
source=package/deps/libutp
g++ -O1 -w -fpermissive -DPOSIX -I$source -o run run.cpp $source/utp_{api,callbacks,hash,internal,packedsockaddr,utils}.cpp
{ ./run; ./run second; } | tee results
[ "$(<results)" = "$EXPECTED" ] || fail "the behaviour changed; expected: $EXPECTED"
