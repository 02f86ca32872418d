//! The macros of log calls, and the macros that expansions of the proc macros use.
//!
//! A call expands in three steps: `d!` → `protolog_macros::call!` (checks the template) →
//! [`__site!`](crate::__site) (the code). The `macro_rules` at both ends have two advantages: the
//! compiler's own parser separates the arguments, and `$crate` finds this crate by any name that a
//! program imports it by.
//!
//! Rewritten calls have `@`, an id and argument kinds in place of the template, and skip the proc
//! macro: see [`crate::rewritten`].
//!
//! Invariants: each argument is expanded once; no name here can be shadowed by a name of the
//! program.

/// Logs at level DEBUG: details that help to find a fault.
///
/// ```
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// # let (n, host, ms) = (1500, "example.org", 2.5);
/// protolog_rt::d!(AppLog::Net, "sent %d bytes to %s in %.1f ms", n, host, ms);
/// ```
///
/// The first argument is the group, a constant path. The template is a string literal. Its
/// conversions are `%d %o %x` for integers, `%f %e %g` for floats, `%b` for booleans, and `%s` for
/// strings and everything that is `Display`, with width, zero padding and precision as in C: `%5d`,
/// `%05d`, `%8.3f`, `%.20s`. There are no other flags, a width aligns to the right, and `%%` prints
/// a per cent sign. Arguments are borrowed, as by `println!`, and evaluated once if the level is
/// enabled for the group, otherwise not at all.
///
/// Braces print as they are written: `"{\"a\": %d}"`. A value in the syntax of `println!`, such as
/// `{n}`, `{}` or `{:?}`, is an error that says what to write instead. To print it, double the
/// braces, as in `println!`: `"{{n}}"` prints `{n}`. So doubled braces around something print as
/// one.
///
/// ```
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// # let (n, path, point) = (1, std::path::Path::new("/"), [1, 2]);
/// protolog_rt::d!(AppLog::Net, "%d requests for {\"path\": \"%s\"}, as in {{path}}", n, path.display());
/// protolog_rt::d!(AppLog::Net, "at %s", format_args!("{point:?}")); // What is `Debug` only.
/// ```
///
/// An argument may have a name, for those who read the log by fields:
///
/// ```
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// # let (n, host) = (1500, "example.org");
/// protolog_rt::d!(AppLog::Net, "sent %d bytes to %s", bytes = n, host = host);
/// ```
///
/// ```text
/// $ protologtool read-log app.pftrace --arg bytes=1500 --format json | jq -c .fields
/// {"bytes":1500,"host":"example.org"}
/// ```
///
/// The names stand in the dictionary beside the template, and the call is the same as without
/// them. Arguments keep the order of the conversions, and some may have names and others none. A
/// name is a word, as for a variable; `r#type` has the name `type`. A message with other names is
/// another message, with another id.
///
/// The template stays out of the program's code: it is in a note of the program's file
/// (`.note.protolog`), which is not loaded until a trace needs it. `strip`, `strip = true` in a
/// profile, LTO and separate debug information keep notes; without them
/// (`objcopy --remove-section`) traces have no texts.
/// `protologtool generate-viewer-config --from-binary PROGRAM --strip-to OTHER --viewer-config DIR`
/// removes them on purpose, and writes the dictionary that `read-log` then needs.
#[macro_export]
macro_rules! d {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Debug, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Debug, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("d", $($other)*) };
}

/// Logs at level VERBOSE. See [`d!`].
#[macro_export]
macro_rules! v {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Verbose, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Verbose, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("v", $($other)*) };
}

/// Logs at level INFO: events that an operator may want to see. See [`d!`].
#[macro_export]
macro_rules! i {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Info, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Info, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("i", $($other)*) };
}

/// Logs at level WARN: something is not as it should be. See [`d!`].
#[macro_export]
macro_rules! w {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Warn, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Warn, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("w", $($other)*) };
}

/// Logs at level ERROR: something failed. See [`d!`].
#[macro_export]
macro_rules! e {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Error, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Error, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("e", $($other)*) };
}

