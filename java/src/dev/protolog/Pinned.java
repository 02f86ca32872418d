package dev.protolog;

import dev.protolog.internal.session.PinnedMessages;
import dev.protolog.internal.session.SettingRange;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.write.PageLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The messages that a session keeps in a ring of their own, for {@link Session.Builder#pin}.
 *
 * <pre>{@code
 * Pinned pinned = new Pinned().level(LogLevel.ERROR).group("AUDIT", LogLevel.INFO);
 * Session session = Session.builder().file("app.pftrace").enableAll().pin(pinned).start();
 * }</pre>
 */
public final class Pinned {
    private int levels;
    private final List<PinnedMessages.OfGroup> groups = new ArrayList<>();
    private int bytes = SettingRange.MIN_BUFFER;

    /** Nothing yet, in a ring of 256 KiB. */
    public Pinned() {}

    /** Pins messages of {@code level} and of more severe ones, of all groups. */
    public Pinned level(LogLevel level) {
        levels = LevelSet.andAbove(level);
        return this;
    }

    /** Pins messages of {@code level} and of more severe ones of a group. */
    public Pinned group(IProtoLogGroup group, LogLevel level) {
        return group(MessageId.fullName(group), level);
    }

    /**
     * As above, of the groups that {@code name} names, as in
     * {@link Session.Builder#group(String, LogLevel)}. Names add levels to those of all groups, and
     * take none away.
     */
    public Pinned group(String name, LogLevel level) {
        groups.add(new PinnedMessages.OfGroup(Objects.requireNonNull(name), LevelSet.andAbove(level)));
        return this;
    }

    /**
     * Sets the size of the ring, in bytes: 256 KiB, which is the default, to 1 GiB. It comes on top
     * of {@link Session.Builder#bufferBytes}. Each thread that logs a pinned message takes a chunk
     * of it, of 292 bytes at first, and of 4 KiB once it has logged some; virtual threads share
     * some.
     *
     * @throws IllegalArgumentException if it is another one
     */
    public Pinned bufferBytes(int size) {
        bytes = SettingRange.within("bufferBytes", size, SettingRange.MIN_BUFFER, SettingRange.MAX_BUFFER);
        return this;
    }

    PinnedMessages settings() {
        return new PinnedMessages(levels, groups, bytes / PageLayout.PAGE * PageLayout.PAGE);
    }
}
