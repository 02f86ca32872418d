/** Log calls whose texts stay out of the program, and the sessions that record them as Perfetto traces. */
module dev.protolog {
    requires jdk.net;

    exports dev.protolog;
}
