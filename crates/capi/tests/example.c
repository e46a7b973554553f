/* goodqueue from C: CoDel controls the queue of a link that carries half of the packets that arrive.
 *
 *   cargo build --release -p goodqueue-capi
 *   cc -Icrates/capi/include crates/capi/tests/example.c target/release/libgoodqueue_capi.a \
 *      -lpthread -ldl -lm -o example
 */
#include <goodqueue_qdisc.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct counts {
    goodqueue *qdisc; /* set only for the misuse "callback" */
    uint64_t dropped, marked, state;
};

static void dropped(void *context, const goodqueue_packet *packet, goodqueue_reason why) {
    struct counts *counts = context;
    if (counts->dropped++ == 0)
        printf("first drop: packet %" PRIu64 ", %s\n", packet->id, goodqueue_drop_name(why));
    if (counts->qdisc)
        goodqueue_backlog(counts->qdisc, NULL, NULL); /* not allowed here */
}

static void marked(void *context, const goodqueue_packet *packet, goodqueue_reason why) {
    struct counts *counts = context;
    if (counts->marked++ == 0)
        printf("first mark: packet %" PRIu64 ", %s\n", packet->id, goodqueue_mark_name(why));
}

static uint64_t bits(void *context) { /* splitmix64 */
    uint64_t x = ((struct counts *)context)->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void integer(void *context, const char *name, int64_t value) {
    (void)context;
    if (strcmp(name, "dropping") == 0)
        printf("%s=%" PRId64 "\n", name, value);
}

int main(int argc, char **argv) {
    const char *line = argc > 1 ? argv[1] : "codel target 5ms";
    const char *misuse = argc > 2 ? argv[2] : "";
    char error[512];
    struct counts counts = {0};
    goodqueue_owner owner = {&counts, dropped, marked, bits};
    goodqueue *qdisc = goodqueue_new(line, 10000000, 1514, owner, error, sizeof error);
    if (!qdisc) {
        printf("refused: %s\n", error);
        return 2;
    }
    if (strcmp(misuse, "callback") == 0)
        counts.qdisc = qdisc;
    if (strcmp(misuse, "null") == 0)
        goodqueue_enqueue(qdisc, 0, NULL);
    if (strcmp(misuse, "bytes") == 0)
        goodqueue_enqueue_ip(qdisc, 0, &(goodqueue_packet){.len = 54}, NULL, 40);

    uint64_t now = 0, delivered = 0;
    const uint64_t offered = 2000;
    goodqueue_packet packet;
    for (uint64_t id = 0; id < offered; id++) {
        packet = (goodqueue_packet){.id = id, .len = 1514, .flow_hash = (uint32_t)(id % 4), .ecn = id % 2 ? 2 : 0};
        goodqueue_enqueue(qdisc, now, &packet);
        if (id % 2)
            delivered += (uint64_t)goodqueue_dequeue(qdisc, now, &packet);
        if (id == offered / 2 && !goodqueue_set_link_rate(qdisc, now, 20000000, error, sizeof error))
            printf("refused: %s\n", error);
        now += 600000; /* about half of a packet's time at 10 Mbit/s */
        if (goodqueue_next_timer(qdisc) <= now)
            goodqueue_on_timer(qdisc, now);
    }
    goodqueue_probe(qdisc, (goodqueue_probe_to){NULL, integer, NULL});
    uint32_t packets;
    uint64_t bytes;
    goodqueue_backlog(qdisc, &packets, &bytes);
    printf("offered %" PRIu64 " = delivered %" PRIu64 " + dropped %" PRIu64 " + waiting %" PRIu32 " (%" PRIu64
           " bytes); marked %" PRIu64 "\n", offered, delivered, counts.dropped, packets, bytes, counts.marked);
    goodqueue_free(qdisc);
    return offered == delivered + counts.dropped + packets && bytes == 1514u * (uint64_t)packets ? 0 : 1;
}
