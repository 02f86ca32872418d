//! The macros as programs use them: allowed positions, evaluation of arguments, names of groups.
use protolog_rt::{Level, ProtoLogGroup, print_group};
use std::cell::Cell;
use std::fmt::Display;

#[derive(Clone, Copy, Default, ProtoLogGroup)]
pub(crate) enum AppLog {
    #[default]
    Net,
    #[protolog(tag = "DISK")]
    Disk,
    #[protolog(enabled = false, log_to_text = true)]
    Off,
    /// Named with a keyword, with a discriminant.
    #[allow(non_camel_case_types, reason = "the name is what is tested")]
    r#type = 17,
}

/// Enables the text output of a group while it lives, and so its calls.
struct EnabledGroup<'a, G: ProtoLogGroup>(&'a G);

impl<'a, G: ProtoLogGroup> EnabledGroup<'a, G> {
    fn new(group: &'a G) -> Self {
        print_group(group, Some(Level::Verbose));
        Self(group)
    }
}

impl<G: ProtoLogGroup> Drop for EnabledGroup<'_, G> {
    fn drop(&mut self) {
        print_group(self.0, None);
    }
}

mod inner {
    pub(crate) mod deeper {
        #[derive(protolog_rt::ProtoLogGroup)]
        pub(crate) enum DeepLog {
            One,
        }
    }
}

