/* goodqueue's queue disciplines for C.
 *
 * A discipline has no clock, no dice and no threads of its own: each call tells it the time, it asks the owner's
 * callbacks for random bits, and it tells them the fate of each packet that it does not deliver. Every packet that is
 * enqueued comes back exactly once: from goodqueue_dequeue, or to the callback `dropped`.
 *
 * `make install-c PREFIX=/usr/local` installs this header and the libraries; then
 * `cc program.c $(pkg-config --cflags --libs goodqueue-qdisc)` compiles and links.
 *
 * Rules, where breaking one ends the program with a line that says which (and never corrupts memory): pointers that
 * are needed are not NULL; a packet is at least one byte; a callback does not call a function on the discipline that
 * calls it. What cannot be checked: pointers are valid, and one discipline is used by one thread at a time.
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
    uint64_t id;            /* whatever you know it by; handed back unchanged */
    uint32_t len;           /* bytes as tc counts them: with the link header; at least 1 */
    uint32_t flow_hash;     /* a 32-bit hash of the flow; salted by you, if it is to be */
    uint32_t src_host_hash; /* of the hosts; only cake asks */
    uint32_t dst_host_hash;
    uint8_t ecn;            /* 0 not ECT, 1 ECT(1), 2 ECT(0), 3 CE, as in the header */
    uint8_t dscp;           /* 0 to 63; cake and pfifo_fast ask, cake may clear it */
} goodqueue_packet;

/* Why a packet was dropped or marked; goodqueue_drop_name and goodqueue_mark_name give the word. */
typedef int goodqueue_reason;

/* Who gets packets back and holds the dice. Each callback may be NULL but `random`, which only disciplines that draw
 * none can do without (fifos, codel, fq_codel). Each is called with `context`, inside calls that take a discipline. */
typedef struct {
    void *context;
    void (*dropped)(void *context, const goodqueue_packet *packet, goodqueue_reason why);
    void (*marked)(void *context, const goodqueue_packet *packet, goodqueue_reason why); /* newly CE; on its way */
    uint64_t (*random)(void *context); /* 64 uniform random bits */
} goodqueue_owner;

/* Receives the inner state; each may be NULL. An integer beyond 64 bits is shown as the nearest. */
typedef struct {
    void *context;
    void (*integer)(void *context, const char *name, int64_t value);
    void (*real)(void *context, const char *name, double value);
} goodqueue_probe_to;

/* What enqueue returns, as Linux does. */
enum { GOODQUEUE_SUCCESS = 0, GOODQUEUE_DROPPED = 1, GOODQUEUE_CONGESTION = 2 };

/* "No timer". */
#define GOODQUEUE_NEVER UINT64_MAX

/* Makes a discipline from a tc line ("codel target 5ms ecn") over a link of `rate_bps` whose full frame has `mtu`
 * bytes (1514 on Ethernet). NULL where the line is refused; `error` (of `error_size` bytes; may be NULL) then holds one
 * line that names the word, what was found and what is accepted, cut to fit. */
goodqueue *goodqueue_new(const char *line, uint64_t rate_bps, uint32_t mtu, goodqueue_owner owner, char *error,
                         size_t error_size);
void goodqueue_free(goodqueue *qdisc); /* what it holds is forgotten, not dropped; NULL is nothing */

/* Offers a packet at `now_ns`, which never goes back. It, or others, may be dropped before this returns. */
int goodqueue_enqueue(goodqueue *qdisc, uint64_t now_ns, const goodqueue_packet *packet);

/* The same, with the packet's first bytes, from which the TCP header is read that `cake ack-filter` asks for: at `ip`
 * begins an IPv4 or IPv6 packet in network byte order, without a link header, of which `ip_size` bytes can be read. More
 * than 120 bytes are never looked at, and none is kept. Where they are no TCP, a fragment, malformed or cut off before
 * TCP's options end, the filter leaves the packet alone, as it does all of goodqueue_enqueue. Length, codepoints and
 * hashes are those of `packet`; packets of one flow_hash are taken for one direction of one connection. */
int goodqueue_enqueue_ip(goodqueue *qdisc, uint64_t now_ns, const goodqueue_packet *packet, const void *ip,
                         size_t ip_size);

/* Takes the packet to send next into `packet`: 1, or 0 where there is none now. */
int goodqueue_dequeue(goodqueue *qdisc, uint64_t now_ns, goodqueue_packet *packet);

/* Changes parameters while packets wait, as `tc qdisc change` does: `line` names the discipline and the parameters that
 * change ("codel target 20ms"), the others and the state stay; what exceeds a smaller limit is dropped, the oldest first.
 * goodqueue_set_link_rate tells that the link has another rate from now on. Both return 1, or 0 where the change is refused:
 * nothing has changed then, and `error` says why, as for goodqueue_new. An idle link calls dequeue again afterwards. */
int goodqueue_change(goodqueue *qdisc, uint64_t now_ns, const char *line, char *error, size_t error_size);
int goodqueue_set_link_rate(goodqueue *qdisc, uint64_t now_ns, uint64_t rate_bps, char *error, size_t error_size);

/* What waits; either pointer may be NULL. */
void goodqueue_backlog(const goodqueue *qdisc, uint32_t *packets, uint64_t *bytes);

/* When goodqueue_on_timer wants to be called; ask after each call. After it, an idle link calls dequeue again. */
uint64_t goodqueue_next_timer(const goodqueue *qdisc);
void goodqueue_on_timer(goodqueue *qdisc, uint64_t now_ns);

/* Shows the inner state, one variable after the other, under Linux's or the RFC's names. */
void goodqueue_probe(const goodqueue *qdisc, goodqueue_probe_to to);

/* The version of the library, as `pkg-config --modversion goodqueue-qdisc` says that of this header. */
const char *goodqueue_version(void);

/* The word for a reason ("overlimit", "early", ...); "?" for a number that is none. */
const char *goodqueue_drop_name(goodqueue_reason why);
const char *goodqueue_mark_name(goodqueue_reason why);

#ifdef __cplusplus
}
#endif
#endif
