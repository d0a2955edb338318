"""A private server, and what can be asked of it."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time


def free_port():
    with contextlib.closing(socket.socket()) as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


class Connection:
    """Sends commands, one at a time."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.lines = self.socket.makefile("rb")

    def ask(self, *words):
        """Returns a text or a number. Raises RuntimeError for an error."""
        encoded = [str(word).encode() for word in words]
        self.socket.sendall(
            b"*%d\r\n" % len(encoded)
            + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)
        )
        first = self.lines.readline().decode().rstrip("\r\n")
        kind, rest = first[:1], first[1:]
        if kind == ":":
            return int(rest)
        if kind == "$":
            return self.lines.read(int(rest) + 2)[:-2].decode() if rest != "-1" else None
        if kind == "+":
            return rest
        raise RuntimeError(f"{words[0]}: {first or 'the connection is closed'}")

    def close(self):
        self.lines.close()
        self.socket.close()


class Server:
    """A redis-server that keeps nothing, on a port of its own. A context manager."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-peers-"))
        self.port = free_port()
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )
        for _ in range(500):
            try:
                self.connection = Connection(self.port)
                return self
            except ConnectionError:
                time.sleep(0.02)
        raise RuntimeError("the server does not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)

    @property
    def pid(self):
        return self.process.pid

    def version(self):
        info = self.connection.ask("INFO", "server")
        return next(line for line in info.split() if line.startswith("redis_version")).split(":")[1]

    def clear(self):
        """Removes what earlier questions left: the server looks for expired keys among all."""
        self.connection.ask("FLUSHALL")

    def milliseconds_left(self, key):
        return self.connection.ask("PTTL", key)


class CountCommands:
    """Counts what clients send while the context lasts.

    The server's own statistics count what scripts call, too. MONITOR tells the two apart. Health
    checks do not count.
    """

    def __init__(self, server):
        self.connection = Connection(server.port)

    def __enter__(self):
        self.commands = 0
        self.connection.ask("MONITOR")
        self.thread = threading.Thread(target=self._count)
        self.thread.start()
        return self

    def _count(self):
        # +1700000000.123456 [0 127.0.0.1:4711] "EVALSHA" …, or [0 lua] for what a script calls.
        with contextlib.suppress(OSError, ValueError):
            for line in self.connection.lines:
                words = line.split(b" ", 3)
                if len(words) == 4 and words[2] != b"lua]":
                    self.commands += words[3].split(None, 1)[0].upper() != b'"PING"'

    def __exit__(self, *_):
        self.connection.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.connection.close()
