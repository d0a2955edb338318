import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.redisson.api.RedissonClient;
import org.redisson.api.RLock;
import org.redisson.client.codec.StringCodec;

/**
 * Threads that take one lock over and over, read a number under it and write the next one.
 *
 * <p>Words: the lock, the number's key, threads, how long at most (ms), the number at which all
 * stop, the longest hold and the longest pause after a release (both in microseconds, drawn anew
 * each time).
 * Answers {@code grant <thread> <called> <granted> <releasing> <token> <number read>} for each grant.
 * Times are those of the system's monotonic clock in nanoseconds, the same in all processes.
 */
final class Contest<L extends RLock> {
    /** Waits for the lock and returns its token, or 0. */
    interface Take<L> {
        long from(L lock);
    }

    private final RedissonClient redisson;
    private final Function<String, L> make;
    private final Take<L> take;
    private final Peer.Request request;

    Contest(RedissonClient redisson, Function<String, L> make, Take<L> take, Peer.Request request) {
        this.redisson = redisson;
        this.make = make;
        this.take = take;
        this.request = request;
    }

    Object run() throws InterruptedException, ExecutionException {
        var threads = (int) request.integer(2);
        var end = System.nanoTime() + request.integer(3) * 1_000_000;
        var pool = Executors.newFixedThreadPool(threads);
        var jobs = new ArrayList<Callable<List<String>>>();
        for (var i = 0; i < threads; ++i) {
            var thread = i;
            jobs.add(() -> contend(thread, end));
        }
        var grants = 0;
        // Said at the end: a line for each grant would disturb the next one.
        for (var done : pool.invokeAll(jobs)) {
            for (var line : done.get()) {
                request.say(line);
                ++grants;
            }
        }
        pool.shutdown();
        return grants;
    }

    private List<String> contend(int thread, long end) throws InterruptedException {
        var last = request.integer(4);
        var lock = make.apply(request.text(0));
        var resource = redisson.<String>getBucket(request.text(1), StringCodec.INSTANCE);
        var lines = new ArrayList<String>();
        var number = 0L;
        while (number + 1 < last && System.nanoTime() < end) {
            var called = System.nanoTime();
            var token = take.from(lock);
            var granted = System.nanoTime();
            var read = resource.get();
            number = read == null ? 0 : Long.parseLong(read);
            rest(request.integer(5));
            resource.set(Long.toString(number + 1));
            var releasing = System.nanoTime();
            lock.unlock();
            lines.add("grant %d %d %d %d %d %d"
                    .formatted(thread, called, granted, releasing, token, number));
            rest(request.integer(6));
        }
        return lines;
    }

    private static void rest(long mostUs) throws InterruptedException {
        if (mostUs > 0) {
            TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextLong(mostUs));
        }
    }
}
