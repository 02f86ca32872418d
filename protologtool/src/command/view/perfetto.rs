//! `view --perfetto`: the trace in the Perfetto UI, in another window of the browser.
//!
//! A page over loopback opens the UI, asks it by `postMessage` until it answers that it listens, and hands the trace over: the way of
//! Perfetto's own scripts, which needs no port that the UI's policy admits, and no server but this one. The UI gets what `merge --perfetto-ui`
//! writes, since it shows messages nowhere by itself.
//!
//! Invariants: the trace goes to the origin of the UI's address alone, and stays within the browser; the page and the trace are given to
//! who knows the token alone, as those of the log's own page.

mod page;

use super::ViewArgs;
use super::loopback::{Loopback, answer, header, status};
use crate::command::{merge, read_log};
use crate::exit::{Exit, Failure};
use crate::system::System;
use protolog_reader::for_perfetto_ui;
use std::io::Cursor;
use std::path::PathBuf;
use tiny_http::{Method, Request, Response};

/// The address of Perfetto's own UI.
pub(super) const UI: &str = "https://ui.perfetto.dev";

/// Serves the page until the UI has the trace.
pub(super) fn run(args: &ViewArgs, ui: &str, system: &dyn System) -> Result<Exit, Failure> {
    let traces = read_log::expand(&args.traces, system)?;
    let (trace, exit) = made_for_ui(args, &traces, system)?;
    let names: Vec<_> = traces
        .iter()
        .map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy())
        .collect();
    let handover = Handover { page: page::page(ui, &names.join(", ")), trace };
    let loopback = Loopback::start(args.port)?;
    args.show(&loopback.url(), system);
    for request in loopback.requests() {
        let (response, is_done) = handover.response(&loopback, &request);
        // A client that has gone away needs no answer.
        let _ = request.respond(response);
        if is_done {
            break;
        }
    }
    Ok(exit)
}

/// Checks the address of a UI.
pub(super) fn address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_plain =
        |rest: &&str| !rest.is_empty() && rest.chars().all(|char| char.is_ascii_graphic());
    match rest.filter(is_plain) {
        Some(_) => Ok(text.to_owned()),
        None => Err("give an address that begins with `https://` or `http://`".to_owned()),
    }
}

/// The trace of all that are given, with what the UI shows of it.
fn made_for_ui(
    args: &ViewArgs,
    traces: &[PathBuf],
    system: &dyn System,
) -> Result<(Vec<u8>, Exit), Failure> {
    let (trace, merged) = read_log::gather_whole(traces, system, &|line| system.print_error(line))?;
    let (trace, added) = for_perfetto_ui(trace, &args.counter).map_err(|error| {
        Failure::new(format!("can't read the traces: {error}")).help(error.help())
    })?;
    merge::report_added(&added, &args.counter, system);
    Ok((trace, if merged.is_whole() { Exit::Done } else { Exit::Incomplete }))
}

/// The trace to hand over, and the page that does so.
struct Handover {
    page: String,
    trace: Vec<u8>,
}

impl Handover {
    /// The response to a request, and whether the UI has the trace.
    fn response(
        &self,
        loopback: &Loopback,
        request: &Request,
    ) -> (Response<Cursor<Vec<u8>>>, bool) {
        let path = match loopback.path(request) {
            Ok(path) => path,
            Err(code) => return (status(code), false),
        };
        match (request.method(), path) {
            (Method::Get, "/") => {
                let page = answer(self.page.clone().into_bytes(), "text/html; charset=utf-8");
                (page.with_header(header("Content-Security-Policy", &page::policy())), false)
            }
            (Method::Get, "/trace") => {
                (answer(self.trace.clone(), "application/octet-stream"), false)
            }
            (Method::Post, "/done") => (status(204), true),
            _ => (status(404), false),
        }
    }
}
