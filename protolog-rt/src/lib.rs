//! The runtime: groups, call sites, the write path, sessions.
