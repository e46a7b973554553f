/* Random calls on disciplines and paths, the same for the same seed, in several threads with small stacks.
 *
 *   random SEED CALLS LINE... runs each LINE, and then the paths below. It ends with 0, or says what does not hold.
 */
#include "goodqueue_bottleneck.h"
#include "goodqueue_qdisc.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds) \
    do { \
        if (!(holds)) { \
            printf("seed %llu, \"%.200s\": not %s\n", (unsigned long long)work->seed, work->line, #holds); \
            exit(1); \
        } \
    } while (0)

struct work {
    uint64_t seed, state, dropped;
    long calls;
    const char *line;
};

static uint64_t bits(void *context) { /* splitmix64 */
    uint64_t x = ((struct work *)context)->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t below(struct work *work, uint64_t most) { return bits(work) % most; }

static void dropped(void *context, const goodqueue_packet *packet, goodqueue_reason why) {
    ((struct work *)context)->dropped += packet->len > 0 && goodqueue_drop_name(why)[0] != '?';
}

static void seen(void *context, const char *name, int64_t value) { *(uint64_t *)context += strlen(name) + (value == 0); }
static void seen_real(void *context, const char *name, double value) { *(uint64_t *)context += strlen(name) + (value == 0); }

/* Returns a block whose end the sanitizer watches. */
static uint8_t *some(struct work *work, size_t size) {
    uint8_t *block = malloc(size ? size : 1);
    for (size_t at = 0; at < size; at++)
        block[at] = (uint8_t)bits(work);
    if (size > 0 && below(work, 2))
        block[0] = below(work, 2) ? 0x45 : 0x60; /* IPv4 or IPv6 */
    return block;
}

static void *disciplines(void *context) {
    struct work *work = context;
    static const char *others[] = {"codel target 9ms", "pfifo limit 3", "", "fq_codel flows 2", "tc", "cake", "\xff", "red limit 1"};
    char error[200];
    goodqueue_owner owner = {work, below(work, 9) ? dropped : NULL, NULL, bits};
    size_t size = below(work, sizeof error);
    goodqueue *qdisc = goodqueue_new(work->line, 1 + below(work, 10000000000u), 64 + (uint32_t)below(work, 65000), owner, error, size);
    if (!qdisc) {
        CHECK(size == 0 || strlen(error) < size);
        return NULL;
    }
    uint64_t now = 0, offered = 0, given = 0, told = 0;
    for (long call = 0; call < work->calls; call++) {
        now += below(work, 3) ? below(work, 3000000) : below(work, 50) ? 0 : below(work, UINT64_C(1) << 55);
        goodqueue_packet packet = {call, 1 + (uint32_t)below(work, below(work, 9) ? 1514 : 100000), (uint32_t)below(work, 9),
                                   (uint32_t)bits(work), (uint32_t)below(work, 3), (uint8_t)below(work, 4), (uint8_t)below(work, 64)};
        uint64_t what = below(work, 20);
        if (what < 6) {
            goodqueue_enqueue(qdisc, now, &packet);
            offered++;
        } else if (what < 8) {
            size_t length = below(work, 130);
            uint8_t *ip = some(work, length);
            goodqueue_enqueue_ip(qdisc, now, &packet, ip, length);
            free(ip);
            offered++;
        } else if (what < 9) {
            goodqueue_sender sender = {below(work, 5), below(work, 2) ? 0 : now + below(work, 1000000000), bits(work) >> below(work, 64), (uint8_t)below(work, 2)};
            goodqueue_enqueue_sent(qdisc, now, &packet, sender);
            offered++;
        } else if (what < 14) {
            given += (uint64_t)goodqueue_dequeue(qdisc, now, &packet);
        } else if (what == 14) {
            size_t most = below(work, sizeof error);
            const char *line = below(work, 3) ? work->line : others[below(work, sizeof others / sizeof *others)];
            if (!goodqueue_change(qdisc, now, line, below(work, 4) ? error : NULL, most) && most)
                CHECK(strlen(error) < sizeof error);
        } else if (what == 15) {
            goodqueue_set_link_rate(qdisc, now, bits(work) >> below(work, 64), error, sizeof error);
        } else if (what == 16) {
            goodqueue_probe(qdisc, (goodqueue_probe_to){&told, below(work, 9) ? seen : NULL, seen_real});
        } else if (goodqueue_next_timer(qdisc) <= now) {
            goodqueue_on_timer(qdisc, now);
        }
        uint32_t packets;
        uint64_t bytes;
        goodqueue_backlog(qdisc, &packets, &bytes);
        CHECK((packets == 0) == (bytes == 0));
        if (owner.dropped)
            CHECK(offered == given + work->dropped + packets);
    }
    goodqueue_free(qdisc);
    return NULL;
}

static void *paths(void *context) {
    struct work *work = context;
    char error[200];
    goodqueue_bottleneck *path = goodqueue_bottleneck_open(work->line, error, below(work, sizeof error));
    if (!path)
        return NULL;
    uint64_t sent[4] = {0}, last = 0;
    for (long call = 0; call < work->calls; call++) {
        uint64_t now = goodqueue_bottleneck_now(path), what = below(work, 12);
        CHECK(now >= last && now <= goodqueue_bottleneck_duration(path));
        last = now;
        uint8_t bytes[64];
        goodqueue_datagram datagram = {now + below(work, 9000000), 1 + below(work, below(work, 9) ? 1472 : 70000), (uint32_t)below(work, 4),
                                       (uint8_t)below(work, 3), (uint8_t)below(work, 5), (uint8_t)below(work, 66)};
        if (what < 5) {
            uint8_t *data = some(work, datagram.len);
            if (goodqueue_bottleneck_send(path, &datagram, data, error, sizeof error))
                sent[datagram.flow]++;
            free(data);
        } else if (what < 9) {
            size_t size = below(work, 9) ? below(work, sizeof bytes + 1) : 0;
            if (goodqueue_bottleneck_receive(path, now + below(work, 9000000), &datagram, size ? bytes : NULL, size))
                CHECK(datagram.direction <= 1 && datagram.ecn <= 3 && datagram.flow < 4);
        } else if (what == 9) {
            CHECK(goodqueue_bottleneck_next_time(path) >= now);
        } else if (what == 10) {
            uint32_t flow;
            goodqueue_bottleneck_flow(path, below(work, 2) ? "mine/0" : "\xff", &flow, error, below(work, sizeof error));
        } else if (call % 8 == 0) {
            size_t size = below(work, 9) ? below(work, 3000) : 0;
            char *json = malloc(size + 1);
            size_t whole = goodqueue_bottleneck_record(path, size ? json : NULL, size);
            CHECK(size == 0 || strlen(json) == (whole < size ? whole : size - 1));
            free(json);
        }
    }
    for (uint32_t flow = 0; flow < 4; flow++) {
        goodqueue_way ways[2];
        uint64_t both = 0;
        for (uint8_t direction = 0; direction < 2; direction++)
            if (goodqueue_bottleneck_way(path, flow, direction, &ways[direction])) {
                CHECK(ways[direction].sent == ways[direction].delivered + ways[direction].lost + ways[direction].under_way);
                both += ways[direction].sent;
            }
        CHECK(both == sent[flow]);
    }
    goodqueue_bottleneck_free(path);
    return NULL;
}

/* Runs `what` in a thread with a stack of 256 kB. */
static void run(void *(*what)(void *), struct work *work) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, 256 << 10) || pthread_create(&thread, &attributes, what, work))
        exit(3);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv) {
    static const char *queues[] = {"\"qdisc\": \"codel ecn\"", "\"qdisc\": \"netem loss 9%\"", "\"qdisc\": \"cake\"", "\"qdisc\": 7",
                                   "\"tc\": [\"tc qdisc add dev e root handle 1: prio\"]"};
    static const char *flows[] = {"", ", \"traffic\": [{\"kind\": \"outside\", \"name\": \"mine\", \"count\": 3}]",
                                  ", \"traffic\": [{\"kind\": \"outside\", \"name\": \"mine\"}, {\"kind\": \"bulk\"}]", ", \"traffic\": [[["};
    if (argc < 3)
        return 2;
    struct work work = {.seed = strtoull(argv[1], NULL, 10), .calls = atol(argv[2])};
    for (int line = 3; line < argc; line++) {
        work.line = argv[line];
        work.state = work.seed ^ ((uint64_t)line << 40);
        work.dropped = 0;
        run(disciplines, &work);
    }
    for (int scenario = 0; scenario < 6; scenario++) {
        char json[600];
        work.state = work.seed ^ ((uint64_t)scenario << 50);
        snprintf(json, sizeof json,
                 "{\"duration\": \"%dms\", \"warmup\": \"0s\", \"bottleneck\": {\"rate\": \"%dmbit\", %s}, \"path\": {\"rtt\": \"%dms\"}%s}",
                 200 + (int)below(&work, 900), 1 + (int)below(&work, 99), queues[below(&work, 5)], 1 + (int)below(&work, 80),
                 flows[below(&work, 4)]);
        work.line = json;
        run(paths, &work);
    }
    return 0;
}
