//! The order of the process-wide locks: one place for each, so that two threads never wait for each
//! other.

/// Locks in the order in which they are taken. Each has a place of its own; a thread that holds one
/// takes no earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Sessions that go on in forked children. Outermost, since a child starts sessions within it.
    Heirs,
    /// The server that `init` started.
    Server,
    /// The connection with a tracing service.
    Producer,
    /// Which levels `log` asks for.
    #[cfg_attr(not(feature = "log"), allow(dead_code))] // That bridge's.
    LogBridge,
    /// Which callsites `tracing` switches on.
    #[cfg_attr(not(feature = "tracing"), allow(dead_code))] // That bridge's.
    TracingBridge,
    /// Files that text goes to.
    TextFiles,
    /// The limits of sessions that come from outside.
    SessionLimits,
    /// The sessions that run.
    Sessions,
    /// The files that sessions write.
    TraceFiles,
    /// The arbiters that record.
    Running,
    /// Rules of single calls, while they are applied.
    Rules,
    /// The group enums.
    Levels,
    /// The list of those rules.
    RuleList,
    /// The functions to call when levels change.
    #[cfg_attr(not(any(feature = "log", feature = "tracing")), allow(dead_code))]
    // The bridges' alone.
    Followers,
    /// The functions of other copies of this runtime to call then.
    Guests,
    /// Messages first seen at run time.
    Interned,
    /// The arbiters with drop counters that outlive the process.
    Mirrored,
    /// The list of loaded modules.
    Modules,
    /// Dictionaries that were taken out of the program.
    Dictionaries,
    /// The list of mappings.
    Mappings,
    /// Values that are made once.
    Once,
    /// The clock's timeline.
    Timeline,
    /// Descriptors that a child closes.
    Descriptors,
    /// The C library's time zone.
    Zone,
    /// Lines for standard error and messages for the text sink. Within all others, since anybody
    /// may report.
    TextQueue,
    /// A test's.
    #[cfg(test)]
    Test,
}

/// The number of orders.
pub(super) const LOCKS: usize =
    if cfg!(test) { Order::TextQueue as usize + 2 } else { Order::TextQueue as usize + 1 };
