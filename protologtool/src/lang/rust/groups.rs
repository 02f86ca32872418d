//! Groups from Rust: enums that derive `ProtoLogGroup`, and the expansion of the derive.
//!
//! ```text
//! #[derive(Clone, ProtoLogGroup)] enum AppLog { Net, #[protolog(tag = "DISK")] Disk }
//! #[derive(Clone, )] enum AppLog { Net,  Disk } ::protolog_rt::__rewritten_groups!(ProtoLogGroup; AppLog; Net, 0, …;);
//! ```
//!
//! The rules for enums and settings are those of the derive. A group that is there on conditions
//! stays so: the expansion repeats them, and a group's number among the groups is the sum of those
//! before it that are there.

use crate::diagnostic::{Code, Diagnostic};
use crate::groups::Group;
use crate::lang::rust::attributes::{Attribute, Removal, all_of, presence};
use crate::lang::rust::tokens::{
    Erasure, Path, Spans, content, is_punct, is_word, plain, shown as text, split_at_commas,
};
use crate::lang::rust::walk::EnumFound;
use crate::lang::rust::{RUNTIME, literal};
use crate::rewrite::Edit;
use crate::source::Source;
use proc_macro2::TokenTree;
use protolog_core::control::limit::{self, Limit};
use protolog_core::control::rate::Rate;
use std::fmt::Write;
use std::ops::Range;

/// The most groups an enum can have.
const MAX_GROUPS: usize = 1024;

const ENUM_HELP: &str = "derive `ProtoLogGroup` for an enum whose variants have no fields";
const KEYS: &str = "use `tag = \"…\"`, `enabled = false`, `log_to_text = true`, \
                    `sample = \"1/100\"` or `limit = \"100/s\"`";

/// A group enum.
#[derive(Clone, Debug)]
pub(crate) struct GroupEnum {
    /// Its groups, in order, those on conditions included.
    pub(crate) groups: Vec<Group>,
    /// Where its name stands.
    pub(crate) range: Range<usize>,
    /// The edits that replace the derive by its expansion.
    pub(crate) edits: Vec<Edit>,
}

/// A derive of the groups. An enum may have several, of which one holds.
pub(crate) struct Derive {
    /// The path by which the enum names it.
    pub(crate) path: Path,
    /// The byte where that begins.
    pub(crate) start: usize,
    /// The conditions under which it is there.
    pub(crate) conditions: Vec<String>,
}

/// A setting in `#[protolog(…)]`.
struct Setting {
    key: String,
    value: Vec<TokenTree>,
    range: Range<usize>,
    /// The condition that it depends on, besides the derive's.
    condition: Option<String>,
}

/// A variant.
struct Variant {
    ident: String,
    /// When it is there, if not always.
    presence: Option<String>,
    /// The tag's literal.
    tag: Option<String>,
    enabled: Flag,
    log_to_text: Flag,
    /// The rate's literal.
    sample: Option<String>,
    /// The limit's.
    limit: Option<String>,
    group: Group,
}

