import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The worker for Redisson: a thread for each that wants a lock. ../README.md has the protocol.
 *
 * <p>Times are those of the system's monotonic clock in nanoseconds, the same in all processes.
 */
final class RedissonWorker {
    private record Turn(long called, long granted, long releasing) {}

    private final RedissonClient redisson;

    private RedissonWorker(String port, long lease) {
        var config = new Config();
        config.setLockWatchdogTimeout(lease);
        // With the default of 64 connections some of a thousand threads fail on a busy machine.
        config.useSingleServer()
                .setAddress("redis://127.0.0.1:" + port)
                .setConnectionPoolSize(250)
                .setTimeout(30_000);
        redisson = Redisson.create(config);
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length != 2) {
            System.err.println("usage: RedissonWorker PORT LEASE_MS");
            System.exit(2);
        }
        // A pair that failed is not to be counted.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        var worker = new RedissonWorker(arguments[0], Long.parseLong(arguments[1]));
        say("ready " + Redisson.class.getPackage().getImplementationVersion());
        var in = new BufferedReader(new InputStreamReader(System.in));
        for (var line = in.readLine(); line != null; line = in.readLine()) {
            worker.run(line.split(" "));
        }
        // Those who are parked would keep the process alive.
        Runtime.getRuntime().halt(0);
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static void ok(Object figure) {
        say("ok " + figure);
    }

    private void run(String[] words) throws InterruptedException {
        var name = words[1];
        var numbers = Arrays.stream(words, 2, words.length).mapToLong(Long::parseLong).toArray();
        switch (words[0]) {
            case "key" -> ok(name);
            case "pairs" -> pairs(name, (int) numbers[0]);
            case "keys" -> keys(name, numbers[0], numbers[1]);
            case "acquire" -> {
                redisson.getLock(name).lock();
                ok(System.nanoTime());
            }
            case "release" -> {
                var releasing = System.nanoTime();
                redisson.getLock(name).unlock();
                ok(releasing);
            }
            case "contend" -> contend(name, numbers[0], numbers[1] * 1_000_000, numbers[2]);
            case "park" -> park(name, numbers[0], numbers[1]);
            default -> throw new IllegalArgumentException("unknown command: " + words[0]);
        }
    }

    private void pairs(String name, int count) {
        var lock = redisson.getLock(name);
        var took = new long[count];
        for (var i = 0; i < count; ++i) {
            var start = System.nanoTime();
            lock.lock();
            lock.unlock();
            took[i] = System.nanoTime() - start;
        }
        Arrays.sort(took);
        ok(took[count / 2]);
    }

    private static void repeat(RLock lock, long count) {
        for (var i = 0L; i < count; ++i) {
            lock.lock();
            lock.unlock();
        }
    }

    private void keys(String prefix, long workers, long count) throws InterruptedException {
        var start = System.nanoTime();
        var threads = new ArrayList<Thread>();
        for (var i = 0L; i < workers; ++i) {
            var lock = redisson.getLock(prefix + ":" + i);
            var thread = new Thread(() -> repeat(lock, count));
            thread.start();
            threads.add(thread);
        }
        for (var thread : threads) {
            thread.join();
        }
        ok(System.nanoTime() - start);
    }

    private void contend(String name, long start, long duration, long holdMicroseconds) {
        var lock = redisson.getLock(name);
        var turns = new ArrayList<Turn>();
        LockSupport.parkNanos(start - System.nanoTime());
        while (System.nanoTime() < start + duration) {
            var called = System.nanoTime();
            lock.lock();
            var granted = System.nanoTime();
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(holdMicroseconds));
            var releasing = System.nanoTime();
            lock.unlock();
            turns.add(new Turn(called, granted, releasing));
        }
        var lines = new StringBuilder();
        for (var turn : turns) {
            lines.append("%d %d %d%n".formatted(turn.called(), turn.granted(), turn.releasing()));
        }
        System.out.print(lines);
        ok(turns.size());
    }

    private void park(String prefix, long keys, long count) {
        for (var i = 0L; i < count; ++i) {
            var lock = redisson.getLock(prefix + ":" + i % keys);
            new Thread(lock::lock).start();
        }
        ok(count);
    }
}
