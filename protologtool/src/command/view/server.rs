//! The page over loopback, for a browser of this machine and its user.
//!
//! Invariants: it listens on 127.0.0.1 alone; who does not know the token in the address gets nothing, and neither does who asks under
//! another host's name (a page of the network that has its name resolved to this machine). Each request for data reads the trace
//! again, unless its files are as they were.

use super::page;
use crate::exit::Failure;
use crate::output::reason;
use crate::system::System;
use std::io::{self, Cursor};
use tiny_http::{Header, Method, Request, Response, Server};

/// The newest data.
struct Known {
    version: String,
    data: Vec<u8>,
    /// The reason why there are none that are newer.
    complaint: String,
}

impl Known {
    /// Prints a failure, once: the page asks each second.
    fn complain(&mut self, failure: &Failure, system: &dyn System) {
        let complaint = format!("{failure}\n");
        if complaint != self.complaint {
            system.print_error(&complaint);
            self.complaint = complaint;
        }
    }
}

/// A page to be served.
pub(super) struct PageServer {
    server: Server,
    port: u16,
    token: String,
}

/// Makes the data, and says when they would be others.
pub(super) trait DataSource {
    /// Changes whenever the data may have changed.
    fn version(&self) -> String;
    /// The deflated columns.
    fn data(&self) -> Result<Vec<u8>, Failure>;
}

impl PageServer {
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
        Ok(Self { server, port, token })
    }

    /// The address to open.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Answers requests, for ever.
    pub(super) fn run(&self, source: &dyn DataSource, first: Vec<u8>, system: &dyn System) {
        let mut known = Known { version: source.version(), data: first, complaint: String::new() };
        for request in self.server.incoming_requests() {
            let response = self.response(&request, source, &mut known, system);
            // Who has gone away needs no answer.
            let _ = request.respond(response);
        }
    }

    fn response(
        &self,
        request: &Request,
        source: &dyn DataSource,
        known: &mut Known,
        system: &dyn System,
    ) -> Response<Cursor<Vec<u8>>> {
        let path = request.url().strip_prefix('/').and_then(|url| url.strip_prefix(&*self.token));
        if !self.is_own_host(request) || *request.method() != Method::Get {
            return status(403);
        }
        match path {
            Some("/") => answer(page::page(None).into_bytes(), "text/html; charset=utf-8")
                .with_header(header("Content-Security-Policy", &page::served_policy())),
            Some("/data") => {
                let version = source.version();
                if version != known.version {
                    match source.data() {
                        Ok(data) => *known = Known { version, data, complaint: String::new() },
                        Err(failure) => {
                            known.complain(&failure, system);
                            return status(500);
                        }
                    }
                }
                let tag = format!("\"{}\"", known.version);
                if value(request, "If-None-Match") == Some(&tag) {
                    return status(304);
                }
                answer(known.data.clone(), "application/octet-stream")
                    .with_header(header("ETag", &tag))
            }
            _ => status(404),
        }
    }

    /// Returns whether the request names this server as its host.
    fn is_own_host(&self, request: &Request) -> bool {
        let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        value(request, "Host").is_some_and(|host| own.iter().any(|own| own == host))
    }
}

/// The value of a header.
fn value<'a>(request: &'a Request, name: &'static str) -> Option<&'a str> {
    let header = request.headers().iter().find(|header| header.field.equiv(name))?;
    Some(header.value.as_str())
}

fn answer(bytes: Vec<u8>, kind: &str) -> Response<Cursor<Vec<u8>>> {
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

fn status(code: u16) -> Response<Cursor<Vec<u8>>> {
    Response::from_data(Vec::new()).with_status_code(code)
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("our names and values are ASCII")
}

/// Opens an address in the user's browser. Returns an error if there is no program that does so.
pub(super) fn open_browser(url: &str) -> io::Result<()> {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(program);
    let null = std::process::Stdio::null;
    let mut child = command.arg(url).stdin(null()).stdout(null()).stderr(null()).spawn()?;
    // It may run as long as the browser does.
    std::thread::spawn(move || child.wait());
    Ok(())
}
