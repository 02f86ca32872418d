//! What a program and its libraries log already, as messages: through the crate `log` (feature `log`), and through
//! `tracing` (feature `tracing`).
//!
//! ```
//! use protolog_rt::{Level, Session, bridge};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::temp_dir().join(format!("protolog-bridge-{}.pftrace", std::process::id()));
//! bridge::install_log()?;
//! // Everything from INFO on, and all that `hyper` and what is below it says.
//! let session =
//!     Session::builder().file(&path).log_from(Level::Info).group("hyper", Level::Verbose).start()?;
//! log::info!("ready after {} ms", 12);
//! log::debug!(target: "hyper::client", "connecting");
//! assert_eq!(session.stop()?.messages, 2);
//! # std::fs::remove_file(path).ok();
//! # Ok(())
//! # }
//! ```
//!
//! Each target is a group with the target's name as full name and tag, from its first call on; so targets are switched and
//! filtered as groups are, one by one (`hyper::client`) or with all that is below them (`hyper`).
//!
//! Invariants: who is off costs what the bridged crate's own check costs, since its caches are told of every session's start
//! and stop; user code that formats arguments runs before anything is written.

#[cfg(feature = "log")]
mod log;
mod targets;
#[cfg(feature = "tracing")]
mod tracing;

#[cfg(feature = "log")]
pub use self::log::{Logger, install_log};
#[cfg(feature = "tracing")]
pub use self::tracing::{Switches, TracingLayer, tracing_layer};
