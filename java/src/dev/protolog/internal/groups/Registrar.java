package dev.protolog.internal.groups;

import dev.protolog.IProtoLogGroup;

/** The steps of a group's registration that belong to layers above the groups. */
public interface Registrar {
    /**
     * Takes note of a group with this full name that is about to be registered, while no lock is
     * held.
     */
    void prepare(IProtoLogGroup group, String fullName);

    /**
     * Decides where the messages of a group go, and calls {@link GroupState#setRoutes}. The lock of
     * {@link Groups} is held.
     */
    void route(GroupState state);
}
