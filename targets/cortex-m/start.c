/* Start-up of a Cortex-M program that talks to its debugger or emulator by semihosting.
   Sets up the FPU and memory, runs main, and ends the emulator with main's result. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* From the linker script. */
extern char ccg_stack_top, ccg_data_start, ccg_data_end, ccg_data_image, ccg_bss_start, ccg_bss_end;

extern int main(void);
extern void initialise_monitor_handles(void);

void reset(void);
void _init(void);
void _fini(void);

/* The C library calls these around constructors, of which C has none. */
void _init(void) {}
void _fini(void) {}

/* SYS_EXIT_EXTENDED with an exit code that no test uses. */
static void fault(void)
{
    static const uint32_t arguments[2] = {0x20026u, 97u};
    register uint32_t operation __asm__("r0") = 0x20u;
    register const uint32_t *parameter __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xAB" : : "r"(operation), "r"(parameter) : "memory");
    for (;;) {
    }
}

void reset(void)
{
#ifdef __ARM_FP
    /* CPACR: full access to the coprocessors 10 and 11, which are the FPU. */
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
    __asm__ volatile("dsb\n isb");
#endif
    memcpy(&ccg_data_start, &ccg_data_image, (size_t)(&ccg_data_end - &ccg_data_start));
    memset(&ccg_bss_start, 0, (size_t)(&ccg_bss_end - &ccg_bss_start));
    initialise_monitor_handles();
    exit(main());
}

typedef union {
    char *stack;
    void (*handler)(void);
} ccg_vector;
__attribute__((section(".vectors"), used)) static const ccg_vector vectors[16] = {
    {.stack = &ccg_stack_top},
    {.handler = reset},
    {.handler = fault}, /* NMI */
    {.handler = fault}, /* hard fault */
    {.handler = fault}, /* memory management */
    {.handler = fault}, /* bus */
    {.handler = fault}, /* usage */
    {0}, {0}, {0}, {0},
    {.handler = fault}, /* SVC */
    {.handler = fault}, /* debug */
    {0},
    {.handler = fault}, /* PendSV */
    {.handler = fault}, /* SysTick, which nothing starts */
};
