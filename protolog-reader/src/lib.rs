//! Trace bytes to packets to entries to text.
