"""The pool of threads: all turns once, whoever calls, and nothing that ThreadSanitizer minds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ccodegen.support.runtime_c import header_dir

WARNINGS = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Werror"

# Two threads call a pool of three, many times; then a forked process does. Prints the turns that
# were not done exactly once.
PROGRAM = """
#include "ccg_pool.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 1000, CALLS = 2000 };
static ccg_pool pool = CCG_POOL(3);

static void add_one(void *context, ptrdiff_t begin, ptrdiff_t end)
{
    int *const counts = context;
    for (ptrdiff_t i = begin; i < end; ++i) {
        ++counts[i];
    }
}

static int wrong(int calls)
{
    int counts[TURNS] = {0}, bad = 0;
    for (int call = 0; call < calls; ++call) {
        ccg_pool_run(&pool, TURNS - call % 999, add_one, counts);
    }
    for (int i = 0; i < TURNS; ++i) {
        int expected = 0;
        for (int call = 0; call < calls; ++call) {
            expected += i < TURNS - call % 999;
        }
        bad += counts[i] != expected;
    }
    return bad;
}

static void *caller(void *bad)
{
    *(int *)bad = wrong(CALLS);
    return NULL;
}

int main(void)
{
    pthread_t other;
    int bad[3] = {0}, status = 0;
    pthread_create(&other, NULL, caller, &bad[0]);
    bad[1] = wrong(CALLS);
    pthread_join(other, NULL);
    pid_t child = fork();
    if (child == 0) {
        _exit(wrong(10) != 0);
    }
    waitpid(child, &status, 0);
    bad[2] = status;
    ccg_pool_stop(&pool);
    printf("%d %d %d\\n", bad[0], bad[1], bad[2]);
    return 0;
}
"""


@pytest.mark.parametrize(
    "command",
    [
        "gcc -O2",
        "clang -O2",
        "gcc -O2 -D_GNU_SOURCE",
        "gcc -O2 -DCCG_PLAIN",
        "clang -O1 -g -fsanitize=thread",
        "clang -O1 -g -fsanitize=thread -D_GNU_SOURCE",
        "gcc -O1 -g -fsanitize=address,undefined",
    ],
)
def test_all_turns_once(command: str, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(PROGRAM)
    program = tmp_path / "main"
    compiler = [*command.split(), *WARNINGS.split(), f"-I{header_dir()}", "-pthread"]
    subprocess.run([*compiler, tmp_path / "main.c", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("0 0 0\n", "", 0)


def test_threads_header_is_cpp_and_alone(tmp_path: Path) -> None:
    for compiler, name in (("g++", "a.cpp"), ("gcc", "a.c")):
        (tmp_path / name).write_text('#include "ccg_threads.h"\n#include "ccg_threads.h"\n')
        flags = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", f"-I{header_dir()}"]
        subprocess.run([compiler, *flags, tmp_path / name], check=True)
