package dev.protolog.internal.session;

import dev.protolog.internal.files.PrivateDirectory;
import dev.protolog.internal.files.RuntimeDirectories;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.text.WrittenName;
import dev.protolog.internal.write.Cause;
import dev.protolog.internal.write.EventKey;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;

/**
 * The other programs of a family: each is told of an event, and has a file of the same time. As
 * {@code protolog-rt/src/session/trigger/family.rs}.
 *
 * <p>Programs find each other by the sockets on which they listen to operators, in directories that
 * only this user can enter. One that is not of the family refuses, and that is no failure.
 *
 * <p>Invariants: nothing waits, neither for an answer nor for a program that accepts no connection;
 * a program that was told tells nobody.
 */
final class FamilyCall {
    private static final String SUFFIX = ".sock";
    private static final int MOST_PROGRAMS = 1024;
    /** The most programs whose answers are awaited: each takes a descriptor until then. */
    private static final int MOST_AWAITED = 64;
    /** The most bytes of an answer that are looked at. */
    private static final int MOST_ANSWER = 4096;

    private final String family;
    /** Those whose answers are awaited. */
    private final List<SocketChannel> awaited = new ArrayList<>();
    private int told;
    /** The number of programs that could not be told. */
    private int failed;

    private FamilyCall(String family) {
        this.family = family;
    }

    /** Tells all programs of this user that listen, and the other sessions of this one. */
    static FamilyCall of(SessionCore session, String family, EventKey event, Cause.Window window) {
        FamilyCall call = new FamilyCall(family);
        long pid = RunningProgram.pid();
        Sessions.join(family, event, pid, window, session);
        String join = WrittenName.word(family) + " " + pid + " " + event + "\n";
        // One whose runtime is older refuses the first, and knows the second. Others know the event
        // by then.
        String request = "protolog 1\njoin-for " + window.before() + " " + window.after() + " " + join + "join " + join;
        for (PrivateDirectory directory : RuntimeDirectories.open()) {
            try (directory) {
                for (String name : directory.names(SUFFIX)) {
                    if (!name.startsWith(pid + "-")) {
                        call.tell(directory, name, request);
                    }
                }
            } catch (IOException e) {
                // It can't be read: nobody is known there.
            }
        }
        return call;
    }

    private void tell(PrivateDirectory directory, String name, String request) {
        if (told >= MOST_PROGRAMS) {
            failed++;
            return;
        }
        SocketChannel channel = null;
        try {
            channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            channel.configureBlocking(false);
            // It fits into the socket, of which nobody else knows.
            ByteBuffer bytes = ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8));
            if (channel.connect(UnixDomainSocketAddress.of(directory.at(name))) && channel.write(bytes) > 0 && !bytes.hasRemaining()) {
                told++;
                if (awaited.size() < MOST_AWAITED) {
                    awaited.add(channel);
                    channel = null;
                }
            } else {
                failed++;
            }
        } catch (ConnectException | NoSuchFileException e) {
            // A program that has ended, and left its socket.
        } catch (IOException e) {
            failed++;
        } finally {
            close(channel);
        }
    }

    /**
     * Ends the connections. What standard error is told, where programs have not answered by now;
     * null where all have.
     */
    String end() {
        int silent = failed;
        for (SocketChannel channel : awaited) {
            silent += hasAnswered(channel) ? 0 : 1;
            close(channel);
        }
        awaited.clear();
        return silent == 0 ? null
                : "protolog: " + silent + " programs of this user did not answer when the family `" + family + "` was told of an event"
                        + "\nhelp: see `protologtool configuration trace status`, and which of them is stopped";
    }

    /** True if a program has answered the request, in whatever words. */
    private static boolean hasAnswered(SocketChannel channel) {
        ByteBuffer answer = ByteBuffer.allocate(MOST_ANSWER);
        try {
            while (answer.hasRemaining()) {
                int count = channel.read(answer);
                if (count < 0) {
                    // It closed the connection, as a program does that ends.
                    return true;
                } else if (count == 0) {
                    break;
                }
            }
        } catch (IOException e) {
            return true;
        }
        String text = new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8);
        // One to the greeting, and one to each request.
        return text.lines().filter(line -> line.equals("ok") || line.startsWith("error ")).count() >= 3;
    }

    private static void close(SocketChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // It is of no use any more.
        }
    }
}
