//! Pages over loopback, for a browser of this machine and its user.
//!
//! Invariants: it listens on 127.0.0.1 alone; who does not know the token in the address gets nothing, and neither does who asks under
//! another host's name (a page of the network that has its name resolved to this machine).

use crate::exit::Failure;
use crate::output::reason;
use std::io::{self, Cursor};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;
use tiny_http::{Header, Request, Response, Server};

/// A port of this machine with a secret in its address.
pub(super) struct Loopback {
    server: Server,
    port: u16,
    token: String,
}

impl Loopback {
    /// Listens on `port` of loopback; 0 for any that is free.
    pub(super) fn start(port: u16) -> Result<Self, Failure> {
        let server = Server::http(("127.0.0.1", port)).map_err(|error| {
            let text = error.downcast_ref().map_or_else(|| error.to_string(), reason);
            Failure::new(format!("can't listen on port {port} of 127.0.0.1: {text}"))
                .help("choose another `--port`, or none for any that is free")
        })?;
        let mut token = [0; 16];
        getrandom::fill(&mut token)
            .map_err(|error| Failure::new(format!("no random numbers: {error}")))?;
        let token = format!("{:032x}", u128::from_le_bytes(token));
        let port = server.server_addr().to_ip().map_or(port, |address| address.port());
        thread::spawn(move || knock(port));
        Ok(Self { server, port, token })
    }

    /// The address to open.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// The requests, as they come.
    pub(super) fn requests(&self) -> impl Iterator<Item = Request> {
        self.server.incoming_requests()
    }

    /// The path of a request behind the token; the status of the refusal if it is meant for another host, or does not know the token.
    pub(super) fn path<'a>(&self, request: &'a Request) -> Result<&'a str, u16> {
        let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !value(request, "Host").is_some_and(|host| own.iter().any(|own| own == host)) {
            return Err(403);
        }
        let path = request.url().strip_prefix('/').and_then(|url| url.strip_prefix(&*self.token));
        path.ok_or(404)
    }
}

/// Connects again and again, as long as somebody listens.
///
/// The server takes a thread for idle that is about to serve another connection, and lets one of several that come at the same time
/// wait until there is a thread without work. Browsers keep their connections open, so that would be never. A connection that comes
/// later brings a thread of its own, which serves the one that waits when it is done.
fn knock(port: u16) {
    const INTERVAL: Duration = Duration::from_millis(100);
    while TcpStream::connect(("127.0.0.1", port)).is_ok() {
        thread::sleep(INTERVAL);
    }
}

/// The value of a header.
pub(super) fn value<'a>(request: &'a Request, name: &'static str) -> Option<&'a str> {
    let header = request.headers().iter().find(|header| header.field.equiv(name))?;
    Some(header.value.as_str())
}

pub(super) fn answer(bytes: Vec<u8>, kind: &str) -> Response<Cursor<Vec<u8>>> {
    let headers = [
        ("Content-Type", kind),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ];
    headers.into_iter().fold(Response::from_data(bytes), |response, (name, value)| {
        response.with_header(header(name, value))
    })
}

pub(super) fn status(code: u16) -> Response<Cursor<Vec<u8>>> {
    Response::from_data(Vec::new()).with_status_code(code)
}

pub(super) fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("our names and values are ASCII")
}

/// Opens an address in the user's browser. Returns an error if there is no program that does so.
pub(super) fn open_browser(url: &str) -> io::Result<()> {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(program);
    let null = std::process::Stdio::null;
    let mut child = command.arg(url).stdin(null()).stdout(null()).stderr(null()).spawn()?;
    // It may run as long as the browser does.
    thread::spawn(move || child.wait());
    Ok(())
}