#[test]
fn groups_are_named_after_crate_enum_and_variant() {
    let names: Vec<_> = AppLog::groups().iter().map(|group| (group.name, group.tag)).collect();
    assert_eq!(
        names,
        [
            ("macros::AppLog::Net", "Net"),
            ("macros::AppLog::Disk", "DISK"),
            ("macros::AppLog::Off", "Off"),
            ("macros::AppLog::type", "type"),
        ]
    );
    let deep = inner::deeper::DeepLog::One.info();
    assert_eq!(deep.name, "macros::DeepLog::One", "the crate, not the module");
    for (index, group) in AppLog::groups().iter().chain([deep]).enumerate() {
        assert_eq!(group.id, protolog_core::group_id(group.name));
        assert_eq!(usize::from(group.index), index % 4);
    }
    assert_eq!(AppLog::r#type.info().index, 3, "the position, not the discriminant");
    assert!(!AppLog::Off.info().compiled && AppLog::Net.info().compiled);
}

#[test]
fn arguments_are_evaluated_once_when_enabled_and_never_when_not() {
    #[derive(ProtoLogGroup)]
    enum Own {
        Net,
        #[protolog(enabled = false)]
        Off,
    }
    let count = Cell::new(0);
    let next = || {
        count.set(count.get() + 1);
        count.get()
    };
    protolog_rt::i!(Own::Net, "%d %s", next(), next());
    protolog_rt::i!(Own::Off, "%d %s", next(), next());
    assert_eq!(count.get(), 0, "disabled");
    {
        let _on = EnabledGroup::new(&Own::Net);
        protolog_rt::i!(Own::Net, "%d %s %b %f", next(), next(), next() > 0, f64::from(next()));
        assert_eq!(count.get(), 4);
        print_group(&Own::Off, Some(Level::Verbose));
        protolog_rt::i!(Own::Off, "%d %s", next(), next());
        assert_eq!(count.get(), 4, "compiled out");
        assert!(!Own::Off.is_enabled(Level::Wtf));
    }
    protolog_rt::i!(Own::Net, "%d %s", next(), next());
    assert_eq!(count.get(), 4, "disabled again");
}

/// Names by which other loggers know the levels.
mod named {
    use crate::{AppLog, Cell, Level, print_group};
    use protolog_rt::levels::*;
    use protolog_rt::{levels, levels::info as note};

    #[derive(protolog_rt::ProtoLogGroup)]
    enum Own {
        Levels,
    }

    #[test]
    fn levels_have_their_names() {
        for (index, level) in Level::ALL.into_iter().enumerate() {
            print_group(&Own::Levels, Some(level));
            let seen = Cell::new(0);
            let see = |bit: u32| {
                seen.set(seen.get() | 1 << bit);
                bit
            };
            trace!(Own::Levels, "%d", see(0));
            debug!(Own::Levels, "%d", see(1));
            info!(Own::Levels, "%d", see(2));
            warn!(Own::Levels, "%d", see(3));
            error!(Own::Levels, "%d", see(4));
            wtf!(Own::Levels, "%d", see(5));
            assert_eq!(seen.get(), 0b11_1111 >> index << index, "{level:?}");
        }
        print_group(&Own::Levels, None);
        levels::debug!(AppLog::Disk, "by the module's name {{}}");
        note!(AppLog::Disk, "renamed {\"a\": {{}}}");
    }
}

#[test]
fn arguments_are_borrowed() {
    let _on = EnabledGroup::new(&AppLog::Net);
    let (text, mut number, list) = (String::from("kept"), 5, [1, 2]);
    protolog_rt::d!(AppLog::Net, "%s %d %d", text, number, list[1]);
    let borrowed = &mut number;
    protolog_rt::d!(AppLog::Net, "%d %s", borrowed, *borrowed);
    *borrowed += 1;
    assert_eq!((text.as_str(), number), ("kept", 6));
    let (unsized_text, unsized_value): (&str, &dyn Display) = (&text, &number);
    protolog_rt::d!(AppLog::Net, "%s %s", *unsized_text, *unsized_value);
}

#[test]
fn calls_are_expressions() {
    const ALIAS: AppLog = AppLog::Net;
    use AppLog::Disk;
    let _on = EnabledGroup::new(&AppLog::Net);
    let log = |n: i32| protolog_rt::d!(AppLog::Net, "in a closure: %d", n);
    log(1);
    match 1 {
        1 => protolog_rt::d!(ALIAS, "in an arm, by an alias"),
        _ => protolog_rt::d!(Disk, "by its own name",),
    }
    if true {
        protolog_rt::d!(inner::deeper::DeepLog::One, "by a path");
    } else {
        unreachable!()
    }
    let unit: () = protolog_rt::protolog!(Level::Warn, <AppLog>::Net, "as a value");
    let () = unit;
    protolog_rt::protolog!(Level::Wtf, AppLog::Net, "%s", {
        protolog_rt::d!(AppLog::Net, "in an argument");
        "with an inner call"
    });
    fn generic<T: Display + ?Sized, const N: usize>(value: &T, list: [u8; N]) {
        protolog_rt::d!(AppLog::Net, "in a generic function: %s %d %d", value, N, list.len());
    }
    generic("x", [0; 3]);
    generic(&5, [0; 4]);
}

#[test]
fn arguments_may_return_from_the_function() {
    fn half(value: Option<u32>) -> Option<u32> {
        protolog_rt::d!(AppLog::Disk, "the value is %d", value?);
        for _ in 0..3 {
            protolog_rt::d!(
                AppLog::Disk,
                "%d %s",
                value?,
                if value == Some(2) { return Some(20) } else { 7 }
            );
        }
        value.map(|value| value / 2)
    }
    assert_eq!(half(None), None, "a disabled call does not evaluate its arguments");
    /// An expression of the type `!` is an argument of every conversion.
    #[allow(unreachable_code, clippy::diverging_sub_expression, reason = "what is tested")]
    fn leaves(which: u32) -> u32 {
        match which {
            0 => protolog_rt::d!(AppLog::Disk, "%d %s", return 10, "x"),
            1 => protolog_rt::d!(AppLog::Disk, "%x %f", 1, return 11),
            2 => protolog_rt::d!(AppLog::Disk, "%b", return 12),
            3 => protolog_rt::d!(AppLog::Disk, "%s", return 13),
            _ => {
                protolog_rt::d!(AppLog::Off, "%d %f %b %s", panic!(), panic!(), panic!(), panic!());
            }
        }
        which
    }
    assert_eq!([0, 3, 4].map(leaves), [0, 3, 4]);
    let _on = EnabledGroup::new(&AppLog::Disk);
    assert_eq!((half(None), half(Some(2)), half(Some(8))), (None, Some(20), Some(4)));
    assert_eq!([0, 1, 2, 3, 4].map(leaves), [10, 11, 12, 13, 4]);
}

#[test]
fn futures_that_log_are_send() {
    async fn logs(n: u32) -> u32 {
        let text = String::from("t");
        protolog_rt::d!(AppLog::Net, "%d %s %d %s", n, text, std::future::ready(n + 1).await, n);
        // The future holds the argument itself, not its text.
        let (some, any) = (Some(n), &n as &(dyn Display + Sync));
        protolog_rt::d!(
            AppLog::Net,
            "%s %s %s %s %s",
            n,
            some,
            Some("text"),
            any,
            std::future::ready('x').await
        );
        n
    }
    fn must_be_send<T: Send>(future: T) -> T {
        future
    }
    let _on = EnabledGroup::new(&AppLog::Net);
    let mut future = std::pin::pin!(must_be_send(logs(3)));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_ready());
}

