//! The macros in unusual surroundings, which must neither change nor break a call.
#![no_implicit_prelude]
#![forbid(unsafe_code)]
#![deny(warnings, clippy::all, clippy::pedantic)]

use ::protolog_rt::{Level, ProtoLogGroup, print_group};
use ::std::borrow::Cow;
use ::std::boxed::Box;
use ::std::convert::From;
use ::std::num::NonZero;
use ::std::option::Option::{self, None, Some};
use ::std::rc::Rc;
use ::std::string::String;
use ::std::sync::Arc;
use ::std::{assert, assert_eq};

// Items that expansions must not resolve to: they shadow names of expansions and of the prelude.
mod core {}
mod protolog_rt {}
#[derive(Debug)]
struct Text;

#[derive(::protolog_rt::ProtoLogGroup)]
enum Log {
    Main,
    #[protolog(enabled = false)]
    Off,
}

#[test]
fn every_type_has_its_conversion() {
    print_group(&Log::Main, Some(Level::Verbose));
    macro_rules! integers {
        ($($type:ty)*) => { $( {
            let (least, most) = (<$type>::MIN, <$type>::MAX);
            let reference = &&least;
            ::protolog_rt::d!(Log::Main, "%d %o %x %s", least, most, *reference, reference);
            ::protolog_rt::d!(Log::Off, "%d", reference);
            if let Some(nonzero) = NonZero::new(most) {
                ::protolog_rt::d!(Log::Main, "%d %d %s", nonzero, &nonzero, nonzero);
            }
        } )* };
    }
    integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    let (single, double, yes) = (1.5_f32, -2.5_f64, true);
    ::protolog_rt::d!(Log::Main, "%f %e %g %f %f", single, double, &single, &&double, &mut {
        double
    });
    ::protolog_rt::d!(Log::Main, "%b %b %s", yes, &&yes, yes);
    let (text, cow) = (String::from("text"), Cow::Borrowed("cow"));
    ::protolog_rt::d!(Log::Main, "%s %s %s %s", text, &text, *text, cow);
    ::protolog_rt::d!(Log::Main, "%s %s %s", 'c', u128::MAX, i128::MIN);
    let (some, none): (Option<&str>, Option<u8>) = (Some("some"), None);
    ::protolog_rt::d!(Log::Main, "%s %s %s", some, none, &&none);
    let (boxed, counted, shared) = (Box::new(1_u8), Rc::new(2.5), Arc::new(true));
    ::protolog_rt::d!(Log::Main, "%d %f %b", boxed, counted, shared);
    ::protolog_rt::d!(Log::Main, "%s", ::std::format_args!("{Text:?}"));
    print_group(&Log::Main, None);
    assert_eq!((text.as_str(), &*cow), ("text", "cow"), "arguments are borrowed");
}

#[test]
fn names_of_the_program_do_not_shadow_those_of_the_expansion() {
    // The names of the expansion's own variables, and items of these names.
    #[derive(Clone, Copy)]
    struct Site;
    impl ::std::fmt::Display for Site {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.write_str("site")
        }
    }
    let (group, test, values) = (1, 2, 3);
    let wanted = |n: i32| n + group;
    let log = Site;
    print_group(&Log::Main, Some(Level::Verbose));
    ::protolog_rt::i!(Log::Main, "%d %d %d %d %s", group, test, values, wanted(4), log);
    print_group(&Log::Main, None);
    assert!(!Log::Main.is_enabled(Level::Wtf));
}

/// A crate that re-exports the macros under another name.
mod facade {
    pub(crate) use ::protolog_rt as logging;
}

#[derive(facade::logging::ProtoLogGroup)]
#[protolog(crate = facade::logging)]
enum Renamed {
    Main,
}

#[test]
fn macros_work_through_reexports() {
    use facade::logging::{d as debug, protolog as at};
    debug!(Renamed::Main, "by another name: %d", 1);
    at!(Level::Info, Renamed::Main, "by another name: %s", "2");
    facade::logging::e!(Renamed::Main, "by a path");
    assert_eq!(Renamed::Main.info().name, "macro_positions::Renamed::Main");
}

/// Groups and calls beside items that are called as the types of the language and as names of the
/// expansion.
mod named_as_types {
    #![allow(non_camel_case_types, clippy::upper_case_acronyms)] // The names are the case.

    use ::protolog_rt::ProtoLogGroup;

    type number = ::core::primitive::i32;

    macro_rules! types {
        ($($name:ident)*) => { $(
            #[derive(Clone, Copy, Debug)]
            pub(super) struct $name;
        )* };
    }
    types!(bool u8 u16 u32 u64 usize i64 f64 str char Level Option);

    /// By its name, the alias that an expansion might use.
    #[derive(::protolog_rt::ProtoLogGroup)]
    enum rt {
        Main,
        #[protolog(tag = "OTHER", enabled = false)]
        Other,
    }

    #[derive(::protolog_rt::ProtoLogGroup)]
    enum PAGE {
        GROUPS,
        COUNT,
    }

    #[test]
    fn types_of_the_program_are_not_taken_for_those_of_the_language() {
        let wanted: number = 2;
        let all = (bool, u8, u16, u32, u64, usize, i64, f64, str, char, Level, Option);
        ::protolog_rt::d!(rt::Main, "%d %s", wanted, ::std::format_args!("{all:?}"));
        ::protolog_rt::d!(rt::Other, "%d", wanted);
        ::protolog_rt::w!(PAGE::GROUPS, "%d", wanted);
        ::protolog_rt::w!(PAGE::COUNT, "%b", true);
        ::std::assert_eq!(rt::Other.info().tag, "OTHER");
        ::std::assert_eq!(PAGE::COUNT.index(), 1);
    }
}
