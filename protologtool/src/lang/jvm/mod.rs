//! The things that Java and Kotlin share: classes of one virtual machine with one runtime,
//! whichever language a file is in.
//!
//! [`dialect`] has the forms of rewritten code, [`groups`] the rules on a class of groups,
//! [`wrapper`] the methods that pass templates on, [`rivals`] the declarations that may be meant
//! instead of a log method, [`argument_type`] and [`exception`] what arguments are. Limits on work
//! are in [`constants`], the questions to other files in [`lookups`].

pub(crate) mod argument_type;
pub(crate) mod constants;
pub mod dialect;
pub(super) mod exception;
pub(super) mod groups;
pub(super) mod looks;
pub mod lookups;
pub(crate) mod rivals;
pub mod wrapper;
