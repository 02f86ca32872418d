//! Rewrites log calls, makes dictionaries, reads traces.
