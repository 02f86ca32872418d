//! The dictionary of messages and groups: collect, merge, read and write.
