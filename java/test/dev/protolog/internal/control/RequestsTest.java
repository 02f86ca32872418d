package dev.protolog.internal.control;

import static dev.protolog.SelfTest.check;

import dev.protolog.SelfTest;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Requests over a connection, and their answers, by the vectors that Rust has, too. */
public final class RequestsTest {
    private static final int ANSWER = 8192;

    private RequestsTest() {}

    public static void run(Path vectors) throws IOException {
        Path directory = Files.createTempDirectory("protolog-requests");
        Path socket = directory.resolve("socket");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            for (String[] row : SelfTest.rows(vectors.resolve("requests.tsv"), "greeted\trequest\tanswer\tends")) {
                try (SocketChannel operator = SocketChannel.open(server.getLocalAddress());
                        SocketChannel program = server.accept()) {
                    check(row[1], answered(operator, program, row), row[2] + "\n");
                }
            }
        } finally {
            Files.delete(socket);
            Files.delete(directory);
        }
    }

    private static String answered(SocketChannel operator, SocketChannel program, String[] row) throws IOException {
        program.configureBlocking(false);
        ControlConnection connection = new ControlConnection(program);
        connection.hasGreeted = row[0].equals("y");
        operator.write(StandardCharsets.UTF_8.encode(row[1] + "\n"));
        check("a request comes", connection.read() && connection.hasRequest(), true);
        new ControlAnswers().answer(connection.takeLine(), connection);
        check(row[1] + ": the connection ends", !connection.send(), row[3].equals("y"));
        ByteBuffer answer = ByteBuffer.allocate(ANSWER);
        operator.read(answer);
        return StandardCharsets.UTF_8.decode(answer.flip()).toString();
    }
}
