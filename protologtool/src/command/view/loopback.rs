//! An address of this machine's own to serve at.
//!
//! Invariants:
//! - It is an address that only this machine reaches.
//! - Where nobody needs to know port or address beforehand, the address is a random one of those
//!   that lead to this machine (127.0.0.0/8). To a browser another address is another origin, and
//!   nothing that was ever served at one has a say at the other: no cookie, no storage, no service
//!   worker.

use super::admission::random_bytes;
use crate::exit::Failure;
use crate::output::reason;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

/// The address that everybody knows.
const USUAL: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Tries to find a random address, of which one may be in use.
const TRIES: usize = 8;

/// Where to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListenAt {
    /// On 127.0.0.1, at this port, or at any that is free if it is 0.
    Usual(u16),
    /// On a random address of this machine, where it has more than one.
    Anywhere,
}

/// Listens on loopback.
pub(super) fn listen(place: ListenAt) -> Result<(TcpListener, SocketAddr), Failure> {
    let (port, random) = match place {
        ListenAt::Usual(port) => (port, None),
        ListenAt::Anywhere => (0, random()?),
    };
    let listener = match random {
        Some(listener) => Ok(listener),
        None => TcpListener::bind((USUAL, port)),
    };
    let listening = listener.and_then(|it| it.local_addr().map(|address| (it, address)));
    listening.map_err(|error| cant_listen(port, &error))
}

fn cant_listen(port: u16, error: &io::Error) -> Failure {
    let text = reason(error);
    Failure::new(format!("can't listen on port {port} of {USUAL}: {text}"))
        .help("choose another `--port`, or none for any that is free")
}

/// Listens on a random address; none where this machine has the usual one alone (macOS).
fn random() -> Result<Option<TcpListener>, Failure> {
    for _ in 0..TRIES {
        let mut random = [0; 3];
        random_bytes(&mut random)?;
        let [first, second, third] = random;
        // Neither those of 127.0.0.0/16, which name servers and the like use, nor a broadcast
        // address.
        let address = Ipv4Addr::new(127, first.clamp(1, 254), second, third.clamp(1, 254));
        if let Ok(listener) = TcpListener::bind((address, 0)) {
            return Ok(Some(listener));
        }
    }
    Ok(None)
}

/// Returns whether nobody could have foreseen an address, and had the browser keep something of
/// theirs for it: it is a random one.
pub(super) fn is_unguessed(address: SocketAddr) -> bool {
    address.ip() != USUAL
}

/// Returns whether a host, with or without a port, is this machine by an address or by the name
/// `localhost`.
pub(super) fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => {
            let is_own = address.parse::<Ipv6Addr>().is_ok_and(|it| it.is_loopback());
            (is_own, port)
        }
        None => {
            let end = host.find(':').unwrap_or(host.len());
            let is_own = host[..end].parse::<Ipv4Addr>().is_ok_and(|it| it.is_loopback());
            (is_own || host[..end].eq_ignore_ascii_case("localhost"), &host[end..])
        }
    };
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    name && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_of_this_machine() {
        for own in
            ["127.0.0.1", "127.0.0.1:80", "localhost:8080", "LOCALHOST", "127.9.8.7:1", "[::1]:80"]
        {
            assert!(is_loopback(own), "{own}");
        }
        for other in [
            "",
            ":80",
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "127.0.0.1:",
            "127.0.0.1:x",
            "127.0.0.1:80:80",
            "localhost.evil.example",
            "x.localhost",
            "0.0.0.0:80",
            "[::]:80",
            "[::1]x",
            "[::1",
            "127.1",
            "0x7f000001",
            "2130706433",
            "10.0.0.1:80",
            "127.0.0.1@evil.example",
            "evil.example@127.0.0.1",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }

    #[test]
    fn an_address_is_random_and_this_machines_own() {
        let (_usual, usual) = listen(ListenAt::Usual(0)).unwrap();
        assert_eq!(usual.ip(), USUAL);
        let (one, first) = listen(ListenAt::Anywhere).unwrap();
        let (_two, second) = listen(ListenAt::Anywhere).unwrap();
        assert!(first.ip().is_loopback() && second.ip().is_loopback());
        if cfg!(target_os = "linux") {
            assert_ne!(first.ip(), second.ip());
            assert!(is_unguessed(first) && is_unguessed(second));
        }
        // As on a machine that has this one alone.
        assert!(!is_unguessed(usual));
        drop(one);
        let (_taken, taken) = listen(ListenAt::Usual(0)).unwrap();
        let error = listen(ListenAt::Usual(taken.port())).unwrap_err().to_string();
        assert!(error.contains("in use") && error.contains("choose another `--port`"), "{error}");
    }
}
