package dev.protolog.internal.perfetto;

import dev.protolog.internal.proto.ProtoReader;
import java.util.ArrayList;
import java.util.List;

/**
 * A command of the service: a reply to {@code GetAsyncCommand}. Invariant: any bytes are decoded; a
 * command that is not known is none.
 *
 * @param ids the sessions that it is for
 * @param request the number of a flush
 * @param flags the flags of a flush
 * @param config the encoded {@code DataSourceConfig} of a start
 */
record Command(Kind kind, List<Long> ids, long request, long flags, byte[] config) {
    /** Fields of {@code GetAsyncCommandResponse}. */
    private static final int START_DATA_SOURCE = 1;
    private static final int STOP_DATA_SOURCE = 2;
    private static final int FLUSH = 5;
    private static final int CLEAR_INCREMENTAL_STATE = 7;

    private static final byte[] NONE = {};

    /** About the bytes that a command takes, and a number in a list. */
    private static final int COMMAND_BYTES = 100;
    private static final int NUMBER_BYTES = 24;

    /** The kinds of commands. */
    enum Kind {
        START,
        STOP,
        FLUSH,
        CLEAR
    }

    /** The one session that it is for. */
    long id() {
        return ids.isEmpty() ? 0 : ids.get(0);
    }

    /** About the memory that it takes. */
    int bytes() {
        return COMMAND_BYTES + NUMBER_BYTES * ids.size() + config.length;
    }

    /** Decodes a reply; null where it asks for nothing that has to be done. */
    static Command decode(byte[] bytes) throws ProtoReader.MalformedException {
        Command found = null;
        for (ProtoReader fields = new ProtoReader(bytes); fields.next();) {
            switch (fields.field()) {
                case START_DATA_SOURCE -> found = start(fields.message());
                case STOP_DATA_SOURCE -> found = new Command(Kind.STOP, List.of(firstId(fields.message())), 0, 0, NONE);
                case FLUSH -> found = flush(fields.message());
                case CLEAR_INCREMENTAL_STATE -> found = new Command(Kind.CLEAR, flush(fields.message()).ids, 0, 0, NONE);
                default -> fields.skip();
            }
        }
        return found;
    }

    private static Command start(ProtoReader fields) throws ProtoReader.MalformedException {
        long id = 0;
        byte[] config = NONE;
        while (fields.next()) {
            switch (fields.field()) {
                case 1 -> id = fields.varint();
                case 2 -> config = fields.bytes();
                default -> fields.skip();
            }
        }
        return new Command(Kind.START, List.of(id), 0, 0, config);
    }

    private static long firstId(ProtoReader fields) throws ProtoReader.MalformedException {
        long id = 0;
        while (fields.next()) {
            if (fields.field() == 1) {
                id = fields.varint();
            } else {
                fields.skip();
            }
        }
        return id;
    }

    private static Command flush(ProtoReader fields) throws ProtoReader.MalformedException {
        List<Long> ids = new ArrayList<>();
        long request = 0;
        long flags = 0;
        while (fields.next()) {
            switch (fields.field()) {
                case 1 -> fields.addVarints(ids);
                case 2 -> request = fields.varint();
                case 3 -> flags = fields.varint();
                default -> fields.skip();
            }
        }
        return new Command(Kind.FLUSH, ids, request, flags, NONE);
    }
}
