"""What is asked of each library. Each question answers {figure: value} for one round."""

import contextlib
import statistics
import time

from server import CountCommands
from workers import Worker, one_cpu, several

KEYS = 1000
PROCESSES = 8
HOLD_US = 1000
SHORT_LEASE_MS = 2000
PARKED_KEYS = 10
PARKED = 100


class Contestants:
    """The two processes of a library that stay from the first question to the last."""

    def __init__(self, name, server):
        self.name = name
        self.server = server
        self.workers = []

    def start(self, warm_up_seconds):
        """Starts them, or starts them anew; returns the version of the library."""
        self.kill()
        self.workers = [Worker(self.name, self.server) for _ in range(2)]
        versions = [worker.started() for worker in self.workers]
        warm_up(self, warm_up_seconds)
        return versions[0]

    def kill(self):
        for worker in self.workers:
            worker.kill()
        self.workers = []

    @property
    def first(self):
        return self.workers[0]

    @property
    def second(self):
        return self.workers[1]

    @property
    def pids(self):
        return (self.server.pid, self.first.pid, self.second.pid)


def warm_up(who, seconds):
    """A virtual machine for Java compiles what is used often. All get the same time."""
    end = time.monotonic() + seconds
    workers = (who.first, who.second)
    while time.monotonic() < end:
        for worker in workers:
            worker.tell("pairs", f"warm:{who.name}:{worker.pid}", 1000)
        for worker in workers:
            worker.answer()
        who.first.ask("keys", f"warm:{who.name}", KEYS, 5)


def pair(who, size):
    with one_cpu(*who.pids):
        took = who.first.ask("pairs", f"pair:{who.name}", size(3000, 200))
    return {"pair": took / 1e3}


def many_keys(who, size):
    pairs = size(50, 3)
    cpu = who.first.cpu_seconds()
    took = who.first.ask("keys", f"keys:{who.name}", KEYS, pairs)
    cpu = who.first.cpu_seconds() - cpu
    return {"many_keys": KEYS * pairs / (took / 1e9), "many_keys_cpu": cpu * 1e6 / (KEYS * pairs)}


def hand_over(who, size):
    """One process holds the lock, the other has been waiting for a while."""
    key = f"hand_over:{who.name}"
    took = []
    with one_cpu(*who.pids):
        holder, waiter = who.first, who.second
        holder.ask("acquire", key)
        for _ in range(size(30, 4)):
            waiter.tell("acquire", key)
            time.sleep(0.03)
            holder.tell("release", key)
            granted = waiter.answer()
            took.append((granted - holder.answer()) / 1e3)
            holder, waiter = waiter, holder
        holder.ask("release", key)
    return {"hand_over": statistics.median(took)}


def contend(workers, key, milliseconds):
    """Lets each of them take the lock over and over. Returns the turns of each, and start and end."""
    start = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + 200_000_000
    for worker in workers:
        worker.tell("contend", key, start, milliseconds, HOLD_US)
    return [worker.turns() for worker in workers], start, start + milliseconds * 1_000_000


def taken_back(turns_of_each):
    """The share of the grants that went to the process which had just released, in percent, of
    those for which another process was waiting. None if no process ever waited."""
    turns = sorted(
        (granted, releasing, called, process)
        for process, turns in enumerate(turns_of_each)
        for called, granted, releasing in turns
    )
    back = waited = 0
    for at, (_, releasing, _, process) in enumerate(turns[:-1]):
        following = turns[at + 1 :]
        others = {}
        for _, _, called, other in following:
            if other != process and other not in others:
                others[other] = called
                if len(others) == len(turns_of_each) - 1:
                    break
        if any(called < releasing for called in others.values()):
            waited += 1
            back += following[0][3] == process
    return 100.0 * back / waited if waited else None


def fairness(who, size):
    turns, _, _ = contend((who.first, who.second), f"fairness:{who.name}", size(3000, 300))
    share = taken_back(turns)
    return {} if share is None else {"taken_back": share}


def crowd(who, size):
    """Many processes on one lock. Counting begins when all of them are at it."""
    milliseconds = size(4000, 800)
    key = f"crowd:{who.name}"
    with several(PROCESSES, who.name, who.server) as workers:
        contend(workers, key, milliseconds // 4)
        with CountCommands(who.server) as counted:
            turns, _, _ = contend(workers, key, milliseconds)
    return {"commands": counted.commands / sum(map(len, turns))}


def killed_holder(who, size):
    """A holder is killed: when has a waiter the lock, counted from the end of the lease?"""
    key = f"killed:{who.name}"
    took = []
    for _ in range(size(2, 1)):
        with contextlib.ExitStack() as stack:
            (holder,) = stack.enter_context(several(1, who.name, who.server, SHORT_LEASE_MS))
            (waiter,) = stack.enter_context(several(1, who.name, who.server, SHORT_LEASE_MS))
            stack.enter_context(one_cpu(who.server.pid, holder.pid, waiter.pid))
            holder.ask("acquire", key)
            waiter.tell("acquire", key)
            time.sleep(0.3)
            holder.stop()
            left = who.server.milliseconds_left(who.first.ask("key", key))
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            if left < 0:
                raise RuntimeError("the lease ended too early to be measured")
            holder.kill()
            took.append((waiter.answer() - now) / 1e6 - left)
            waiter.ask("release", key)
    return {"killed_holder": statistics.median(took)}


def parked(who, size):
    """Waiters that nothing happens for. The holder stands still, so that it does not renew."""
    seconds = size(5, 1)
    with several(2, who.name, who.server) as (holder, waiter):
        for i in range(PARKED_KEYS):
            holder.ask("acquire", f"parked:{who.name}:{i}")
        holder.stop()
        waiter.ask("park", f"parked:{who.name}", PARKED_KEYS, PARKED)
        time.sleep(1)
        with CountCommands(who.server) as counted:
            time.sleep(seconds)
    return {"parked": counted.commands / seconds / PARKED}


# Question, and how many rounds of it.
ALL = [
    (pair, 7),
    (many_keys, 5),
    (hand_over, 5),
    (fairness, 3),
    (crowd, 3),
    (killed_holder, 5),
    (parked, 2),
]
