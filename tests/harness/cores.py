"""Whether a crash writes the memory of a process to a file."""
import os
import resource
import signal


def leaves_core(process):
    """A process of root is made to crash. For others, its files in /proc belong to root if it may not be dumped."""
    if os.getuid() != 0:
        return os.stat(f"/proc/{process.pid}/mem").st_uid != 0
    resource.prlimit(process.pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
    process.send_signal(signal.SIGABRT)
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT).si_code == os.CLD_DUMPED
