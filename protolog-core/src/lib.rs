//! The vocabulary of protolog: levels, templates, ids, field numbers, layouts.
