//! The numbers and sizes of this code beside those of `abi.txt`, which other tests compare with the
//! header and the library.

use crate::groups::Groups;
use crate::note::Site;
use crate::result;
use crate::session::{CSummary, Options};
use protolog_core::Level;
use protolog_core::control::switch::{SITE_RULES, UNREGISTERED, UNWATCHED, initial};
use protolog_rt::foreign::SwitchPage;
use std::collections::BTreeSet;
use std::mem::offset_of;

macro_rules! structs {
    ($($name:literal = $type:ty { $($field:ident)* })*) => {
        [$(
            format!("struct {} {}", $name, size_of::<$type>()),
            $(format!("field {} {} {}", $name, stringify!($field), offset_of!($type, $field)),)*
        )*]
    };
}

#[test]
#[cfg(target_pointer_width = "64")]
fn structs_and_numbers_are_those_of_the_list() {
    let structs = structs! {
        "protolog_options" = Options {
            size file levels recording buffer_bytes segment_bytes keep_segments level keep
            wait_milliseconds without_recording truncate follow_forks file_mode
        }
        "protolog_summary" = CSummary { messages lost overwritten bytes }
        "protolog_groups" = Groups { size count page name names infos }
        "protolog__site" = Site { direct id }
    };
    let mut numbers = vec![("PROTOLOG_OFF".to_owned(), Level::ALL.len() as i32)];
    for level in Level::ALL {
        numbers.push((format!("PROTOLOG_{}", level.name()), level.severity().into()));
    }
    numbers.extend(
        [
            ("PROTOLOG_OK", result::OK),
            ("PROTOLOG_BAD_ARGUMENT", result::BAD_ARGUMENT),
            ("PROTOLOG_BAD_STATE", result::BAD_STATE),
            ("PROTOLOG_IO", result::IO),
            ("PROTOLOG_IN_USE", result::IN_USE),
            ("PROTOLOG_RESOURCES", result::RESOURCES),
            ("PROTOLOG_SETTINGS", result::SETTINGS),
            ("PROTOLOG_INTERNAL", result::INTERNAL),
            ("PROTOLOG_STREAM", 0),
            ("PROTOLOG_NEWEST", 1),
            ("PROTOLOG_FIRST", 2),
            ("PROTOLOG_RECORD", 3),
        ]
        .map(|(name, number)| (name.to_owned(), number)),
    );
    let mask = |level: u32| 0x101 << level | SITE_RULES;
    for (name, number) in [
        ("PROTOLOG__MASK(0)", mask(0)),
        ("PROTOLOG__MASK(5)", mask(5)),
        ("PROTOLOG__UNUSUAL", UNREGISTERED | SITE_RULES),
    ] {
        numbers.push((name.to_owned(), number as i32));
    }
    let numbers = numbers.into_iter().map(|(name, number)| format!("number {name} {number}"));
    let here: BTreeSet<String> = structs.into_iter().chain(numbers).collect();
    let list = include_str!("../abi.txt").lines();
    let of_kind =
        |line: &&str| ["struct ", "field ", "number "].iter().any(|it| line.starts_with(it));
    let listed: BTreeSet<String> = list.filter(of_kind).map(str::to_owned).collect();
    assert_eq!(here, listed);
}

#[test]
fn pages_and_words_of_the_header_are_those_of_the_runtime() {
    let header = include_str!("../include/protolog.h");
    assert_eq!(size_of::<SwitchPage>(), align_of::<SwitchPage>());
    assert!(header.contains(&format!("#define PROTOLOG__PAGE {}\n", size_of::<SwitchPage>())));
    let word = initial(false) | UNWATCHED;
    assert!(header.contains(&format!("#define PROTOLOG__WORD(SET, GROUP) {word:#x},\n")));
}
