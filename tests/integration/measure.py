"""How much memory and time a command takes, at its peak and in total."""
import subprocess
import sys

# A process inherits the peak of the one it was forked from; so a small one starts the program.
MEASURE = """
import os, resource, sys
pid = os.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
status, usage = os.wait4(pid, 0)[1:]
print(usage.ru_maxrss, usage.ru_utime + usage.ru_stime, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def measured(*command, code=0):
    """Peak memory in KB, CPU seconds, and what came out."""
    p = subprocess.run([sys.executable, "-ISc", MEASURE, *command], capture_output=True, text=True,
                       timeout=120)
    assert p.returncode == code, p.stderr
    rss, seconds = p.stderr.split()[-2:]
    return int(rss), float(seconds), p.stdout
