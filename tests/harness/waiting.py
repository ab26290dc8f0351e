"""The only pause of the Python tests: they wait for things to happen, never for time to pass."""
import time


def until(true, seconds=20, what=None):
    """The first value of true() that is one."""
    end = time.monotonic() + seconds
    while True:
        value = true()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds} s: not {what or getattr(true, '__name__', 'what was waited for')}")
        time.sleep(0.02)
