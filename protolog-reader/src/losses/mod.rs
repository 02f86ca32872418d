//! Losses, one by one and summed up, with everything else that went wrong.

pub(crate) mod loss;
pub(crate) mod passed_over;
pub(crate) mod refusal;
pub(crate) mod stats;
