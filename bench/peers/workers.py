"""The processes that use the libraries. README.md has what is said to them."""

import contextlib
import os
import pathlib
import signal
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILT = ROOT / "build" / "peers"

# In the order in which they are shown.
NAMES = ["holdfast", "Redisson", "rueidislock", "redsync", "redis-plus-plus"]
LEASE_MS = 30_000
# A worker that answers nothing for so long has lost a wake-up, or hangs.
LIMIT_SECONDS = 120


class WorkerFailed(RuntimeError):
    """A worker ended, or was ended because it did not answer."""


class Worker:
    """One process with one client."""

    def __init__(self, name, server, lease_ms=LEASE_MS):
        command = (BUILT / f"{name.lower()}.command").read_text().splitlines()
        self.name = name
        self.process = subprocess.Popen(
            [*command, str(server.port), str(lease_ms)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def started(self):
        """Waits for it, and returns the version of its library."""
        return self._line().removeprefix("ready ")

    @property
    def pid(self):
        return self.process.pid

    def tell(self, *words):
        """Gives a command; `answer` waits for its end."""
        try:
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise WorkerFailed(self.name) from None

    def _line(self):
        watchdog = threading.Timer(LIMIT_SECONDS, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        if not line:
            raise WorkerFailed(self.name)
        return line.rstrip("\n")

    def answer(self):
        """The figure, or the text, that a command answers."""
        text = self._line().removeprefix("ok ")
        return int(text) if text.isdigit() else text

    def ask(self, *words):
        self.tell(*words)
        return self.answer()

    def turns(self):
        """What `contend` answers: (called, granted, releasing) for each grant."""
        turns = []
        line = self._line()
        while line and not line.startswith("ok "):
            turns.append(tuple(map(int, line.split())))
            line = self.process.stdout.readline()
        if not line:
            raise WorkerFailed(self.name)
        return turns

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        """It does nothing from here on, and keeps what it holds."""
        self.process.send_signal(signal.SIGSTOP)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()


@contextlib.contextmanager
def several(count, name, server, lease_ms=LEASE_MS):
    """As many processes, which are killed at the end."""
    workers = []
    try:
        for _ in range(count):
            workers.append(Worker(name, server, lease_ms))
        for worker in workers:
            worker.started()
        yield workers
    finally:
        for worker in workers:
            worker.kill()


@contextlib.contextmanager
def one_cpu(*pids):
    """Keeps processes on the last CPU that this one may use, as bench/support/one_cpu.hpp does."""
    cpu = max(os.sched_getaffinity(0))
    before = {}
    for pid in pids:
        for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(ProcessLookupError):
                before[int(thread.name)] = os.sched_getaffinity(int(thread.name))
                os.sched_setaffinity(int(thread.name), {cpu})
    try:
        yield
    finally:
        # Threads that were started in the meantime inherited the one CPU.
        everywhere = os.sched_getaffinity(0)
        for pid in pids:
            with contextlib.suppress(FileNotFoundError):
                for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
                    with contextlib.suppress(ProcessLookupError):
                        os.sched_setaffinity(
                            int(thread.name), before.get(int(thread.name), everywhere)
                        )
