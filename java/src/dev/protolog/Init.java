package dev.protolog;

import dev.protolog.internal.control.ControlException;
import dev.protolog.internal.control.ControlServer;
import dev.protolog.internal.control.SettingsFile;
import dev.protolog.internal.dictionary.KnownGroups;
import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.groups.MisspelledGroups;
import dev.protolog.internal.perfetto.Producer;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.write.Routing;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Makes the program switchable from outside: applies settings, and listens to operators
 * ({@code protologtool configuration}).
 *
 * <pre>{@code
 * new Init().groups(AppLog.values()).start();
 * }</pre>
 *
 * <p>Settings come from three sources, later ones win: the state file (settings that operators made
 * persistent), a configuration file that the program names, and the variable {@code PROTOLOG}. A
 * mistake in the variable is a warning on standard error, unless the program asks for an error
 * ({@link #strict}).
 *
 * <p>Invariants: a step that fails keeps no other from being done; the error has all failures. The
 * threads that listen are daemons.
 */
public final class Init {
    private static final String VARIABLE = "PROTOLOG";

    private boolean listens = true;
    private boolean appliesState = true;
    private Path directory;
    private Path config;
    private boolean reloads;
    private boolean isStrict;
    private boolean joinsPerfetto;

    /** All steps, and no configuration file. */
    public Init() {}

    /** Sets if the program listens to operators; the default is true. */
    public Init control(boolean listen) {
        listens = listen;
        return this;
    }

    /**
     * Sets if the settings apply that operators made persistent; the default is true. They are in
     * {@code $PROTOLOG_STATE}, or else {@code protolog/settings} in {@code $XDG_STATE_HOME},
     * {@code ~/.local/state} or, without a home, {@code /var/lib}.
     */
    public Init persistentSettings(boolean apply) {
        appliesState = apply;
        return this;
    }

    /** Sets the directory of the socket, which has to be the user's only. */
    public Init directory(Path path) {
        directory = path.toAbsolutePath();
        return this;
    }

    /** Applies the settings in this file, if it exists. */
    public Init configFile(Path path) {
        config = path.toAbsolutePath();
        return this;
    }

    /**
     * Reads the configuration file again whenever it changes. Groups that it no longer names go
     * back to their state without the file. Has no effect without {@link #control}.
     */
    public Init reload() {
        reloads = true;
        return this;
    }

    /**
     * Makes a mistake in the variable {@code PROTOLOG} an error of {@link #start}. All else is done
     * in either case.
     */
    public Init strict() {
        isStrict = true;
        return this;
    }

    /**
     * Joins Perfetto's tracing service, now or once it is there: see
     * {@link ProtoLogProducer#connect}. {@code -Dprotolog.perfetto=true} does so, too.
     */
    public Init perfetto() {
        joinsPerfetto = true;
        return this;
    }

    /**
     * Registers groups now, rather than with their first calls, so that operators see them from the
     * start.
     */
    public Init groups(IProtoLogGroup... groups) {
        Arrays.stream(groups).filter(Objects::nonNull).forEach(Routing::of);
        return this;
    }

    /**
     * Applies the settings and starts to listen. A second call reads the settings again.
     *
     * @throws InitException if a step failed; the others are done
     */
    public void start() throws InitException {
        List<String> problems = new ArrayList<>();
        if (appliesState) {
            problems.addAll(SettingsFile.applyState(stateFile()));
        }
        if (config != null) {
            problems.addAll(SettingsFile.apply(config, GroupSettings.Source.CONFIG_FILE));
        }
        String text = RunningProgram.variable(VARIABLE);
        if (text != null) {
            List<String> mistakes = new ArrayList<>(SettingsFile.apply(text, VARIABLE, GroupSettings.Source.OTHER, true));
            mistakes.addAll(MisspelledGroups.find(text, VARIABLE, KnownGroups.names()));
            if (isStrict) {
                problems.addAll(mistakes);
            } else {
                mistakes.forEach(mistake -> LogPrinter.queue("protolog: " + mistake));
            }
        }
        if (joinsPerfetto || Producer.isWanted()) {
            ProtoLogProducer.connect();
        }
        if (listens) {
            listen(problems);
        }
        if (!problems.isEmpty()) {
            throw new InitException(problems);
        }
    }

    /**
     * Stops to listen to operators, and completes the trace that one of them has started; leaves
     * Perfetto's service. Settings stay as they are, and another {@link #start} listens again.
     *
     * <p>An application that a container may take away calls this when it ends, once its sessions
     * are closed: then no thread, file or hook of the runtime is left, and nothing keeps its class
     * loader.
     */
    public static void stop() {
        if (canListen()) {
            ControlServer.stop();
        }
        ProtoLogProducer.disconnect();
    }

    /** False where the JDK, or the program's modules, lack the one that names the caller. */
    private static boolean canListen() {
        return ModuleLayer.boot().findModule("jdk.net").isPresent();
    }

    private void listen(List<String> problems) {
        if (!canListen()) {
            problems.add("can't listen without the module `jdk.net`, which says who asks\nhelp: start java with `--add-modules jdk.net`");
            return;
        }
        try {
            ControlException displaced = ControlServer.start(directory, reloads ? config : null);
            if (displaced != null) {
                problems.add(displaced.getMessage());
            }
        } catch (ControlException e) {
            problems.add(e.getMessage());
        } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError e) {
            problems.add("can't start listening: " + e + "\nhelp: raise the process's limits");
        }
    }

    /** The file with the settings that operators made persistent. */
    private static Path stateFile() {
        Path file = RunningProgram.absolutePath("PROTOLOG_STATE");
        if (file != null) {
            return file;
        }
        Path state = RunningProgram.absolutePath("XDG_STATE_HOME");
        Path home = RunningProgram.absolutePath("HOME");
        Path folder = state != null ? state : home != null ? home.resolve(".local/state") : Path.of("/var/lib");
        return folder.resolve("protolog/settings");
    }
}
