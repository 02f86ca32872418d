//! The page that follows a log, for a browser of this user.
//!
//! Invariant: each request for data reads the trace again, unless its files are as they were.

use super::http::{Asked, HttpServer, PageReply, Shell};
use super::page;
use super::switching;
use crate::exit::Failure;
use crate::system::System;
use hyper::{Method, StatusCode};

/// Makes the data, and says when they would be others.
pub(super) trait DataSource {
    /// Changes whenever the data may have changed.
    fn version(&self) -> String;
    /// The deflated columns.
    fn data(&self) -> Result<Vec<u8>, Failure>;
}

/// The newest data.
pub(super) struct Known {
    version: String,
    reply: PageReply,
    /// The reason why there are none that are newer.
    complaint: String,
}

impl Known {
    /// Data, of a version that was asked for before they were read: later additions are noticed.
    pub(super) fn new(version: String, data: Vec<u8>) -> Self {
        let reply = PageReply::new(data, "application/octet-stream");
        let reply = reply.with_tag(format!("\"{version}\""));
        Self { version, reply, complaint: String::new() }
    }

    /// Answers requests, for ever; those to switch programs, if they may be.
    pub(super) fn serve(
        mut self,
        server: &HttpServer,
        source: &dyn DataSource,
        can_switch: bool,
        system: &dyn System,
    ) {
        for job in server.jobs() {
            let switched = switching::reply_to(&job.asked, can_switch && job.asked.is_direct);
            let reply = switched.unwrap_or_else(|| self.reply_to(&job.asked, source, system));
            job.answer(reply);
        }
    }

    fn reply_to(
        &mut self,
        asked: &Asked,
        source: &dyn DataSource,
        system: &dyn System,
    ) -> PageReply {
        if (&asked.method, &*asked.path) != (&Method::GET, "/data") {
            return PageReply::status(StatusCode::NOT_FOUND);
        }
        let version = source.version();
        if version != self.version {
            match source.data() {
                Ok(data) => *self = Self::new(version, data),
                Err(failure) => {
                    self.complain(&failure, system);
                    return PageReply::status(StatusCode::INTERNAL_SERVER_ERROR);
                }
            }
        }
        let tag = format!("\"{}\"", self.version);
        if asked.tag == tag { PageReply::not_modified(&tag) } else { self.reply.clone() }
    }

    /// Prints a failure, once: the page asks each second.
    fn complain(&mut self, failure: &Failure, system: &dyn System) {
        let complaint = format!("{failure}\n");
        if complaint != self.complaint {
            system.print_error(&complaint);
            self.complaint = complaint;
        }
    }
}

/// The page, without a log.
pub(super) fn shell() -> Shell {
    // Nobody who opened the page, or was opened by it, has it in hand.
    Shell { page: page::page(None), policy: page::served_policy(), opener: "same-origin" }
}
