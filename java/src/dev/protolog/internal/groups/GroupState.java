package dev.protolog.internal.groups;

import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.MessageId;
import dev.protolog.internal.text.LevelSet;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A group as the runtime knows it. It refers to the application's object weakly, so that a group
 * goes with its class loader.
 *
 * <p>Invariants: identity and names never change; {@link #routes} is replaced as a whole; the place
 * of the switch word changes once, under the lock of {@link Groups}, and the old one can still be
 * read.
 */
public final class GroupState extends WeakReference<IProtoLogGroup> {
    public final String fullName;
    public final String tag;
    public final int id;
    /** The slot of the group in tables of groups, before its size is known. */
    final int hash;
    /** The number of the word among those that can be shared; -1 for none. */
    public final int index;
    /** The messages of unprocessed calls, by level and {@link RuntimeMessage#key}. */
    public final Map<Object, RuntimeMessage>[] messages;
    public volatile Routes routes = Routes.NONE;

    private ByteBuffer words;
    private final int at;
    /** The word while nobody else can change it: a field is read faster than mapped memory. */
    private int word;
    /**
     * The same, with {@link #asked} beside the levels that are recorded: the guards of calls test
     * it.
     */
    private int tested;
    /** True once operators may change the word. */
    private boolean isShared;
    /** False where the group's calls are compiled out. */
    private boolean isCompiled;
    private boolean isRecorded;
    /** True if rules hold for single calls of the group: processed ones, and others. */
    private boolean isRuled;
    private boolean isRuledAtRunTime;
    /**
     * The levels at which rules switch calls on, whatever the word says: known ones, and others.
     */
    private int asked;
    private int askedAtRunTime;
    /** The number of the round of questions that these answers are from. */
    private long round;
    /** The levels that are printed unless a setting or an operator says otherwise. */
    private int ownText;

    @SuppressWarnings({"unchecked", "rawtypes"})
    GroupState(IProtoLogGroup group, GroupAnswers answers, SwitchPages.Place place) {
        super(group);
        hash = System.identityHashCode(group);
        fullName = answers.fullName();
        tag = answers.tag();
        id = MessageId.ofGroup(fullName);
        messages = new Map[LogLevel.values().length];
        for (int i = 0; i < messages.length; i++) {
            messages[i] = new ConcurrentHashMap<Object, RuntimeMessage>();
        }
        words = place.memory();
        at = place.at();
        index = place.index();
        isCompiled = answers.isCompiled();
        isRecorded = answers.isRecorded();
        ownText = answers.printed();
        isShared = place.isShared();
        Switch.store(words, at, isCompiled ? Switch.initial(ownText) : 0);
        refresh();
    }

    /** The switch word, as {@link Switch} has it; it may be a moment behind. */
    public int word() {
        return isShared ? Switch.load(words, at) : word;
    }

    /** True if messages of any level go anywhere. */
    public boolean isEnabled() {
        int word = word();
        return (Switch.traceLevels(word) | Switch.textLevels(word) | asked | askedAtRunTime) != 0;
    }

    /**
     * True if a message of this level goes anywhere, or has to ask for its rule, as all calls of a
     * group do that can't be registered.
     */
    public boolean mayBeEnabled(LogLevel level) {
        return Switch.isEnabled(isShared ? Switch.load(words, at) | asked : tested, level);
    }

    /** As above, of a call that the tool has not processed. */
    public boolean mayBeEnabledAtRunTime(LogLevel level) {
        return Switch.isEnabled((isShared ? Switch.load(words, at) | asked : tested) | askedAtRunTime, level);
    }

    /** True if processed calls have rules. */
    public boolean isRuled() {
        return isRuled;
    }

    /** True if calls that the tool has not processed have rules. */
    public boolean isRuledAtRunTime() {
        return isRuledAtRunTime;
    }

    /**
     * Sets whether calls have rules, and the levels at which rules switch some of them on: known
     * ones, and others.
     */
    public void setRuled(boolean known, boolean others, int on, int onAtRunTime) {
        isRuled = known;
        isRuledAtRunTime = others;
        asked = isCompiled ? on : 0;
        askedAtRunTime = isCompiled ? onAtRunTime : 0;
        tested = word | asked;
    }

    /** Has each call ask, whatever its level is. */
    void askAlways() {
        asked = LevelSet.ALL;
        tested = word | asked;
    }

    public boolean isCompiled() {
        return isCompiled;
    }

    /**
     * True if sessions may record messages. The lock of {@link Groups} is held for this and the
     * following methods.
     */
    public boolean isRecorded() {
        return isRecorded;
    }

    /** Takes new answers, unless those of a later round are there. */
    void setAnswers(GroupAnswers answers, long asked) {
        if (asked < round) {
            return;
        }
        round = asked;
        isCompiled = answers.isCompiled();
        isRecorded = answers.isRecorded();
        if (answers.printed() != ownText) {
            ownText = answers.printed();
            Switch.setTextLevels(words, at, ownText);
        }
        refresh();
    }

    /** Sets where messages go. */
    public void setRoutes(Routes next) {
        routes = next;
        Switch.setSessionLevels(words, at, next.all());
        refresh();
    }

    /** Applies a setting; a part that is null changes nothing. */
    void set(Integer allowed, Integer text) {
        if (isCompiled && allowed != null) {
            Switch.setAllowedLevels(words, at, allowed);
        }
        if (isCompiled && text != null) {
            Switch.setTextLevels(words, at, text);
        }
        refresh();
    }

    /** The levels that are printed where no setting says otherwise. */
    int ownText() {
        return ownText;
    }

    /** Uses the word at the same place in other memory, which has a copy of it. */
    void moveTo(ByteBuffer memory) {
        if (index >= 0) {
            words = memory;
            VarHandle.releaseFence();
            isShared = true;
        }
    }

    /** Puts the word, as this process has set it last, into memory that nobody else can change. */
    void moveBack(ByteBuffer memory) {
        if (index >= 0) {
            Switch.store(memory, at, word);
            words = memory;
            VarHandle.releaseFence();
            isShared = false;
        }
    }

    /** Takes the word that there is now, of operators, too. */
    void refresh() {
        word = Switch.load(words, at);
        tested = word | asked;
    }
}
