//! The things that Java and Kotlin share: classes of one virtual machine with one runtime,
//! whichever language a file is in.
//!
//! [`dialect`] has the forms of rewritten code, [`groups`] the rules on a class of groups,
//! [`wrapper`] the methods that pass templates on, [`rivals`] the declarations that may be meant
//! instead of a log method, [`argument_type`] and [`exception`] what arguments are. Limits on work
//! are in [`constants`], the questions to other files in [`lookups`].

use dialect::Dialect;
use protolog_core::Level;

pub(crate) mod argument_type;
pub(crate) mod constants;
pub mod dialect;
pub(super) mod exception;
pub(super) mod groups;
pub(super) mod looks;
pub mod lookups;
pub(crate) mod rivals;
pub mod wrapper;

/// The name of the method that begins a span, which is an expression with a value.
pub(crate) const SPAN: &str = "span";

/// The method that stands for it where it is off.
pub(crate) const NO_SPAN: &str = "noSpan";

/// Returns the level of a method of the class, if it logs: a span has that of INFO. Android's class
/// has no spans.
pub(crate) fn level_of(method: &str, dialect: &Dialect) -> Option<Level> {
    match method {
        SPAN => (*dialect == Dialect::Protolog).then_some(Level::Info),
        _ => Level::from_method(method),
    }
}
