//! The macros of log calls, and what the proc macros' expansions call.
//!
//! A call goes `d!` → `protolog_macros::call!` (checks the template) → [`__site!`](crate::__site) (the code). The detour
//! through macro_rules at both ends buys two things: the compiler's own parser tells the arguments apart, and `$crate` finds
//! this crate under whatever name a program knows it by.
//!
//! Rewritten calls hold `@`, an id and kinds in the place of the template, and take no detour: see [`crate::rewritten`].
//!
//! Invariants: an argument stands in one place only; nothing here is found by a name that a program could take.

/// Logs at the level of debugging: what helps to find a fault.
///
/// ```
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// # let (n, host, ms) = (1500, "example.org", 2.5);
/// protolog_rt::d!(AppLog::Net, "sent %d bytes to %s in %.1f ms", n, host, ms);
/// ```
///
/// The first argument is the group, a constant path. The template is a string literal; its conversions are `%d %o %x` for
/// integers, `%f %e %g` for floats, `%b` for booleans, and `%s` for text and everything that is `Display`, with a width,
/// zero padding and a precision as in C. The arguments are borrowed, as `println!` does; they are evaluated once where
/// somebody wants the message, and otherwise not at all.
#[macro_export]
macro_rules! d {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Debug, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Debug, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("d") };
}

/// Logs at the level of chatter. See [`d!`].
#[macro_export]
macro_rules! v {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Verbose, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Verbose, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("v") };
}

/// Logs what an operator may want to know. See [`d!`].
#[macro_export]
macro_rules! i {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Info, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Info, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("i") };
}

/// Logs that something is not as it should be. See [`d!`].
#[macro_export]
macro_rules! w {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Warn, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Warn, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("w") };
}

/// Logs that something failed. See [`d!`].
#[macro_export]
macro_rules! e {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Error, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Error, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("e") };
}

/// Logs that happened what can't happen. See [`d!`].
#[macro_export]
macro_rules! wtf {
    ($group:expr, $template:expr $(, $argument:expr)* $(,)?) => {
        $crate::__private::call!($crate, $crate::Level::Wtf, $group, $template $(, $argument)*)
    };
    ($group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {
        $crate::__rewritten!($crate::Level::Wtf, $group, $id [$($kind)*] $(, $argument)*)
    };
    ($($other:tt)*) => { $crate::__usage!("wtf") };
}

/// Logs at a level that is given, a constant. See [`d!`].
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
        // The level is used more than once, and to be wrong once.
        const __PROTOLOG_LEVEL: $crate::Level = $level;
        $crate::__private::call!($crate, __PROTOLOG_LEVEL, $group, $template $(, $argument)*)
    }};
    ($level:expr, $group:expr, @$id:literal [$($kind:ident)*] $(, $argument:expr)* $(,)?) => {{
        const __PROTOLOG_LEVEL: $crate::Level = $level;
        $crate::__rewritten!(__PROTOLOG_LEVEL, $group, $id [$($kind)*] $(, $argument)*)
    }};
    ($($other:tt)*) => { $crate::__usage!("protolog") };
}

/// A call of a shape that no macro knows.
#[doc(hidden)]
#[macro_export]
macro_rules! __usage {
    ("protolog") => {
        ::core::compile_error! {
            "this is no log call\nhelp: write a level, a group, a template and its arguments, as in `protolog!(Level::Info, AppLog::Net, \"sent %d bytes\", n)`"
        }
    };
    ($name:literal) => {
        ::core::compile_error! { ::core::concat!(
            "this is no log call\nhelp: write a group, a template and its arguments, as in `",
            $name,
            "!(AppLog::Net, \"sent %d bytes\", n)`",
        ) }
    };
}

/// What is left of a call whose template was refused: the rest of it, for the compiler to check.
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

/// The code of the derive for group enums. Conditions come from rewritten sources: the derive sees what they have left.
#[doc(hidden)]
#[macro_export]
macro_rules! __group_enum {
    ($enum:ident; $(
        $(#[$condition:meta])?
        $variant:ident, $index:expr, $name:literal, $tag:literal, $enabled:expr, $text:expr,;
    )*) => {
        const _: () = {
            use $crate::__private as rt;

            const COUNT: usize = [$( $(#[$condition])? $name ),*].len();
            const DEFS: [rt::GroupDef; COUNT] = [$( $(#[$condition])? {
                const INDEX: usize = $index;
                const NAME_TAG: &[u8] = &rt::full_name::<{
                    rt::full_name_len(::core::module_path!(), ::core::concat!($name, $tag))
                }>(::core::module_path!(), ::core::concat!($name, $tag));
                rt::GroupDef::new(rt::utf8(NAME_TAG), $tag.len(), INDEX as u16, $enabled, $text)
            } ),*];
            static PAGE: rt::Page = rt::Page::new(&DEFS);
            static SET: rt::GroupSet = rt::GroupSet::new(&PAGE, &GROUPS);
            static GROUPS: [rt::GroupInfo; COUNT] =
                [$( $(#[$condition])? rt::GroupInfo::new(&DEFS[$index], &PAGE, &SET) ),*];

            impl $enum {
                #[doc(hidden)]
                #[inline]
                pub const fn __protolog_def(self) -> &'static rt::GroupDef {
                    match self {
                        $( $(#[$condition])? Self::$variant => const { &DEFS[$index] }, )*
                    }
                }
            }

            impl $crate::ProtoLogGroup for $enum {
                #[inline]
                fn groups() -> &'static [rt::GroupInfo] {
                    &GROUPS
                }

                #[inline]
                fn info(&self) -> &'static rt::GroupInfo {
                    match self {
                        $( $(#[$condition])? Self::$variant => &GROUPS[$index], )*
                    }
                }

                #[inline(always)]
                fn page() -> &'static rt::Page {
                    &PAGE
                }

                #[inline(always)]
                fn index(&self) -> usize {
                    match self {
                        $( $(#[$condition])? Self::$variant => const { $index }, )*
                    }
                }

                #[inline(always)]
                fn is_compiled(&self) -> bool {
                    match self {
                        $( $(#[$condition])? Self::$variant => $enabled, )*
                    }
                }
            }
        };
    };
}
