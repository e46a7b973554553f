/* A turn of a stack that reads the clock and draws random numbers by itself: its time and its numbers are the run's.
 *
 * The linker sends the calls of `clock_gettime` and `RAND_bytes` here (build.rs: --wrap), those of this module only. A
 * thread that is in no turn has the real clock and real random numbers, so other code of the process sees no change. */

#include <stddef.h>
#include <stdint.h>
#include <time.h>

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __real_RAND_bytes(uint8_t *bytes, size_t length);

static __thread struct {
  int is_on;
  uint64_t now_ns;
  uint64_t random;
} turn;

void goodqueue_turn_begin(uint64_t now_ns, uint64_t random) {
  turn.is_on = 1;
  turn.now_ns = now_ns;
  turn.random = random;
}

/* Ends the turn, and returns the state of the random numbers. */
uint64_t goodqueue_turn_end(void) {
  turn.is_on = 0;
  return turn.random;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
  int is_cpu = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
  if (!turn.is_on || is_cpu)
    return __real_clock_gettime(clock, time);
  time->tv_sec = (time_t)(turn.now_ns / 1000000000u);
  time->tv_nsec = (long)(turn.now_ns % 1000000000u);
  return 0;
}

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t next(void) {
  uint64_t z = turn.random += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int __wrap_RAND_bytes(uint8_t *bytes, size_t length) {
  if (!turn.is_on)
    return __real_RAND_bytes(bytes, length);
  uint64_t word = 0;
  for (size_t i = 0; i < length; i++, word >>= 8) {
    if (i % 8 == 0)
      word = next();
    bytes[i] = (uint8_t)word;
  }
  return 1;
}
