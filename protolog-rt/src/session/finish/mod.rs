//! The end of a session: what it reports, and the error of an end that failed.

pub(crate) mod diagnosis;
pub(crate) mod loss_report;
pub(crate) mod stop_error;
