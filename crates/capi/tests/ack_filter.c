/* `cake ack-filter` from C: ten ACKs of one connection wait on a slow uplink, and the newest two remain.
 *
 *   cc crates/capi/tests/ack_filter.c $(pkg-config --cflags --libs goodqueue-qdisc) -o ack_filter
 */
#include <goodqueue_qdisc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void dropped(void *context, const goodqueue_packet *packet, goodqueue_reason why) {
    (void)packet;
    if (strcmp(goodqueue_drop_name(why), "ack") == 0)
        ++*(int *)context;
}

static uint64_t bits(void *context) {
    (void)context;
    return 0x9e3779b97f4a7c15u;
}

int main(int argc, char **argv) {
    int filtered = 0, left = 0;
    goodqueue_owner owner = {&filtered, dropped, NULL, bits};
    char error[512];
    const char *line = "cake bandwidth 1mbit diffserv4 ack-filter";
    goodqueue *qdisc = goodqueue_new(line, 1000000, 1514, owner, error, sizeof error);
    if (!qdisc) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    size_t size = argc > 1 ? (size_t)atoi(argv[1]) : 40;
    for (uint32_t number = 1; number <= 10; number++) {
        /* IPv4 and TCP headers as on the wire: 40 bytes, DSCP EF, an ACK of `number`. */
        const uint8_t header[40] = {
            0x45, 46 << 2, 0, 40, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 8, 0, 1, 10, 9, 0, 1,
            0x13, 0x88, 0, 80, 0, 0, 0, 1, 0, 0, 0, (uint8_t)number, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0,
        };
        /* Allocates exactly `size` bytes, so that a checker sees a read beyond them. */
        uint8_t *bytes = malloc(size ? size : 1);
        memcpy(bytes, header, size);
        goodqueue_packet packet = {.id = number, .len = 54, .flow_hash = 7, .dscp = header[1] >> 2};
        goodqueue_enqueue_ip(qdisc, 0, &packet, bytes, size);
        free(bytes);
    }
    goodqueue_packet packet;
    for (uint64_t now = 0; now < 1000000000; now += 1000000)
        left += goodqueue_dequeue(qdisc, now, &packet);
    printf("goodqueue %s: %d filtered, %d left\n", goodqueue_version(), filtered, left);
    goodqueue_free(qdisc);
    return filtered + left == 10 ? 0 : 1;
}
