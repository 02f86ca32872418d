package dev.protolog.internal.perfetto;

/**
 * A writer, as the service knows it: a sequence of chunks that go to one of its buffers.
 *
 * <p>Invariant: chunk ids have no gap. The service keeps nothing behind one.
 */
final class ServiceWriter {
    final int id;
    /** The service's buffer. */
    final int target;
    /** The id of the next chunk, or of the one of which the service has the beginning. */
    int chunk;
    /** Count and flags that the service has of this chunk; 0 for none. */
    int sent;
    /** The bytes of it, for its end. */
    byte[] bytes;
    /** It was given back. */
    boolean isFree;

    ServiceWriter(int id, int target, int chunk) {
        this.id = id;
        this.target = target;
        this.chunk = chunk;
    }
}
