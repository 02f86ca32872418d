//! The page over loopback, for a browser of this machine and its user.
//!
//! Invariant: each request for data reads the trace again, unless its files are as they were.

use super::loopback::{Loopback, answer, header, status, value};
use super::page;
use crate::exit::Failure;
use crate::system::System;
use std::io::Cursor;
use tiny_http::{Method, Request, Response};

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
    loopback: Loopback,
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
        Ok(Self { loopback: Loopback::start(port)? })
    }

    /// The address to open.
    pub(super) fn url(&self) -> String {
        self.loopback.url()
    }

    /// Answers requests, for ever.
    pub(super) fn run(&self, source: &dyn DataSource, first: Vec<u8>, system: &dyn System) {
        let mut known = Known { version: source.version(), data: first, complaint: String::new() };
        for request in self.loopback.requests() {
            let response = self.response(&request, source, &mut known, system);
            // A client that has gone away needs no answer.
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
        if *request.method() != Method::Get {
            return status(403);
        }
        let path = match self.loopback.path(request) {
            Ok(path) => path,
            Err(code) => return status(code),
        };
        match path {
            "/" => answer(page::page(None).into_bytes(), "text/html; charset=utf-8")
                .with_header(header("Content-Security-Policy", &page::served_policy())),
            "/data" => {
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
}
