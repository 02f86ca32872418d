//! The dictionary of a trace as rows, with the pieces of each template for engines that render
//! messages.
//!
//! Invariant: the same dictionary makes the same rows in the same order, so it gets the same name
//! on all machines.

use protolog_core::{Conversion, Level, Piece, Template, hash};
use protolog_reader::{Dictionary, Message};
use serde::Serialize;

use super::schema::KINDS;
use super::table::Cell;

/// A message of the dictionary.
pub(super) struct TemplateRow<'a> {
    /// The id in the form of `read-log`.
    pub(super) id: String,
    /// 0, or the place among messages with this id.
    variant: usize,
    message: &'a Message,
    group: Option<&'a protolog_reader::Group>,
    pieces: Option<String>,
}

/// A part of a text.
#[derive(Serialize)]
#[serde(untagged)]
enum PieceRow {
    Text {
        text: String,
    },
    Argument {
        /// The letter of its columns.
        kind: char,
        /// The place among all arguments, and among those of this kind.
        argument: usize,
        place: usize,
        verb: char,
        width: u8,
        zero_pad: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        precision: Option<u8>,
    },
}

/// All messages, by id.
pub(super) fn rows(dictionary: &Dictionary) -> Vec<TemplateRow<'_>> {
    let mut ids: Vec<u64> = dictionary.ids().collect();
    ids.sort_unstable();
    let mut rows = Vec::new();
    for id in ids {
        let others = dictionary.others(id).iter();
        for (variant, message) in dictionary.message(id).into_iter().chain(others).enumerate() {
            rows.push(TemplateRow {
                id: shown(id),
                variant,
                message,
                group: dictionary.group(message.group),
                pieces: pieces(message.template()),
            });
        }
    }
    rows
}

/// An id in the one form that it has everywhere.
pub(super) fn shown(id: u64) -> String {
    format!("{id:016x}")
}

/// The name of a build for which none was given: of the messages that its binaries have, and not of
/// those that a program made as it ran.
pub(super) fn build(rows: &[TemplateRow<'_>]) -> String {
    let is_fixed = |row: &&TemplateRow<'_>| !row.message.location.is_empty();
    let fixed: Vec<&TemplateRow<'_>> = rows.iter().filter(is_fixed).collect();
    if fixed.is_empty() { content(rows.iter()) } else { content(fixed) }
}

/// A hash of rows, in hexadecimal.
pub(super) fn content<'a>(rows: impl IntoIterator<Item = &'a TemplateRow<'a>>) -> String {
    let mut sum = 0;
    for row in rows {
        let (message, group) = (row.message, row.group);
        let names = group.map(|group| (&group.name, &group.tag));
        let meaning = (&row.id, row.variant, message.template(), message.unsigned);
        let mut text = format!("{sum}{meaning:?}{:?}{names:?}{}", message.level, message.location);
        if !message.names().is_empty() {
            text = format!("{text}\0{}", message.names().list());
        }
        sum = hash(text.as_bytes());
    }
    shown(sum)
}

impl TemplateRow<'_> {
    /// In the order of the columns.
    pub(super) fn cells(&self) -> [Cell<'_>; 9] {
        let names = self.message.names();
        [
            Cell::Text(&self.id),
            Cell::Int(self.variant as i64),
            self.message.level.map(Level::name).into(),
            self.group.map(|group| group.tag.as_str()).into(),
            self.group.map(|group| group.name.as_str()).into(),
            Cell::Text(self.message.template()),
            Cell::Text(&self.message.location),
            self.pieces.as_deref().into(),
            (!names.is_empty()).then_some(names.list()).into(),
        ]
    }
}

/// The parts of a template as JSON; none of a text that is no template.
fn pieces(template: &str) -> Option<String> {
    let template = Template::parse(template).ok()?;
    let (mut rows, mut places, mut argument) = (Vec::new(), [0; 4], 0);
    for piece in template.pieces() {
        let conversion = match piece {
            Piece::Text(text) => {
                push_text(&mut rows, text);
                continue;
            }
            Piece::Percent => {
                push_text(&mut rows, "%");
                continue;
            }
            Piece::Conversion(conversion) => conversion,
        };
        let Conversion { verb, zero_pad, width, precision, .. } = conversion;
        let place = &mut places[verb.kind() as usize];
        rows.push(PieceRow::Argument {
            kind: KINDS[verb.kind() as usize],
            argument,
            place: *place,
            verb: verb.letter(),
            width,
            zero_pad,
            precision,
        });
        *place += 1;
        argument += 1;
    }
    serde_json::to_string(&rows).ok()
}

fn push_text(rows: &mut Vec<PieceRow>, more: &str) {
    match rows.last_mut() {
        Some(PieceRow::Text { text }) => text.push_str(more),
        _ => rows.push(PieceRow::Text { text: more.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_say_where_each_argument_is() {
        let pieces = pieces("100%% of %s: %05d, %x, %.2f").unwrap();
        assert_eq!(
            pieces,
            concat!(
                r#"[{"text":"100% of "},{"kind":"s","argument":0,"place":0,"verb":"s","width":0,"zero_pad":false},"#,
                r#"{"text":": "},{"kind":"i","argument":1,"place":0,"verb":"d","width":5,"zero_pad":true},"#,
                r#"{"text":", "},{"kind":"i","argument":2,"place":1,"verb":"x","width":0,"zero_pad":false},"#,
                r#"{"text":", "},{"kind":"f","argument":3,"place":0,"verb":"f","width":0,"zero_pad":false,"precision":2}]"#
            )
        );
        assert_eq!(super::pieces("%y"), None);
    }
}
