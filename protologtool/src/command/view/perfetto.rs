//! `view --perfetto`: the trace in the Perfetto UI, in another window of the browser.
//!
//! A page over loopback opens the UI, asks it by `postMessage` until it answers that it listens,
//! and hands the trace over. Perfetto's own scripts do the same; this needs no port that the UI's
//! policy admits, and no server but this one. The UI gets the trace that `merge --perfetto-ui`
//! writes, since it shows messages nowhere by itself.
//!
//! The page is served at 127.0.0.1: the UI takes traces of pages there, and of other addresses only
//! after a question.
//!
//! Invariants: the trace goes to the origin of the UI's address alone, and stays within the
//! browser; the trace and its name are given to the browser that was let in alone, as the log to
//! its own page.

mod page;

use super::ViewArgs;
use super::http::{Asked, HttpServer, PageReply, Shell};
use super::loopback::{self, ListenAt};
use crate::command::merge;
use crate::exit::{Exit, Failure};
use crate::logs::merged_traces::gather_whole;
use crate::logs::trace_paths::expand;
use crate::system::System;
use hyper::{Method, StatusCode};
use protolog_reader::for_perfetto_ui;
use serde_json::json;
use std::path::PathBuf;

/// The address of Perfetto's own UI.
pub(super) const UI: &str = "https://ui.perfetto.dev";

/// Serves the page until the UI has the trace.
pub(super) fn run(args: &ViewArgs, ui: &str, system: &dyn System) -> Result<Exit, Failure> {
    let traces = expand(&args.traces, system)?;
    let (trace, exit) = made_for_ui(args, &traces, system)?;
    let names: Vec<_> = traces
        .iter()
        .map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy())
        .collect();
    let about = json!({"ui": ui, "title": names.join(", ")}).to_string();
    let handover = Handover {
        about: PageReply::new(about, "application/json"),
        trace: PageReply::new(trace, "application/octet-stream"),
    };
    // The page needs the window that it opens.
    let shell = Shell { page: page::page(), policy: page::policy(), opener: "unsafe-none" };
    let listening = loopback::listen(args.place(ListenAt::Usual(0)))?;
    args.serve(listening, shell, system, |server| handover.serve(server))?;
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

/// The trace of all that are given, with the packets that the UI shows.
fn made_for_ui(
    args: &ViewArgs,
    traces: &[PathBuf],
    system: &dyn System,
) -> Result<(Vec<u8>, Exit), Failure> {
    let (trace, merged) = gather_whole((traces, &args.traces), args.expansion, system, &|line| {
        system.print_error(line);
    })?;
    let expansion = args.expansion;
    let trace = merge::with_texts(trace, &args.viewer_config, expansion, system)?;
    let added = for_perfetto_ui(trace, &args.counter, expansion.max_expansion);
    let (trace, added) = added.map_err(|error| {
        Failure::new(format!("can't read the traces: {error}")).help(error.help())
    })?;
    merge::report_added(&added, (&args.counter, expansion), system);
    Ok((
        trace,
        if merged.is_whole() && added.cut_texts == 0 { Exit::Done } else { Exit::Incomplete },
    ))
}

/// The trace to hand over, and its name with the address of the UI.
struct Handover {
    about: PageReply,
    trace: PageReply,
}

impl Handover {
    /// Answers requests until the UI has the trace.
    fn serve(&self, server: &HttpServer) {
        for job in server.jobs() {
            let reply = self.reply_to(&job.asked);
            let is_done = reply.is_last();
            job.answer(reply);
            if is_done {
                break;
            }
        }
    }

    fn reply_to(&self, asked: &Asked) -> PageReply {
        match (&asked.method, &*asked.path) {
            (&Method::GET, "/about") => self.about.clone(),
            (&Method::GET, "/trace") => self.trace.clone(),
            (&Method::POST, "/done") => PageReply::status(StatusCode::NO_CONTENT).last(),
            _ => PageReply::status(StatusCode::NOT_FOUND),
        }
    }
}
