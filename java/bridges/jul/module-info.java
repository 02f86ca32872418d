/** Records of java.util.logging as messages of protolog. */
module dev.protolog.jul {
    requires dev.protolog;
    requires transitive java.logging;

    exports dev.protolog.jul;
}
