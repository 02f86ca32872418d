package dev.protolog.internal.dictionary;

import static dev.protolog.SelfTest.check;

import dev.protolog.Bytes;
import dev.protolog.Captured;
import dev.protolog.internal.proto.ProtoReader;
import java.util.Arrays;

/** Reading a dictionary: which text wins, unknown fields, and bytes that are none. */
public final class DictionaryTest {
    private DictionaryTest() {}

    public static void run() throws Exception {
        finds();
        readsWhatMergersMake();
        refusesMalformedBytes();
        survivesCuts();
    }

    private static byte[] sample() {
        Bytes bare = new Bytes().fixed64(1, 7).string(2, "sent %d").varint(3, 1).varint(4, 0xffffffffL).string(5, "a/B.java:3");
        Bytes full = new Bytes()
                .message(1000, new Bytes().varint(2, 1).string(1, "%04d of %8.3f").fixed32(9, 1))
                .string(2, "%d of %f")
                .fixed64(1, -1);
        Bytes group = new Bytes().varint(1, 5).string(2, "a.Log.NET").string(3, "Net");
        return new Bytes()
                .message(2, group)
                .message(1, bare)
                .varint(77, -1)
                .message(1, full)
                .message(1, new Bytes().fixed64(1, 7).string(2, "second text of 7"))
                .message(1, new Bytes().fixed64(1, 8))
                .done();
    }

    private static void finds() throws Exception {
        Dictionary dictionary = Dictionary.decode(sample());
        check("bare; the first wins", dictionary.template(7).toString(), "sent %d");
        check("full wins over bare", dictionary.template(-1).toString(), "%04d of %8.3f");
        check("an empty text", dictionary.template(8).toString(), "");
        check("unknown", dictionary.template(9) == null, true);
        check("no bytes", Dictionary.decode(new byte[0]).template(7) == null, true);
        byte[] bad = new Bytes().message(1, new Bytes().fixed64(1, 7).string(2, "%q")).done();
        String reported = Captured.lines(() -> {
            try {
                check("not a template", Dictionary.decode(bad).template(7) == null, true);
            } catch (ProtoReader.MalformedException e) {
                throw new AssertionError(e);
            }
        });
        check("a bad template is reported", reported.contains("unknown conversion `%q`"), true);
    }

    /** Files one after the other, each with a line feed behind it. */
    private static void readsWhatMergersMake() throws Exception {
        byte[] other = new Bytes().message(1, new Bytes().fixed64(1, 77).string(2, "of another jar")).done();
        byte[] joined = new Bytes().octets(sample()).raw('\n').octets(other).raw('\n').done();
        Dictionary dictionary = Dictionary.decode(Dictionary.withoutSeparators(joined));
        check("the first one", dictionary.template(-1).toString(), "%04d of %8.3f");
        check("the second one", dictionary.template(77).toString(), "of another jar");
        byte[] plain = new Bytes().octets(sample()).octets(other).done();
        check("without a line feed", Arrays.equals(Dictionary.withoutSeparators(plain), plain), true);
        byte[] bad = new Bytes().octets(sample()).raw(1 << 3 | 2).raw(100).done();
        check("what is malformed stays", Arrays.equals(Dictionary.withoutSeparators(bad), bad), true);
    }

    private static void refusesMalformedBytes() {
        refused("a string as id", new Bytes().message(1, new Bytes().string(1, "x")), "field 1 with wire type 2 at byte 3");
        refused("a number as text", new Bytes().message(1, new Bytes().varint(2, 1)), "field 2 with wire type 0 at byte 3");
        refused("a message beyond the end", new Bytes().raw(1 << 3 | 2).raw(100), "a length beyond the end at byte 2");
        refused("a huge length", new Bytes().raw(1 << 3 | 2).raw(-1), "a length beyond the end at byte 11");
        refused("a group", new Bytes().raw(9 << 3 | 3), "wire type 3 at byte 1");
        refused("field 0", new Bytes().raw(2), "field number out of range at byte 1");
        refused("a long varint", new Bytes().raw(9 << 3).octets(0x80, 11), "a varint of more than ten bytes at byte 11");
    }

    /**
     * Any beginning of a dictionary, and any byte of it changed, is read or refused; nothing else
     * is thrown.
     */
    private static void survivesCuts() {
        byte[] sample = sample();
        for (int length = 0; length < sample.length; length++) {
            decoded(Arrays.copyOf(sample, length));
        }
        Captured.lines(() -> {
            for (int at = 0; at < sample.length; at++) {
                for (int flip = 1; flip < 256; flip++) {
                    byte[] changed = sample.clone();
                    changed[at] ^= (byte) flip;
                    decoded(changed);
                }
            }
        });
    }

    private static void decoded(byte[] bytes) {
        try {
            Dictionary.decode(bytes);
        } catch (ProtoReader.MalformedException e) {
            check("a problem names its place", e.getMessage().contains(" at byte "), true);
        }
    }

    private static void refused(String what, Bytes bytes, String problem) {
        try {
            Dictionary.decode(bytes.done());
        } catch (ProtoReader.MalformedException e) {
            check(what, e.getMessage(), problem);
            return;
        }
        throw new AssertionError(what + " was accepted");
    }
}
