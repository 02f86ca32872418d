//! Spans among the options of a filter: `request`, `request.id=7`.
//!
//! Invariant: a field counts with its newest value of that time in the span, also where it was
//! recorded after the message.

use super::{Filter, Filters};
use protolog_reader::{SpanAround, SpanSlice};

/// A span that is asked for.
struct Wanted<'a> {
    name: &'a str,
    /// A field, with its value.
    field: Option<(&'a str, &'a str)>,
}

/// Parses an option of the command line.
pub(super) fn span(text: &str) -> Result<String, String> {
    let help = "help: give the name of a span, or also a field and its value, as in `request.id=7`";
    let wanted = Wanted::of(text);
    let (name, field) = (wanted.name, wanted.field.map(|(field, _)| field));
    if name.is_empty() || field == Some("") {
        return Err(format!("`{text}` names no span\n{help}"));
    }
    Ok(text.to_owned())
}

impl<'a> Wanted<'a> {
    fn of(text: &'a str) -> Self {
        // The name may have points: that before the field is the last one before `=`.
        let field = text.split_once('=').and_then(|(path, value)| {
            let (name, field) = path.rsplit_once('.')?;
            Some((name, (field, value)))
        });
        match field {
            Some((name, field)) => Self { name, field: Some(field) },
            None => Self { name: text, field: None },
        }
    }

    fn is(&self, slice: &SpanSlice) -> bool {
        *slice.name == *self.name
            && self.field.is_none_or(|(field, value)| {
                slice.fields(true).iter().any(|arg| *arg.name == *field && arg.value == value)
            })
    }
}

impl Filters {
    /// Returns whether spans have to be read to know what is asked for.
    pub(crate) fn need_spans(&self) -> bool {
        !self.span.is_empty()
    }

    /// Returns whether a slice is one that this option asks for.
    pub(super) fn is_span(wanted: &str, slice: &SpanSlice) -> bool {
        Wanted::of(wanted).is(slice)
    }
}

impl Filter<'_> {
    /// Returns whether one of these spans is asked for, or none is.
    pub(super) fn admits_spans(&self, spans: &[SpanAround<'_>]) -> bool {
        let wanted = &self.options.span;
        wanted.is_empty()
            || wanted
                .iter()
                .map(|text| Wanted::of(text))
                .any(|wanted| spans.iter().any(|around| wanted.is(around.slice)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_a_name_and_maybe_a_field() {
        let parts = |text| {
            let wanted = Wanted::of(text);
            (wanted.name, wanted.field)
        };
        assert_eq!(parts("request"), ("request", None));
        assert_eq!(parts("request.id=7"), ("request", Some(("id", "7"))));
        assert_eq!(parts("http.server.id=a.b=c"), ("http.server", Some(("id", "a.b=c"))));
        assert_eq!(parts("a=b"), ("a=b", None));
        assert!(span("").is_err() && span(".id=7").is_err() && span("request.=7").is_err());
    }
}
