package dev.protolog.internal.perfetto;

import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import java.util.HashMap;
import java.util.Map;

/**
 * A frame from the service: an answer to the request of this number. Requests are made by
 * {@link #bind}, {@link #identity} and {@link #invocation}.
 *
 * <p>Invariant: any bytes are decoded; frames and fields that are not known are skipped, as newer
 * services may send them.
 *
 * @param kind the kind of the answer
 * @param isSuccess false if the request failed
 * @param serviceId the number of the service that was asked for
 * @param methods the numbers of its methods by name
 * @param reply the answer, encoded
 */
record Frame(long request, Kind kind, boolean isSuccess, long serviceId, Map<String, Long> methods, byte[] reply) {
    /** The most bytes of a frame: what the service takes and sends. */
    static final int MAX = 128 * 1024;
    /** Bytes of the length before a frame. */
    static final int LENGTH = 4;

    /** Fields of {@code IPCFrame}. */
    private static final int REQUEST_ID = 2;
    private static final int BIND_SERVICE = 3;
    private static final int BIND_SERVICE_REPLY = 4;
    private static final int INVOKE_METHOD = 5;
    private static final int INVOKE_METHOD_REPLY = 6;
    private static final int REQUEST_ERROR = 7;
    private static final int SET_PEER_IDENTITY = 8;

    /** The kinds of answers. */
    enum Kind {
        BOUND,
        REPLY,
        ERROR,
        /** Something newer. */
        OTHER
    }

    /** Decodes a frame, which lies within {@code bytes}. */
    static Frame decode(byte[] bytes, int from, int end) throws ProtoReader.MalformedException {
        long request = 0;
        Frame found = new Frame(0, Kind.OTHER, false, 0, Map.of(), new byte[0]);
        for (ProtoReader fields = new ProtoReader(bytes, from, end); fields.next();) {
            switch (fields.field()) {
                case REQUEST_ID -> request = fields.varint();
                case BIND_SERVICE_REPLY -> found = bound(fields.message());
                case INVOKE_METHOD_REPLY -> found = reply(fields.message());
                case REQUEST_ERROR -> {
                    fields.skip();
                    found = new Frame(0, Kind.ERROR, false, 0, Map.of(), new byte[0]);
                }
                default -> fields.skip();
            }
        }
        return new Frame(request, found.kind, found.isSuccess, found.serviceId, found.methods, found.reply);
    }

    /** Asks for the methods of a service. */
    static byte[] bind(long request, String service) {
        return framed(new ProtoWriter().varint(REQUEST_ID, request).message(BIND_SERVICE, new ProtoWriter().string(1, service)));
    }

    /** Says who sends, where the kernel does not. */
    static byte[] identity(long pid, int user, String machine, String machineName) {
        ProtoWriter identity = new ProtoWriter()
                .varint(1, pid)
                .varint(2, Integer.toUnsignedLong(user))
                .string(3, machine)
                .string(4, machineName);
        return framed(new ProtoWriter().message(SET_PEER_IDENTITY, identity));
    }

    /** The beginning of a call of a method with {@code args} bytes of arguments, which follow. */
    static byte[] invocation(long request, long service, long method, boolean dropsReply, int args) {
        ProtoWriter call = new ProtoWriter().varint(1, service).varint(2, method).varint(4, dropsReply ? 1 : 0).length(3, args);
        ProtoWriter frame = new ProtoWriter().varint(REQUEST_ID, request).length(INVOKE_METHOD, call.size() + args);
        frame.raw(call.array(), 0, call.size());
        return withLength(frame, frame.size() + args);
    }

    private static byte[] framed(ProtoWriter frame) {
        return withLength(frame, frame.size());
    }

    private static byte[] withLength(ProtoWriter begin, int length) {
        byte[] bytes = new byte[LENGTH + begin.size()];
        for (int i = 0; i < LENGTH; i++) {
            bytes[i] = (byte) (length >>> 8 * i);
        }
        System.arraycopy(begin.array(), 0, bytes, LENGTH, begin.size());
        return bytes;
    }

    private static Frame bound(ProtoReader fields) throws ProtoReader.MalformedException {
        boolean isSuccess = false;
        long service = 0;
        Map<String, Long> methods = new HashMap<>();
        while (fields.next()) {
            switch (fields.field()) {
                case 1 -> isSuccess = fields.varint() != 0;
                case 2 -> service = fields.varint();
                case 3 -> addMethod(fields.message(), methods);
                default -> fields.skip();
            }
        }
        return new Frame(0, Kind.BOUND, isSuccess, service, methods, new byte[0]);
    }

    private static void addMethod(ProtoReader fields, Map<String, Long> methods) throws ProtoReader.MalformedException {
        long id = 0;
        String name = "";
        while (fields.next()) {
            switch (fields.field()) {
                case 1 -> id = fields.varint();
                case 2 -> name = fields.string();
                default -> fields.skip();
            }
        }
        methods.put(name, id);
    }

    private static Frame reply(ProtoReader fields) throws ProtoReader.MalformedException {
        boolean isSuccess = false;
        byte[] reply = {};
        while (fields.next()) {
            switch (fields.field()) {
                case 1 -> isSuccess = fields.varint() != 0;
                case 3 -> reply = fields.bytes();
                default -> fields.skip();
            }
        }
        return new Frame(0, Kind.REPLY, isSuccess, 0, Map.of(), reply);
    }
}
