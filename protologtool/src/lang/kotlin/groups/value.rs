//! Expressions of Kotlin that give the properties of a group: literals, texts with values, names,
//! `!`, `&&`, `||`, comparisons, `+`, `-`, and `if` with `else`.

use crate::lang::kotlin::file::KotlinFile;
use crate::lang::kotlin::lexer::LexemeKind;
use crate::lang::kotlin::names::ScopedFile;
use crate::lang::kotlin::scopes::{DeclaredKind, DeclaredName};
use crate::lang::kotlin::template::{Piece, pieces};
use std::fmt;
use std::ops::Range;

/// The nesting limit of expressions and of the names that they lead to.
const MAX_DEPTH: usize = 40;

/// A value that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KotlinValue {
    Text(String),
    Bool(bool),
    Int(i64),
}

impl fmt::Display for KotlinValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
        }
    }
}

/// The tokens of an expression without a known value.
#[derive(Clone, Debug)]
pub(super) struct Unknown {
    pub(super) tokens: Range<usize>,
}

pub(super) type Evaluated = Result<KotlinValue, Unknown>;

/// The members of an object that an expression may name.
pub(super) trait Members {
    /// The value of the property `name`, which `depth` expressions needed, of an object that is
    /// made, or while it is.
    fn variable(&self, name: &str, is_initial: bool, depth: usize) -> Option<Evaluated>;

    /// The value of the parameter `name` of the constructor.
    fn parameter(&self, name: &str) -> Option<Evaluated>;
}

/// Evaluates expressions that may name members of `object`.
#[derive(Clone, Copy)]
pub(super) struct KotlinEvaluator<'e, 's> {
    pub(super) named: &'e ScopedFile<'s>,
    pub(super) object: Option<&'e dyn Members>,
    /// True in the initial value of a property, where parameters of the constructor hide
    /// properties.
    pub(super) is_initial: bool,
    pub(super) depth: usize,
}

/// The operators of two operands, those that bind least first.
const OPERATORS: [&[&str]; 5] =
    [&["||"], &["&&"], &["==", "!="], &["<=", ">=", "<", ">"], &["+", "-"]];

impl KotlinEvaluator<'_, '_> {
    /// The value of the expression of these tokens.
    pub(super) fn value(&self, tokens: Range<usize>) -> Evaluated {
        let unknown = Err(Unknown { tokens: tokens.clone() });
        if self.depth > MAX_DEPTH || tokens.is_empty() {
            return unknown;
        }
        let inner = Self { depth: self.depth + 1, ..*self };
        let file = &self.named.file;
        let tokens = file.unparenthesized(tokens);
        if file.raw(tokens.start) == "if" && file.is_punct(tokens.start + 1, b'(') {
            return inner.choice(tokens);
        }
        for (level, operators) in OPERATORS.iter().enumerate() {
            if let Some((at, operator)) = last_operator(file, &tokens, operators, level) {
                let left = inner.value(tokens.start..at)?;
                let right = || inner.value(at + operator.len()..tokens.end);
                return operation(operator, left, right).unwrap_or(unknown);
            }
        }
        if file.is_punct(tokens.start, b'!') {
            return match inner.value(tokens.start + 1..tokens.end)? {
                KotlinValue::Bool(value) => Ok(KotlinValue::Bool(!value)),
                _ => unknown,
            };
        }
        inner.operand(tokens)
    }

    /// `if (condition) value else value`
    fn choice(&self, tokens: Range<usize>) -> Evaluated {
        let file = &self.named.file;
        let unknown = Err(Unknown { tokens: tokens.clone() });
        let open = tokens.start + 1;
        let close = file.partner(open);
        let mut otherwise = close + 1;
        while otherwise < tokens.end && file.raw(otherwise) != "else" {
            // The `else` of an `if` within.
            if file.raw(otherwise) == "if" {
                return unknown;
            }
            otherwise = file.next(otherwise, tokens.end);
        }
        match self.value(open + 1..close)? {
            KotlinValue::Bool(true) if otherwise < tokens.end => self.value(close + 1..otherwise),
            KotlinValue::Bool(false) => self.value(otherwise + 1..tokens.end),
            _ => unknown,
        }
    }

    fn operand(&self, tokens: Range<usize>) -> Evaluated {
        let file = &self.named.file;
        let unknown = || Err(Unknown { tokens: tokens.clone() });
        let at = tokens.start;
        match file.kind(at) {
            Some(LexemeKind::TextOpen { .. }) if file.partner(at) + 1 == tokens.end => {
                self.text(tokens)
            }
            Some(LexemeKind::Number) if tokens.len() == 1 => {
                let digits = file.raw(at).replace('_', "");
                let value = match digits.strip_prefix("0x") {
                    Some(digits) => i64::from_str_radix(digits, 16).ok(),
                    None => digits.parse().ok(),
                };
                value
                    .filter(|it| i32::try_from(*it).is_ok())
                    .map(KotlinValue::Int)
                    .ok_or(Unknown { tokens })
            }
            Some(LexemeKind::Word) => match file.raw(at) {
                "true" | "false" if tokens.len() == 1 => {
                    Ok(KotlinValue::Bool(file.raw(at) == "true"))
                }
                _ => match file.path(tokens.clone()) {
                    Some(path) => self.name(&path, &tokens),
                    None => unknown(),
                },
            },
            _ => unknown(),
        }
    }

