//! Properties of every dictionary, and of any bytes.

use crate::common::rich;
use proptest::{collection::vec, prelude::*, sample::Index};
use protolog_core::Level;
use viewer_config::{Collector, Dictionary, Format, Group, Location, Message};

/// Templates of the grammar, texts that are none, and texts that are trouble in JSON.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "(%%|%[1-9]?d|%0[1-9]x|%\\.[0-9]f|%s|%b|[a-z é]|\"|\\\\|/|\n){0,8}",
        any::<String>(),
        Just(String::new()),
        "[\u{0}-\u{20}]{0,3}",
    ]
}

/// Any path but the few that [`Location`] can't tell from a list.
fn paths() -> impl Strategy<Value = String> {
    let clear = |path: &String| Location::parse_list(path).iter().all(|l| l.lines.is_empty());
    "[^;]{0,12}".prop_filter("would be read as lines", clear)
}

fn groups() -> impl Strategy<Value = Vec<Group>> {
    let group = |(id, name, tag)| Group { id, name, tag };
    vec((0..6u32, "[a-cß]{1,2}", texts()).prop_map(group), 1..6)
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let locations = vec(
        (paths(), vec(any::<u32>(), 0..4)).prop_map(|(path, lines)| Location { path, lines }),
        0..4,
    );
    let level = (0..6u8).prop_map(|severity| Level::from_severity(severity).expect("one of six"));
    let names = "(a[a-c.0]?)?(,(ß[a-c.0]?)?(,_?)?)?";
    let texts = (texts(), names);
    let parts = (any::<u64>(), texts, any::<u32>(), level, paths(), locations, "[a-cß]{1,2}");
    let message = |(id, (template, names), unsigned, level, place, locations, group): (
        _,
        _,
        _,
        _,
        _,
        _,
        String,
    )| {
        let group = group.into();
        Message { id, template, names, unsigned, level, group, place, locations }
    };
    vec(parts.prop_map(message), 0..8)
}

fn collect(groups: &[Group], messages: &[Message]) -> Dictionary {
    let mut collector = Collector::new();
    for group in groups {
        collector.add_group(group.clone());
    }
    for message in messages {
        collector.add_message(message.clone());
    }
    collector.finish_anyway().dictionary
}

/// `entries` cut in two at `at`, and the parts swapped.
fn turned<T: Clone>(entries: &[T], at: Index) -> Vec<T> {
    let mut entries = entries.to_vec();
    if !entries.is_empty() {
        let middle = at.index(entries.len());
        entries.rotate_left(middle);
    }
    entries
}

proptest! {
    #[test]
    fn every_format_holds_everything(groups in groups(), messages in messages()) {
        let dictionary = collect(&groups, &messages);
        let mut travelled = dictionary.clone();
        for format in [Format::Pb, Format::Json, Format::JsonGz, Format::Pb] {
            let bytes = travelled.to_bytes(format);
            prop_assert_eq!(Format::of_content(&bytes), if bytes.is_empty() { Format::Pb } else { format });
            let read = Dictionary::read_as(format, &bytes).unwrap();
            prop_assert_eq!(&read.problems, &vec![]);
            prop_assert_eq!(&read.dictionary, &dictionary);
            travelled = read.dictionary;
        }
    }

    #[test]
    fn lookups_find_what_is_there(groups in groups(), messages in messages()) {
        let dictionary = collect(&groups, &messages);
        for message in dictionary.messages() {
            prop_assert_eq!(dictionary.message(message.id), Some(message));
            prop_assert!(dictionary.group(&message.group).is_some());
        }
        for group in dictionary.groups() {
            prop_assert_eq!(dictionary.group(&group.name), Some(group));
            prop_assert_eq!(dictionary.group_by_id(group.id), Some(group));
        }
    }

    /// Without contradictions, neither the order of adding nor the way over partial dictionaries
    /// matters.
    #[test]
    fn order_does_not_matter(
        groups in groups(),
        messages in messages(),
        more in vec((any::<Index>(), paths(), vec(any::<u32>(), 0..3), any::<u32>()), 0..6),
        at in any::<Index>(),
    ) {
        let (mut messages, groups) = collect(&groups, &messages).into_parts();
        for (of, path, lines, unsigned) in more {
            if !messages.is_empty() {
                let locations = vec![Location { path: path.clone(), lines }];
                let again = Message { locations, place: path, unsigned, ..of.get(&messages).clone() };
                messages.push(again);
            }
        }
        let expected = collect(&groups, &messages);
        prop_assert_eq!(&collect(&turned(&groups, at), &turned(&messages, at)), &expected);
        messages.reverse();
        prop_assert_eq!(&collect(&groups, &messages), &expected);

        let (left, right) = messages.split_at(if messages.is_empty() { 0 } else { at.index(messages.len()) });
        let mut merged = Collector::new();
        for part in [right, left, left] {
            merged.add(collect(&groups, part));
        }
        prop_assert_eq!(merged.finish().unwrap().dictionary, expected);
    }

    #[test]
    fn any_bytes_may_be_read(bytes in vec(any::<u8>(), 0..200)) {
        for format in Format::ALL {
            let _ = Dictionary::read_as(format, &bytes);
        }
    }

    /// Damaged files are read, refused, or read with problems; a dictionary that was read can be
    /// written and read again.
    #[test]
    fn damaged_files_may_be_read(
        end in any::<Index>(),
        damage in vec((any::<Index>(), any::<u8>()), 0..4),
        format in prop_oneof![Just(Format::Pb), Just(Format::Json), Just(Format::JsonGz)],
    ) {
        let mut bytes = rich().to_bytes(format);
        for (at, byte) in damage {
            *at.get_mut(&mut bytes) = byte;
        }
        for bytes in [&bytes[..], &bytes[..end.index(bytes.len())]] {
            let mut collector = Collector::new();
            let _ = collector.read_as(format, bytes);
            let dictionary = collector.finish_anyway().dictionary;
            let again = Dictionary::read_as(Format::Pb, &dictionary.to_bytes(Format::Pb)).unwrap();
            let left = again.dictionary.messages().iter().map(|m| (m.id, &m.template));
            let right = dictionary.messages().iter().map(|m| (m.id, &m.template));
            prop_assert_eq!(left.collect::<std::collections::BTreeMap<_, _>>(), right.collect());
        }
    }
}
