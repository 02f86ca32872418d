//! A call of SLF4J, and what it becomes.
//!
//! `{}` becomes `%s`, whose text is the same for all objects. SLF4J takes an exception that comes
//! last for the message's own, and prints further arguments nowhere; so calls whose `{}` and
//! arguments do not match are listed, and those whose last argument may be an exception or not.

use super::super::literal;
use super::super::syntax::{field_text, text, unparenthesized};
use super::facts::FileFacts;
use crate::call::Text;
use crate::lang::jvm::exception;
use crate::lang::migration::Stays;
use crate::rewrite::Edit;
use protolog_core::{Level, Template};
use std::ops::Range;
use tree_sitter::Node;

/// The level of a logger's method.
pub(super) fn level(method: &str) -> Option<Level> {
    Some(match method {
        "trace" => Level::Verbose,
        "debug" => Level::Debug,
        "info" => Level::Info,
        "warn" => Level::Warn,
        "error" => Level::Error,
        _ => return None,
    })
}

/// The edits of a call's template; or why it stays.
pub(super) fn convert(
    call: Node<'_>,
    facts: &FileFacts,
    source: &[u8],
) -> Result<Vec<Edit>, Stays> {
    let arguments = call.child_by_field_name("arguments");
    let arguments: Vec<Node<'_>> = arguments.map_or(Vec::new(), |list| {
        let mut cursor = list.walk();
        list.named_children(&mut cursor).filter(|node| !node.kind().ends_with("comment")).collect()
    });
    let Some((message, arguments)) = arguments.split_first() else {
        return Err(Stays::new("it has no message", "write one"));
    };
    let Some(literals) = literals(*message) else {
        return Err(no_literal(*message, arguments).at(message.byte_range()));
    };
    for argument in arguments {
        if changes_something(*argument) {
            let reason = "an argument changes something, which happens only where a message is on";
            let stays = Stays::new(reason, "change it before the call");
            return Err(stays.at(argument.byte_range()));
        }
        check_type(*argument, facts, source)?;
    }
    let mut message = Text::default();
    for part in &literals {
        let part = literal::text(&source[part.byte_range()], part.start_byte());
        message.append(part.map_err(|_| Stays::new("its message can't be read", "correct it"))?);
    }
    let holes = message.as_str().matches("{}").count();
    if message.as_str().contains("\\{}") {
        return Err(Stays::new("its message escapes `{}`", "write the template by hand"));
    }
    let last = arguments.last().map(|last| is_exception(*last, facts, source));
    match (holes, arguments.len(), last) {
        (_, 0, _) => {}
        (holes, count, Some(Some(true))) if holes + 1 == count => {}
        (holes, count, Some(last)) if holes == count && last != Some(true) => {
            if last.is_none() {
                let help = "write it as a text, as in `String.valueOf(x)`, or behind the others, as in `(Throwable) x`";
                return Err(Stays::new(
                    "nothing shows whether its last argument is an exception",
                    help,
                ));
            }
        }
        (holes, count, Some(Some(true))) if holes == count => {
            let help = "add an argument, or take the last `{}` away";
            return Err(Stays::new("SLF4J puts no exception in the place of the last `{}`", help));
        }
        (holes, count, _) if holes + 1 == count => {
            let help = "write `(Throwable)` before it if it is one";
            return Err(Stays::new("nothing shows that its last argument is an exception", help));
        }
        (holes, count, _) => {
            let reason = format!("its message has {holes} `{{}}`, and the call {count} arguments");
            return Err(Stays::new(reason, "make them as many"));
        }
    }
    checked(&message, !arguments.is_empty())?;
    edits(&message, !arguments.is_empty(), source)
}

/// The string literals that a message is made of.
fn literals(node: Node<'_>) -> Option<Vec<Node<'_>>> {
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        let node = unparenthesized(node);
        match node.kind() {
            "string_literal" => found.push(node),
            "binary_expression" => {
                let operator = node.child_by_field_name("operator")?;
                let (left, right) =
                    (node.child_by_field_name("left")?, node.child_by_field_name("right")?);
                if operator.kind() != "+" {
                    return None;
                }
                open.extend([right, left]);
            }
            _ => return None,
        }
    }
    Some(found)
}

fn no_literal(message: Node<'_>, arguments: &[Node<'_>]) -> Stays {
    if message.kind() == "identifier"
        && arguments.first().is_some_and(|next| next.kind() == "string_literal")
    {
        return Stays::new(
            "it has a marker",
            "put what the marker says into the message or the group",
        );
    }
    Stays::new(
        "its message is put together when the program runs",
        "write a literal with `{}` for each value",
    )
}

fn changes_something(node: Node<'_>) -> bool {
    let end = node.end_byte();
    let mut cursor = node.walk();
    loop {
        let node = cursor.node();
        if matches!(node.kind(), "update_expression" | "assignment_expression") {
            return true;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || cursor.node().end_byte() > end {
                return false;
            }
        }
    }
}

