package dev.protolog.internal.write;

import static dev.protolog.SelfTest.check;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Pages that are divided anew: what others left there is taken for no chunk. */
public final class SharedBufferTest {
    private static final int WRITER = 7;

    private SharedBufferTest() {}

    public static void run() {
        for (FillPolicy policy : FillPolicy.values()) {
            ByteBuffer memory = ByteBuffer.allocateDirect(PageLayout.PAGE + 8).alignedSlice(8).slice(0, PageLayout.PAGE);
            for (int at = PageLayout.PAGE_HEADER; at < PageLayout.PAGE; at++) {
                memory.put(at, (byte) 0x55);
            }
            SharedBuffer buffer = new SharedBuffer(memory, policy);
            List<Integer> taken = new ArrayList<>();
            for (int chunk = take(buffer); chunk != SharedBuffer.NONE && taken.size() < 14; chunk = take(buffer)) {
                taken.add(chunk);
            }
            check("chunks of a page", taken.size(), 14);
            check("chunks with packets before any was written", buffer.findAll(true).size(), 0);
            buffer.begin(taken.get(3), WRITER, 0);
            buffer.publish(SharedBuffer.at(taken.get(3)) + PageLayout.PACKETS_AT, 2);
            check("the one that was", buffer.findAll(true).stream().map(CommittedChunk::writer).toList(), List.of(WRITER));
        }
    }

    private static int take(SharedBuffer buffer) {
        return buffer.acquire(new SharedBuffer.Claim(), SharedBuffer.NONE, PageLayout.FOURTEEN, 0);
    }
}
