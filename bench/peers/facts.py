"""What each library has, by its documentation and its source. Nobody measures this: who changes a
version in go/go.mod or in test/interop/java/versions looks here, too."""

# Names of columns are those of workers.NAMES.
FACTS = [
    (
        "programs",
        ["C++20, Boost.Asio: coroutines, callbacks, futures", "Java: threads, async, reactive", "Go", "Go", "C++: threads"],
    ),
    (
        "who waits",
        ["sleeps until it is its turn", "sleeps until told of a release", "sleeps until told of a release", "tries every 50 to 250 ms", "tries every 0 to 5 ms"],
    ),
    (
        "granted in order of arrival, over all processes",
        ["yes; strictly with `fair_lock`", "with `RFairLock`", "no", "no", "no"],
    ),
    (
        "fencing token",
        ["with each grant", "with `RFencedLock`", "no", "no", "no"],
    ),
    (
        "renewed while it is held",
        ["yes", "yes", "yes", "no: the program calls `Extend`", "yes"],
    ),
    (
        "the holder is told that it lost the lock",
        [
            "yes, before the lease is over",
            "no: `unlock()` throws; a listener for expired keys, where the server announces them",
            "yes: its context is cancelled",
            "no: `Extend` fails",
            "when a renewal fails: a callback",
        ],
    ),
    (
        "the same task may take it again",
        ["with an `owner`", "yes, the same thread", "no", "no", "no"],
    ),
    (
        "a majority of independent servers",
        ["`quorum_lock`", "`RedissonRedLock`, deprecated", "of several keys of one deployment", "yes", "yes"],
    ),
    (
        "read/write locks, semaphores, latches",
        ["yes", "yes", "no", "no", "no"],
    ),
    (
        "shares locks with Redisson's programs",
        ["yes", "it is Redisson", "no", "no", "no"],
    ),
]
