//! The macros that `protologtool transform-protolog-calls` puts in place of calls and derives. They
//! are `macro_rules`, so rewritten sources are built without a proc macro.
//!
//! ```text
//! d!(AppLog::Net, "sent %d bytes to %s", n, host)             as written
//! d!(AppLog::Net, @0x58f2c41b9a07d36e [d s], n, host)         as rewritten: the message's id, the kinds of its arguments
//! ```
//!
//! The kinds are the message's parameter mask, one letter per argument (`d f b s`), since
//! `macro_rules` can't take a number apart. The call does the same as [`__site!`](crate::__site)
//! but has no call-site note: its template is in the dictionary that the tool writes, and
//! [`dictionary!`](macro@crate::dictionary) puts that into the program.

/// Puts a dictionary of `protologtool` (a `.pb` file) into the program, so that its traces carry
/// the templates of rewritten calls and the text output can print them. Goes once among the items
/// of the program or library that the dictionary was made for. The path is one that
/// `include_bytes!` accepts: a literal, relative to the source file, or a macro that makes one.
///
/// ```text
/// protolog_rt::dictionary!("app.pb");
/// protolog_rt::dictionary!(concat!(env!("OUT_DIR"), "/app.pb"));
/// ```
///
/// Calls that were not rewritten carry their own entries and need no dictionary.
///
/// Rewritten sources are built without this crate's default feature `macros`, so without any proc
/// macro. A package that can be built in both ways has in its `Cargo.toml`
///
/// ```toml
/// [features]
/// default = ["protolog-rt/macros"]
/// rewritten = []
///
/// [dependencies]
/// protolog-rt = { path = "../protolog/protolog-rt", default-features = false }
/// ```
///
/// and in `src/main.rs`
///
/// ```text
/// #[cfg(feature = "rewritten")]
/// protolog_rt::dictionary!("../app.pb");
/// ```
///
/// It is rewritten into a directory beside it, so that paths in its manifest stay right, and keeps
/// its name there, since the names of its groups begin with it:
///
/// ```text
/// $ protologtool transform-protolog-calls --output-dir ../rewritten --viewer-config ../rewritten/app.pb src
/// $ cp Cargo.toml Cargo.lock ../rewritten
/// $ cargo run --manifest-path ../rewritten/Cargo.toml --no-default-features --features rewritten
/// ```
#[macro_export]
macro_rules! dictionary {
    ($path:expr $(,)?) => {
        $crate::__dictionary_note!($path);
    };
}

/// A rewritten call.
#[doc(hidden)]
#[macro_export]
macro_rules! __rewritten {
    ($level:expr, $group:expr, $id:literal [$($kind:ident)*] $(, $argument:expr)*) => {{
        use $crate::__private::NoGroup as _;
        // Without `if`, as in `__site!`.
        let _: $crate::__private::bool = const { $group.__protolog_def().enabled && $crate::__private::is_level_compiled($level) }
            && $crate::__private::log_calls_cannot_stand_in_a_const_fn::is_rewritten_enabled($id, $group, $level)
            && $crate::__private::log_calls_cannot_stand_in_a_const_fn::log_rewritten(
                $id,
                $group,
                $level,
                $crate::__rewritten_values!([$($kind)*] $(, $argument)*),
            );
    }};
}

/// A rewritten span.
#[doc(hidden)]
#[macro_export]
macro_rules! __rewritten_span {
    ($level:expr, $group:expr, $id:literal [$($kind:ident)*] $(, $argument:expr)*) => {{
        use $crate::__private::NoGroup as _;
        let mut __protolog_span = $crate::Span::none();
        // Without `if`, as in `__site!`.
        let _: $crate::__private::bool = const { $group.__protolog_def().enabled && $crate::__private::is_level_compiled($level) }
            && $crate::__private::log_calls_cannot_stand_in_a_const_fn::is_rewritten_enabled($id, $group, $level)
            && $crate::__private::log_calls_cannot_stand_in_a_const_fn::begin_rewritten(
                &mut __protolog_span,
                $id,
                ($group, $level),
                $crate::__private::task_number(),
                $crate::__rewritten_values!([$($kind)*] $(, $argument)*),
            );
        __protolog_span
    }};
}

/// The converted arguments of a call: `(first, (second, ()))`.
#[doc(hidden)]
#[macro_export]
macro_rules! __rewritten_values {
    ([]) => { () };
    ([d $($kind:ident)*], $argument:expr $(, $rest:expr)*) => {
        ($crate::__private::int(&($argument)), $crate::__rewritten_values!([$($kind)*] $(, $rest)*))
    };
    ([f $($kind:ident)*], $argument:expr $(, $rest:expr)*) => {
        ($crate::__private::float(&($argument)), $crate::__rewritten_values!([$($kind)*] $(, $rest)*))
    };
    ([b $($kind:ident)*], $argument:expr $(, $rest:expr)*) => {
        ($crate::__private::bool(&($argument)), $crate::__rewritten_values!([$($kind)*] $(, $rest)*))
    };
    ([s $($kind:ident)*], $argument:expr $(, $rest:expr)*) => {
        (
            $crate::__private::string(&($argument)).string(),
            $crate::__rewritten_values!([$($kind)*] $(, $rest)*),
        )
    };
}

/// The expansion of a rewritten derive; `$derive` is the path by which the source named it, so that
/// its import stays in use.
#[doc(hidden)]
#[macro_export]
macro_rules! __rewritten_groups {
    ($derive:path; $enum:ident; $($groups:tt)*) => {
        $crate::__group_enum! { $enum; $($groups)* }

        const _: () = {
            const fn is_group<T: $derive>() {}
            is_group::<$enum>();
        };
    };
}

/// The error of calls and derives that were not rewritten.
#[cfg(not(feature = "macros"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __no_proc_macros {
    ($($call:tt)*) => {
        ::core::compile_error! {
            "this log call was not rewritten, and `protolog-rt` is built without its feature `macros`\nhelp: take the source through `protologtool transform-protolog-calls`, or switch the feature on"
        }
    };
}
