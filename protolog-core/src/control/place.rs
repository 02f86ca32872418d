//! The directories of sockets. Programs make their socket in a private one only, and operators look
//! into no other one; `protolog-files` has the rule.

/// The directory for services, with a directory for each user.
pub const SERVICES: &str = "/run/protolog";
/// The directory for stand-ins of the others where another user has taken or could take their
/// place.
pub const FALLBACKS: &str = "/tmp";
/// The beginning of the names in it. A user's id, `-` and random digits follow.
pub const FALLBACK_PREFIX: &str = "protolog-";