/// Reads an enum of crate `krate` that derives the groups, and reports the problems in it.
pub(crate) fn read(
    found: &EnumFound<'_>,
    krate: &str,
    derives: &[Derive],
    spans: Spans,
    source: &Source,
) -> (GroupEnum, Vec<Diagnostic>) {
    let mut reader = EnumReader { spans, known: &[], problems: Vec::new() };
    let name = found.name.to_string();
    let range = spans.of(found.name);
    if !found.generics.is_empty() {
        let range = spans.of_all(found.generics, range.end);
        reader.error(range, "a group enum can't be generic", ENUM_HELP);
    }
    let trees = content(found.body);
    let parts: Vec<Part<'_>> = split_at_commas(&trees).into_iter().map(Part::of).collect();
    let class = format!("{krate}::{}", plain(&name));
    let attributes = Attribute::all(&found.attributes);
    let (mut groups, mut expansions) = (Vec::new(), String::new());
    for derive in derives {
        reader.known = &derive.conditions;
        let runtime = reader.runtime(&attributes);
        let variants: Vec<Variant> =
            parts.iter().filter_map(|part| reader.variant(part, &class)).collect();
        let sure = variants.iter().filter(|variant| variant.presence.is_none()).count();
        if reader.problems.is_empty() && (variants.is_empty() || sure > MAX_GROUPS) {
            let message = format!("`{name}` has {} groups", variants.len());
            reader.error(range.clone(), message, format!("give it 1 to {MAX_GROUPS} variants"));
        }
        let conditions = presence(&attributes, &derive.conditions).into_iter();
        let conditions = conditions.chain(derive.conditions.iter().cloned()).collect::<Vec<_>>();
        expansions += &expansion(all_of(&conditions), &runtime, &derive.path, &name, &variants);
        groups.extend(variants.into_iter().map(|variant| variant.group));
    }
    let starts: Vec<usize> = derives.iter().map(|derive| derive.start).collect();
    let removal = Removal { spans, derives: &starts };
    let written = parts.iter().flat_map(|part| &part.attributes);
    let mut erased = Vec::new();
    for attribute in found.attributes.iter().chain(written) {
        spans.erase(&removal.of(attribute), source, &mut erased);
    }
    let erase = |Erasure { range, kept }| Edit { range, text: kept };
    let mut edits: Vec<Edit> = erased.into_iter().map(erase).collect();
    let end = spans.of_group(found.body).end;
    edits.push(Edit { range: end..end, text: expansions });
    (GroupEnum { groups, range, edits }, reader.problems)
}

/// A variant's tokens.
struct Part<'t> {
    attributes: Vec<&'t [TokenTree]>,
    rest: &'t [TokenTree],
}

impl<'t> Part<'t> {
    fn of(part: &'t [TokenTree]) -> Self {
        let (mut attributes, mut rest) = (Vec::new(), part);
        while is_punct(rest.first(), '#') && rest.len() > 1 {
            let (attribute, after) = rest.split_at(2);
            attributes.push(attribute);
            rest = after;
        }
        Self { attributes, rest }
    }
}

/// Reads an enum for one of its derives.
struct EnumReader<'a> {
    spans: Spans,
    /// Conditions that hold, since the derive is there.
    known: &'a [String],
    problems: Vec<Diagnostic>,
}

