package dev.protolog.internal.perfetto;

import static dev.protolog.SelfTest.check;

import dev.protolog.FaultGroup;
import dev.protolog.FaultTrace;
import dev.protolog.ProtoLog;
import dev.protolog.internal.text.LevelSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The messages of a startup buffer follow their texts, also where the dictionary is large: a
 * program that is killed leaves none without.
 */
public final class StartupTextsTest {
    /** More than a large dictionary has at least, with some 170 bytes each. */
    private static final int TEXTS = 2000;
    private static final String WORDS = " and %s, with many " + "words ".repeat(20);

    private StartupTextsTest() {}

    public static void run() throws Exception {
        Path directory = Files.createTempDirectory("protolog-startup");
        Path socket = directory.resolve("socket");
        FaultService service = new FaultService(socket);
        Link link = Link.connect(ServiceAddress.parse(socket.toString()));
        ProducerState state = new ProducerState();
        state.keep(4 << 20, LevelSet.ALL);
        FaultGroup group = new FaultGroup("STARTUP");
        for (int number = 1; number <= TEXTS; number++) {
            ProtoLog.i(group, "%d" + WORDS + number, (long) number, number + ". text");
        }
        Forwarder forwarder = new Forwarder(link, state);
        forwarder.start();
        Thread commands = new Thread(() -> receive(link, forwarder));
        commands.setDaemon(true);
        commands.start();
        service.start(1, new byte[] {(byte) 0xf2, 7, 2, 0x10, 1});
        FaultTrace trace = FaultTrace.of(service.takeTrace());
        check("messages of a startup buffer without a text before them", trace.problems, List.of());
        check("messages of a startup buffer", trace.messages, (long) TEXTS);
        service.stop(1);
        service.close();
        commands.join();
        forwarder.end();
        Files.delete(socket);
        Files.delete(directory);
    }

    private static void receive(Link link, Forwarder forwarder) {
        try {
            while (forwarder.add(link.receiveCommand())) {
                // The next one.
            }
        } catch (IOException e) {
            // The service is gone.
        }
        link.close();
    }
}
