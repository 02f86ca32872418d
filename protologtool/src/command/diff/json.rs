//! Differences as JSON, one object a line. `type` is `new`, `vanished`, `count`, `values` or
//! `order`; nothing is left out.

use super::DiffArgs;
use super::compare::{Difference, ValueChange};
use super::order::Place;
use super::tally::MessageKey;
use super::values::Range;
use protolog_reader::{Level, printable_json};
use serde_json::{Value, json};
use std::rc::Rc;

/// Appends the lines.
pub(super) fn write(args: &DiffArgs, differences: &[Difference<'_>], out: &mut Vec<u8>) {
    let names = args.names();
    for difference in differences {
        let line = line(difference, &names).to_string();
        out.extend_from_slice(printable_json(&line).as_bytes());
        out.push(b'\n');
    }
}

fn line(difference: &Difference<'_>, [before, after]: &[String; 2]) -> Value {
    match difference {
        Difference::New { key, message } => {
            json!({"type": "new", "message": of(key), "trace": after, "count": message.count, "location": message.location})
        }
        Difference::Vanished { key, message } => {
            json!({"type": "vanished", "message": of(key), "trace": before, "count": message.count, "location": message.location})
        }
        Difference::Count { key, before, after } => {
            let (least, greatest) = before;
            let before = if least == greatest {
                json!(least)
            } else {
                json!({"least": least, "greatest": greatest})
            };
            json!({"type": "count", "message": of(key), "before": before, "after": after})
        }
        Difference::Values { key, argument, name, change } => {
            let mut line = json!({"type": "values", "message": of(key), "argument": argument});
            if let Some(name) = name {
                line["name"] = json!(name);
            }
            line["change"] = of_change(change);
            line
        }
        Difference::Order { thread, places } => {
            let places: Vec<Value> = places.iter().map(of_place).collect();
            json!({"type": "order", "thread": thread, "places": places})
        }
    }
}

fn of(key: &MessageKey) -> Value {
    let template = key.shown_template();
    json!({"level": key.level.map(Level::name), "group": key.group, "template": template})
}

fn of_change(change: &ValueChange<'_>) -> Value {
    let counts = |values: &[(&str, u64)]| -> Vec<Value> {
        values.iter().map(|(value, count)| json!({"value": value, "count": count})).collect()
    };
    let range = |range: &Range| json!({"least": range.least, "mean": range.mean, "greatest": range.greatest});
    match change {
        ValueChange::Choice { vanished, new, other } => {
            let other = other.iter().map(
                |(value, before, after)| json!({"value": value, "before": before, "after": after}),
            );
            let other: Vec<Value> = other.collect();
            json!({"vanished": counts(vanished), "new": counts(new), "other": other})
        }
        ValueChange::Range { before, after } => {
            json!({"before": range(before), "after": range(after)})
        }
        ValueChange::Texts { before, after } => {
            json!({"before": {"texts": before}, "after": {"texts": after}})
        }
    }
}

fn of_place(place: &Place<'_>) -> Value {
    let all = |keys: &[Rc<MessageKey>]| -> Vec<Value> { keys.iter().map(|key| of(key)).collect() };
    json!({"at": place.at, "removed": all(place.removed), "added": all(place.added)})
}
