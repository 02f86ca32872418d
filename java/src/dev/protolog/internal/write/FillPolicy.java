package dev.protolog.internal.write;

/**
 * The use of a buffer: a session writes it to a file all the time, or keeps the newest messages in
 * it, or the first ones.
 */
public enum FillPolicy {
    STREAM("stream"),
    RING_BUFFER("ring-buffer"),
    DISCARD("discard");

    private final String text;

    FillPolicy(String text) {
        this.text = text;
    }

    /** The one that operators call so; null for none. */
    public static FillPolicy of(String text) {
        for (FillPolicy policy : values()) {
            if (policy.text.equals(text)) {
                return policy;
            }
        }
        return null;
    }

    /** The name by which operators call it. */
    public String text() {
        return text;
    }
}
