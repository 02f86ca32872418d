//! A typed setter is the hand-numbered one: the compiler makes the same instructions of both, none
//! of what nobody uses, and no panic.

use crate::{build, code_of};
use protolog_testkit::temp_dir;

/// Pairs of functions that write the same.
const FUNCTIONS: &str = r#"
#![no_std]
include!("code.rs");
use protozero::{Fixed, Writer};

macro_rules! pairs {
    ($($typed:ident, $hand:ident: |$to:ident, $value:ident: $type:ty| $first:expr, $second:expr;)*) => {$(
        #[cfg(feature = "typed")]
        #[unsafe(no_mangle)]
        pub fn $typed(writer: &mut Writer<Fixed<'_>>, $value: $type) {
            let mut $to = forms::old::All::root(writer);
            $first;
        }
        #[cfg(not(feature = "typed"))]
        #[unsafe(no_mangle)]
        pub fn $hand(writer: &mut Writer<Fixed<'_>>, $value: $type) {
            let mut $to = writer.message();
            $second;
        }
    )*};
}

pairs! {
    typed_number, hand_number: |to, value: u64| to.a_uint64(value), to.uint64(4, value);
    typed_double, hand_double: |to, value: f64| to.a_double(value), to.double(13, value);
    typed_text, hand_text: |to, value: &str| to.a_string(value), to.string(14, value);
    typed_enum, hand_enum: |to, value: i32|
        to.a_colour(forms::old::Colour(value)), to.enumeration(16, value);
    typed_nested, hand_nested: |to, value: i32|
        { to.inner().inner().a_int32(value); }, { to.nested(17).nested(17).int32(1, value); };
    typed_many, hand_many: |to, value: u32|
        to.a_uint32(value).a_bool(value > 3).a_fixed32(value),
        to.uint32(3, value).bool(7, value > 3).fixed32(8, value);
}

#[cfg(feature = "typed")]
#[unsafe(no_mangle)]
pub fn typed_reader(bytes: &[u8]) -> usize {
    forms::old::AllReader::new(bytes).map_while(Result::ok).count()
}
"#;

#[test]
fn typed_setters_cost_what_hand_numbered_ones_do() {
    let code = code_of("forms2.proto", |config| config).expect("code");
    // Apart, or the compiler would make one function of two that are the same.
    let typed = build::assembly(temp_dir().path(), &code, FUNCTIONS, &["--cfg=feature=\"typed\""]);
    assert_eq!(panics(&typed), [""; 0]);
    assert!(count(&typed, "typed_reader") > 100, "the reader is not compiled");
    let hand = build::assembly(temp_dir().path(), &code, FUNCTIONS, &[]);
    for name in ["number", "double", "text", "enum", "nested", "many"] {
        let typed = count(&typed, &format!("typed_{name}"));
        let hand = count(&hand, &format!("hand_{name}"));
        assert!(hand > 5, "{name}: {hand} instructions, too few to be it");
        assert!(typed.abs_diff(hand) <= 2, "{name}: {typed} instructions, {hand} by hand");
    }
}

#[test]
fn what_is_not_used_is_not_there() {
    let code = code_of("forms2.proto", |config| config).expect("code");
    let library = "#![no_std]\ninclude!(\"code.rs\");\n";
    let assembly = build::assembly(temp_dir().path(), &code, library, &[]);
    let functions = assembly.lines().filter(|line| line.contains("@function")).count();
    // Only what has no type parameter can be compiled by itself: names of enums, and readers.
    let writers =
        assembly.lines().filter(|line| line.contains("write_to") || line.contains("_pieces"));
    assert_eq!(writers.count(), 0, "of {functions} functions");
}

#[test]
fn panics_have_this_name() {
    let library =
        "#![no_std]\n#[unsafe(no_mangle)]\npub fn at(all: &[u8], at: usize) -> u8 { all[at] }\n";
    let assembly = build::assembly(temp_dir().path(), "", library, &[]);
    assert!(!panics(&assembly).is_empty(), "{assembly}");
}

/// The lines that have to do with a panic.
fn panics(assembly: &str) -> Vec<&str> {
    assembly.lines().filter(|line| line.contains("panic")).collect()
}

/// The instructions of a function.
fn count(assembly: &str, name: &str) -> usize {
    let lines = assembly.lines().map(str::trim);
    let body = lines.skip_while(|line| *line != format!("{name}:")).skip(1);
    let body = body.take_while(|line| !line.starts_with(".Lfunc_end"));
    body.filter(|line| !line.starts_with('.') && !line.ends_with(':') && !line.is_empty()).count()
}
