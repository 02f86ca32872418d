package dev.protolog.internal.perfetto;

import dev.protolog.LogLevel;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.groups.Filter;
import dev.protolog.internal.text.LevelSet;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The configuration of a data source, and in it that of ProtoLog, as AOSP understands it, but for
 * two faults of AOSP's: the default level is the same wherever in the message it stands, and levels
 * are compared by severity. What one session says of a group is nothing to another session.
 *
 * <p>The same as {@code protolog-rt/src/producer/config.rs}, by the table
 * {@code source_configs.tsv}: without {@code ProtoLogConfig} WTF is recorded; of several default
 * levels the lowest counts; an override without a level has the default; overrides without a name,
 * and levels and modes that are not known, are left out.
 *
 * @param target the service's buffer
 * @param waitNanos the longest that a message waits for room; 0 for not at all
 * @param asksForAbort it asks for an abort, which is not done
 */
record SourceConfig(int target, long waitNanos, boolean asksForAbort, Filter filter) {
    /** Fields of {@code DataSourceConfig}. */
    private static final int TARGET_BUFFER = 2;
    private static final int BUFFER_EXHAUSTED_POLICY = 9;
    private static final int PROTOLOG_CONFIG = 126;

    /** Values of {@code BufferExhaustedPolicy}; any other one drops. */
    private static final long STALL_THEN_ABORT = 2;
    private static final long STALL_THEN_DROP = 3;

    /** The longest wait where the service asks for waiting, in nanoseconds. */
    private static final long STALL = 1_000_000_000;
    /** Value of {@code ProtoLogConfig.TracingMode}. */
    private static final long ENABLE_ALL = 1;

    static SourceConfig decode(byte[] bytes) throws ProtoReader.MalformedException {
        int target = 0;
        long policy = 0;
        Filter filter = new Filter(LevelSet.andAbove(LogLevel.WTF), Map.of(), List.of());
        for (ProtoReader fields = new ProtoReader(bytes); fields.next();) {
            switch (fields.field()) {
                case TARGET_BUFFER -> target = (int) fields.varint();
                case BUFFER_EXHAUSTED_POLICY -> policy = fields.varint();
                case PROTOLOG_CONFIG -> filter = filter(fields.message());
                default -> fields.skip();
            }
        }
        boolean stalls = policy == STALL_THEN_ABORT || policy == STALL_THEN_DROP;
        return new SourceConfig(target, stalls ? STALL : 0, policy == STALL_THEN_ABORT, filter);
    }

    /** Reads a {@code ProtoLogConfig}. */
    private static Filter filter(ProtoReader fields) throws ProtoReader.MalformedException {
        List<GroupOverride> overrides = new ArrayList<>();
        boolean enablesAll = false;
        LogLevel from = null;
        while (fields.next()) {
            switch (fields.field()) {
                case 1 -> overrides.add(override(fields.message()));
                case 2 -> enablesAll = fields.varint() == ENABLE_ALL;
                case 3 -> {
                    LogLevel level = LevelSet.ofWire(fields.varint());
                    from = level == null || from != null && from.compareTo(level) < 0 ? from : level;
                }
                default -> fields.skip();
            }
        }
        LogLevel byMode = enablesAll ? LogLevel.VERBOSE : LogLevel.WTF;
        LogLevel byDefault = from == null ? byMode : from;
        Map<String, Integer> groups = new LinkedHashMap<>();
        List<String> stacks = new ArrayList<>();
        for (GroupOverride each : overrides) {
            if (each.group.isEmpty()) {
                continue;
            }
            groups.put(each.group, LevelSet.andAbove(each.from == null ? byDefault : each.from));
            if (each.collectsStack) {
                stacks.add(each.group);
            }
        }
        return new Filter(LevelSet.andAbove(byDefault), groups, stacks);
    }

    /** A {@code ProtoLogGroup}; {@code from} is null for the default. */
    private record GroupOverride(String group, LogLevel from, boolean collectsStack) {}

    private static GroupOverride override(ProtoReader fields) throws ProtoReader.MalformedException {
        String group = "";
        LogLevel from = null;
        boolean collectsStack = false;
        while (fields.next()) {
            switch (fields.field()) {
                case 1 -> group = fields.string();
                case 2 -> from = LevelSet.ofWire(fields.varint());
                case 3 -> collectsStack = fields.varint() != 0;
                default -> fields.skip();
            }
        }
        return new GroupOverride(group, from, collectsStack);
    }
}
