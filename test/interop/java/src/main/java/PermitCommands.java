import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

/**
 * The commands of semaphores whose permits have leases. The first word is the name; times are in
 * milliseconds, and a lease of -1 never ends. What a thread takes last it gives back first.
 */
final class PermitCommands {
    private final Map<String, List<String>> taken = new ConcurrentHashMap<>();
    private final RedissonClient redisson;

    private PermitCommands(RedissonClient redisson) {
        this.redisson = redisson;
    }

    static void add(Map<String, Peer.Command> commands, RedissonClient redisson) {
        new PermitCommands(redisson).fill(commands);
    }

    private RPermitExpirableSemaphore of(Peer.Request request) {
        return redisson.getPermitExpirableSemaphore(request.text(0));
    }

    private String key(Peer.Request request) {
        return Thread.currentThread().getName() + " " + request.text(0);
    }

    private void fill(Map<String, Peer.Command> commands) {
        commands.put("permits.set", request ->
                of(request).trySetPermits((int) request.integer(1)));
        commands.put("permits.add", request -> {
            of(request).addPermits((int) request.integer(1));
            return "added";
        });
        commands.put("permits.available", request -> of(request).availablePermits());
        // How many, and the lease.
        commands.put("permits.acquire", request -> {
            var count = (int) request.integer(1);
            var lease = request.integer(2);
            var ids = count == 1
                    ? List.of(of(request).acquire(lease, MILLISECONDS))
                    : of(request).acquire(count, lease, MILLISECONDS);
            taken.put(key(request), ids);
            return "taken";
        });
        commands.put("permits.try", request -> {
            var count = (int) request.integer(1);
            if (count > 1) {
                var ids = of(request).tryAcquire(count);
                taken.put(key(request), ids);
                return !ids.isEmpty();
            }
            var id = of(request).tryAcquire();
            if (id != null) {
                taken.put(key(request), List.of(id));
            }
            return id != null;
        });
        // Whether they were still this thread's.
        commands.put("permits.release", request -> {
            var ids = taken.remove(key(request));
            return ids.size() == 1
                    ? of(request).tryRelease(ids.get(0))
                    : of(request).tryRelease(ids) == ids.size();
        });
        // Of anybody, by its id.
        commands.put("permits.releaseId", request -> of(request).tryRelease(request.text(1)));
    }
}
