//! The runtime: groups, call sites, the write path, sessions.

#[doc(hidden)]
pub mod __private;
mod dictionary;
mod level;
mod log;
mod macros;
mod site;
mod text;
mod value;

pub use level::{GroupInfo, ProtoLogGroup};
pub use protolog_core::Level;
pub use protolog_macros::ProtoLogGroup;
pub use text::print_group;
pub use value::{BoolArg, FloatArg, IntArg, TextArg};
