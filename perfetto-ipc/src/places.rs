//! The sockets of the service.
//!
//! A variable of the environment names a socket; otherwise it is the one in `/run/perfetto`, if it
//! is there, or else the one in `/tmp`, where every user may make one. There the service has to be
//! root's or of this user: others are not to see what is logged, nor to make up a trace.
//!
//! Invariant: nothing is sent before it is known who listens.

use crate::error::Error;
use protolog_files::Peer;
use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The variable that names the producers' socket.
pub const PRODUCER_VARIABLE: &str = "PERFETTO_PRODUCER_SOCK_NAME";
/// The variable that names the consumers' socket.
pub const CONSUMER_VARIABLE: &str = "PERFETTO_CONSUMER_SOCK_NAME";

/// A socket of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    /// The variable that names it, or could.
    variable: &'static str,
    /// Every user may make it: the variable names none.
    is_anybodys: bool,
}

/// Returns the socket for producers, given the value of [`PRODUCER_VARIABLE`].
pub fn producer(variable: Option<OsString>) -> Place {
    let places = ["/run/perfetto/traced-producer.sock", "/tmp/perfetto-producer"];
    Place::choose(variable, PRODUCER_VARIABLE, places)
}

/// Returns the socket for consumers, given the value of [`CONSUMER_VARIABLE`].
pub fn consumer(variable: Option<OsString>) -> Place {
    let places = ["/run/perfetto/traced-consumer.sock", "/tmp/perfetto-consumer"];
    Place::choose(variable, CONSUMER_VARIABLE, places)
}

impl Place {
    fn choose(value: Option<OsString>, variable: &'static str, [run, tmp]: [&str; 2]) -> Self {
        if let Some(path) = value.filter(|path| !path.is_empty()) {
            return Self { path: path.into(), variable, is_anybodys: false };
        }
        let is_anybodys = !Path::new(run).exists();
        let path = if is_anybodys { tmp } else { run }.into();
        Self { path, variable, is_anybodys }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Connects `stream`, which is of [`protolog_files::unconnected`], within `timeout`, if the
    /// service may be trusted.
    pub fn connect(&self, stream: &UnixStream, timeout: Duration) -> Result<(), Error> {
        let failed = |error| Error::Connect { socket: self.path.clone(), error };
        protolog_files::connect(stream, &self.path, timeout).map_err(failed)?;
        if self.is_anybodys {
            let peer = Peer::of(stream).map_err(failed)?;
            if !peer.is_trusted() {
                let (socket, variable) = (self.path.clone(), self.variable);
                return Err(Error::OtherUser { socket, user: peer.user, variable });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins_and_is_trusted() {
        let named = producer(Some("/tmp/perfetto-producer".into()));
        assert_eq!((named.path(), named.is_anybodys), ("/tmp/perfetto-producer".as_ref(), false));
        let other = producer(Some("".into()));
        assert_eq!(other, producer(None));
        assert!(!other.path().as_os_str().is_empty() && consumer(None).path().is_absolute());
        assert_eq!(other.is_anybodys, other.path().starts_with("/tmp"));
    }
}
