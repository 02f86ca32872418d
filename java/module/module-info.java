/**
 * Log calls whose texts stay out of the program, and the sessions that record them as Perfetto
 * traces.
 */
module dev.protolog {
    // Only to listen to operators, see Init.
    requires static jdk.net;

    exports dev.protolog;
}
