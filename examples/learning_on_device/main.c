/* Learns y = sin(x) on the device: 2,000 steps of gradient descent over random examples.
   Prints the loss as it falls; the exit code is 0 if it fell to a twentieth. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "learn.h"

enum { HIDDEN = 16, BATCH = 32, STEPS = 2000, REPORT = 400 };

static float w1[HIDDEN], b1[HIDDEN], w2[HIDDEN], b2[1], x[BATCH], y[BATCH], loss[1];
static unsigned char memory[LEARN_ARENA_SIZE + LEARN_ARENA_ALIGN];

/* A random number from -1 to 1. */
static float noise(void)
{
    static uint32_t state = 1u;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 8388608.0f - 1.0f;
}

int main(void)
{
    void *const arena = memory + (0u - (uintptr_t)memory) % LEARN_ARENA_ALIGN;
    float first = 0.0f, recent = 0.0f;
    for (int i = 0; i < HIDDEN; ++i) {
        w1[i] = noise();
        b1[i] = noise();
        w2[i] = noise() / 4.0f;
    }
    for (int step = 0; step < STEPS; ++step) {
        for (int i = 0; i < BATCH; ++i) {
            x[i] = 3.0f * noise();
            y[i] = sinf(x[i]);
        }
        if (learn_run(w1, b1, w2, b2, x, y, loss, arena) != 0) {
            return 2;
        }
        first = step == 0 ? loss[0] : first;
        recent = step == 0 ? loss[0] : 0.95f * recent + 0.05f * loss[0];
        if (step % REPORT == 0 || step == STEPS - 1) {
            printf("step %4d: loss %.4f\n", step, (double)recent);
        }
    }
    return recent < first / 20.0f ? 0 : 1;
}
