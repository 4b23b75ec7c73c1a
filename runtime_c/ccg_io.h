/* What a program asks of its caller while it runs: data in and out, and calls of functions that it
   does not contain.

   The caller fills in a ccg_io and passes its address to the program's run function. Only the
   members that the program asks for are needed; its header names them. A hook is called in the
   thread of the run, between two steps, in the order of the program: an infeed in a loop once in
   each turn. The hooks of one run never run side by side.

   Every hook returns 0, or else a code of the caller's that ends the run at once: the run function
   returns that code, and its results are undefined. Take codes greater than 0; those of the library
   are less.

   Arrays are dense and row-major; their elements have the types of the run function's arguments
   (pred and sub-byte integers one a byte, f16 and bf16 as uint16_t, c64 as float[2]). An array is
   aligned to its element at least. Pointers and strings that a hook gets are valid during the call;
   the strings live as long as the program. */
#ifndef CCG_IO_H
#define CCG_IO_H

#include <stddef.h>
#include <stdint.h>

/* An array that a hook reads. */
typedef struct ccg_input {
    const void *data;
    size_t bytes;      /* size of the array */
    const char *shape; /* as HLO writes it, for example "f32[2,3]" */
} ccg_input;

/* An array that a hook writes: all of its elements. It overlaps no other one. */
typedef struct ccg_output {
    void *data;
    size_t bytes;      /* size of the array */
    const char *shape; /* as HLO writes it, for example "f32[2,3]" */
} ccg_output;

typedef struct ccg_io {
    /* The caller's own, handed to each hook as it is; may be null. */
    void *context;

    /* HLO's infeed: writes the next item that the host feeds in.
       config: the infeed_config, mostly "".
       arrays: its leaves in order, `count` of them. */
    int (*infeed)(void *context, const char *config, const ccg_output *arrays, size_t count);

    /* HLO's outfeed: takes an item.
       config: the outfeed_config, mostly "".
       arrays: its leaves in order, `count` of them. */
    int (*outfeed)(void *context, const char *config, const ccg_input *arrays, size_t count);

    /* HLO's send: takes what goes to the other end of a channel.
       channel: the channel_id, 0 where the program gives none. */
    int (*send)(void *context, int64_t channel, const ccg_input *arrays, size_t count);

    /* HLO's recv-done: waits for what comes from the other end of a channel, and writes it.
       channel: the channel_id, 0 where the program gives none. */
    int (*recv)(void *context, int64_t channel, const ccg_output *arrays, size_t count);

    /* A custom call that the caller computes.
       target: its custom_call_target.
       config: its backend_config, "" where there is none.
       operands, results: the leaves in order; null where there are none. */
    int (*call)(void *context, const char *target, const char *config, const ccg_input *operands,
                size_t operand_count, const ccg_output *results, size_t result_count);
} ccg_io;

#endif
