//! The logging macros and the derive for group enums: the part that macro_rules can't do.
//!
//! A call reaches `call` from the macros of `protolog_rt` with its parts already told apart by the
//! compiler's own parser. It leaves as a call of `protolog_rt`'s `__site!`, which holds all code of
//! an expansion, with the template checked, the mask computed, and each argument wrapped in what
//! its conversion takes. The derive likewise leaves as `__group_enum!`. So what a call becomes can
//! be read as Rust, in `protolog_rt`.
//!
//! Both are done in steps, one file each: parse, check, generate.
//!
//! Invariants: never a panic, every mistake is an error at the tokens that it is about; after a
//! mistake in a template the arguments are still type-checked by the compiler, so that its other
//! errors and editors go on.

mod call;
mod group;
mod problem;
mod tokens;

use proc_macro::TokenStream;

/// Use the macros of `protolog_rt`. Takes `$crate, level, group, template, argument…`.
#[doc(hidden)]
#[proc_macro]
pub fn call(input: TokenStream) -> TokenStream {
    call::expand(input)
}

/// Use the macro `span!` of `protolog_rt`. Takes what `call` takes.
#[doc(hidden)]
#[proc_macro]
pub fn span(input: TokenStream) -> TokenStream {
    call::expand_span(input)
}

/// Makes an enum's variants log groups.
///
/// A group's full name is `crate::Enum::Variant`; its id is computed from it. On a variant,
/// `#[protolog(…)]` takes:
///
/// - `tag = "NET"`: what logcat's formats show; the variant's name where not given;
/// - `enabled = false`: leaves the texts of the group's calls out of the binary, and in a release
///   build their code;
/// - `log_to_text = true`: prints the group on standard error from the start;
/// - `sample = "1/100"`: keeps one of 100 messages by chance, but all of WARN and worse, as a rule
///   `site group NAME=sample:1/100` before all others would;
/// - `limit = "100/s burst 500"`: lets at most 100 messages of all its calls together pass in a
///   second, and 500 at once, as `site group NAME=group-limit:100/s:500` would. Others are counted.
///
/// On the enum, `#[protolog(crate = path)]` names `protolog_rt` where it is known by another path.
#[proc_macro_derive(ProtoLogGroup, attributes(protolog))]
pub fn derive_group(input: TokenStream) -> TokenStream {
    group::expand(input)
}
