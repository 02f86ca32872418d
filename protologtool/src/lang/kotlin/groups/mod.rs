//! Groups from Kotlin source, without compiling it: the constants of an enum, or the objects in the
//! variables of an object or a companion.
//!
//! ```text
//! enum class Groups(private val enabled: Boolean, override val tag: String = "App") : IGroup { NET(true), DISK(true, tag = "Disk"); … }
//! object AppLog { @JvmField val NET = Group("NET", "Net") }
//! ```
//!
//! The class of such objects is one of the same file, or they are of classes without a name. How a
//! group is evaluated: [`object`].

mod object;
mod value;

use crate::diagnostic::{Code, Diagnostic};
use crate::groups::{Group, Groups};
use crate::lang::jvm::groups::{INTERFACES, canonical, unique};
use crate::lang::kotlin::names::ScopedFile;
use crate::lang::kotlin::scopes::{DeclaredKind, DeclaredName};
use crate::source::Source;
use object::{KotlinObject, NoGroup, constants, fields};
use std::ops::Range;
use value::Unknown;

/// A group, the token that names it, and why its id is not known.
type ReadGroup = Result<(Group, usize, Option<Unknown>), Diagnostic>;

/// The groups of the class `class`, which `source` declares; or the problem with it.
pub fn from_kotlin_source(source: &Source, class: &str) -> Result<Groups, Vec<Diagnostic>> {
    let named = &ScopedFile::of(source.bytes());
    let class = &canonical(class);
    let error = |range, message: String| vec![Diagnostic::error(Code::Groups, range, message)];
    if let Some(range) = &named.file.unbalanced {
        return Err(error(range.clone(), "this bracket or quote has no partner".to_owned()));
    }
    let mut types = named.scopes.all().iter().filter(|it| it.kind == DeclaredKind::Type);
    let declared = types.find(|it| named.canonical(it).0 == *class).ok_or_else(|| {
        let help = "check `--loggroups-class` against the package and the class of this file";
        let error =
            Diagnostic::error(Code::Groups, 0..0, format!("no class `{class}` in this file"));
        vec![error.help(help)]
    })?;
    let is_enum = named.keywords_before(declared).contains(&"enum");
    if let Some(problem) = is_enum.then(|| clash_of_names(named, declared)).flatten() {
        return Err(vec![problem]);
    }
    let found = if is_enum {
        of_constants(named, declared, class)
    } else {
        of_fields(named, declared, class)
    };
    let name = named.token_at(declared.offset);
    if found.is_empty() && !is_enum {
        let help = "name an enum of groups, or an object or a class with groups in variables of its companion";
        let range = named.file.bytes_of(&(name..name + 1));
        let error = Diagnostic::error(Code::Groups, range, format!("no groups in `{class}`"));
        return Err(vec![error.help(help)]);
    }
    let (mut groups, mut places, mut problems, mut unknown_ids) =
        (Vec::new(), Vec::new(), Vec::new(), None);
    for group in found {
        match group {
            Ok((group, place, id)) => {
                groups.push(group);
                places.push(named.file.bytes_of(&(place..place + 1)));
                unknown_ids = unknown_ids.or(id);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let warning = unknown_ids.map(|unknown| {
        let range = named.file.bytes_of(&unknown.tokens);
        let message = format!(
            "the ids of the groups are not known: `{}` has no value here",
            named_text(named, &unknown.tokens)
        );
        let help = "give the groups' jar by `--loggroups-jar`; else groups are counted from 1";
        Diagnostic::warning(Code::Groups, range, message).help(help)
    });
    let made = unique(class, groups, &places).map_err(|clash| vec![clash])?;
    Ok(made.with_unknown_ids(warning))
}

/// The error for an enum of an interface that has `name()`, which kotlinc reports as a clash of
/// signatures.
fn clash_of_names(named: &ScopedFile<'_>, declared: &DeclaredName) -> Option<Diagnostic> {
    let interface = declared.supertypes.iter().find(|name| {
        let means = |class| named.means(&[(*name).clone()], class, declared.offset);
        INTERFACES.into_iter().any(means)
    })?;
    let name = named.token_at(declared.offset);
    let message = format!(
        "the enum `{}` can't implement `{interface}`: its `name` and the interface's `name()` would be one method",
        declared.name
    );
    let help = "make the groups objects of a class in an `object`, or the enum one of Java";
    let range = named.file.bytes_of(&(name..name + 1));
    Some(Diagnostic::error(Code::Groups, range, message).help(help))
}

fn of_constants(named: &ScopedFile<'_>, declared: &DeclaredName, class: &str) -> Vec<ReadGroup> {
    let Some(body) = &declared.body else { return Vec::new() };
    let found = constants(&named.file, named.token_at(body.start));
    let groups = found.into_iter().enumerate().map(|(number, (name, arguments, body))| {
        let written = named.file.word(name).into_owned();
        let constant = Some((written.clone(), number));
        let object = KotlinObject::new(named, Some(declared), arguments, body, constant);
        read(named, object, &written, class, name)
    });
    groups.collect()
}

fn of_fields(named: &ScopedFile<'_>, declared: &DeclaredName, class: &str) -> Vec<ReadGroup> {
    let file = &named.file;
    let groups = fields(named, declared).into_iter().filter_map(|field| {
        let value = field.value.clone()?;
        let (name, written) = (named.token_at(field.offset), &field.name);
        if file.raw(value.start) == "object" {
            // The name that the compiler gives the class.
            let own = format!("{class}${written}$1");
            let body = (value.clone()).find(|at| file.is_punct(*at, b'{'))?;
            let object = KotlinObject::new(named, None, None, Some(body), None);
            return Some(read(named, object, written, &own, name));
        }
        let open = value.end.checked_sub(1).map(|close| file.partner(close))?;
        let path = file.path(value.start..open)?;
        let made = named.scopes.type_named(path.last()?, field.offset)?;
        let object = KotlinObject::new(named, Some(made), Some(open), None, None);
        Some(read(named, object, written, &named.canonical(made).0, name))
    });
    groups.collect()
}

/// The group that an object is.
fn read(
    named: &ScopedFile<'_>,
    object: Result<KotlinObject<'_, '_>, Unknown>,
    written: &str,
    class: &str,
    place: usize,
) -> ReadGroup {
    let group = object.map_err(NoGroup::Unknown).and_then(|object| object.group(written, class));
    group.map(|(group, id)| (group, place, id)).map_err(|error| {
        let (tokens, why) = match error {
            NoGroup::Missing(getter) => {
                (place..place + 1, format!("`{getter}` is not in this file, or of another type"))
            }
            NoGroup::Unknown(unknown) => {
                let why = format!("`{}` has no value here", named_text(named, &unknown.tokens));
                (unknown.tokens, why)
            }
        };
        let message = format!("can't evaluate the group `{written}`: {why}");
        Diagnostic::error(Code::Groups, named.file.bytes_of(&tokens), message)
            .help("use literals, constants of this file and parameters of the constructor, or give the groups' jar by `--loggroups-jar`")
    })
}

/// The tokens as they are written, on one line.
fn named_text(named: &ScopedFile<'_>, tokens: &Range<usize>) -> String {
    let text = String::from_utf8_lossy(&named.file.text[named.file.bytes_of(tokens)]).into_owned();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().take(60).collect()
}
