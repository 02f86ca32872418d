//! Finds functions that pass a template and arguments on to a log call.
//!
//! ```text
//! private fun log(msg: String, vararg args: Any?) = ProtoLog.v(NET, "%s: $msg", TAG, *args)
//! log("sent %d", n)        is the message  "Net: sent %d"  with the argument n, if TAG is the constant "Net"
//! ```
//!
//! A constant may be the tag of the class's instances (see [`tag`](super::tag)), or a parameter
//! before the message. Such a function does nothing else, and no other can take its place: nothing
//! overrides it, and no other is called as it is. One level is looked through.

use super::initialiser::runs_code;
use super::method_call::MethodCall;
use super::names::ScopedFile;
use super::read::CallReader;
use super::scopes::{DeclaredKind, DeclaredName};
use super::tag::{is_name_of, tag_of};
use super::template::{Piece, constant_text, pieces};
use crate::call::Text;
use crate::diagnostic::{Code, Diagnostic};
use crate::lang::jvm::wrapper::{TAG, TagSource, Wrapper};
use protolog_core::{Level, Piece as TemplatePiece, Template, Verb};
use std::ops::Range;
use std::path::Path;

/// One such function of the file.
#[derive(Debug)]
pub(super) struct OwnWrapper<'n> {
    pub(super) declared: &'n DeclaredName,
    pub(super) wrapper: Wrapper,
    /// The functions that other files can call.
    pub(super) is_exported: bool,
}

/// The keywords and annotations before a function.
#[derive(Debug, Default)]
struct FunctionHead<'s> {
    keywords: Vec<&'s str>,
    annotations: Vec<&'s str>,
}

impl<'n> CallReader<'n, '_> {
    /// The function around the log call `call`, of the file at `path`, if it is one.
    pub(super) fn wrapper_around(
        &self,
        call: &MethodCall,
        level: Level,
        path: &Path,
    ) -> Option<OwnWrapper<'n>> {
        let named = self.named;
        let file = &named.file;
        let declared = named.scopes.function_around(call.method)?;
        let whole = declared.value.clone()?;
        let (name, open) = (whole.start, whole.start + 1);
        let close = file.partner(call.method + 1);
        // First what rules out most calls at once: there may be any number of them in a function.
        if !is_body(named, &whole, call.class.start..close + 1) {
            return None;
        }
        let modifiers = modifiers(named, name)?;
        let parameters = file.elements(open);
        let passed_tag = passed_tag(named, &parameters);
        let of_instance = if passed_tag.is_some() { None } else { tag_of(named, declared) };
        let tag = passed_tag.or(of_instance);
        let is_overloaded = match of_instance {
            // Instances of other classes are told apart.
            Some(_) => named.scopes.is_overloaded_in_class(declared),
            None => named.scopes.is_overloaded(&declared.name),
        };
        if is_overloaded || !is_final(named, declared, &modifiers) {
            return None;
        }
        let own = &parameters[usize::from(passed_tag.is_some())..];
        let ((text, is_vararg), rest) = message_and_rest(named, own)?;
        let elements = file.elements(call.method + 1);
        let [group, template, passed @ ..] = &elements[..] else { return None };
        let plain = plain_arguments(named, passed, rest.as_deref())?;
        // Without arguments behind it, a text within a template is a value like any other.
        if rest.is_none() && !is_name(named, template, &text) {
            return None;
        }
        let (before, after) = around_text(named, template, &text, tag)?;
        let constants = plain.iter().map(|tokens| constant(named, tokens, tag));
        let before = filled(before.as_str(), &constants.collect::<Option<Vec<_>>>()?)?;
        let has_tag =
            of_instance.is_some() && (before.contains(TAG) || after.as_str().contains(TAG));
        let group = self.group(group).ok().filter(|_| !is_vararg)?;
        let is_static = is_static(named, declared);
        let of_instance = has_tag || !is_static && is_plain_method(named, declared);
        let is_exported = (of_instance || is_static) && is_visible(named, declared, &modifiers);
        let (canonical, of_class) = named.canonical(declared);
        let java_names = is_exported.then(|| java_names(named, declared, &modifiers, path));
        let wrapper = Wrapper {
            name: declared.name.clone(),
            java_names: java_names.unwrap_or_default(),
            kotlin_names: [canonical].into_iter().chain(of_class).collect(),
            is_of_file: named.scopes.types_around(declared.offset).next().is_none(),
            level,
            group,
            of_instance,
            runs_code: is_static && runs_code(named, declared),
            tag: match (has_tag, passed_tag) {
                (true, _) => TagSource::Instance,
                (false, Some(_)) => TagSource::Call,
                (false, None) => TagSource::None,
            },
            before,
            after: after.as_str().to_owned(),
        };
        Some(OwnWrapper { declared, wrapper, is_exported })
    }
}

