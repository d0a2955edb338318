import java.util.Map;
import org.redisson.api.RedissonClient;

/** The commands of latches and of semaphores without leases. The first word is the name. */
final class CountCommands {
    private CountCommands() {}

    static void add(Map<String, Peer.Command> commands, RedissonClient redisson) {
        addLatch(commands, redisson);
        addSemaphore(commands, redisson);
    }

    private static void addLatch(Map<String, Peer.Command> commands, RedissonClient redisson) {
        commands.put("latch.set", request ->
                redisson.getCountDownLatch(request.text(0)).trySetCount(request.integer(1)));
        commands.put("latch.down", request -> {
            redisson.getCountDownLatch(request.text(0)).countDown();
            return "counted";
        });
        commands.put("latch.count", request ->
                redisson.getCountDownLatch(request.text(0)).getCount());
        commands.put("latch.wait", request -> {
            redisson.getCountDownLatch(request.text(0)).await();
            return "open";
        });
        commands.put("latch.delete", request ->
                redisson.getCountDownLatch(request.text(0)).delete());
    }

    private static void addSemaphore(Map<String, Peer.Command> commands, RedissonClient redisson) {
        commands.put("semaphore.set", request ->
                redisson.getSemaphore(request.text(0)).trySetPermits((int) request.integer(1)));
        commands.put("semaphore.acquire", request -> {
            redisson.getSemaphore(request.text(0)).acquire((int) request.integer(1));
            return "taken";
        });
        commands.put("semaphore.try", request ->
                redisson.getSemaphore(request.text(0)).tryAcquire((int) request.integer(1)));
        commands.put("semaphore.release", request -> {
            redisson.getSemaphore(request.text(0)).release((int) request.integer(1));
            return "released";
        });
        commands.put("semaphore.available", request ->
                redisson.getSemaphore(request.text(0)).availablePermits());
        commands.put("semaphore.add", request -> {
            redisson.getSemaphore(request.text(0)).addPermits((int) request.integer(1));
            return "added";
        });
        commands.put("semaphore.drain", request ->
                redisson.getSemaphore(request.text(0)).drainPermits());
    }
}
