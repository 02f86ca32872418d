package dev.protolog.internal.session;

import dev.protolog.internal.write.Losses;
import java.util.ArrayList;
import java.util.List;

/**
 * Losses that a stream has taken from its sequences to report them, since the file was committed
 * last.
 *
 * <p>Invariant: a taken loss is given back, or reported by a file that is committed. An error of
 * the JVM leaves nothing that is neither.
 */
final class TakenLosses {
    private final List<Taken> all = new ArrayList<>();

    /** Losses of a sequence. */
    private record Taken(Losses from, Losses.Pending pending) {}

    /** Takes all losses that there are. */
    Losses.Pending take(Losses losses) {
        return take(losses, true);
    }

    /** As above; {@code withRepeats}: with those of a message that is known. */
    Losses.Pending take(Losses losses, boolean withRepeats) {
        Losses.Pending pending = losses.newPending();
        all.add(new Taken(losses, pending));
        if (withRepeats) {
            losses.take(pending);
        } else {
            losses.takeButRepeats(pending);
        }
        return pending;
    }

    /** Gives all back. After an error it can be done again. */
    void giveBack() {
        while (!all.isEmpty()) {
            Taken last = all.get(all.size() - 1);
            last.pending.giveBack(last.from);
            all.remove(all.size() - 1);
        }
    }

    /** Forgets them: they are reported. */
    void clear() {
        all.clear();
    }
}
