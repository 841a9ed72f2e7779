"""A pipe belongs to one owner: what uvloop's transports close, Python does not close a second time.

The second close may hit a number that another thread was given meanwhile: starts of agents failed with "bad file
descriptor", and any file of the daemon could have been closed under it.
"""

import asyncio
import gc
import os
import subprocess
import sys
import time

import pytest
import uvloop

from compozy.acp.child import handed_over, start
from compozy.acp.contract import LaunchSpec


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _open_now() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names only


@pytest.mark.parametrize(("make", "is_kept"), [(uvloop.new_event_loop, True), (asyncio.new_event_loop, False)])
def test_only_the_one_who_closes_the_number_does(make: type[asyncio.AbstractEventLoop], is_kept: bool) -> None:
    loop = make()
    try:
        with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE, bufsize=0) as program:
            assert program.stdout is not None
            given = handed_over(program.stdout, loop)
            number = given.fileno()
            assert program.stdout.closed and _is_open(number) and given.readable()
            given.close()
            assert _is_open(number) is is_kept
            if is_kept:
                os.close(number)
    finally:
        loop.close()


@pytest.mark.parametrize("make", [uvloop.new_event_loop, asyncio.new_event_loop], ids=["uvloop", "asyncio"])
def test_programs_that_were_started_and_ended_leave_no_descriptor(make: type[asyncio.AbstractEventLoop]) -> None:
    async def run() -> None:
        spec = LaunchSpec(argv=(sys.executable, "-I", "-S", "-c", "print(input())"), env={}, cwd="/", marker="m")
        child = await start(spec, output="separate")
        said: list[bytes] = []
        await child.read_stderr()
        await child.read_output(said.append, lambda: None)
        writing = await child.write_input(1 << 16, lambda _: None)
        writing.send(b"hello\n")
        await asyncio.wait_for(child.output_ended.wait(), 30)
        await child.end(term_grace=1)
        await asyncio.sleep(0)
        assert b"".join(said) == b"hello\n"

    loop = make()
    try:
        loop.run_until_complete(run())
        # What other tests left to the collector is not counted.
        gc.collect()
        before = _open_now()
        for _ in range(3):
            loop.run_until_complete(run())
        end = time.monotonic() + 30
        while _open_now() > before and time.monotonic() < end:
            loop.run_until_complete(asyncio.sleep(0.01))
        assert _open_now() <= before
    finally:
        loop.close()
