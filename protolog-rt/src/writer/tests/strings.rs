//! Strings that a chunk has are named, others come with their message. The reader gets the logged
//! strings, repeated or not and wherever they lie in memory, and reads each chunk alone.

use super::super::arg_slice::ArgSlice;
use super::*;
use protolog_core::Arg;
use protolog_core::schema::{interned_data, interned_string, sequence_flags};
use std::collections::HashMap;

/// The strings of each message that was read, and the number of strings that came with messages.
#[derive(Debug, Default)]
struct Received {
    messages: Vec<Vec<String>>,
    brought: usize,
    chunks: usize,
}

fn strings_of(rig: &Rig) -> Received {
    let mut service = Service::default();
    rig.chunks().iter().for_each(|image| service.take(image));
    let mut seen = Received::default();
    let mut known = HashMap::new();
    for packet in service.read() {
        for field in Reader::new(&packet).map(|field| field.expect("a field")) {
            match field.number {
                packet::SEQUENCE_FLAGS
                    if field.as_u32() == Ok(sequence_flags::INCREMENTAL_STATE_CLEARED) =>
                {
                    known.clear();
                    seen.chunks += 1;
                }
                packet::INTERNED_DATA => {
                    for string in field.as_message().expect("texts").flatten() {
                        assert_eq!(string.number, interned_data::PROTOLOG_STRING_ARGS);
                        let fields: Vec<_> =
                            string.as_message().expect("a text").flatten().collect();
                        assert_eq!(fields[0].number, interned_string::IID);
                        let text = fields[1].as_str().expect("text").to_owned();
                        let before = known.insert(fields[0].as_u64().expect("an id"), text);
                        assert_eq!(before, None, "two strings never share an id");
                        seen.brought += 1;
                    }
                }
                packet::PROTOLOG_MESSAGE => {
                    let params = field.as_message().expect("a message").flatten();
                    let iids = params.filter(|param| param.number == message::STR_PARAM_IIDS);
                    let texts = iids.map(|iid| known[&iid.as_u64().expect("an id")].clone());
                    seen.messages.push(texts.collect());
                }
                _ => {}
            }
        }
    }
    seen
}

fn alphabet(length: usize) -> String {
    ('a'..='z').cycle().take(length).collect()
}

#[test]
fn a_string_comes_once_in_a_chunk() {
    for length in (0..140).chain([1_000, 3_000]) {
        let rig = Rig::new(4);
        let text = alphabet(length);
        // Until chunks are as large as they get.
        (0..3).for_each(|number| assert!(rig.log(number, 1_500)));
        let before = strings_of(&rig);
        // Each time at another address.
        for copy in vec![text.clone(); 5] {
            assert!(rig.write(&(Int(7), (Str(&copy), ()))));
        }
        let seen = strings_of(&rig);
        assert_eq!(seen.messages[3..], vec![vec![text]; 5]);
        let chunks = seen.chunks - before.chunks;
        assert!(seen.brought - before.brought <= chunks.max(1), "{length}: {chunks}");
    }
}

#[test]
fn a_buffer_that_changes_is_not_taken_for_what_it_held() {
    for length in 1..100 {
        let rig = Rig::new(64);
        let mut text = alphabet(length);
        let address = text.as_ptr();
        let mut expected = Vec::new();
        for place in (0..length).chain((0..length).rev()) {
            assert!(rig.write(&(Str(&text), ())));
            expected.push(vec![text.clone()]);
            text.replace_range(place..=place, "#");
            assert_eq!(text.as_ptr(), address);
        }
        assert_eq!(strings_of(&rig).messages, expected, "{length}");
    }
}

/// Numbers from which nobody would guess the next one.
fn noise(state: &mut u64) -> usize {
    *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    (*state >> 40) as usize
}

#[test]
fn any_mixture_is_read_as_it_was_logged() {
    let state = &mut 1;
    for round in 0..40 {
        let rig = Rig::new(64);
        let mut expected = Vec::new();
        // Few texts that repeat, or many that hardly do; of all lengths, some longer than a chunk,
        // all alike.
        let (kinds, longest) = ([3, 20, 100, 2_000][round % 4], [8, 40, 200, 6_000][round / 4 % 4]);
        for _ in 0..400 {
            let mut text = || {
                let kind = noise(state) % kinds;
                format!("{kind:~<width$}", width = kind * 7919 % longest)
            };
            let (first, second) = (text(), text());
            let (one, two) = (first.as_str(), second.as_str());
            let done = match noise(state) % 4 {
                0 => rig.write(&(Int(1), ())),
                1 => rig.write(&(Str(one), ())),
                2 => rig.write(&(Str(one), (Int(-1), (Str(two), (Str(one), ()))))),
                _ => rig.write_packet(&ArgSlice(&[Arg::Str(one), Arg::Float(0.5), Arg::Str(two)])),
            };
            if done {
                expected.push((first, second));
            }
        }
        let seen = strings_of(&rig);
        for texts in seen.messages.iter().filter(|texts| !texts.is_empty()) {
            let found = expected.iter().position(|(first, second)| {
                *first == texts[0]
                    && texts.get(1).is_none_or(|text| text == second)
                    && texts.get(2).is_none_or(|text| text == first)
            });
            let found = found.unwrap_or_else(|| panic!("{texts:?} is not what follows"));
            drop(expected.drain(..=found));
        }
    }
}

#[test]
fn more_arguments_than_a_template_names_are_written_too() {
    let rig = Rig::new(16);
    let texts: Vec<String> = (0..40).map(|number| format!("text {}", number % 20)).collect();
    let args: Vec<Arg<'_>> = texts.iter().map(|text| Arg::Str(text)).collect();
    (0..3).for_each(|_| assert!(rig.write_packet(&ArgSlice(&args))));
    assert_eq!(strings_of(&rig).messages, vec![texts; 3]);
}

#[test]
fn a_reclaimed_chunk_leaves_no_strings() {
    let rig = Rig::new(8);
    (0..3).for_each(|_| assert!(rig.write(&(Str("again"), ()))));
    assert_eq!(rig.core.reclaim() + rig.core.reclaim(), 0, "it was used since");
    rig.writer.close();
    assert!(rig.write(&(Str("again"), ())), "it goes on in the same chunk");
    assert_eq!(strings_of(&rig).brought, 1);
    rig.finish();
    (0..2).for_each(|_| assert!(rig.write(&(Str("again"), ()))));
    let seen = strings_of(&rig);
    assert_eq!((seen.messages.len(), seen.brought, seen.chunks), (6, 2, 2));
}
