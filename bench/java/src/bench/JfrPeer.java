package bench;

import java.nio.file.Files;
import java.nio.file.Path;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;

/** Events of the JDK's flight recorder, a class for each message, without stack traces. */
final class JfrPeer implements Peer {
    private final Path file;
    private final Recording recording = new Recording();

    @Name("bench.TwoInts")
    @StackTrace(false)
    private static final class TwoInts extends Event {
        private int bytes;
        private int packets;
    }

    @Name("bench.IntAndString")
    @StackTrace(false)
    private static final class IntAndString extends Event {
        private int bytes;
        private String host;
    }

    @Name("bench.TwoIntsAndDouble")
    @StackTrace(false)
    private static final class TwoIntsAndDouble extends Event {
        private int bytes;
        private int packets;
        private double ms;
    }

    @Name("bench.SixArguments")
    @StackTrace(false)
    private static final class SixArguments extends Event {
        private int bytes;
        private String host;
        private int packets;
        private double ms;
        private boolean again;
        private String by;
    }

    @Name("bench.Off")
    @StackTrace(false)
    @Enabled(false)
    private static final class Off extends Event {
        private int bytes;
        private int packets;
    }

    JfrPeer(String directory) throws Exception {
        file = Path.of(directory, "events.jfr");
        Files.createDirectories(file.getParent());
        recording.setToDisk(true);
        recording.setDestination(file);
        recording.start();
    }

    @Override
    public void twoInts(int a, int b) {
        TwoInts event = new TwoInts();
        event.bytes = a;
        event.packets = b;
        event.commit();
    }

    @Override
    public void intAndString(int a, String b) {
        IntAndString event = new IntAndString();
        event.bytes = a;
        event.host = b;
        event.commit();
    }

    @Override
    public void twoIntsAndDouble(int a, int b, double c) {
        TwoIntsAndDouble event = new TwoIntsAndDouble();
        event.bytes = a;
        event.packets = b;
        event.ms = c;
        event.commit();
    }

    @Override
    public void sixArguments(int a, String b, int c, double d, boolean e, String f) {
        SixArguments event = new SixArguments();
        event.bytes = a;
        event.host = b;
        event.packets = c;
        event.ms = d;
        event.again = e;
        event.by = f;
        event.commit();
    }

    @Override
    public void off(int a, int b) {
        Off event = new Off();
        if (event.isEnabled()) {
            event.bytes = a;
            event.packets = b;
            event.commit();
        }
    }

    @Override
    public void close() {
        recording.stop();
        recording.close();
    }

    @Override
    public String output() {
        return file.toString();
    }
}
