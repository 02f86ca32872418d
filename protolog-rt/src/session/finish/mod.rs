//! The end of a session: its report, and the error of an end that failed.

pub(crate) mod diagnosis;
pub(crate) mod loss_report;
pub(crate) mod stop_error;
