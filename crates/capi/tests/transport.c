/* Two endpoints across a simulated path: a sender with a window that each mark halves, and a receiver that answers.
 *
 *   cc transport.c $(pkg-config --cflags --libs goodqueue-qdisc)
 */
#include "goodqueue_bottleneck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *SCENARIO =
    "{\"duration\": \"2s\", \"bottleneck\": {\"rate\": \"10mbit\", \"qdisc\": \"codel ecn\"},"
    " \"path\": {\"rtt\": \"40ms\"}, \"traffic\": [{\"kind\": \"outside\", \"name\": \"mine\"}, {\"kind\": \"bulk\"}]}";

int main(int argc, char **argv) {
    char error[400], bytes[1500] = {0};
    goodqueue_bottleneck *path = goodqueue_bottleneck_open(argc > 1 ? argv[1] : SCENARIO, error, sizeof error);
    if (path == NULL) {
        printf("refused: %s\n", error);
        return 2;
    }
    uint32_t flow;
    if (!goodqueue_bottleneck_flow(path, "mine", &flow, error, sizeof error)) {
        printf("refused: %s\n", error);
        return 2;
    }
    double window = 10.0;
    int in_flight = 0;
    uint64_t now = 0, halved = 0;
    while (now < goodqueue_bottleneck_duration(path)) {
        goodqueue_datagram datagram = {.time_ns = now, .len = 1200, .flow = flow, .direction = GOODQUEUE_DOWN, .ecn = 2};
        for (; in_flight < (int)window; in_flight++)
            if (!goodqueue_bottleneck_send(path, &datagram, bytes, error, sizeof error))
                abort();
        int arrived = goodqueue_bottleneck_receive(path, now + 200000000, &datagram, bytes, sizeof bytes);
        now = goodqueue_bottleneck_now(path);
        if (arrived && datagram.direction == GOODQUEUE_DOWN) { /* the receiver's whole work */
            bytes[0] = datagram.ecn == 3;
            datagram = (goodqueue_datagram){.time_ns = now, .len = 1, .flow = flow, .direction = GOODQUEUE_UP};
            if (!goodqueue_bottleneck_send(path, &datagram, bytes, error, sizeof error))
                abort();
        } else if (!arrived || bytes[0]) {
            in_flight = arrived ? in_flight - 1 : 0;
            if (now > halved + 60000000) {
                window = window > 4.0 ? window / 2 : 2.0;
                halved = now;
            }
        } else {
            in_flight--;
            window += 1 / window;
        }
    }
    goodqueue_datagram late = {.time_ns = 1, .len = 1};
    if (goodqueue_bottleneck_send(path, &late, bytes, error, sizeof error))
        abort();
    printf("late: %s\n", error);
    goodqueue_way way;
    if (!goodqueue_bottleneck_way(path, flow, GOODQUEUE_DOWN, &way) || goodqueue_bottleneck_way(path, 9, 0, &way))
        abort();
    printf("sent %llu = delivered %llu + lost %llu + under way %llu, marked %llu, %.1f Mbit/s\n",
           (unsigned long long)way.sent, (unsigned long long)way.delivered, (unsigned long long)way.lost,
           (unsigned long long)way.under_way, (unsigned long long)way.marked, way.goodput_mbps);
    size_t len = goodqueue_bottleneck_record(path, NULL, 0);
    char *json = malloc(len + 1);
    if (json == NULL || goodqueue_bottleneck_record(path, json, len + 1) != len || strlen(json) != len)
        abort();
    printf("%s\n", json);
    free(json);
    goodqueue_bottleneck_free(path);
    return 0;
}
