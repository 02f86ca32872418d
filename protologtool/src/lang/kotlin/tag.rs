//! Classes whose instances have a tag, which their methods put into templates; and the tags of
//! instances.
//!
//! ```text
//! class Log(private val tag: String) { … }      nothing runs when an instance is made
//! Log("Server").v("…")                          an instance with a constant tag
//! private val log = Log("Server")               another, by a name that always means it
//! fun f(net: Net) = net.v("…")                  one of a class without a tag, by a name of that type
//! ```

use super::names::ScopedFile;
use super::scopes::{DeclaredKind, DeclaredName};
use super::template::constant_text;
use std::collections::HashMap;
use std::ops::Range;

/// The instance that a method is called on.
pub(super) struct Instance {
    /// The tokens of the expression that is written for it.
    pub(super) receiver: Range<usize>,
    /// The names of its class, and the offset at which they have their meaning.
    pub(super) class: (Vec<String>, usize),
    /// The tokens of the one value that its constructor takes; none if that is not known, or takes
    /// others.
    value: Option<Range<usize>>,
    /// True if the expression makes it, rather than names it.
    pub(super) is_made: bool,
}

/// The tag of the class around the function `declared`, as the parameter of its constructor.
pub(super) fn tag_of<'n>(
    named: &'n ScopedFile<'_>,
    declared: &DeclaredName,
) -> Option<&'n DeclaredName> {
    let class = named.scopes.types_around(declared.offset).next()?;
    let position = named.tags.get_or_init(|| tags(named)).get(&class.offset)?;
    named.scopes.all().get(*position)
}

/// The positions of the tags of all classes, by the offsets of these: each is looked at as a whole,
/// and a class may have any number of methods.
fn tags(named: &ScopedFile<'_>) -> HashMap<usize, usize> {
    let all = named.scopes.all();
    let is_tag = |it: &DeclaredName| {
        it.kind == DeclaredKind::Parameter && it.written_type.as_deref() == Some("String")
    };
    let parameters: HashMap<usize, usize> = all
        .iter()
        .enumerate()
        .filter_map(|(position, it)| is_tag(it).then_some((it.offset, position)))
        .collect();
    let classes = all.iter().filter(|it| it.kind == DeclaredKind::Type);
    classes
        .filter_map(|class| Some((class.offset, *parameters.get(&only_value(named, class)?)?)))
        .collect()
}

/// The offset of the one `val` without a default that the constructor of a class takes, if nothing
/// else happens there.
fn only_value(named: &ScopedFile<'_>, class: &DeclaredName) -> Option<usize> {
    const KEYWORDS: [&str; 6] = ["class", "private", "internal", "public", "final", "data"];
    let file = &named.file;
    let name = named.token_at(class.offset);
    if !file.is_punct(name + 1, b'(') || !class.supertypes.is_empty() {
        return None;
    }
    let [parameter] = &file.elements(name + 1)[..] else { return None };
    let keyword = parameter.clone().find(|at| file.raw(*at) == "val")?;
    let is_plain = named.keywords_before(class).iter().all(|keyword| KEYWORDS.contains(keyword));
    let has_default = parameter.clone().any(|at| file.is_punct(at, b'='));
    let is_only = is_plain && !has_default && !named.is_local(class) && !runs_code(named, class);
    is_only.then(|| file.bytes_of(&(keyword + 1..keyword + 2)).start)
}

/// Returns whether the tokens are the name of `tag`, and nothing hides it.
pub(super) fn is_name_of(
    named: &ScopedFile<'_>,
    tokens: &Range<usize>,
    tag: Option<&DeclaredName>,
) -> bool {
    let (file, Some(tag)) = (&named.file, tag) else { return false };
    let path = file.path(tokens.clone());
    let offset = file.bytes_of(tokens).start;
    path.is_some_and(|path| path == [tag.name.clone()])
        && named.scopes.variable(&tag.name, offset).is_some_and(|it| it.offset == tag.offset)
}

/// Returns whether more happens than that the tag is kept when an instance is made.
fn runs_code(named: &ScopedFile<'_>, class: &DeclaredName) -> bool {
    let file = &named.file;
    let Some(body) = &class.body else { return false };
    let open = named.token_at(body.start);
    let (mut at, close) = (open + 1, file.partner(open));
    while at < close {
        if matches!(file.raw(at), "init" | "constructor" | "val" | "var") {
            return true;
        }
        at = file.next(at, close);
    }
    false
}

