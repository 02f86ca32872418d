//! The groups that a setting is for.

use protolog_core::control::matches_group;

/// The groups that a setting is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GroupPattern {
    /// Those that a pattern of [`matches_group`] names.
    Pattern(Box<str>),
    /// Those whose full name begins with a target of `RUST_LOG`, as `env_logger` and `EnvFilter`
    /// compare: character by character, so that `net` also takes `network`.
    Target(Box<str>),
    /// Those of enums whose last segments are a target of `RUST_LOG`.
    LastSegments(Box<str>),
}

impl GroupPattern {
    /// Returns whether it is for the group with this full name, which is that of an enum or that of
    /// a target of the bridges.
    pub(crate) fn matches(&self, full_name: &str, is_of_enum: bool) -> bool {
        match self {
            Self::Pattern(pattern) => matches_group(pattern, full_name),
            Self::Target(target) => full_name.starts_with(&**target),
            Self::LastSegments(segments) => {
                let before = full_name.strip_suffix(&**segments).filter(|_| is_of_enum);
                before.is_some_and(|before| before.is_empty() || before.ends_with("::"))
            }
        }
    }

    /// Returns whether it comes from `RUST_LOG`.
    pub(super) fn is_of_rust_log(&self) -> bool {
        !matches!(self, Self::Pattern(_))
    }
}

impl From<&str> for GroupPattern {
    fn from(pattern: &str) -> Self {
        Self::Pattern(pattern.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_begin_names_and_segments_end_those_of_enums() {
        let target = |target: &str| GroupPattern::Target(target.into());
        assert!(target("").matches("app::Log::Net", true));
        assert!(target("ap").matches("app::net", false), "as `env_logger` has it");
        assert!(!target("App").matches("app::net", false));
        let segments = |segments: &str| GroupPattern::LastSegments(segments.into());
        assert!(segments("Net").matches("app::Log::Net", true));
        assert!(segments("Log::Net").matches("app::Log::Net", true));
        assert!(!segments("et").matches("app::Log::Net", true));
        assert!(!segments("net").matches("app::Log::Net", true));
        assert!(!segments("client").matches("hyper::client", false), "a target is no group");
    }
}