/// Logs at level WTF: something happened that can't happen. See [`d!`].
#[macro_export]
macro_rules! wtf {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Wtf, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Wtf, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("wtf", $($other)*) };
}

/// Logs at the given level, a constant. See [`d!`].
///
/// ```
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// use protolog_rt::Level;
///
/// protolog_rt::protolog!(Level::Warn, AppLog::Net, "no answer for %d s", 30);
/// ```
#[macro_export]
macro_rules! protolog {
    ($level:expr, $group:expr, $template:expr $(, $argument:expr)* $(,)?) => {{
        // Used more than once, but a mistake in it is to be reported once.
        const __PROTOLOG_LEVEL: $crate::Level = $level;
        $crate::__private::call!($crate, __PROTOLOG_LEVEL, $group, $template $(, $argument)*)
    }};
    ($level:expr, $group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {{
        const __PROTOLOG_LEVEL: $crate::Level = $level;
        $crate::__rewritten!(__PROTOLOG_LEVEL, $group, $id [$($kind)*] $(, $argument)*)
    }};
    ($($other:tt)*) => { $crate::__usage!("protolog", $($other)*) };
}

/// Begins a span: a slice of the timeline, which ends when the guard that it returns is dropped
/// ([`Span`](crate::Span)).
///
/// ```
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// use protolog_rt::{Level, span};
///
/// # let (path, ms) = ("/index", 20);
/// let _request = span!(AppLog::Net, "request %s", path = path);
/// {
///     let _lookup = span!(Level::Debug, AppLog::Net, "lookup");
///     protolog_rt::i!(AppLog::Net, "took %d ms", ms); // is in both spans
/// }
/// ```
///
/// Group, template and arguments are those of [`d!`]. The level is INFO, or stands before the
/// group. The name of the slice is the text before the first conversion, `request`; its arguments
/// are fields of the names that they have here, or their numbers (`1`).
///
/// A span that is off costs what a call that is off does. One that is on costs about what four
/// calls do. Text output shows no spans. A slice has room for 1,400 bytes of texts; longer ones are
/// cut, with `…` at their end. Spans that are more than 64 deep have no slices.
///
/// For futures there is [`InSpan`](crate::InSpan), since a guard belongs to its thread.
///
/// ```text
/// $ protologtool read-log app.pftrace --spans=around --span request.path=/index
/// 11-21 09:15:02.271  4711  4711 I Net     : request{path=/index}:lookup: took 20 ms
/// ```
#[macro_export]
macro_rules! span {
    ($group:expr, $template:literal $(, $argument:expr)* $(,)?) => {
        $crate::__private::span!($crate, $crate::Level::Info, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten_span!($crate::Level::Info, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($level:expr, $group:expr, $template:expr $(, $argument:expr)* $(,)?) => {{
        const __PROTOLOG_LEVEL: $crate::Level = $level;
        $crate::__private::span!($crate, __PROTOLOG_LEVEL, $group, $template $(, $argument)*)
    }};
    ($level:expr, $group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {{
        const __PROTOLOG_LEVEL: $crate::Level = $level;
        $crate::__rewritten_span!(__PROTOLOG_LEVEL, $group, $id [$($kind)*] $(, $argument)*)
    }};
    ($($other:tt)*) => { $crate::__usage!("span", $($other)*) };
}

/// A call with arguments that no macro accepts.
#[doc(hidden)]
#[macro_export]
macro_rules! __usage {
    ("protolog", $group:path, $template:literal $($rest:tt)*) => {
        ::core::compile_error! {
            "the level or the group is missing\nhelp: name both before the template, as in `protolog!(Level::Info, AppLog::Net, \"sent %d\", n)`"
        }
    };
    ("protolog", $($other:tt)*) => {
        ::core::compile_error! {
            "this is no log call\nhelp: write a level, a group, a template and its arguments, as in `protolog!(Level::Info, AppLog::Net, \"sent %d bytes\", n)`"
        }
    };
    ($name:literal, $template:literal $(,)?) => {
        ::core::compile_error! { ::core::concat!(
            "the group is missing\nhelp: name the group before the template, as in `",
            $name,
            "!(AppLog::Net, \"sent %d\", n)`",
        ) }
    };
    ($name:literal, $group:path $(,)?) => {
        ::core::compile_error! { ::core::concat!(
            "the template is missing\nhelp: write it after the group, as in `",
            $name,
            "!(AppLog::Net, \"sent %d\", n)`",
        ) }
    };
    ($name:literal, $($other:tt)*) => {
        ::core::compile_error! { ::core::concat!(
            "this is no log call\nhelp: write a group, a template and its arguments, with commas between, as in `",
            $name,
            "!(AppLog::Net, \"sent %d bytes\", n)`",
        ) }
    };
}

/// A call whose template was refused: the compiler still checks the rest of it.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused {
    ($level:expr, $group:expr $(, $argument:expr)* $(,)?) => {
        if false {
            let _: $crate::Level = $level;
            let _ = &$group;
            $( let _ = &$argument; )*
        }
    };
}

/// As [`__refused!`], for a span.
#[doc(hidden)]
#[macro_export]
macro_rules! __refused_span {
    ($($call:tt)*) => {{
        $crate::__refused! { $($call)* }
        $crate::Span::none()
    }};
}

/// The code of the derive for group enums. Only rewritten sources have `cfg` conditions here; the
/// derive macro sees the enum after the compiler has applied them.
#[doc(hidden)]
#[macro_export]
macro_rules! __group_enum {
    ($enum:ident; $(
        $(#[$condition:meta])?
        $variant:ident, $index:expr, $name:literal, $tag:literal, $enabled:expr, $text:expr,
        $($sample:literal,)? $(limit $limit:literal,)?;
    )*) => {
        const _: () = {
            const COUNT: $crate::__private::usize = [$( $(#[$condition])? $name ),*].len();
            const DEFS: [$crate::__private::GroupDef; COUNT] = [$( $(#[$condition])? {
                const INDEX: $crate::__private::usize = $index;
                const NAME_TAG: &[$crate::__private::u8] = &$crate::__private::full_name::<{
                    $crate::__private::full_name_len(::core::module_path!(), ::core::concat!($name, $tag))
                }>(::core::module_path!(), ::core::concat!($name, $tag));
                $crate::__private::GroupDef::new($crate::__private::utf8(NAME_TAG), $tag.len(), INDEX as $crate::__private::u16, $enabled, $text)
                    $(.sampled($sample))? $(.limited($limit))?
            } ),*];
            static PAGE: $crate::__private::SwitchPage = $crate::__private::SwitchPage::new(&DEFS);
            static SET: $crate::__private::GroupSet = $crate::__private::GroupSet::new(&PAGE, &GROUPS);
            static GROUPS: [$crate::__private::GroupInfo; COUNT] =
                [$( $(#[$condition])? $crate::__private::GroupInfo::new(&DEFS[$index], &PAGE, &SET) ),*];

            impl $enum {
                #[doc(hidden)]
                #[inline]
                pub const fn __protolog_def(self) -> &'static $crate::__private::GroupDef {
                    match self {
                        $( $(#[$condition])? Self::$variant => const { &DEFS[$index] }, )*
                    }
                }
            }

            impl $crate::ProtoLogGroup for $enum {
                #[inline]
                fn groups() -> &'static [$crate::__private::GroupInfo] {
                    &GROUPS
                }

                #[inline]
                fn info(&self) -> &'static $crate::__private::GroupInfo {
                    match self {
                        $( $(#[$condition])? Self::$variant => &GROUPS[$index], )*
                    }
                }

                #[inline(always)]
                fn page() -> &'static $crate::__private::SwitchPage {
                    &PAGE
                }

                #[inline(always)]
                fn index(&self) -> $crate::__private::usize {
                    match self {
                        $( $(#[$condition])? Self::$variant => const { $index }, )*
                    }
                }

                #[inline(always)]
                fn is_compiled(&self) -> $crate::__private::bool {
                    match self {
                        $( $(#[$condition])? Self::$variant => $enabled, )*
                    }
                }
            }
        };
    };
}