    /// A text, with the values in it.
    fn text(&self, tokens: Range<usize>) -> Evaluated {
        let unknown = Unknown { tokens: tokens.clone() };
        let parts = pieces(self.named, tokens).map_err(|_| unknown)?;
        let mut text = String::new();
        for part in parts {
            match part {
                Piece::Text(part) => text.push_str(part.as_str()),
                Piece::Expression(tokens) => text.push_str(&self.value(tokens)?.to_string()),
            }
        }
        Ok(KotlinValue::Text(text))
    }

    /// A member of the object, or a variable of an object or a companion that never changes.
    fn name(&self, path: &[String], tokens: &Range<usize>) -> Evaluated {
        let unknown = || Unknown { tokens: tokens.clone() };
        let of_this = path.len() > 1 && path[0] == "this";
        let path = &path[usize::from(of_this)..];
        if let ([name], Some(object), true) = (path, self.object, self.is_initial && !of_this)
            && let Some(value) = object.parameter(name)
        {
            return value;
        }
        if let ([name], Some(object)) = (path, self.object)
            && let Some(value) = object.variable(name, self.is_initial, self.depth)
        {
            return value;
        }
        let declared = self.declared(path, tokens.start).ok_or_else(unknown)?;
        let keywords = self.named.keywords_before(declared);
        let value = declared.value.clone().filter(|value| {
            let file = &self.named.file;
            let has_getter = matches!(file.raw(value.end), "get" | "@" | "private" | "inline")
                && (value.end..value.end + 4).any(|at| file.raw(at) == "get");
            keywords.contains(&"val") && !keywords.contains(&"open") && !has_getter
        });
        let value = value.ok_or_else(unknown)?;
        Self { object: None, ..*self }.value(value)
    }

    /// The variable of the file, of an object or of a companion that `path` means at a token.
    fn declared(&self, path: &[String], at: usize) -> Option<&DeclaredName> {
        let scopes = &self.named.scopes;
        let offset = self.named.file.bytes_of(&(at..at)).start;
        let is_variable =
            |it: &DeclaredName| matches!(it.kind, DeclaredKind::Constant | DeclaredKind::Property);
        match path {
            [name] => scopes.variable(name, offset).filter(|it| is_variable(it)),
            [.., owner, name] => scopes
                .all()
                .iter()
                .find(|it| it.name == *name && is_variable(it) && it.owner.as_ref() == Some(owner)),
            [] => None,
        }
    }
}

/// The value of an operator's two operands; none if it does not take these.
fn operation(
    operator: &str,
    left: KotlinValue,
    right: impl Fn() -> Evaluated,
) -> Option<Evaluated> {
    use KotlinValue::{Bool, Int, Text};
    match (operator, &left) {
        ("||", Bool(true)) | ("&&", Bool(false)) => return Some(Ok(left)),
        _ => {}
    }
    let right = match right() {
        Ok(right) => right,
        Err(unknown) => return Some(Err(unknown)),
    };
    Some(Ok(match (operator, left, right) {
        ("||" | "&&", Bool(_), Bool(right)) => Bool(right),
        ("==", left, right) => Bool(left == right),
        ("!=", left, right) => Bool(left != right),
        ("<", Int(left), Int(right)) => Bool(left < right),
        (">", Int(left), Int(right)) => Bool(left > right),
        ("<=", Int(left), Int(right)) => Bool(left <= right),
        (">=", Int(left), Int(right)) => Bool(left >= right),
        // The types decide the result for more than an `Int` holds.
        ("+", Int(left), Int(right)) => Int(i32::try_from(left + right).ok()?.into()),
        ("-", Int(left), Int(right)) => Int(i32::try_from(left - right).ok()?.into()),
        ("+", Text(left), right) => Text(format!("{left}{right}")),
        _ => return None,
    }))
}

/// The last of these operators of two operands in an expression that is in no brackets.
fn last_operator(
    file: &KotlinFile<'_>,
    tokens: &Range<usize>,
    operators: &[&'static str],
    level: usize,
) -> Option<(usize, &'static str)> {
    let (mut at, mut last) = (tokens.start, None);
    while at < tokens.end {
        let is = |at: usize, byte: u8| file.is_punct(at, byte);
        let found = operators.iter().find(|operator| {
            let bytes = operator.as_bytes();
            let is_whole =
                bytes.len() == 2 || !is(at + 1, b'=') && (level != 3 || !is(at - 1, b'-'));
            bytes.iter().enumerate().all(|(index, byte)| is(at + index, *byte)) && is_whole
        });
        if let Some(operator) = found.filter(|_| at > tokens.start) {
            last = Some((at, *operator));
            at += operator.len();
            continue;
        }
        at = file.next(at, tokens.end);
    }
    last
}
