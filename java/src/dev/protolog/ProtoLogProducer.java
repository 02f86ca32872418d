package dev.protolog;

import dev.protolog.internal.perfetto.Producer;
import dev.protolog.internal.session.SettingRange;
import dev.protolog.internal.text.LevelSet;
import java.util.Objects;

/**
 * A producer for Perfetto's tracing service ({@code traced}): whoever holds the service's consumer
 * side starts a session with the data source {@code android.protolog}, and gets one trace with the
 * messages of all programs that are connected.
 *
 * <pre>{@code
 * ProtoLogProducer.connect(); // returns at once, with or without a service
 * }</pre>
 *
 * <p>Nothing is recorded until a session asks for it, so a call costs what a disabled call costs.
 * {@link Session}s of the program go on beside.
 *
 * <p>Invariants: no method throws, but for arguments that mean nothing. No thread of the program
 * waits for the service, but in {@link #disconnect}.
 */
public final class ProtoLogProducer {
    static {
        Access.install();
    }

    private ProtoLogProducer() {}

    /**
     * The state of the connection.
     *
     * @param isConnected the service has accepted this process
     * @param sessions the number of its sessions that record this process now
     * @param lastError why the last connection ended, which stays while there is another one, or
     *     why there is none; null for none
     * @param notice what a configuration asked for that is not done as asked; null for none
     * @param lost messages that were still in this process when a connection ended, and that no
     *     trace counts
     */
    public record Status(boolean isConnected, int sessions, String lastError, String notice, long lost) {}

    /**
     * {@link ProtoLogProducer#connect} with options.
     *
     * <pre>{@code
     * new ProtoLogProducer.Connect().startupBuffer(1 << 20).startupLogFrom(LogLevel.INFO).start();
     * }</pre>
     */
    public static final class Connect {
        private int startupBytes;
        private LogLevel startupLogFrom = LogLevel.VERBOSE;

        /** No startup buffer. */
        public Connect() {}

        /**
         * Keeps messages from before the service, or a session of it, is there: the first that fit
         * a buffer of so many bytes. The first session that starts gets them, those that it
         * records, and the number of the others, which were dropped. Until then each message costs
         * what it costs in a session of this process, whether or not there is a service; once the
         * buffer is full, a drop.
         *
         * @param bytes 1 GiB at most; 0 for no buffer, as by default
         * @throws IllegalArgumentException if the size is negative, or more
         */
        public Connect startupBuffer(int bytes) {
            startupBytes = SettingRange.within("startupBuffer", bytes, 0, SettingRange.MAX_BUFFER);
            return this;
        }

        /**
         * Sets the least severe level that the startup buffer keeps, of all groups; the default is
         * VERBOSE.
         */
        public Connect startupLogFrom(LogLevel level) {
            startupLogFrom = Objects.requireNonNull(level);
            return this;
        }

        /** Joins the service, as {@link ProtoLogProducer#connect} does. */
        public void start() {
            Producer.connect(startupBytes, LevelSet.andAbove(startupLogFrom));
        }
    }

    /**
     * Joins the tracing service, now or once it is there, without making the caller wait. Further
     * calls have no effect.
     *
     * <p>The service's socket is the one in the variable {@code PERFETTO_PRODUCER_SOCK_NAME}, a
     * path or {@code HOST:PORT}, or else {@code /run/perfetto/traced-producer.sock} or
     * {@code /tmp/perfetto-producer}. While nobody listens there, one thread tries again, after
     * 100 ms at first and every 5 seconds in the end. In {@code /tmp}, where anybody can make a
     * socket, the service has to be root's or of the user of this process. If it goes away, its
     * sessions end, and the attempts begin again.
     *
     * <p>With {@code -Dprotolog.perfetto=false} this has no effect, and with
     * {@code -Dprotolog.perfetto=true} {@link Init#start} does it.
     *
     * <p>A message that a call has returned from goes to the service within 10 ms, or within 100 ms
     * where nothing was logged for a while, and survives the death of the process from then on. A
     * session that stops, a flush and the exit of the JVM pass on everything.
     */
    public static void connect() {
        new Connect().start();
    }

    /**
     * Leaves the service, after its sessions have all that was logged, or after five seconds. An
     * application that a container may take away calls this, or {@link Init#stop}, when it ends.
     */
    public static void disconnect() {
        Producer.disconnect();
    }

    /** The state of the connection; without one, nothing but the last reason. */
    public static Status status() {
        return Producer.status();
    }
}
