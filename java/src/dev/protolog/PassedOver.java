package dev.protolog;

/**
 * Messages of one group and level over which sampling has passed. They are not lost.
 *
 * @param group the full name of the group; empty if it is not known
 * @param level the level; null if it is not known
 * @param count the number of messages
 */
public record PassedOver(String group, LogLevel level, long count) {
    @Override
    public String toString() {
        return count + " of " + (group.isEmpty() ? "an unknown group" : group) + ", " + (level == null ? "of an unknown level" : level);
    }
}
