//! The logging macros and the derive for group enums.
