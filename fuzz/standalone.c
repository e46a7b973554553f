/* Replaces libFuzzer's main: it runs a fuzz target on a number of random inputs, which are the same each time, and on
   each file that is named. It needs no C++ compiler, sanitizer or nightly, and learns nothing from a run. It shows that
   a target compiles, runs and holds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libfuzzer-sys refers to this function. Our targets leave mutation to libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) {
    (void)data, (void)max_size;
    return size;
}

/* xorshift64*, Vigna 2016. */
static uint64_t next(void) {
    static uint64_t state = 1;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 2685821657736338717u;
}

int main(int argc, char **argv) {
    static uint8_t data[4096];
    long runs = argc >= 2 ? strtol(argv[1], NULL, 10) : 0;
    if (runs <= 0) {
        fprintf(stderr, "%s: found no number of inputs; accepted: one, above 0, and files\n", argv[0]);
        return 2;
    }
    LLVMFuzzerInitialize(&argc, &argv);
    for (int file = 2; file < argc; file++) {
        FILE *opened = fopen(argv[file], "rb");
        if (!opened) {
            perror(argv[file]);
            return 2;
        }
        size_t size = fread(data, 1, sizeof data, opened);
        fclose(opened);
        LLVMFuzzerTestOneInput(data, size);
    }
    for (long run = 0; run < runs; run++) {
        size_t size = next() % (sizeof data + 1);
        /* The crate arbitrary continues a list while a byte is odd. Every other input has mostly odd bytes. */
        uint64_t odd = run % 2 ? 64 : 1;
        for (size_t at = 0; at < size; at++) {
            data[at] = (uint8_t)(next() >> 56);
            if (next() % odd)
                data[at] |= 1;
        }
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("%s: %ld inputs, %d files\n", argv[0], runs, argc - 2);
    return 0;
}
