package demo.indexer;

import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.function.BiConsumer;

/**
 * Runs one job per input on a few threads and passes on the results in the order of the inputs, on
 * the caller's thread. The messages of a job go to its {@link Notes}, which are played in the order
 * of the jobs, so two runs print the same.
 */
final class WorkerPool implements AutoCloseable {
    /** A job's messages, in order. */
    static final class Notes {
        private final List<Runnable> notes = new ArrayList<>();

        void add(Runnable note) {
            notes.add(note);
        }

        private void play() {
            ProtoLog.v(IndexLog.POOL, "%d notes", notes.size());
            for (Runnable note : notes)
                note.run();
        }
    }

    /** A job for one input. */
    interface Job<I, O> {
        O run(I input, Notes notes) throws IOException;

        /** Logs an input that could not be read. */
        default void failed(I input, IOException e) {
            ProtoLog.w(IndexLog.POOL, "a job failed on %s with %s", input, e.getClass().getSimpleName());
        }
    }

    private final ExecutorService threads;
    private int tickets;

    {
        ProtoLog.v(IndexLog.POOL, "a pool is made");
    }

    WorkerPool(int size) {
        threads = Executors.newFixedThreadPool(size, new ThreadFactory() {
            private int made;

            @Override
            public Thread newThread(Runnable work) {
                made++;
                Thread thread = new Thread(work, "worker-" + made);
                thread.setDaemon(true);
                return thread;
            }
        });
        ProtoLog.d(IndexLog.POOL, "%d workers", size);
    }

    /**
     * Passes each input with its result to {@code sink}; the result of an unreadable input is null.
     */
    <I, O> void inOrder(List<I> inputs, Job<I, O> job, BiConsumer<I, O> sink) {
        List<Notes> notes = new ArrayList<>();
        List<Future<O>> results = new ArrayList<>();
        for (I input : inputs) {
            Notes own = new Notes();
            notes.add(own);
            results.add(threads.submit(() -> job.run(input, own)));
        }
        for (int i = 0; i < inputs.size(); i++) {
            O result = null;
            try {
                result = results.get(i).get();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof IOException unread)
                    job.failed(inputs.get(i), unread);
                else
                    throw new IllegalStateException(e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                ProtoLog.wtf(IndexLog.POOL, "interrupted at %d of %d", i, inputs.size());
                throw new IllegalStateException(e);
            }
            notes.get(i).play();
            sink.accept(inputs.get(i), result);
            if (ProtoLog.isEnabled(IndexLog.POOL, LogLevel.VERBOSE))
                ProtoLog.v(IndexLog.POOL, "ticket %03d, then %03d: arguments go from left to right", ticket(), ticket());
        }
    }

    @Override
    public void close() {
        List<Runnable> left = threads.shutdownNow();
        ProtoLog.d(IndexLog.POOL, "closed with %d jobs left, none is %b", left.size(), left.isEmpty());
    }

    /** Numbers for one message alone. */
    private int ticket() {
        return ++tickets;
    }
}