impl CallReader<'_, '_> {
    /// The note on the log call of a function that passes its template on.
    pub(super) fn passes_on(&self, call: &MethodCall, wrapper: &OwnWrapper<'_>) -> Diagnostic {
        let name = &wrapper.declared.name;
        let message = format!(
            "this call stays as it is, and is interned when the program runs: it passes on the template of calls of `{name}`, which are rewritten where they are"
        );
        let file = &self.named.file;
        let arguments = file.elements(call.method + 1);
        let template = arguments.get(1).cloned().unwrap_or(call.method..call.method + 1);
        Diagnostic::note(Code::NotRewritten, file.bytes_of(&template), message)
    }
}

impl FunctionHead<'_> {
    fn has(&self, keyword: &str) -> bool {
        self.keywords.contains(&keyword)
    }
}

/// Reads the modifiers before the function with its name at `name`; none if it has a receiver or
/// type parameters.
fn modifiers<'s>(named: &ScopedFile<'s>, name: usize) -> Option<FunctionHead<'s>> {
    const KEYWORDS: [&str; 15] = [
        "private",
        "internal",
        "public",
        "protected",
        "inline",
        "final",
        "suspend",
        "open",
        "override",
        "abstract",
        "operator",
        "infix",
        "tailrec",
        "external",
        "actual",
    ];
    let file = &named.file;
    let mut at = name.checked_sub(1).filter(|at| file.raw(*at) == "fun")?;
    let mut found = FunctionHead::default();
    while let Some(before) = at.checked_sub(1) {
        // Of `@Name(…)` the position of the name.
        let is_list = file.is_punct(before, b')');
        let word = if is_list { file.partner(before).checked_sub(1)? } else { before };
        let is_annotation = word > 0 && file.is_punct(word - 1, b'@');
        if is_annotation {
            found.annotations.push(file.raw(word));
            at = word - 1;
        } else if !is_list && KEYWORDS.contains(&file.raw(before)) {
            found.keywords.push(file.raw(before));
            at = before;
        } else {
            break;
        }
    }
    Some(found)
}

/// Returns whether nothing overrides a function, and nothing is called in its place.
fn is_final(named: &ScopedFile<'_>, declared: &DeclaredName, modifiers: &FunctionHead<'_>) -> bool {
    let is_open = ["open", "override", "abstract", "operator", "infix", "external", "actual"];
    let of_class = named.scopes.types_around(declared.offset).next();
    let is_of_interface =
        of_class.is_some_and(|class| named.keywords_before(class).contains(&"interface"));
    !is_open.iter().any(|keyword| modifiers.has(keyword))
        && (!is_of_interface || modifiers.has("private"))
}

/// Returns whether a function can be called without an instance: it is of the file, of an object,
/// or of a companion.
fn is_static(named: &ScopedFile<'_>, declared: &DeclaredName) -> bool {
    let mut around = named.scopes.types_around(declared.offset);
    let is_object = around.next().is_none_or(|class| {
        let is_named = named.keywords_before(class).contains(&"object") && !class.name.is_empty();
        class.is_companion || is_named
    });
    is_object && !named.is_local(declared) && around.all(|class| !class.name.is_empty())
}

