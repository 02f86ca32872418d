//! The groups of the calls that move: the one that is given, or an enum with a variant for each
//! module, which stands in the crate's root.

use super::super::tokens::{
    FileTokens, content, group, is_punct, is_word, plain, split_at_commas, word,
};
use super::find::enum_body;
use super::imports::{Imports, indent, line_end};
use crate::lang::migration::{Migration, MoveChoice};
use crate::rewrite::Edit;
use crate::source::Source;
use crate::system::System;
use proc_macro2::{Delimiter, Group, TokenTree};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;

/// The groups of a crate.
pub(super) struct CrateGroups {
    /// The path of the enum.
    pub(super) path: String,
    /// Its name.
    pub(super) name: String,
    /// The variant of all calls.
    variant: Option<String>,
    krate: String,
    /// The file of the crate's root, and whether it is an input.
    root: Option<(PathBuf, bool)>,
    /// The enum in the root, where it is there.
    known: Option<KnownEnum>,
    /// The variants that calls name.
    used: BTreeMap<String, UsedVariant>,
}

/// An enum that is there.
struct KnownEnum {
    body: Range<usize>,
    variants: Vec<KnownVariant>,
    /// The end of the last variant, of its comma if it has one.
    end: usize,
    needs_comma: bool,
}

impl KnownEnum {
    fn of(tokens: &FileTokens, body: &Group) -> Self {
        let range = tokens.spans.of_group(body);
        let trees = content(body);
        let last = trees.last();
        let end = last.map_or(range.start + 1, |last| tokens.spans.of(last).end);
        let needs_comma = last.is_some() && !is_punct(last, ',');
        Self { body: range, variants: variants(&trees), end, needs_comma }
    }
}

/// A variant of an enum that is there.
struct KnownVariant {
    name: String,
    tag: Option<String>,
}

/// A variant of the enum.
struct UsedVariant {
    tag: Option<String>,
    /// True if all its calls are in modules of tests, so that it is unused without them.
    is_of_tests: bool,
}

impl CrateGroups {
    pub(super) fn new(
        choice: MoveChoice<'_>,
        krate: String,
        root: Option<(PathBuf, bool)>,
        system: &dyn System,
    ) -> Self {
        let given = choice.group.and_then(|group| group.rsplit_once("::"));
        let own = format!("crate::{}", choice.enum_name);
        let (path, variant) = match given {
            Some((path, variant)) => (path.to_owned(), Some(variant.to_owned())),
            None => (own, None),
        };
        let name = path.rsplit("::").next().unwrap_or_default().to_owned();
        let mut known = None;
        if let (Some((root, _)), None) = (&root, &variant) {
            let bytes = system.read(root).unwrap_or_default();
            let tokens = FileTokens::of(&bytes);
            known = tokens.ok().and_then(|tokens| {
                enum_body(&tokens, &name).map(|body| KnownEnum::of(&tokens, body))
            });
            super::super::tokens::forget();
        }
        Self { path, name, variant, krate, root, known, used: BTreeMap::new() }
    }

    /// Returns whether this file has the enum, or will have it.
    pub(super) fn is_root(&self, source: &Source) -> bool {
        let path = super::super::paths::normal(source.path());
        self.variant.is_none() && self.root.as_ref().is_some_and(|(root, _)| *root == *path)
    }

    /// The variant of a call.
    pub(super) fn variant(&mut self, module: &[String], target: Option<&str>) -> String {
        if let Some(variant) = &self.variant {
            return variant.clone();
        }
        let krate = self.krate.clone();
        let target = target.map(|target| {
            target.strip_prefix(&krate).and_then(|rest| rest.strip_prefix("::")).unwrap_or(target)
        });
        let (name, tag) = match target {
            Some(target) => (target, Some(target.to_owned())),
            None => (module.first().map_or(krate.as_str(), String::as_str), None),
        };
        let (variant, tag) = self.free(&camel_case(name), tag);
        let in_tests = module.iter().any(|name| matches!(name.as_str(), "test" | "tests"));
        let new = || UsedVariant { tag, is_of_tests: true };
        self.used.entry(variant.clone()).or_insert_with(new).is_of_tests &= in_tests;
        variant
    }

    /// The first variant of this name, or with a number behind it, that is free or whose tag is
    /// this one; and the tag that it has to be given. Targets such as `a::b` and `a-b` have one
    /// name, and two tags.
    fn free(&self, name: &str, tag: Option<String>) -> (String, Option<String>) {
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "_:-./".contains(char);
        let tag = tag.filter(|tag| tag.chars().all(is_plain)).unwrap_or_else(|| name.to_owned());
        let numbered =
            |number| if number == 1 { name.to_owned() } else { format!("{name}{number}") };
        let mut all = (1..).map(numbered);
        loop {
            let variant = all.next().unwrap_or_default();
            let given = match (self.used.get(&variant), &self.known) {
                (Some(used), _) => Some(used.tag.clone()),
                (None, _) => self.known(&variant).map(|known| known.tag.clone()),
            };
            let is_tag = |other: &str| other.eq_ignore_ascii_case(&tag);
            match given {
                None => {
                    return (
                        variant.clone(),
                        Some(tag).filter(|it| !it.eq_ignore_ascii_case(&variant)),
                    );
                }
                Some(given) if is_tag(given.as_deref().unwrap_or(&variant)) => {
                    return (variant, given);
                }
                Some(_) => {}
            }
        }
    }