#[test]
fn macros_of_the_program_may_wrap_calls() {
    macro_rules! with_expr {
        ($group:expr, $template:expr, $($argument:expr),*) => {
            protolog_rt::d!($group, $template, $($argument),*)
        };
    }
    macro_rules! with_tokens {
        ($($all:tt)*) => { protolog_rt::i!(AppLog::Net, $($all)*) };
    }
    macro_rules! with_literal {
        ($template:literal, $value:ident) => {
            with_expr!(AppLog::Net, $template, $value + 1, $value)
        };
    }
    let value = 1;
    let _on = EnabledGroup::new(&AppLog::Net);
    with_expr!(AppLog::Net, "%d of %d", value + 1, value << 1);
    with_tokens!("%d %s", std::cmp::max::<i32>(value, 2), [1, 2].map(|v| v + 1).len());
    with_literal!("%d after %d", value);
}

#[test]
fn all_thirty_two_arguments_fit() {
    let _on = EnabledGroup::new(&AppLog::Net);
    protolog_rt::d!(
        AppLog::Net,
        "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%s",
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        0,
        'x',
    );
}

#[test]
fn groups_are_disabled_until_text_output_or_a_session_enables_them() {
    #[derive(ProtoLogGroup)]
    enum Fresh {
        A,
        #[protolog(log_to_text = true)]
        B,
    }
    for level in Level::ALL {
        assert!(!Fresh::A.is_enabled(level) && Fresh::B.is_enabled(level));
    }
    print_group(&Fresh::A, Some(Level::Warn));
    print_group(&Fresh::B, None);
    for level in Level::ALL {
        assert_eq!(Fresh::A.is_enabled(level), level >= Level::Warn);
        assert!(!Fresh::B.is_enabled(level));
    }
}

#[test]
fn an_enum_may_come_from_a_macro_that_parsed_its_parts() {
    macro_rules! groups {
        ($(#[$of_all:meta])* $visible:vis $name:ident: $(#[$of_one:meta] $group:ident $tag:literal $on:expr,)*) => {
            $(#[$of_all])*
            #[derive(ProtoLogGroup)]
            $visible enum $name {
                $( #[$of_one] $group, )*
                #[protolog($( tag = $tag, log_to_text = $on )*)]
                Last,
            }
        };
    }
    groups! { #[derive(Clone)] pub(crate) Parsed: #[protolog(tag = "FIRST")] First "LAST" true, }
    let groups = Parsed::groups().iter().map(|group| (group.name, group.tag));
    assert_eq!(
        groups.collect::<Vec<_>>(),
        [("macros::Parsed::First", "FIRST"), ("macros::Parsed::Last", "LAST")]
    );
    assert!(Parsed::Last.clone().is_enabled(Level::Verbose), "printed");
    assert!(!Parsed::First.is_enabled(Level::Wtf));
}

#[test]
fn names_are_composed() {
    // Both are written as `U` with a mark behind it.
    #[derive(ProtoLogGroup)]
    enum GRÜN {
        BLÄU,
    }
    assert_eq!(GRÜN::BLÄU.info().name, "macros::GR\u{dc}N::BL\u{c4}U");
}
