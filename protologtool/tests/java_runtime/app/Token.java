package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;

/**
 * Answers each number on standard input by the next one: {@code Token TRACE}. Its trace has the
 * numbers that it gave.
 */
public final class Token {
    private Token() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("protolog.level", "off");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Session session = Session.builder().file(Path.of(args[0])).enableAll().start();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            long turn = Long.parseLong(line) + 1;
            ProtoLog.i(AppLog.NET, "turn %d", turn);
            System.out.println(turn);
        }
        session.stop();
    }
}
