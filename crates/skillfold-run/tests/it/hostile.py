"""Runs a program in a pid namespace of its own, with a limit of processes that is known to hold.

Arguments: how many processes, the program, and its arguments.
"""

import os
import resource
import signal
import subprocess
import sys

limit = int(sys.argv[1])
GROUPS = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"]


def join_group():
    """Makes a control group, if this user may, and returns its folder."""
    for parent in GROUPS:
        folder = f"{parent}/skillfold-test-{os.getpid()}"
        try:
            os.mkdir(folder)
            open(folder + "/pids.max", "w").write(str(limit))
            open(folder + "/cgroup.procs", "w").write(str(os.getpid()))
            return folder
        except OSError:
            if os.path.isdir(folder):
                os.rmdir(folder)
    return None


def leave_group(folder):
    open(os.path.dirname(folder) + "/cgroup.procs", "w").write(str(os.getpid()))
    os.rmdir(folder)


def check_limit():
    """Starts processes until the system refuses; raises if it does not."""
    started = []
    try:
        for _ in range(limit + 1):
            pid = os.fork()
            if pid == 0:
                signal.pause()
            started.append(pid)
        raise SystemExit(f"the limit of {limit} processes does not hold")
    except BlockingIOError:
        print(f"the limit of processes holds: {len(started)} of {limit}", file=sys.stderr)
    finally:
        for pid in started:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


group = join_group()
namespaces = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
if group is None:
    # An ordinary user: the limit of a user namespace of its own.
    if open("/proc/self/uid_map").read().split()[2] != "1":
        own_text = open("/proc/self/cmdline").read().split("\0")[2]
        command = ["unshare", "--user", "--map-current-user", sys.executable, "-c", own_text]
        os.execvp("unshare", command + sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
    namespaces.insert(1, "--user")
    namespaces.insert(2, "--map-current-user")
check_limit()
code = subprocess.run(namespaces + sys.argv[2:]).returncode
if group is not None:
    leave_group(group)
sys.exit(code)