/// Returns whether neither a function nor a class around it is private or protected.
fn is_visible(
    named: &ScopedFile<'_>,
    declared: &DeclaredName,
    modifiers: &FunctionHead<'_>,
) -> bool {
    let hides =
        |keywords: &[&str]| keywords.contains(&"private") || keywords.contains(&"protected");
    let mut around = named.scopes.types_around(declared.offset);
    !hides(&modifiers.keywords) && !around.any(|class| hides(&named.keywords_before(class)))
}

/// Returns whether a function is a method of a class that extends nothing, and whose name other
/// files can write.
fn is_plain_method(named: &ScopedFile<'_>, declared: &DeclaredName) -> bool {
    let mut around = named.scopes.types_around(declared.offset);
    let is_class = around.next().is_some_and(|class| {
        let is_of_class = named.keywords_before(class).contains(&"class");
        is_of_class && class.supertypes.is_empty() && !class.name.is_empty()
    });
    is_class && !named.is_local(declared) && around.all(|class| !class.name.is_empty())
}

/// The canonical names of a function for Java, as a static method or one of an instance.
fn java_names(
    named: &ScopedFile<'_>,
    declared: &DeclaredName,
    modifiers: &FunctionHead<'_>,
    path: &Path,
) -> Vec<String> {
    let is_renamed = ["JvmName", "Throws"].iter().any(|it| modifiers.annotations.contains(it));
    if is_renamed || modifiers.has("internal") || modifiers.has("suspend") {
        return Vec::new();
    }
    let Some(class) = named.scopes.types_around(declared.offset).next() else {
        return vec![format!("{}.{}", named.facade(path), declared.name)];
    };
    let (canonical, of_class) = named.canonical(declared);
    let is_static = modifiers.annotations.contains(&"JvmStatic");
    if class.is_companion {
        return [canonical].into_iter().chain(of_class.filter(|_| is_static)).collect();
    }
    if !named.keywords_before(class).contains(&"object") {
        return vec![canonical];
    }
    let instance = canonical.rsplit_once('.').map(|(of, name)| format!("{of}.INSTANCE.{name}"));
    instance.into_iter().chain(is_static.then_some(canonical)).collect()
}

/// Returns whether the tokens `call` are all that the function `whole` does.
fn is_body(named: &ScopedFile<'_>, whole: &Range<usize>, call: Range<usize>) -> bool {
    let file = &named.file;
    let Some(before) = call.start.checked_sub(1) else { return false };
    if file.is_punct(before, b'{') {
        return file.partner(before) == call.end && call.end + 1 == whole.end;
    }
    file.is_punct(before, b'=') && call.end == whole.end && before > file.partner(whole.start + 1)
}

/// The name of a parameter without a default value, and that it takes any number of values. Of
/// others the type must be `String`.
fn parameter(named: &ScopedFile<'_>, tokens: &Range<usize>) -> Option<(String, bool)> {
    let file = &named.file;
    let colon = tokens.clone().find(|at| file.is_punct(*at, b':'))?;
    let offset = file.tokens[colon].range().start;
    let name = file.word(colon.checked_sub(1)?).into_owned();
    let declared = named.scopes.variable(&name, offset)?;
    let has_default = tokens.clone().any(|at| file.is_punct(at, b'='));
    match (declared.kind, declared.written_type.as_deref()) {
        _ if has_default => None,
        (DeclaredKind::Vararg, Some("Any?" | "Any")) => Some((name, true)),
        (DeclaredKind::Parameter, Some("String")) => Some((name, false)),
        _ => None,
    }
}

/// The first parameter, with whether it takes any number of values, and the name of one that does
/// behind it, which may be left out.
fn message_and_rest(
    named: &ScopedFile<'_>,
    parameters: &[Range<usize>],
) -> Option<((String, bool), Option<String>)> {
    let message = parameter(named, parameters.first()?)?;
    let rest = match &parameters[1..] {
        [] => None,
        [rest] => Some(parameter(named, rest).filter(|(_, is_vararg)| *is_vararg)?.0),
        _ => return None,
    };
    Some((message, rest))
}