impl Instance {
    /// The instance whose method is called at the token `method`, by a constructor or by a name.
    pub(super) fn of_call(named: &ScopedFile<'_>, method: usize) -> Option<Self> {
        let file = &named.file;
        let last = method.checked_sub(2).filter(|at| file.is_punct(at + 1, b'.'))?;
        if file.is_punct(last, b')') {
            return Self::made(named, last);
        }
        let is_alone = last.checked_sub(1).is_none_or(|at| !matches!(file.raw(at), "." | ":"));
        if !file.is_word(last) || !is_alone {
            return None;
        }
        let (name, offset) = (file.word(last), file.tokens[last].range().start);
        let declared = named.scopes.variable(&name, offset)?;
        if named.inherits(&name, offset) {
            return None;
        }
        let receiver = last..last + 1;
        let made = || {
            let value = declared.value.clone().filter(|_| is_constant_name(named, declared))?;
            let made = Self::made(named, value.end.checked_sub(1)?)?;
            (made.receiver == value).then_some(Self {
                receiver: receiver.clone(),
                is_made: false,
                ..made
            })
        };
        made().or_else(|| {
            let class = (written_class(named, declared)?, declared.offset);
            Some(Self { receiver: receiver.clone(), class, value: None, is_made: false })
        })
    }

    /// The instance that is made by the call which ends with the parenthesis at `close`.
    fn made(named: &ScopedFile<'_>, close: usize) -> Option<Self> {
        let file = &named.file;
        let open = file.partner(close);
        let name =
            open.checked_sub(1).filter(|at| file.is_punct(close, b')') && file.is_word(*at))?;
        let mut first = name;
        while first >= 2 && file.is_punct(first - 1, b'.') && file.is_word(first - 2) {
            first -= 2;
        }
        let is_part = first.checked_sub(1).is_some_and(|at| matches!(file.raw(at), "." | ":"));
        let value = match &file.elements(open)[..] {
            [value] => Some(value.clone()),
            _ => None,
        };
        let path = file.path(first..name + 1).filter(|_| !is_part)?;
        let offset = file.tokens[first].range().start;
        // A function of the name of the class.
        if named.scopes.function(path.last()?, offset).is_some() {
            return None;
        }
        Some(Self { receiver: first..close + 1, class: (path, offset), value, is_made: true })
    }

    /// The tag, if it is a constant.
    pub(super) fn tag(&self, named: &ScopedFile<'_>) -> Option<String> {
        constant_text(named, self.value.as_ref()?)
    }
}

/// The names of the class that a variable is declared as, if it is not null and nothing runs when
/// it is read.
fn written_class(named: &ScopedFile<'_>, declared: &DeclaredName) -> Option<Vec<String>> {
    const KEYWORDS: [&str; 4] = ["open", "override", "abstract", "lateinit"];
    let file = &named.file;
    let keywords = named.keywords_before(declared);
    let is_variable = matches!(
        declared.kind,
        DeclaredKind::Parameter | DeclaredKind::Local | DeclaredKind::Property
    );
    // Properties of interfaces are open without a word.
    let of_interface = declared.kind == DeclaredKind::Property
        && named
            .scopes
            .types_around(declared.offset)
            .next()
            .is_some_and(|class| named.keywords_before(class).contains(&"interface"));
    let is_value = is_variable && !of_interface && !keywords.iter().any(|it| KEYWORDS.contains(it));
    let written = declared.written_type.as_deref().filter(|_| is_value)?;
    let path: Vec<String> = written.split('.').map(str::to_owned).collect();
    let is_name = |part: &String| {
        !part.is_empty() && part.chars().all(|it| it.is_alphanumeric() || it == '_')
    };
    // `name: a.Type` and the tokens after it.
    let after = named.token_at(declared.offset) + 1 + 2 * path.len();
    let last = declared.value.as_ref().map_or(after, |value| value.end);
    let runs = [after, last].iter().any(|at| matches!(file.raw(*at), "by" | "get" | "set"));
    (path.iter().all(is_name) && !runs).then_some(path)
}

/// Returns whether a name always has its initial value: it is a `val` without a getter that nothing
/// overrides.
fn is_constant_name(named: &ScopedFile<'_>, declared: &DeclaredName) -> bool {
    let file = &named.file;
    let is_variable = matches!(declared.kind, DeclaredKind::Property | DeclaredKind::Local);
    let keywords = named.keywords_before(declared);
    let is_open = ["open", "override", "abstract"].iter().any(|it| keywords.contains(it));
    let end = declared.value.as_ref().map_or(0, |value| value.end);
    is_variable && keywords.first() == Some(&"val") && !is_open && file.raw(end) != "get"
}
