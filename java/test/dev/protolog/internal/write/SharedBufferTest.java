package dev.protolog.internal.write;

import static dev.protolog.SelfTest.check;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Pages that are divided anew: what others left there is taken for no chunk. And a full buffer,
 * which is known to be full until something of it is free.
 */
public final class SharedBufferTest {
    private static final int WRITER = 7;
    private static final int PAGES = 1024;
    /** Messages that are dropped, and the seconds that they may take: to look at pages takes 50. */
    private static final int DROPS = 10_000_000;
    private static final long LONGEST = 10_000_000_000L;

    private SharedBufferTest() {}

    public static void run() {
        pagesAreDividedAnew();
        chunksOfAFullBufferAreFoundOnceTheyAreFree();
        aFullBufferIsNotLookedAtForEachMessage();
    }

    private static void pagesAreDividedAnew() {
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

    private static void chunksOfAFullBufferAreFoundOnceTheyAreFree() {
        for (FillPolicy policy : List.of(FillPolicy.STREAM, FillPolicy.RING_BUFFER)) {
            SharedBuffer buffer = full(1, policy);
            check("full: " + policy, buffer.isFull(PageLayout.FOURTEEN, 0), true);
            SharedBuffer.Claim claim = new SharedBuffer.Claim();
            claim.chunk = chunk(3);
            buffer.giveBack(claim);
            check("one that was given back: " + policy, take(buffer), chunk(3));
            check("full again: " + policy, take(buffer), SharedBuffer.NONE);
            buffer.complete(chunk(5));
            check("full with a complete one: " + policy, buffer.isFull(PageLayout.FOURTEEN, 0), false);
            if (policy == FillPolicy.STREAM) {
                check("none is free yet", take(buffer), SharedBuffer.NONE);
                claim.chunk = chunk(5);
                buffer.free(claim);
            }
            check("one that was read or is overwritten: " + policy, take(buffer), chunk(5));
            check("full in the end: " + policy, take(buffer), SharedBuffer.NONE);
            // What has no room for a message may have room for a smaller one.
            buffer.complete(chunk(5));
            claim.chunk = chunk(5);
            if (policy == FillPolicy.STREAM) {
                buffer.free(claim);
                check("no large one", buffer.acquire(claim, SharedBuffer.NONE, PageLayout.ONE, 1000), SharedBuffer.NONE);
                check("a small one", take(buffer), chunk(5));
            }
        }
    }

    private static void aFullBufferIsNotLookedAtForEachMessage() {
        SharedBuffer buffer = full(PAGES, FillPolicy.STREAM);
        long begun = System.nanoTime();
        for (int i = 0; i < DROPS; i++) {
            check("a chunk of a full buffer", take(buffer), SharedBuffer.NONE);
        }
        long taken = System.nanoTime() - begun;
        check("seconds of " + DROPS + " drops: " + taken / 1e9, taken < LONGEST, true);
    }

    /** A buffer whose pages are divided by fourteen, and whose chunks are all taken. */
    private static SharedBuffer full(int pages, FillPolicy policy) {
        int size = pages * PageLayout.PAGE;
        SharedBuffer buffer = new SharedBuffer(ByteBuffer.allocateDirect(size + 8).alignedSlice(8).slice(0, size), policy);
        while (take(buffer) != SharedBuffer.NONE) {
            // The next one.
        }
        return buffer;
    }

    /** A chunk of the first page. */
    private static int chunk(int index) {
        return PageLayout.FOURTEEN << 4 | index;
    }

    private static int take(SharedBuffer buffer) {
        return buffer.acquire(new SharedBuffer.Claim(), SharedBuffer.NONE, PageLayout.FOURTEEN, 0);
    }
}
