//! Groups from Rust: enums that derive `ProtoLogGroup`, and what becomes of the derive.
//!
//! ```text
//! #[derive(Clone, ProtoLogGroup)] enum AppLog { Net, #[protolog(tag = "DISK")] Disk }
//! #[derive(Clone, )] enum AppLog { Net,  Disk } ::protolog_rt::__rewritten_groups!(ProtoLogGroup; AppLog; Net, 0, …;);
//! ```
//!
//! The rules for enums and settings are those of the derive.

use super::Group;
use crate::diagnostic::{Code, Diagnostic};
use crate::lang::rust::tokens::{
    Erasure, Path, Spans, content, is_punct, is_word, plain, shown as text, split_at_commas,
};
use crate::lang::rust::walk::EnumFound;
use crate::lang::rust::{RUNTIME, literal};
use crate::rewrite::Edit;
use crate::source::Source;
use proc_macro2::TokenTree;
use std::fmt::Write;
use std::ops::Range;

/// The most groups an enum can have.
const MAX_GROUPS: usize = 1024;

const ENUM_HELP: &str = "derive `ProtoLogGroup` for an enum whose variants have no fields";
const KEYS: &str = "use `tag = \"…\"`, `enabled = false` or `log_to_text = true`";

/// A group enum.
#[derive(Clone, Debug)]
pub(crate) struct GroupEnum {
    /// Its groups, in order.
    pub(crate) groups: Vec<Group>,
    /// Where its name stands.
    pub(crate) range: Range<usize>,
    /// What makes the derive its expansion.
    pub(crate) edits: Vec<Edit>,
}

/// What goes by which name.
pub(crate) struct Names<'a> {
    /// The crate.
    pub(crate) krate: &'a str,
    /// The derive, as the enum names it.
    pub(crate) derive: &'a Path,
    /// Where that stands.
    pub(crate) part: Range<usize>,
}

/// A setting in `#[protolog(…)]`.
struct Setting {
    key: String,
    value: Vec<TokenTree>,
    range: Range<usize>,
}

/// A variant.
struct Variant {
    ident: String,
    /// The tag's literal.
    tag: Option<String>,
    group: Group,
}

/// Reads an enum that derives the groups, and says what is wrong with it.
pub(crate) fn read(
    found: &EnumFound<'_>,
    names: &Names<'_>,
    spans: Spans,
    source: &Source,
) -> (GroupEnum, Vec<Diagnostic>) {
    let mut reader = EnumReader { spans, source, erased: Vec::new(), problems: Vec::new() };
    let name = found.name.to_string();
    let range = spans.of(found.name);
    if !found.generics.is_empty() {
        let range = spans.of_all(found.generics, range.end);
        reader.error(range, "a group enum can't be generic", ENUM_HELP);
    }
    let mut runtime = format!("::{RUNTIME}");
    for setting in reader.settings(&found.attributes) {
        if setting.key == "crate" {
            runtime = text(&setting.value);
        } else {
            let message = format!("`{}` can't be set on a group enum", setting.key);
            let help = "put it on a variant, or write `crate = path` to name `protolog_rt`";
            reader.error(setting.range, message, help);
        }
    }
    let class = format!("{}::{}", names.krate, plain(&name));
    let trees = content(found.body);
    let parts = split_at_commas(&trees);
    let variants: Vec<Variant> =
        parts.into_iter().filter_map(|part| reader.variant(part, &class)).collect();
    if reader.problems.is_empty() && (variants.is_empty() || variants.len() > MAX_GROUPS) {
        let message = format!("`{name}` has {} groups", variants.len());
        reader.error(range.clone(), message, format!("give it 1 to {MAX_GROUPS} variants"));
    }
    reader.erase_derive(&found.attributes, &names.part);
    let mut edits: Vec<Edit> =
        reader.erased.into_iter().map(|gone| Edit { range: gone.range, text: gone.kept }).collect();
    let end = spans.of_group(found.body).end;
    let conditions = conditions(&found.attributes);
    let expansion = expansion(&conditions, &runtime, names.derive, &name, &variants);
    edits.push(Edit { range: end..end, text: expansion });
    let groups = variants.into_iter().map(|variant| variant.group).collect();
    (GroupEnum { groups, range, edits }, reader.problems)
}

