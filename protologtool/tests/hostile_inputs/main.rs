//! Inputs that an attacker has made: far larger than they look, nested, or without an end.
//!
//! Each command runs as a process of its own with limits of its own, so one test program holds all.

mod bombs;
mod named_texts;
mod nesting;
mod whole_inputs;

/// The groups of a good source.
const LOG: &str = r#"package demo;
public enum Log implements dev.protolog.IProtoLogGroup {
    A(true, true, "a");
    private final boolean enabled; private final boolean logToLogcat; private final String tag;
    Log(boolean enabled, boolean logToLogcat, String tag) { this.enabled = enabled; this.logToLogcat = logToLogcat; this.tag = tag; }
    @Override public boolean isEnabled() { return enabled; }
    @Override public boolean isLogToLogcat() { return logToLogcat; }
    @Override public String getTag() { return tag; }
    @Override public int getId() { return 1 + ordinal(); }
}
"#;
