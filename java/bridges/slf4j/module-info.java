/** Calls of SLF4J 2 as messages of protolog. */
module dev.protolog.slf4j {
    requires dev.protolog;
    requires transitive org.slf4j;

    exports dev.protolog.slf4j;
    provides org.slf4j.spi.SLF4JServiceProvider with dev.protolog.slf4j.ProtoLogServiceProvider;
}