struct EnumReader<'a> {
    spans: Spans,
    source: &'a Source,
    erased: Vec<Erasure>,
    problems: Vec<Diagnostic>,
}

impl EnumReader<'_> {
    fn error(&mut self, range: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Diagnostic::error(Code::Groups, range, message).help(help));
    }

    fn erase(&mut self, trees: &[TokenTree]) {
        self.spans.erase(trees, self.source, &mut self.erased);
    }

    /// What `#[protolog(…)]` sets; these attributes go.
    fn settings(&mut self, attributes: &[&[TokenTree]]) -> Vec<Setting> {
        let mut settings = Vec::new();
        for attribute in attributes {
            let [_, TokenTree::Group(body)] = attribute else { continue };
            let trees = content(body);
            if is_word(trees.first(), "cfg_attr") && mentions_settings(&trees) {
                let range = self.spans.of_group(body);
                let help = "set it in every build";
                self.error(range, "the settings of a group can't depend on a condition", help);
            }
            if !is_word(trees.first(), "protolog") {
                continue;
            }
            let Some(TokenTree::Group(list)) = trees.get(1) else {
                let range = self.spans.of_group(body);
                self.error(range, "`#[protolog]` sets nothing", KEYS);
                continue;
            };
            for part in split_at_commas(&content(list)) {
                settings.extend(self.setting(part, self.spans.of_group(list)));
            }
            self.erase(attribute);
        }
        settings
    }

    fn setting(&mut self, part: &[TokenTree], list: Range<usize>) -> Option<Setting> {
        match part {
            [TokenTree::Ident(key), equals, value @ ..]
                if is_punct(Some(equals), '=') && !value.is_empty() =>
            {
                let range = self.spans.range(key.span());
                Some(Setting { key: key.to_string(), value: value.to_vec(), range })
            }
            _ => {
                let range = self.spans.of_all(part, list.start);
                self.error(range, "a setting of `#[protolog(…)]` is not `key = value`", KEYS);
                None
            }
        }
    }

    fn variant(&mut self, part: &[TokenTree], class: &str) -> Option<Variant> {
        let mut at = 0;
        let mut attributes = Vec::new();
        while is_punct(part.get(at), '#') && at + 1 < part.len() {
            attributes.push(&part[at..at + 2]);
            at += 2;
        }
        let ident = match part.get(at) {
            Some(TokenTree::Ident(ident)) => ident.to_string(),
            other => {
                let range = other.map_or(0..0, |tree| self.spans.of(tree));
                self.error(range, "a variant has no name", ENUM_HELP);
                return None;
            }
        };
        if let Some(fields @ TokenTree::Group(_)) = part.get(at + 1) {
            let message = format!("the group `{ident}` has fields");
            let help = "remove them: a group is a constant";
            self.error(self.spans.of(fields), message, help);
        }
        for attribute in &attributes {
            let [_, TokenTree::Group(body)] = attribute else { continue };
            if is_word(content(body).first(), "cfg") {
                let message =
                    format!("whether there is the group `{ident}` depends on a condition");
                let help = "declare it in every build: a group that is not used costs nothing";
                self.error(self.spans.of_group(body), message, help);
            }
        }
        let (mut tag, mut enabled, mut log_to_text) = (None, true, false);
        for Setting { key, value, range } in self.settings(&attributes) {
            match key.as_str() {
                "tag" => tag = self.string(&key, &value, range),
                "enabled" => enabled = self.boolean(&key, &value, range),
                "log_to_text" => log_to_text = self.boolean(&key, &value, range),
                other => {
                    self.error(range, format!("unknown setting `{other}` of a log group"), KEYS);
                }
            }
        }
        let name = plain(&ident);
        let shown = match &tag {
            Some((_, value)) => value.clone(),
            None => name.to_owned(),
        };
        let group = Group::of_rust(class, name, enabled, log_to_text, shown);
        Some(Variant { tag: tag.map(|(literal, _)| literal), group, ident })
    }

    /// A string's literal and value.
    fn string(
        &mut self,
        key: &str,
        value: &[TokenTree],
        range: Range<usize>,
    ) -> Option<(String, String)> {
        if let [TokenTree::Literal(literal)] = value
            && let Some(text) = literal::text(&literal.to_string(), 0)
        {
            // On one line, whatever it was written on.
            return Some((format!("{:?}", text.as_str()), text.as_str().to_owned()));
        }
        let message = format!("`{key} = {}` is not a string", text(value));
        self.error(range, message, format!("write it in quotes, as in `{key} = \"NET\"`"));
        None
    }

    fn boolean(&mut self, key: &str, value: &[TokenTree], range: Range<usize>) -> bool {
        match text(value).as_str() {
            "true" => true,
            "false" => false,
            other => {
                let message = format!("`{key} = {other}` is neither true nor false");
                self.error(range, message, format!("write `{key} = true` or `{key} = false`"));
                false
            }
        }
    }

    /// Takes the derive that stands at `part` out of its list, or the list away if it holds nothing else.
    fn erase_derive(&mut self, attributes: &[&[TokenTree]], part: &Range<usize>) {
        for attribute in attributes {
            let [_, TokenTree::Group(body)] = attribute else { continue };
            let trees = content(body);
            let [TokenTree::Ident(key), TokenTree::Group(list)] = &trees[..] else { continue };
            let list = content(list);
            let Some(start) = list.iter().position(|tree| self.spans.of(tree).start == part.start)
            else {
                continue;
            };
            if key != "derive" {
                continue;
            }
            if split_at_commas(&list).len() == 1 {
                return self.erase(attribute);
            }
            let end = list[start..].iter().position(|tree| is_punct(Some(tree), ','));
            let end = end.map_or(list.len(), |length| start + length);
            return if end < list.len() {
                self.erase(&list[start..=end]);
            } else {
                self.erase(&list[start - 1..end]);
            };
        }
    }
}

