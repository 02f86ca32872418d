/** Calls of System.Logger as messages of protolog. */
module dev.protolog.systemlogger {
    requires dev.protolog;

    exports dev.protolog.systemlogger;
    provides java.lang.System.LoggerFinder with dev.protolog.systemlogger.ProtoLogLoggerFinder;
}
