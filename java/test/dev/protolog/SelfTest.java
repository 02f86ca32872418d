package dev.protolog;

import dev.protolog.internal.control.PrivateDirectoryTest;
import dev.protolog.internal.control.RequestsTest;
import dev.protolog.internal.control.WaitingPipeTest;
import dev.protolog.internal.dictionary.DictionaryTest;
import dev.protolog.internal.files.ClaimsTest;
import dev.protolog.internal.files.DirectoryTest;
import dev.protolog.internal.groups.SettingsTest;
import dev.protolog.internal.perfetto.ProducerPartsTest;
import dev.protolog.internal.perfetto.StartupTextsTest;
import dev.protolog.internal.rules.BucketTest;
import dev.protolog.internal.rules.ByteSamplerTest;
import dev.protolog.internal.rules.SamplerTest;
import dev.protolog.internal.rules.SelectorTest;
import dev.protolog.internal.session.EndTest;
import dev.protolog.internal.session.ErrorTest;
import dev.protolog.internal.session.VectorsTest;
import dev.protolog.internal.text.ArgumentNamesTest;
import dev.protolog.internal.text.SpanNameTest;
import dev.protolog.internal.text.StackTextTest;
import dev.protolog.internal.text.TemplateTest;
import dev.protolog.internal.text.TextQueueTest;
import dev.protolog.internal.text.TextSinkTest;
import dev.protolog.internal.write.RepeatVectorsTest;
import dev.protolog.internal.write.RequestMarkTest;
import dev.protolog.internal.write.SampledPacketTest;
import dev.protolog.internal.write.SharedBufferTest;
import dev.protolog.internal.write.VolumeTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs the tests of the API: {@code java -cp CLASSES dev.protolog.SelfTest VECTORS}, where VECTORS
 * is the folder with {@code ids.tsv}, {@code xxh3.tsv}, {@code packets.tsv}, {@code session.tsv},
 * {@code numbers.tsv} and others. The first difference ends it with an {@link AssertionError}, exit
 * code 1.
 */
public final class SelfTest {
    private static int checks;

    private SelfTest() {}

    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: dev.protolog.SelfTest VECTORS");
            System.exit(2);
        }
        Path vectors = Path.of(args[0]);
        TemplateTest.run(vectors);
        ArgumentNamesTest.run(vectors);
        LevelsTest.run();
        DictionaryTest.run();
        CallTest.run();
        StackTextTest.run();
        PacketTest.run(vectors);
        SessionPacketTest.run(vectors);
        SharedBufferTest.run();
        ErrorTest.run();
        StopTest.run();
        ThreadLimitTest.run();
        EntryPointTest.run();
        FullStackTest.run();
        FullStackCallTest.run();
        DamageTest.run();
        FaultTest.run();
        ClockTest.run();
        MessageIdTest.run(vectors);
        SettingsTest.run(vectors);
        SelectorTest.run(vectors);
        BucketTest.run(vectors);
        SamplerTest.run(vectors);
        ByteSamplerTest.run(vectors);
        VolumeTest.run(vectors);
        SampledPacketTest.run(vectors);
        RulesTest.run();
        ByteLimitTest.run(vectors);
        SamplingTest.run();
        RepeatVectorsTest.run(vectors);
        RepeatsTest.run();
        DeclaredRulesTest.run();
        TriggersTest.run();
        PinnedTest.run(vectors);
        SpanNameTest.run(vectors);
        SpansTest.run();
        RequestMarkTest.run(vectors);
        RequestScopesTest.run();
        RequestsTest.run(vectors);
        VectorsTest.run(vectors);
        ProducerPartsTest.run(vectors);
        StartupTextsTest.run();
        TextQueueTest.run();
        TextSinkTest.run(vectors);
        ClaimsTest.run();
        OutputTest.run(vectors);
        AttackedOutputTest.run();
        WaitingPipeTest.run();
        DirectoryTest.run();
        RecordingNamesTest.run();
        PrivateDirectoryTest.run();
        MemoryTest.run();
        ForeignCodeTest.run();
        LoaderTest.run();
        NestedJarTest.run();
        OverwrittenJarTest.run();
        LocaleTest.run();
        BuilderTest.run();
        EndReportTest.run();
        LargeMessageTest.run();
        ManyThreadsTest.run();
        LinkedSettingsTest.run();
        OutsideChangeTest.run();
        EndTest.run();
        TemplateLimitTest.run();
        System.out.println(checks + " checks passed");
    }

    public static void check(String what, Object actual, Object expected) {
        checks++;
        if (!actual.equals(expected)) {
            throw new AssertionError(what + "\n  expected: " + expected + "\n  actual:   " + actual);
        }
    }

    /** The rows of a file of vectors below its header line, unescaped. */
    public static List<String[]> rows(Path file, String header) throws IOException {
        List<String> lines = Files.readString(file).lines().toList();
        check("header of " + file, lines.isEmpty() ? "" : lines.get(0), header);
        check("vectors in " + file, lines.size() > 10, true);
        return lines.stream().skip(1).map(line -> {
            String[] fields = line.split("\t", -1);
            for (int i = 0; i < fields.length; i++) {
                fields[i] = fields[i].translateEscapes();
            }
            return fields;
        }).toList();
    }
}