/// Whether a conditional attribute sets something of groups.
fn mentions_settings(cfg_attr: &[TokenTree]) -> bool {
    let Some(TokenTree::Group(list)) = cfg_attr.get(1) else { return false };
    let list = content(list);
    split_at_commas(&list).into_iter().skip(1).any(|part| is_word(part.first(), "protolog"))
}

/// The conditions under which the enum is there, for its expansion.
fn conditions(attributes: &[&[TokenTree]]) -> String {
    let is_condition = |attribute: &&&[TokenTree]| match attribute {
        [_, TokenTree::Group(body)] => is_word(content(body).first(), "cfg"),
        _ => false,
    };
    let conditions = attributes.iter().filter(is_condition);
    conditions.map(|attribute| text(attribute) + " ").collect()
}

fn expansion(
    conditions: &str,
    runtime: &str,
    derive: &Path,
    name: &str,
    variants: &[Variant],
) -> String {
    let colons = if derive.absolute { "::" } else { "" };
    let derive = derive.names.join("::");
    let mut out = format!(" {conditions}{runtime}::__rewritten_groups!({colons}{derive}; {name};");
    for (index, Variant { ident, tag, group }) in variants.iter().enumerate() {
        let (short, enabled, as_text) = (plain(name), group.enabled, group.log_to_text);
        let variant = plain(ident);
        let tag = tag.clone().unwrap_or_else(|| format!("{variant:?}"));
        let _ =
            write!(out, " {ident}, {index}, \"{short}::{variant}\", {tag}, {enabled}, {as_text},;");
    }
    out + ");"
}
