//! Protects the reader from damaged and from malicious bytes: holes, the way back to packets,
//! limits.

pub(crate) mod expansion;
pub(crate) mod hole;
pub(crate) mod limits;
pub(crate) mod resync;
