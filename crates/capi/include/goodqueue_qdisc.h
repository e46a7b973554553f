/* goodqueue's queue disciplines for C.
 *
 * A discipline has no clock, no source of random numbers and no threads. Each call gives it the time. It asks the
 * owner's callbacks for random bits, and reports each packet that it does not deliver to them. Every packet that is
 * enqueued comes back exactly once: from goodqueue_dequeue, or to the callback `dropped`.
 *
 * `make install-c PREFIX=/usr/local` installs this header and the libraries; then
 * `cc program.c $(pkg-config --cflags --libs goodqueue-qdisc)` compiles and links.
 *
 * Three rules are checked. If one is broken, the program ends with a line that names it, and memory is never corrupted:
 * pointers that are needed are not NULL; a packet has at least one byte; a callback calls no function on the discipline
 * that calls it. Two rules cannot be checked: pointers are valid, and one thread at a time uses a discipline.
 */
#ifndef GOODQUEUE_QDISC_H
#define GOODQUEUE_QDISC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A discipline. */
typedef struct goodqueue goodqueue;

/* A packet as a discipline sees it. Write zeros where you do not know. */
typedef struct {
    uint64_t id;            /* your own number for it; handed back unchanged */
    uint32_t len;           /* bytes as tc counts them: with the link header; at least 1 */
    uint32_t flow_hash;     /* a 32-bit hash of the flow; add a salt if you want one */
    uint32_t src_host_hash; /* hashes of the hosts; only cake reads them */
    uint32_t dst_host_hash;
    uint8_t ecn;            /* 0 not ECT, 1 ECT(1), 2 ECT(0), 3 CE, as in the header */
    uint8_t dscp;           /* 0 to 63; cake, fq, pfifo_fast and prio read it, cake may clear it */
} goodqueue_packet;

/* Why a packet was dropped or marked. goodqueue_drop_name and goodqueue_mark_name return the word for it. */
typedef int goodqueue_reason;

/* The owner gets packets back and supplies random bits. Each callback may be NULL, except `random`: only disciplines
 * that draw nothing (FIFOs, prio, fq, codel, fq_codel) can do without it. Callbacks are called with `context`, and only
 * during a call that takes a discipline. */
typedef struct {
    void *context;
    void (*dropped)(void *context, const goodqueue_packet *packet, goodqueue_reason why);
    void (*marked)(void *context, const goodqueue_packet *packet, goodqueue_reason why); /* it is CE from now on, and still queued or being returned */
    uint64_t (*random)(void *context); /* 64 uniform random bits */
} goodqueue_owner;

/* Receives the inner state; each callback may be NULL. An integer beyond 64 bits becomes the nearest 64-bit one. */
typedef struct {
    void *context;
    void (*integer)(void *context, const char *name, int64_t value);
    void (*real)(void *context, const char *name, double value);
} goodqueue_probe_to;

/* The return values of goodqueue_enqueue: Linux's NET_XMIT codes. */
enum { GOODQUEUE_SUCCESS = 0, GOODQUEUE_DROPPED = 1, GOODQUEUE_CONGESTION = 2 };

/* The time that means "no timer". */
#define GOODQUEUE_NEVER UINT64_MAX

/* Makes a discipline from a tc line ("codel target 5ms ecn"). Its link has the rate `rate_bps`, and a full frame of
 * the link has `mtu` bytes (1514 on Ethernet). Returns NULL if the line is refused. Then `error` (`error_size` bytes;
 * may be NULL) holds one line, cut to fit: the word, what was found, what is accepted. */
goodqueue *goodqueue_new(const char *line, uint64_t rate_bps, uint32_t mtu, goodqueue_owner owner, char *error,
                         size_t error_size);
void goodqueue_free(goodqueue *qdisc); /* reports no drops for the packets that it holds; does nothing for NULL */

/* Offers a packet at the time `now_ns`, which must never go back. The packet, or others, may be dropped before this
 * returns. */
int goodqueue_enqueue(goodqueue *qdisc, uint64_t now_ns, const goodqueue_packet *packet);

/* Does the same, and lets `cake ack-filter` read the TCP header. `ip` points to an IPv4 or IPv6 packet in network byte
 * order, without a link header; `ip_size` bytes of it can be read. At most 120 bytes are read, and none is kept. The
 * filter leaves a packet alone if these bytes are not TCP, are a fragment, are malformed, or end before TCP's options
 * end. It leaves packets of goodqueue_enqueue alone, too. Length, codepoints and hashes are those of `packet`. Packets
 * with the same flow_hash count as one direction of one connection. */
int goodqueue_enqueue_ip(goodqueue *qdisc, uint64_t now_ns, const goodqueue_packet *packet, const void *ip,
                         size_t ip_size);

/* The socket of this host that sends a packet; only fq reads it. Write zeros where you do not know. */
typedef struct {
    uint64_t socket;       /* your own number for it, below 2^63 */
    uint64_t departure_ns; /* the packet's earliest departure time; 0: it may leave at once */
    uint64_t pacing_bps;   /* the socket's pacing rate (SO_MAX_PACING_RATE); 0: unlimited */
    uint8_t is_tcp;        /* 1 for a TCP socket, which sets departure times itself */
} goodqueue_sender;

/* Does the same for a packet that a socket of this host sends. The packets of the functions above are forwarded: their
 * flow is their hash, and they may leave at once. */
int goodqueue_enqueue_sent(goodqueue *qdisc, uint64_t now_ns, const goodqueue_packet *packet, goodqueue_sender sender);

/* Writes the packet to send next into `packet`. Returns 1, or 0 if there is none now. */
int goodqueue_dequeue(goodqueue *qdisc, uint64_t now_ns, goodqueue_packet *packet);

/* Changes parameters while packets wait, as `tc qdisc change` does. `line` names the discipline and the parameters
 * that change ("codel target 20ms"); the other parameters and the state stay. Packets beyond a smaller limit are
 * dropped, the oldest first. goodqueue_set_link_rate says that the link has another rate from now on. Both return 1,
 * or 0 if the change is refused: then nothing has changed, and `error` says why, as for goodqueue_new. After a
 * change, call dequeue again if the link is idle. */
int goodqueue_change(goodqueue *qdisc, uint64_t now_ns, const char *line, char *error, size_t error_size);
int goodqueue_set_link_rate(goodqueue *qdisc, uint64_t now_ns, uint64_t rate_bps, char *error, size_t error_size);

/* Writes how many packets and bytes wait; either pointer may be NULL. */
void goodqueue_backlog(const goodqueue *qdisc, uint32_t *packets, uint64_t *bytes);

/* Returns when goodqueue_on_timer must be called. Ask again after each call on the discipline. After the timer, call
 * dequeue again if the link is idle. */
uint64_t goodqueue_next_timer(const goodqueue *qdisc);
void goodqueue_on_timer(goodqueue *qdisc, uint64_t now_ns);

/* Reports the inner state, one variable after the other, by Linux's or the RFC's names. */
void goodqueue_probe(const goodqueue *qdisc, goodqueue_probe_to to);

/* Returns the version of the library. `pkg-config --modversion goodqueue-qdisc` prints the header's. */
const char *goodqueue_version(void);

/* Returns the word for a reason ("overlimit", "early", ...), or "?" for a number that is no reason. */
const char *goodqueue_drop_name(goodqueue_reason why);
const char *goodqueue_mark_name(goodqueue_reason why);

#ifdef __cplusplus
}
#endif
#endif
