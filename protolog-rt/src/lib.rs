//! The runtime: groups, call sites, the write path, sessions.

#[doc(hidden)]
pub mod __private;
mod clock;
mod dictionary;
pub mod dynamic;
mod error;
mod level;
mod log;
mod loss;
mod macros;
mod session;
mod shmem;
mod site;
mod stats;
mod sync;
mod text;
mod value;
mod writer;

pub use error::Error;
pub use level::{GroupInfo, ProtoLogGroup};
pub use loss::Cause;
pub use protolog_core::Level;
pub use protolog_macros::ProtoLogGroup;
pub use session::config::{Config, GroupOverride, TracingMode};
pub use session::{Builder, Session};
pub use stats::{Loss, Summary};
pub use text::print_group;
pub use value::{BoolArg, FloatArg, IntArg, TextArg};
