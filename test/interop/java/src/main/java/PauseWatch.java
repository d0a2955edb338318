import java.util.ArrayList;
import java.util.List;

/** Notes when this process could not run: a thread that sleeps for 1 ms wakes much later. */
final class PauseWatch extends Thread {
    private static final long NOTED_NS = 5_000_000;

    private record Pause(long from, long to) {}

    private final List<Pause> pauses = new ArrayList<>();

    PauseWatch() {
        super("pauses");
        setDaemon(true);
    }

    @Override
    public void run() {
        var before = System.nanoTime();
        for (;;) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                return;
            }
            var now = System.nanoTime();
            if (now - before > NOTED_NS) {
                synchronized (pauses) {
                    pauses.add(new Pause(before, now));
                }
            }
            before = now;
        }
    }

    /** A line for each pause, and how many there were. */
    Object report(Peer.Request request) {
        synchronized (pauses) {
            for (var pause : pauses) {
                request.say("pause " + pause.from + " " + pause.to);
            }
            return pauses.size();
        }
    }
}
