//! The sources of settings and of rules.

/// The source of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingSource {
    /// The configuration file: its settings are replaced when it changes.
    ConfigFile,
    /// Operators, the state file, the variable: their settings stay.
    Other,
    /// The definition of a group, which all others override.
    Group,
}
