//! The fields of a text, checked by the schema and encoded as they come.

use super::Problem;
use super::numbers::{float, integer, named_float, signed};
use super::schema::{Field, Schema};
use super::tokens::{TextToken, TextTokens};
use crate::suggest::did_you_mean;
use protozero::{Heap, Message, Writer};
use std::collections::{BTreeSet, HashSet};

/// The most messages within one another.
const DEEPEST: usize = 64;

type Result<T> = std::result::Result<T, Problem>;

/// See the module. One token is looked at before it is taken.
pub(super) struct Encoder<'a> {
    tokens: TextTokens<'a>,
    schema: &'a Schema,
    looked_at: Option<(usize, TextToken<'a>)>,
    depth: usize,
}

/// A value without a message in it, by its wire format.
enum Scalar {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    Bytes(Vec<u8>),
}

impl<'a> Encoder<'a> {
    pub(super) fn new(text: &'a str, schema: &'a Schema) -> Self {
        Self { tokens: TextTokens::new(text), schema, looked_at: None, depth: 0 }
    }

    /// Encodes the whole text as a message of this name.
    pub(super) fn encode(mut self, name: &str) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Heap::new());
        self.fields(name, &mut writer.message(), None)?;
        writer.into_vec().map_err(|_| self.tokens.problem(0, "it is too large"))
    }

    /// The fields of a message, up to `end`.
    fn fields(&mut self, of: &str, to: &mut Message<'_, Heap>, end: Option<char>) -> Result<()> {
        let mut given = HashSet::new();
        loop {
            let (at, token) = self.next()?;
            match token {
                TextToken::End if end.is_none() => return Ok(()),
                TextToken::Symbol(symbol) if Some(symbol) == end => return Ok(()),
                TextToken::Name(name) => {
                    let field = self.field(of, name, at)?;
                    if !field.is_repeated && !given.insert(field.one_of.unwrap_or(name)) {
                        let what = match field.one_of {
                            None => format!("`{name}` is given twice"),
                            Some(of) => format!("a second `{of}` is given by `{name}`"),
                        };
                        return Err(self.tokens.problem(at, what));
                    }
                    self.value_of(field, to)?;
                    self.take_if(|symbol| matches!(symbol, ',' | ';'))?;
                }
                TextToken::Symbol('[') => {
                    return Err(self.tokens.problem(at, "extensions and `Any` are not understood"));
                }
                other => {
                    let wanted = end.map_or("a field".into(), |end| format!("a field or `{end}`"));
                    return Err(self.unexpected(at, &other, &wanted));
                }
            }
        }
    }

    fn field(&self, of: &str, name: &str, at: usize) -> Result<Field> {
        let fields = self.schema.message(of).unwrap_or_default();
        fields.iter().find(|field| field.name == name).copied().ok_or_else(|| {
            let names: BTreeSet<&str> = fields.iter().map(|field| field.name).collect();
            let close = did_you_mean(name, &names);
            self.tokens.problem(at, format!("`{of}` has no field `{name}`{close}"))
        })
    }

    /// Encodes the value after the name of a field, or several in brackets.
    fn value_of(&mut self, field: Field, to: &mut Message<'_, Heap>) -> Result<()> {
        let has_colon = self.take_if(|symbol| symbol == ':')?.is_some();
        let is_message = self.schema.message(field.of).is_some();
        let (at, token) = self.look()?;
        if !has_colon && !is_message {
            return Err(self.unexpected(at, &token, "`:`"));
        }
        if !field.is_repeated || token != TextToken::Symbol('[') {
            return self.value(field, to);
        }
        self.next()?;
        if self.take_if(|symbol| symbol == ']')?.is_some() {
            return Ok(());
        }
        loop {
            self.value(field, to)?;
            match self.next()? {
                (_, TextToken::Symbol(',')) => {}
                (_, TextToken::Symbol(']')) => return Ok(()),
                (at, other) => return Err(self.unexpected(at, &other, "`,` or `]`")),
            }
        }
    }

    fn value(&mut self, field: Field, to: &mut Message<'_, Heap>) -> Result<()> {
        if self.schema.message(field.of).is_some() {
            return self.nested(field, to);
        }
        let number = field.number;
        let value = self.scalar(field)?;
        match value {
            Scalar::Varint(value) => to.uint64(number, value),
            Scalar::Fixed32(value) => to.fixed32(number, value),
            Scalar::Fixed64(value) => to.fixed64(number, value),
            Scalar::Bytes(value) => to.bytes(number, &value),
        };
        Ok(())
    }

    fn nested(&mut self, field: Field, to: &mut Message<'_, Heap>) -> Result<()> {
        let end = match self.next()? {
            (_, TextToken::Symbol('{')) => '}',
            (_, TextToken::Symbol('<')) => '>',
            (at, other) => return Err(self.unexpected(at, &other, "`{`")),
        };
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.tokens.problem(0, "its messages are nested too deeply"));
        }
        self.fields(field.of, &mut to.nested(field.number), Some(end))?;
        self.depth -= 1;
        Ok(())
    }

    fn scalar(&mut self, field: Field) -> Result<Scalar> {
        if let Some(values) = self.schema.enumeration(field.of) {
            return self.enumeration(field, values);
        }
        match field.of {
            "string" | "bytes" => self.text(field),
            "bool" => self.boolean(),
            "double" | "float" => self.float(field),
            _ => self.integer(field),
        }
    }

    /// A value of an enumeration, by name or by number.
    fn enumeration(&mut self, field: Field, values: &[(&'static str, i32)]) -> Result<Scalar> {
        let (at, _) = self.look()?;
        if let (_, TextToken::Name(name)) = self.look()? {
            self.next()?;
            let found = values.iter().find(|(value, _)| *value == name);
            let (_, number) = found.ok_or_else(|| {
                let close = close_value(name, values);
                self.tokens.problem(at, format!("`{}` has no value `{name}`{close}", field.of))
            })?;
            return Ok(Scalar::Varint(i64::from(*number) as u64));
        }
        let value = self.signed(i32::MIN.into(), i32::MAX.into())?;
        // Another value would be lost: the official type is a closed one.
        if values.iter().any(|(_, number)| i64::from(*number) == value) {
            return Ok(Scalar::Varint(value as u64));
        }
        Err(self.tokens.problem(at, format!("`{}` has no value {value}", field.of)))
    }

    /// A text, or several side by side.
    fn text(&mut self, field: Field) -> Result<Scalar> {
        let (at, token) = self.next()?;
        let TextToken::Text(mut bytes) = token else {
            return Err(self.unexpected(at, &token, "a text in quotes"));
        };
        while let (_, TextToken::Text(more)) = self.look()? {
            self.next()?;
            bytes.extend(more);
        }
        if field.of == "string" && str::from_utf8(&bytes).is_err() {
            return Err(self.tokens.problem(at, "this text is no UTF-8"));
        }
        Ok(Scalar::Bytes(bytes))
    }

    fn boolean(&mut self) -> Result<Scalar> {
        let (at, token) = self.next()?;
        let value = match token {
            TextToken::Name("true" | "True" | "t") => true,
            TextToken::Name("false" | "False" | "f") => false,
            TextToken::Number(number) if integer(number) == Some(1) => true,
            TextToken::Number(number) if integer(number) == Some(0) => false,
            other => return Err(self.unexpected(at, &other, "`true` or `false`")),
        };
        Ok(Scalar::Varint(value.into()))
    }

    fn float(&mut self, field: Field) -> Result<Scalar> {
        let is_negative = self.take_if(|symbol| symbol == '-')?.is_some();
        let (at, token) = self.next()?;
        let value = match token {
            TextToken::Number(number) => float(number),
            TextToken::Name(name) => named_float(name),
            _ => None,
        };
        let value = value.ok_or_else(|| self.unexpected(at, &token, "a number"))?;
        let value = if is_negative { -value } else { value };
        Ok(match field.of {
            "float" => Scalar::Fixed32((value as f32).to_bits()),
            _ => Scalar::Fixed64(value.to_bits()),
        })
    }

    fn integer(&mut self, field: Field) -> Result<Scalar> {
        let zigzag = |value: i64| (value << 1 ^ value >> 63) as u64;
        Ok(match field.of {
            "int32" => Scalar::Varint(self.signed(i32::MIN.into(), i32::MAX.into())? as u64),
            "int64" => Scalar::Varint(self.signed(i64::MIN, i64::MAX)? as u64),
            "sint32" => Scalar::Varint(zigzag(self.signed(i32::MIN.into(), i32::MAX.into())?)),
            "sint64" => Scalar::Varint(zigzag(self.signed(i64::MIN, i64::MAX)?)),
            "sfixed32" => Scalar::Fixed32(self.signed(i32::MIN.into(), i32::MAX.into())? as u32),
            "sfixed64" => Scalar::Fixed64(self.signed(i64::MIN, i64::MAX)? as u64),
            "uint32" => Scalar::Varint(self.unsigned(u32::MAX.into())?),
            "fixed32" => Scalar::Fixed32(self.unsigned(u32::MAX.into())? as u32),
            "fixed64" => Scalar::Fixed64(self.unsigned(u64::MAX)?),
            _ => Scalar::Varint(self.unsigned(u64::MAX)?),
        })
    }

    fn signed(&mut self, least: i64, most: i64) -> Result<i64> {
        let is_negative = self.take_if(|symbol| symbol == '-')?.is_some();
        let (at, token) = self.next()?;
        let value = match token {
            TextToken::Number(number) => signed(is_negative, number, least, most),
            _ => None,
        };
        let wanted = format!("an integer from {least} to {most}");
        value.ok_or_else(|| self.unexpected(at, &token, &wanted))
    }

    fn unsigned(&mut self, most: u64) -> Result<u64> {
        let (at, token) = self.next()?;
        let value = match token {
            TextToken::Number(number) => integer(number).filter(|value| *value <= most),
            _ => None,
        };
        let wanted = format!("an integer from 0 to {most}");
        value.ok_or_else(|| self.unexpected(at, &token, &wanted))
    }

    fn next(&mut self) -> Result<(usize, TextToken<'a>)> {
        match self.looked_at.take() {
            Some(token) => Ok(token),
            None => self.tokens.next(),
        }
    }

    fn look(&mut self) -> Result<(usize, TextToken<'a>)> {
        let token = self.next()?;
        self.looked_at = Some(token.clone());
        Ok(token)
    }

    /// Takes the next token if it is such a symbol.
    fn take_if(&mut self, is_it: impl Fn(char) -> bool) -> Result<Option<char>> {
        match self.look()? {
            (_, TextToken::Symbol(symbol)) if is_it(symbol) => {
                self.next()?;
                Ok(Some(symbol))
            }
            _ => Ok(None),
        }
    }

    fn unexpected(&self, at: usize, token: &TextToken<'_>, wanted: &str) -> Problem {
        let found = match token {
            TextToken::Name(text) | TextToken::Number(text) => format!("`{text}`"),
            TextToken::Text(_) => "a text".into(),
            TextToken::Symbol(symbol) => format!("`{symbol}`"),
            TextToken::End => "the end".into(),
        };
        self.tokens.problem(at, format!("{wanted} is expected here, not {found}"))
    }
}

/// The value that was probably meant, also by what its name has behind that of its type.
fn close_value(name: &str, values: &[(&'static str, i32)]) -> String {
    let ending = format!("_{}", name.to_ascii_uppercase());
    let long = values.iter().find(|(value, _)| value.ends_with(&ending));
    let names = match long {
        Some((value, _)) => return format!("; did you mean `{value}`?"),
        None => values.iter().map(|(name, _)| *name).collect::<BTreeSet<&str>>(),
    };
    did_you_mean(name, &names)
}