/// The first of two parameters for texts, the tag before the message, if any number of arguments
/// follows. Otherwise the log call in the function has a template of its own, with both as values.
fn passed_tag<'n>(
    named: &'n ScopedFile<'_>,
    parameters: &[Range<usize>],
) -> Option<&'n DeclaredName> {
    let [tag, message, _] = parameters else { return None };
    let (name, is_vararg) = parameter(named, tag)?;
    let has_message = parameter(named, message).is_some_and(|(_, is_vararg)| !is_vararg);
    let offset = named.file.bytes_of(message).start;
    named.scopes.variable(&name, offset).filter(|_| has_message && !is_vararg)
}

/// The arguments before `*rest`, of the parameter `rest` if the function has it, among those that
/// it passes on.
fn plain_arguments<'e>(
    named: &ScopedFile<'_>,
    passed: &'e [Range<usize>],
    rest: Option<&str>,
) -> Option<&'e [Range<usize>]> {
    let (file, Some(rest)) = (&named.file, rest) else { return Some(passed) };
    let (last, plain) = passed.split_last()?;
    let is_rest =
        last.len() == 2 && file.is_punct(last.start, b'*') && file.word(last.start + 1) == rest;
    is_rest.then_some(plain)
}

/// Returns whether the tokens are `name` and nothing else.
fn is_name(named: &ScopedFile<'_>, tokens: &Range<usize>, name: &str) -> bool {
    named.file.path(tokens.clone()).is_some_and(|path| path == [name.to_owned()])
}

/// The constant texts of a template before and after the value of the parameter `name`.
fn around_text(
    named: &ScopedFile<'_>,
    template: &Range<usize>,
    name: &str,
    tag: Option<&DeclaredName>,
) -> Option<(Text, Text)> {
    let file = &named.file;
    if is_name(named, template, name) {
        return Some((Text::default(), Text::default()));
    }
    let (mut before, mut after, mut is_found) = (Text::default(), Text::default(), false);
    for piece in pieces(named, template.clone()).ok()? {
        match piece {
            Piece::Text(text) if text.as_str().contains(TAG) => return None,
            Piece::Text(text) if is_found => after.append(text),
            Piece::Text(text) => before.append(text),
            Piece::Expression(tokens) if is_name_of(named, &tokens, tag) => {
                let text = if is_found { &mut after } else { &mut before };
                text.push(TAG, file.bytes_of(&tokens).start);
            }
            Piece::Expression(tokens) => {
                let is_parameter = tokens.len() == 1 && file.word(tokens.start) == name;
                if is_found || !is_parameter {
                    return None;
                }
                is_found = true;
            }
        }
    }
    is_found.then_some((before, after))
}

/// The text of a constant, or [`TAG`].
fn constant(
    named: &ScopedFile<'_>,
    tokens: &Range<usize>,
    tag: Option<&DeclaredName>,
) -> Option<String> {
    if is_name_of(named, tokens, tag) {
        return Some(TAG.to_string());
    }
    constant_text(named, tokens)
}

/// A template with these texts in the place of its first conversions, which must be `%s`.
fn filled(template: &str, constants: &[String]) -> Option<String> {
    let mut constants = constants.iter();
    let parsed = Template::parse(template).ok()?;
    let (mut filled, mut at) = (String::new(), 0);
    for conversion in parsed.pieces().filter_map(|piece| match piece {
        TemplatePiece::Conversion(conversion) => Some(conversion),
        _ => None,
    }) {
        let Some(constant) = constants.next() else { break };
        if conversion.verb != Verb::Str || !conversion.is_bare() {
            return None;
        }
        let range = conversion.range();
        filled.push_str(&template[at..range.start]);
        filled.push_str(&constant.replace('%', "%%"));
        at = range.end;
    }
    filled.push_str(&template[at..]);
    constants.next().is_none().then_some(filled)
}
