package demo;

import dev.protolog.Trace;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * Runs cases in both states of the guard and prints their traces. Arguments: the dictionary, then
 * class names.
 */
public final class RunAll {
    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Paths.get(args[0]))) {
            String[] parts = line.split("\t", -1);
            parts[3] = parts[3].replace("\\t", "\t").replace("\\r", "\r").replace("\\n", "\n").replace("\\\\", "\\");
            Trace.DICTIONARY.put(Long.parseLong(parts[0]), new String[] {parts[1], parts[2], parts[3]});
        }
        for (int i = 1; i < args.length; i++) {
            for (boolean on : new boolean[] {true, false}) {
                Trace.on = on;
                Trace.LINES.clear();
                System.out.println("case " + args[i] + (on ? " on" : " off"));
                Class.forName(args[i]).getDeclaredMethod("run").invoke(null);
                for (String line : Trace.LINES) System.out.println(line.replace("\n", "\\n").replace("\r", "\\r"));
            }
        }
    }
}
