import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.function.Function;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RObject;
import org.redisson.api.RedissonClient;

/**
 * The commands of everything that is a lock. The first word is the lock's name; times are in
 * milliseconds. A lock object remembers its last lease, so each command makes its own object.
 */
final class LockCommands {
    private LockCommands() {}

    static <L extends RLock> void add(
            Map<String, Peer.Command> commands,
            String primitive,
            RedissonClient redisson,
            Function<String, L> make) {
        new Table<>(commands, primitive, make).fill();
        Contest.Take<L> take = lock -> {
            if (lock instanceof RFencedLock fenced) {
                return fenced.lockAndGetToken();
            }
            lock.lock();
            return 0L;
        };
        commands.put(
                primitive + ".contend",
                request -> new Contest<>(redisson, make, take, request).run());
    }

    private interface OnLock<L> {
        Object run(L lock, Peer.Request request) throws Exception;
    }

    private record Table<L extends RLock>(
            Map<String, Peer.Command> commands, String primitive, Function<String, L> make) {
        void put(String name, OnLock<L> command) {
            commands.put(
                    primitive + "." + name,
                    request -> command.run(make.apply(request.text(0)), request));
        }

        void fill() {
            put("lock", (lock, request) -> {
                lock.lock();
                return "locked";
            });
            put("lockLease", (lock, request) -> {
                lock.lock(request.integer(1), MILLISECONDS);
                return "locked";
            });
            put("try", (lock, request) -> lock.tryLock());
            // Wait and lease; a lease of -1 is renewed.
            put("tryFor", (lock, request) ->
                    lock.tryLock(request.integer(1), request.integer(2), MILLISECONDS));
            // Says whether it was granted before it was interrupted after so many milliseconds.
            put("lockInterrupted", (lock, request) -> {
                var thread = Thread.currentThread();
                var alarm = new Timer(true);
                alarm.schedule(new TimerTask() {
                    @Override
                    public void run() {
                        thread.interrupt();
                    }
                }, request.integer(1));
                try {
                    lock.lockInterruptibly();
                    return true;
                } catch (InterruptedException e) {
                    return false;
                } finally {
                    alarm.cancel();
                }
            });
            put("unlock", (lock, request) -> {
                lock.unlock();
                return "unlocked";
            });
            put("force", (lock, request) -> lock.forceUnlock());
            put("delete", (lock, request) -> ((RObject) lock).delete());
            put("isLocked", (lock, request) -> lock.isLocked());
            put("isMine", (lock, request) -> lock.isHeldByCurrentThread());
            put("holds", (lock, request) -> lock.getHoldCount());
            put("remaining", (lock, request) -> lock.remainTimeToLive());
            put("thread", (lock, request) -> Thread.currentThread().getId());
            put("token", (lock, request) -> fenced(lock).lockAndGetToken());
            // A token, or "null" if it was busy.
            put("tryToken", (lock, request) -> fenced(lock)
                    .tryLockAndGetToken(request.integer(1), request.integer(2), MILLISECONDS));
        }

        private RFencedLock fenced(L lock) {
            return (RFencedLock) lock;
        }
    }
}
