//! What `protologtool transform-protolog-calls` writes in the place of calls and derives: macros of `macro_rules` alone, so that
//! rewritten sources are built without any proc macro.
//!
//! ```text
//! d!(AppLog::Net, "sent %d bytes to %s", n, host)             as written
//! d!(AppLog::Net, @0x58f2c41b9a07d36e [d s], n, host)         as rewritten: the message's id, the kinds of its arguments
//! ```
//!
//! The kinds are the message's mask, one letter for an argument (`d f b s`), since `macro_rules` can't take a number apart.
//! What the call does is what [`__site!`](crate::__site) does, but for the note: the text is in the dictionary that the tool
//! writes, which [`dictionary!`](macro@crate::dictionary) puts into the program.

/// Puts a dictionary that `protologtool` made (a `.pb` file) into the program, so that its traces carry the texts of rewritten
/// calls and the text side can print them. Stands once among the items of the program or library that the dictionary was
/// made for. The path is a literal, relative to the source, or what `include_bytes!` takes besides.
///
/// ```text
/// protolog_rt::dictionary!("app.pb");
/// protolog_rt::dictionary!(concat!(env!("OUT_DIR"), "/app.pb"));
/// ```
///
/// Calls that were not rewritten carry their own entries and need none.
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
        if const { $group.__protolog_def().enabled } {
            if $crate::__private::log_calls_cannot_stand_in_a_const_fn::wanted($group, $level) {
                $crate::__private::log_calls_cannot_stand_in_a_const_fn::log_rewritten(
                    $id,
                    $group,
                    $level,
                    $crate::__rewritten_values!([$($kind)*] $(, $argument)*),
                );
            }
        }
    }};
}

/// The values of a call, each as its conversion takes it: `(first, (second, ()))`.
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
            $crate::__private::text(&($argument)).text(),
            $crate::__rewritten_values!([$($kind)*] $(, $rest)*),
        )
    };
}

/// The expansion of a derive that was rewritten; `$derive` is what it was called by, so that its import stays in use.
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

/// What calls and derives need that were not rewritten.
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
