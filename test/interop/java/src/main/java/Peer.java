import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A process that uses Redisson as it is told. It ends with its standard input.
 *
 * <p>A line in: {@code <number> <thread> <command> <words...>}. The commands of one thread run one
 * after the other, those of different threads side by side, because Redisson's owner of a lock is a
 * thread. Lines out, all with the number of the request: any of {@code <number> <word> ...}, then
 * one {@code <number> ok <words...>} or {@code <number> error <class> <message>}.
 */
public final class Peer {
    /** What a thread does for one request. What it returns goes after "ok". */
    interface Command {
        Object run(Request request) throws Exception;
    }

    /** The words of a request, and lines on the way to its answer. */
    record Request(long number, List<String> words, PrintStream out) {
        String text(int index) {
            return words.get(index);
        }

        long integer(int index) {
            return Long.parseLong(words.get(index));
        }

        void say(String line) {
            out.println(number + " " + line);
        }
    }

    private final Map<String, Command> commands = new HashMap<>();
    private final Map<String, ExecutorService> threads = new HashMap<>();
    private final PrintStream out;

    private Peer(PrintStream out) {
        this.out = out;
    }

    private static RedissonClient connect(String address, long watchdogMs) {
        var config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.setThreads(4);
        config.setNettyThreads(4);
        config.setLockWatchdogTimeout(watchdogMs);
        config.useSingleServer()
                .setAddress(address)
                .setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(32);
        return Redisson.create(config);
    }

    private void dispatch(String line) {
        var words = line.split(" ");
        var number = Long.parseLong(words[0]);
        var request = new Request(number, Arrays.asList(words).subList(3, words.length), out);
        var command = commands.get(words[2]);
        threads.computeIfAbsent(words[1], name -> Executors.newSingleThreadExecutor(work -> {
            var thread = new Thread(work, name);
            thread.setDaemon(true);
            return thread;
        })).execute(() -> run(command, request));
    }

    private static void run(Command command, Request request) {
        try {
            request.say("ok " + command.run(request));
        } catch (Exception e) {
            var message = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            request.say("error " + e.getClass().getSimpleName() + " " + message);
        }
    }

    /** Arguments: the server's address and the watchdog's lease in milliseconds. */
    public static void main(String[] arguments) throws IOException {
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        var pauses = new PauseWatch();
        pauses.start();
        var redisson = connect(arguments[0], Long.parseLong(arguments[1]));
        var peer = new Peer(out);
        peer.commands.put("pauses", pauses::report);
        LockCommands.add(peer.commands, "lock", redisson, redisson::getFencedLock);
        LockCommands.add(peer.commands, "plain_lock", redisson, redisson::getLock);
        LockCommands.add(peer.commands, "fair_lock", redisson, redisson::getFairLock);
        CountCommands.add(peer.commands, redisson);
        LockCommands.add(peer.commands, "read_lock", redisson,
                name -> redisson.getReadWriteLock(name).readLock());
        LockCommands.add(peer.commands, "write_lock", redisson,
                name -> redisson.getReadWriteLock(name).writeLock());
        LockCommands.add(peer.commands, "multi_lock", redisson, name -> redisson.getMultiLock(
                redisson.getLock(name), redisson.getLock(name + ":other")));
        PermitCommands.add(peer.commands, redisson);
        out.println("ready");

        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (var line = in.readLine(); line != null; line = in.readLine()) {
            peer.dispatch(line);
        }
        // Whoever closes the input does not want what is still under way.
        Runtime.getRuntime().halt(0);
    }
}
