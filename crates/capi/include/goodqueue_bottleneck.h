/* goodqueue's path for your own endpoints, for C: queues, links and other traffic, in virtual time, without I/O.
 *
 * A path has no clock and no threads. Datagrams go in with a time, and come out at the other end later, marked, or
 * never. The same calls give the same run, byte for byte. The library, and how to link it, are those of
 * goodqueue_qdisc.h.
 *
 * A mistake in numbers is refused with one line, and changes nothing: a time in the path's past, no bytes or too many,
 * a flow that the scenario does not have. A NULL that is needed ends the program with a line. Two rules cannot be
 * checked: pointers are valid, and one thread at a time uses a path.
 */
#ifndef GOODQUEUE_BOTTLENECK_H
#define GOODQUEUE_BOTTLENECK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A path. */
typedef struct goodqueue_bottleneck goodqueue_bottleneck;

/* Directions: to the user, and from the user. */
enum { GOODQUEUE_DOWN = 0, GOODQUEUE_UP = 1 };

/* A datagram, as it is sent or as it arrives. Its bytes are beside it. */
typedef struct {
    uint64_t time_ns;  /* since the run began */
    size_t len;        /* bytes of payload; the path counts 42 more: the headers of UDP, IPv4 and Ethernet */
    uint32_t flow;     /* counts the scenario's flows of the kind `outside`, from 0 */
    uint8_t direction; /* GOODQUEUE_DOWN or GOODQUEUE_UP */
    uint8_t ecn;       /* 0 not ECT, 1 ECT(1), 2 ECT(0), 3 CE, as in the header */
    uint8_t dscp;      /* 0 to 63 */
} goodqueue_datagram;

/* What the path did to the datagrams of one direction of a flow. Those sent during the warm-up do not count. */
typedef struct {
    uint64_t sent, sent_bytes;
    uint64_t delivered, delivered_bytes; /* copies that a wire made do not count */
    uint64_t lost;                       /* dropped by a queue or lost at a hop */
    uint64_t marked;                     /* arrived with CE and were sent without */
    uint64_t under_way;
    double goodput_mbps;
    double delay_mean_ms, delay_p50_ms, delay_p99_ms; /* from sending to arrival; 0 if nothing arrived */
} goodqueue_way;

/* Builds the path of a scenario in JSON: the tables of a scenario's file. Traffic of the kind `outside` is your flows,
 * each with the keys of any traffic (name, count, rtt, hops, station, host). Without such traffic there is one flow.
 * Returns NULL if the scenario is refused. Then `error` holds the reason, which ends with a zero byte and is cut to
 * error_size; it may be NULL. */
goodqueue_bottleneck *goodqueue_bottleneck_open(const char *scenario, char *error, size_t error_size);
void goodqueue_bottleneck_free(goodqueue_bottleneck *path); /* does nothing for NULL */

/* Writes the number of the flow `name`, which is "mine" or, with a count above 1, "mine/1". Returns 1, or 0 if the
 * scenario has no such flow. */
int goodqueue_bottleneck_flow(const goodqueue_bottleneck *path, const char *name, uint32_t *flow, char *error,
                              size_t error_size);

/* Puts a datagram of `datagram->len` bytes, which `bytes` points to, into the path at its time. The bytes are copied.
 * Returns 1, or 0 if it is refused. */
int goodqueue_bottleneck_send(goodqueue_bottleneck *path, const goodqueue_datagram *datagram, const void *bytes,
                              char *error, size_t error_size);

/* Returns the time of the next event, or UINT64_MAX. No datagram arrives before it. Most events are no arrivals. */
uint64_t goodqueue_bottleneck_next_time(goodqueue_bottleneck *path);

/* Runs until the next datagram arrives, at the latest until `until_ns` or the end of the run. Returns 1 if one arrived:
 * then `datagram` has it, and `bytes` the first `size` of its bytes. Returns 0 if none did. A time in the past means
 * now. */
int goodqueue_bottleneck_receive(goodqueue_bottleneck *path, uint64_t until_ns, goodqueue_datagram *datagram,
                                 void *bytes, size_t size);

/* The time that the path has reached, the end of the run, and the most bytes of a datagram. */
uint64_t goodqueue_bottleneck_now(const goodqueue_bottleneck *path);
uint64_t goodqueue_bottleneck_duration(const goodqueue_bottleneck *path);
size_t goodqueue_bottleneck_most_bytes(const goodqueue_bottleneck *path);

/* Writes what the path did to one direction of a flow. Returns 1, or 0 if there is no such flow or direction. */
int goodqueue_bottleneck_way(const goodqueue_bottleneck *path, uint32_t flow, uint8_t direction, goodqueue_way *way);

/* Writes goodqueue's record of the run so far, as JSON that ends with a zero byte, cut to `size`. Returns its length
 * without that byte; `json` may be NULL. */
size_t goodqueue_bottleneck_record(const goodqueue_bottleneck *path, char *json, size_t size);

#ifdef __cplusplus
}
#endif
#endif