/// Methods of the JDK that give an array, which SLF4J takes for arguments or shows by its values.
const ARRAY_GIVERS: [&str; 8] = [
    "split",
    "getBytes",
    "toCharArray",
    "toArray",
    "toByteArray",
    "getStackTrace",
    "getSuppressed",
    "listFiles",
];

/// Refuses arguments whose text SLF4J and protolog may show differently.
fn check_type(node: Node<'_>, facts: &FileFacts, source: &[u8]) -> Result<(), Stays> {
    let at = node.byte_range();
    let node = unparenthesized(node);
    if matches!(node.kind(), "array_creation_expression" | "null_literal" | "lambda_expression") {
        return Err(
            Stays::new("an argument is an array, a lambda or `null`", "pass its values").at(at)
        );
    }
    if node.kind() == "method_invocation"
        && ARRAY_GIVERS.contains(&field_text(node, "name", source))
    {
        return Err(Stays::new("an argument is an array", "pass its values").at(at));
    }
    let of = facts.types.get(text(node, source)).filter(|_| node.kind() == "identifier");
    let is_other = |of: &String| of.ends_with(']') || of.starts_with("Supplier");
    if of.is_some_and(|of| of.iter().any(is_other)) {
        return Err(Stays::new("an argument is an array or a supplier", "pass its values").at(at));
    }
    Ok(())
}

/// Returns whether a type may be that of an exception as well as of anything else.
fn is_any(of: &str) -> bool {
    matches!(of, "Object" | "Serializable") || of.len() == 1
}

/// Returns whether an expression is an exception, if that shows.
fn is_exception(node: Node<'_>, facts: &FileFacts, source: &[u8]) -> Option<bool> {
    let node = unparenthesized(node);
    let field = |name| field_text(node, name, source);
    match node.kind() {
        "object_creation_expression" => Some(exception::is_type(field("type"))),
        "cast_expression" if is_any(field("type")) => {
            is_exception(node.child_by_field_name("value")?, facts, source)
        }
        "cast_expression" => Some(exception::is_type(field("type"))),
        "method_invocation" if exception::is_giver(field("name")) => Some(true),
        // `getException()` gives one, and `getLastError()` may give a number.
        "method_invocation" => (!exception::is_name(field("name"))).then_some(false),
        "ternary_expression" => {
            let both = ["consequence", "alternative"].map(|name| {
                node.child_by_field_name(name).map(|node| is_exception(node, facts, source))
            });
            let [Some(first), Some(second)] = both else { return None };
            if first == second { first } else { None }
        }
        "field_access" => Some(exception::is_name(field("field"))),
        "identifier" => match facts.types.get(text(node, source)).map(Vec::as_slice) {
            None => Some(exception::is_name(text(node, source))),
            Some(types) => {
                let all: Vec<bool> = types.iter().map(|of| exception::is_type(of)).collect();
                let is_unknown = types.iter().any(|of| of.is_empty() || of == "var");
                match (all.contains(&true), all.contains(&false)) {
                    (true, false) => Some(true),
                    (false, _) if types.iter().any(|of| is_any(of)) => {
                        (!exception::is_name(text(node, source))).then_some(false)
                    }
                    (false, _) if !is_unknown => Some(false),
                    (false, _) => Some(exception::is_name(text(node, source))),
                    _ => None,
                }
            }
        },
        _ => Some(false),
    }
}

/// The edits of a message. What is spelled by escapes, or in two literals, is no part to replace.
fn edits(message: &Text, has_arguments: bool, source: &[u8]) -> Result<Vec<Edit>, Stays> {
    let text = message.as_str();
    let per_cents = text.match_indices('%').map(|(at, _)| (at..at + 1, "%%"));
    let holes = text.match_indices("{}").map(|(at, _)| (at..at + 2, "%s"));
    let holes = holes.filter(|_| has_arguments);
    let edit = |(range, new): (Range<usize>, &str)| {
        let origin = message.origin(range.clone());
        if source.get(origin.clone()) == Some(text[range].as_bytes()) {
            return Ok(Edit { range: origin, text: new.to_owned() });
        }
        let reason = "its message spells `{}` or `%` by an escape, or in two literals";
        Err(Stays::new(reason, "write it as it is").at(origin))
    };
    per_cents.chain(holes).map(edit).collect()
}

/// Checks that the runtime takes the new text for a template.
fn checked(message: &Text, has_arguments: bool) -> Result<(), Stays> {
    let template = message.as_str().replace('%', "%%");
    let template = if has_arguments { template.replace("{}", "%s") } else { template };
    match Template::parse(&template) {
        Ok(_) => Ok(()),
        Err(_) => Err(Stays::new("its text can't be a template", "write the template by hand")),
    }
}