    /// The variant of this name of the enum that is there.
    fn known(&self, name: &str) -> Option<&KnownVariant> {
        self.known.as_ref()?.variants.iter().find(|known| known.name == name)
    }

    /// The edit that makes the enum, or adds to it.
    pub(super) fn edit(&self, source: &Source, imports: &Imports) -> Option<Edit> {
        if self.used.is_empty() {
            return None;
        }
        let end = line_end(source);
        let Some(known) = &self.known else {
            let at = imports.head_end;
            let text = self.declaration().replace('\n', end);
            let is_start = source.text(0..at).trim().is_empty() || indent_only(source, at);
            let text =
                if is_start { format!("{text}{end}{end}") } else { format!("{end}{end}{text}") };
            return Some(Edit { range: at..at, text });
        };
        let missing = self.used.iter().filter(|(name, _)| self.known(name).is_none());
        let missing: Vec<_> = missing.collect();
        if missing.is_empty() {
            return None;
        }
        let KnownEnum { ref body, end: last, needs_comma, .. } = *known;
        // Comments behind the last variant stay before the new ones.
        let behind = source.text(last..body.end - 1);
        let comments = behind.trim_end();
        let margin = indent(source, body.start) + "    ";
        let mut text = if needs_comma { "," } else { "" }.to_owned() + comments;
        for (name, variant) in missing {
            let attributes = attributes(variant, &format!("{end}{margin}"));
            let _ = write!(text, "{end}{margin}{attributes}{name},");
        }
        if !behind[comments.len()..].contains('\n') {
            text += end;
        }
        Some(Edit { range: last..last + comments.len(), text })
    }

    fn declaration(&self) -> String {
        let mut text = format!(
            "/// The groups of this crate's log calls.\n#[derive(protolog_rt::ProtoLogGroup)]\npub(crate) enum {} {{\n",
            self.name
        );
        for (name, variant) in &self.used {
            let _ = writeln!(text, "    {}{name},", attributes(variant, "\n    "));
        }
        text + "}"
    }

    /// Says what is left to do where the root is no input.
    pub(super) fn finish(&self, migration: &mut Migration) {
        let is_edited = self.root.as_ref().is_some_and(|(_, is_input)| *is_input);
        if self.used.is_empty() || is_edited {
            return;
        }
        let place = self
            .root
            .as_ref()
            .map_or("the crate's root".to_owned(), |(root, _)| format!("`{}`", root.display()));
        let missing = |name: &&String| self.known(name).is_none();
        let names: Vec<&str> = self.used.keys().filter(missing).map(String::as_str).collect();
        if !names.is_empty() {
            migration.steps.push(format!(
                "add to {place}: `#[derive(protolog_rt::ProtoLogGroup)] pub(crate) enum {} {{ {} }}`",
                self.name,
                names.join(", ")
            ));
        }
    }
}

fn attributes(variant: &UsedVariant, then: &str) -> String {
    let tag = variant.tag.as_ref().map(|tag| format!("#[protolog(tag = \"{tag}\")]{then}"));
    let unused = variant.is_of_tests.then(|| format!("#[allow(dead_code)]{then}"));
    tag.unwrap_or_default() + &unused.unwrap_or_default()
}

/// Returns whether nothing but white space stands before an offset on its line.
fn indent_only(source: &Source, at: usize) -> bool {
    let line = source.line_range(source.line(at));
    source.text(line.start..at).trim().is_empty()
}

/// The variants of an enum. Comments are none, whatever they name.
fn variants(trees: &[TokenTree]) -> Vec<KnownVariant> {
    let read = |part: &&[TokenTree]| {
        let (mut at, mut tag) = (0, None);
        while is_punct(part.get(at), '#') {
            tag = tag.or(group(part.get(at + 1), Delimiter::Bracket).and_then(tag_in));
            at += 2;
        }
        Some(KnownVariant { name: plain(&word(part.get(at))?).to_owned(), tag })
    };
    split_at_commas(trees).iter().filter_map(read).collect()
}

/// The tag in an attribute, `protolog(tag = "net")`.
fn tag_in(attribute: &Group) -> Option<String> {
    let trees = content(attribute);
    is_word(trees.first(), "protolog").then_some(())?;
    let inner = content(group(trees.get(1), Delimiter::Parenthesis)?);
    let parts = split_at_commas(&inner);
    let given = parts.iter().find(|part| is_word(part.first(), "tag"))?.get(2)?;
    syn::parse_str::<syn::LitStr>(&given.to_string()).ok().map(|text| text.value())
}

/// A name as a variant has it: `NetHttp` of `net::http` and `net_http`, `Http1_1` of `http 1.1`.
pub(super) fn camel_case(name: &str) -> String {
    let parts = name.split(|char: char| !char.is_alphanumeric()).filter(|part| !part.is_empty());
    let mut name = String::new();
    for part in parts {
        let mut chars = part.chars();
        let first = chars.next().into_iter().flat_map(char::to_uppercase);
        // Numbers that are apart stay so.
        if name.ends_with(|it: char| it.is_ascii_digit())
            && part.starts_with(|it: char| it.is_ascii_digit())
        {
            name.push('_');
        }
        name.extend(first.chain(chars));
    }
    if syn::parse_str::<syn::Ident>(&name).is_ok() { name } else { format!("Group{name}") }
}