impl EnumReader<'_> {
    /// Tells of a problem, once.
    fn error(&mut self, range: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        let problem = Diagnostic::error(Code::Groups, range, message).help(help);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// The path of the runtime, of which the enum's settings may tell.
    fn runtime(&mut self, attributes: &[Attribute]) -> String {
        let mut runtime = format!("::{RUNTIME}");
        for setting in self.settings(attributes) {
            if setting.key == "crate" {
                self.is_sure(&setting);
                runtime = text(&setting.value);
            } else {
                let message = format!("`{}` can't be set on a group enum", setting.key);
                let help = "put it on a variant, or write `crate = path` to name `protolog_rt`";
                self.error(setting.range, message, help);
            }
        }
        runtime
    }

    /// The settings in `#[protolog(…)]`.
    fn settings(&mut self, attributes: &[Attribute]) -> Vec<Setting> {
        let mut settings = Vec::new();
        for attribute in attributes {
            let condition = all_of(&attribute.conditions_beyond(self.known));
            match &attribute.trees[..] {
                [key, TokenTree::Group(list)] if is_word(Some(key), "protolog") => {
                    for part in split_at_commas(&content(list)) {
                        let setting = self.setting(part, self.spans.of_group(list));
                        settings.extend(
                            setting.map(|one| Setting { condition: condition.clone(), ..one }),
                        );
                    }
                }
                [key, ..] if is_word(Some(key), "protolog") => {
                    let range = self.spans.of_all(&attribute.trees, 0);
                    self.error(range, "`#[protolog]` sets nothing", KEYS);
                }
                _ => {}
            }
        }
        settings
    }

    fn setting(&mut self, part: &[TokenTree], list: Range<usize>) -> Option<Setting> {
        match part {
            [TokenTree::Ident(key), equals, value @ ..]
                if is_punct(Some(equals), '=') && !value.is_empty() =>
            {
                let range = self.spans.range(key.span());
                let key = key.to_string();
                Some(Setting { key, value: value.to_vec(), range, condition: None })
            }
            _ => {
                let range = self.spans.of_all(part, list.start);
                self.error(range, "a setting of `#[protolog(…)]` is not `key = value`", KEYS);
                None
            }
        }
    }

    fn variant(&mut self, part: &Part<'_>, class: &str) -> Option<Variant> {
        let ident = match part.rest.first() {
            Some(TokenTree::Ident(ident)) => ident.to_string(),
            other => {
                let range = other.map_or(0..0, |tree| self.spans.of(tree));
                self.error(range, "a variant has no name", ENUM_HELP);
                return None;
            }
        };
        if let Some(fields @ TokenTree::Group(_)) = part.rest.get(1) {
            let message = format!("the group `{ident}` has fields");
            let help = "remove them: a group is a constant";
            self.error(self.spans.of(fields), message, help);
        }
        let attributes = Attribute::all(&part.attributes);
        let presence = presence(&attributes, self.known);
        let (mut tag, mut sample, mut limit) = (None, None, None);
        let (mut enabled, mut log_to_text) = (Flag::new(true), Flag::new(false));
        for setting in self.settings(&attributes) {
            match setting.key.as_str() {
                "tag" => {
                    self.is_sure(&setting);
                    tag = self.string(&setting);
                }
                "enabled" => enabled.set(self.boolean(&setting), setting.condition),
                "log_to_text" => log_to_text.set(self.boolean(&setting), setting.condition),
                "sample" => {
                    self.is_sure(&setting);
                    let is_rate = |text: &str| Rate::parse(text).is_some();
                    sample = self.valid(&setting, "rate", is_rate, Rate::help);
                }
                "limit" => {
                    self.is_sure(&setting);
                    let is_limit = |text: &str| Limit::parse(text).is_some();
                    limit = self.valid(&setting, "limit", is_limit, |_| limit::HELP);
                }
                other => {
                    let message = format!("unknown setting `{other}` of a log group");
                    self.error(setting.range, message, KEYS);
                }
            }
        }
        let name = plain(&ident);
        let shown = match &tag {
            Some((_, value)) => value.clone(),
            None => name.to_owned(),
        };
        let group = Group::of_rust(class, name, enabled.may_be(), log_to_text.may_be(), shown);
        let tag = tag.map(|(literal, _)| literal);
        Some(Variant { ident, presence, tag, enabled, log_to_text, sample, limit, group })
    }

    /// Refuses a setting that depends on a condition, although a dictionary can have one value
    /// only.
    fn is_sure(&mut self, setting: &Setting) {
        if setting.condition.is_some() {
            let message =
                format!("the setting `{}` of a group can't depend on a condition", setting.key);
            let help = "set it in every build in which the enum is a group enum";
            self.error(setting.range.clone(), message, help);
        }
    }

    /// A literal whose text is a `what`; `help` says of another one what to do.
    fn valid(
        &mut self,
        setting: &Setting,
        what: &str,
        is_valid: impl Fn(&str) -> bool,
        help: impl Fn(&str) -> &'static str,
    ) -> Option<String> {
        let (literal, text) = self.string(setting)?;
        if !is_valid(&text) {
            let message = format!("invalid {what} `{text}`");
            self.error(setting.range.clone(), message, help(&text));
        }
        Some(literal)
    }

    /// A string's literal and value.
    fn string(&mut self, setting: &Setting) -> Option<(String, String)> {
        let Setting { key, value, range, .. } = setting;
        if let [TokenTree::Literal(literal)] = &value[..]
            && let Some(text) = literal::text(&literal.to_string(), 0)
        {
            // On one line, however it was written.
            return Some((format!("{:?}", text.as_str()), text.as_str().to_owned()));
        }
        let message = format!("`{key} = {}` is not a string", text(value));
        let example = match key.as_str() {
            "sample" => "1/100",
            "limit" => "100/s",
            _ => "NET",
        };
        let help = format!("write it in quotes, as in `{key} = \"{example}\"`");
        self.error(range.clone(), message, help);
        None
    }

    fn boolean(&mut self, setting: &Setting) -> bool {
        let Setting { key, value, range, .. } = setting;
        match text(value).as_str() {
            "true" => true,
            "false" => false,
            other => {
                let message = format!("`{key} = {other}` is neither true nor false");
                let help = format!("write `{key} = true` or `{key} = false`");
                self.error(range.clone(), message, help);
                false
            }
        }
    }
}

