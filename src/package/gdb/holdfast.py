"""Pretty-printers for gdb: what a lease, a lock and a client are, in words.

gdb reads this file by itself with a shared library of holdfast in /usr, else by
    (gdb) source PREFIX/share/holdfast/gdb/holdfast.py

The library's own types must be known: its debug information has to be there. It is written for
libstdc++.
"""

import time

import gdb
import gdb.printing


def pointee(shared):
    """What a std::shared_ptr points to, or None."""
    pointer = shared["_M_ptr"]
    return pointer.dereference() if int(pointer) else None


def number(value):
    """The number inside classes that only wrap one, such as std::atomic."""
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        fields = value.type.strip_typedefs().fields()
        value = value[next(field for field in fields if hasattr(field, "bitpos"))]  # not static
    return int(value)


def text(string):
    """What a std::string holds."""
    length = int(string["_M_string_length"])
    return string["_M_dataplus"]["_M_p"].string("utf-8", "backslashreplace", length)


def word(enumerator):
    return str(enumerator).rsplit("::", 1)[-1]


def clock_now():
    """Nanoseconds of lease_clock. None where a core file is looked at, or another machine."""
    connection = gdb.selected_inferior().connection
    if connection is None or connection.type != "native":
        return None
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def when(instant):
    """In words, where a time_point of lease_clock is, as seen from now."""
    at = number(instant)
    now = clock_now()
    if now is None:
        return "at %.3f s of CLOCK_BOOTTIME" % (at / 1e9)
    left = (at - now) / 1e9
    return "in %.3f s" % left if left > 0 else "%.3f s ago" % -left


def name_of(target):
    return '"%s"' % text(target["lock"]) if target is not None else "no name"


class LeasePrinter:
    """Looks at the lease's tenure. Like everything in a stopped program it is as it was left: a lease
    whose time ran out while the program was stopped is still said to be held, and its deadline is
    said to be in the past."""

    def __init__(self, value):
        self.share = pointee(value["share_"])

    def to_string(self):
        if self.share is None:
            return "empty lease"
        tenure = self.share["of"].referenced_value()
        machine = tenure["fsm_"]
        hold = pointee(tenure["hold_"])
        parts = ["lease of " + name_of(hold and pointee(hold["target_"]))]
        token = number(tenure["token_"]) & ~(1 << 63)
        if number(self.share["released"]):
            parts.append("released")
        elif word(machine["state_"]) == "lost":
            parts += ["lost (%s)" % word(machine["loss_"]), "token %d" % token]
        else:
            parts += [word(machine["state_"]), "token %d" % token]
            parts.append("deadline " + when(machine["deadline_"]))
        return ", ".join(parts)


class GroupPrinter:
    """Of a multi_lease or a quorum_lease: its leases are its children."""

    def __init__(self, value):
        self.name = value.type.strip_typedefs().name.rsplit("::", 1)[-1]
        self.group = pointee(value["group_"])

    def leases(self):
        vector = self.group["leases_"]["_M_impl"]
        first = vector["_M_start"]
        return [first[i] for i in range(int(vector["_M_finish"] - first))]

    def to_string(self):
        if self.group is None:
            return "empty " + self.name
        if self.group["released_"]:
            return self.name + ", released"
        return "%s of %d leases, of which %d are needed" % (
            self.name,
            len(self.leases()),
            int(self.group["needed_"]),
        )

    def children(self):
        if self.group is not None:
            for i, lease in enumerate(self.leases()):
                yield "[%d]" % i, lease

    def display_hint(self):
        return "array"


class LockPrinter:
    def __init__(self, value):
        self.name = value.type.strip_typedefs().name.rsplit("::", 1)[-1]
        self.key = pointee(value["key_"])

    def to_string(self):
        return "%s %s" % (self.name, name_of(self.key))


class ClientPrinter:
    def __init__(self, value):
        self.state = pointee(value["state_"])

    def to_string(self):
        if self.state is None:
            return "client that was moved from"
        counters = pointee(self.state["count_"])
        parts = ["client " + text(self.state["client_id_"])]
        parts.append("connected" if number(self.state["node_"]["up_"]) else "not connected")
        parts += [
            "%d leases" % number(counters["leases_now"]),
            "%d waiters" % number(counters["waiters_now"]),
        ]
        for flag in ("stopped_", "stopping_", "draining_"):
            if self.state[flag]:
                parts.append(flag.rstrip("_"))
                break
        return ", ".join(parts)


def printers():
    all_types = gdb.printing.RegexpCollectionPrettyPrinter("holdfast")
    all_types.add_printer("lease", "^holdfast::lease$", LeasePrinter)
    all_types.add_printer("group", "^holdfast::(multi|quorum)_lease$", GroupPrinter)
    all_types.add_printer("lock", "^holdfast::(lock|fair_lock)$", LockPrinter)
    all_types.add_printer("client", "^holdfast::client$", ClientPrinter)
    return all_types


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
