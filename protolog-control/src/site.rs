//! Single calls of a target process, and the rules for them.

use protolog_core::control::name::characters;
use protolog_core::control::protocol::SiteLine;

/// A call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The message's id.
    pub id: u64,
    /// The name of the level.
    pub level: String,
    /// The effect of a rule on it, as after `=` in a setting; none without a rule.
    pub rule: Option<String>,
    /// The line in the file; 0 if it is not known.
    pub line: u32,
    /// The full name of the group.
    pub group: String,
    /// The module; empty if it is not known.
    pub module: String,
    /// The file; empty if it is not known.
    pub file: String,
    /// The template.
    pub template: String,
}

/// A rule for single calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The number of calls that it takes now.
    pub calls: u64,
    /// Its effect on them, as after `=` in a setting.
    pub words: String,
    /// Its selector.
    pub selector: String,
}

/// The rules of a target process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The rules, the oldest first.
    pub rules: Vec<Rule>,
    /// The problems of some: calls that are at another place now.
    pub problems: Vec<String>,
}

impl Site {
    /// A call, as a line of a reply has it.
    pub(crate) fn of(line: SiteLine<'_>) -> Self {
        let name = |word: &str| characters(word).collect();
        Self {
            id: line.id,
            level: line.level.to_owned(),
            rule: (line.rule != "-").then(|| line.rule.to_owned()),
            line: line.line,
            group: name(line.group),
            module: name(line.module),
            file: name(line.file),
            template: line.template.to_owned(),
        }
    }
}