/// A setting that is true or false, perhaps depending on conditions.
enum Flag {
    Known(bool),
    /// True where this predicate holds.
    If(String),
}

impl Flag {
    fn new(value: bool) -> Self {
        Self::Known(value)
    }

    /// A later setting, which counts where its condition holds.
    fn set(&mut self, value: bool, condition: Option<String>) {
        *self = match (condition, &*self) {
            (None, _) => Self::Known(value),
            (Some(_), Self::Known(before)) if *before == value => return,
            (Some(condition), Self::Known(_)) if value => Self::If(condition),
            (Some(condition), Self::Known(_)) => Self::If(format!("not({condition})")),
            (Some(condition), Self::If(before)) if value => {
                Self::If(format!("any({condition},{before})"))
            }
            (Some(condition), Self::If(before)) => {
                Self::If(format!("all(not({condition}),{before})"))
            }
        };
    }

    /// Returns whether it is true in some build.
    fn may_be(&self) -> bool {
        !matches!(self, Self::Known(false))
    }
}

impl std::fmt::Display for Flag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known(value) => write!(f, "{value}"),
            Self::If(condition) => write!(f, "::core::cfg!({condition})"),
        }
    }
}

fn expansion(
    condition: Option<String>,
    runtime: &str,
    derive: &Path,
    name: &str,
    variants: &[Variant],
) -> String {
    let colons = if derive.absolute { "::" } else { "" };
    let derive = derive.names.join("::");
    let condition = condition.map_or_else(String::new, |condition| format!("#[cfg({condition})] "));
    let mut out = format!(" {condition}{runtime}::__rewritten_groups!({colons}{derive}; {name};");
    let mut index = Index::default();
    for Variant { ident, presence, tag, enabled, log_to_text, sample, limit, .. } in variants {
        let sample = sample.as_ref().map_or(String::new(), |rate| format!(" {rate},"));
        let limit = limit.as_ref().map_or(String::new(), |limit| format!(" limit {limit},"));
        let (short, variant) = (plain(name), plain(ident));
        let tag = tag.clone().unwrap_or_else(|| format!("{variant:?}"));
        let cfg = presence.as_ref().map_or_else(String::new, |when| format!("#[cfg({when})] "));
        let _ = write!(
            out,
            " {cfg}{ident}, {index}, \"{short}::{variant}\", {tag}, {enabled}, {log_to_text},{sample}{limit};"
        );
        index.count(presence.as_deref());
    }
    out + ");"
}

/// The number of a group: how many are before it.
#[derive(Default)]
struct Index<'v> {
    sure: usize,
    /// The number of variants on each condition.
    conditional: Vec<(&'v str, usize)>,
}

impl<'v> Index<'v> {
    fn count(&mut self, presence: Option<&'v str>) {
        let Some(presence) = presence else {
            self.sure += 1;
            return;
        };
        match self.conditional.iter_mut().find(|(known, _)| *known == presence) {
            Some((_, count)) => *count += 1,
            None => self.conditional.push((presence, 1)),
        }
    }
}

impl std::fmt::Display for Index<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sure = (self.sure > 0 || self.conditional.is_empty()).then(|| self.sure.to_string());
        let conditional = self.conditional.iter().map(|(condition, count)| {
            let times = if *count > 1 { format!("{count} * ") } else { String::new() };
            format!("{times}::core::cfg!({condition}) as usize")
        });
        let terms: Vec<String> = sure.into_iter().chain(conditional).collect();
        f.write_str(&terms.join(" + "))
    }
}
