//! The runtime: groups, call sites, the write path, sessions.

#[doc(hidden)]
pub mod __private;
mod level;
mod log;
mod site;
mod text;
mod value;

pub use level::{GroupInfo, ProtoLogGroup};
pub use protolog_core::Level;
pub use value::{BoolArg, FloatArg, IntArg, TextArg};
