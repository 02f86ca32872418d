//! Logs to an OpenTelemetry collector: OTLP over HTTP, as protobuf.
//!
//! ```text
//! options    the command line, the environment
//! watch      files and directories                      →  traces
//! source     a trace, as far as it is written           →  logs, part by part
//! ring       a recording that a process writes          →  logs, part by part
//! records    items                                      →  log records
//! metrics    items                                      →  counts, as a file
//! output     records                                    →  batches, with places in traces
//! sender     batches, by a thread of its own            →  requests, again if need be
//! client     a request                                  →  the collector, and its answer
//! state      the places whose records were accepted     →  a file
//! ```
//!
//! Invariants: a message is sent at least once, and once where nothing fails; what is sent twice
//! has the same `log.record.uid`; nothing is noted as sent before the collector accepted it; the
//! program that logs is never waited for, nor does it wait.

mod batch;
mod client;
mod encode;
mod endpoint;
mod headers;
mod metrics;
mod options;
mod output;
mod reading;
mod records;
mod ring;
mod sender;
mod source;
mod state;
mod watch;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use self::client::Client;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use self::metrics::Metrics;
pub(crate) use self::options::OtlpOptions;
use self::output::{Output, Stop};
use self::reading::Reading;
use self::sender::{Sender, SenderThread, Totals};
use self::state::State;
use self::watch::Watch;
use crate::args::End;
use crate::failure::{Failure, Result};
use crate::traces;

/// The time between two looks at traces that are followed.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The time after which the traces that are there are noted again.
const RENEWAL: Duration = Duration::from_secs(86_400);

/// The longest time that records wait for others while there is always more to read.
const LONGEST_BATCH: Duration = Duration::from_secs(1);

/// Sends the logs of traces; with `follow` until the process is told to end: then what there is by
/// then is sent, too.
pub(crate) fn run(options: OtlpOptions) -> Result<End> {
    allow_many_files();
    let reading = Reading {
        dictionaries: traces::dictionaries(&options.dictionaries)?,
        labels: Arc::new(options.labels),
        follow: options.follow,
    };
    let state = State::load(options.state.as_deref())?;
    let sent = state.sent().clone();
    let client = Client::new(options.headers, options.timeout, options.authorities.as_deref())?;
    let stop = Arc::new(AtomicBool::new(false));
    if options.follow {
        stop_on_signals(&stop)?;
    }
    let sender = Sender {
        client,
        endpoint: options.endpoint,
        patience: options.patience,
        state,
        totals: Totals::default(),
        stop: stop.clone(),
        is_stopping: false,
        refused_in_a_row: 0,
    };
    let mut output = Output::new(SenderThread::start(sender), sent.iter());
    output.metrics = options.metrics.map(|path| Metrics::new(path, options.histograms));
    let mut watch = Watch::new(options.traces, reading);
    let read = read_all(&mut watch, &mut output, options.follow, &stop);
    // What was read is sent, even if something can't be.
    let totals = output.finish()?;
    if let Err(Stop::Trace(failure)) = read {
        return Err(failure);
    }
    let noun = if totals.accepted == 1 { "record" } else { "records" };
    writeln!(io::stdout(), "{} {noun} sent", totals.accepted)
        .map_err(|error| Failure::new(format!("can't write to standard output: {error}")))?;
    let is_whole = watch.is_complete && totals.refused == 0;
    Ok(if is_whole { End::Done } else { End::Incomplete })
}

fn read_all(
    watch: &mut Watch,
    output: &mut Output,
    follow: bool,
    stop: &AtomicBool,
) -> std::result::Result<(), Stop> {
    let (mut flushed, mut renewed) = (Instant::now(), Instant::now());
    loop {
        let is_last = !follow || stop.load(Ordering::Relaxed);
        if is_last {
            watch.end();
        }
        // Programs may log faster than this sends, so it may never be idle.
        while watch.look(output)? && (is_last || !stop.load(Ordering::Relaxed)) {
            if flushed.elapsed() >= LONGEST_BATCH {
                flushed = Instant::now();
                output.flush();
            }
            if let Some(metrics) = &mut output.metrics {
                metrics.write_if_due()?;
            }
        }
        if is_last && follow {
            watch.complete(output)?;
        }
        if renewed.elapsed() >= RENEWAL {
            renewed = Instant::now();
            watch.renew(output)?;
        }
        output.flush();
        if output.is_gone() {
            return Err(Stop::Sender);
        }
        if let Some(metrics) = &mut output.metrics {
            if is_last { metrics.write()? } else { metrics.write_if_due()? }
        }
        if is_last {
            return Ok(());
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Allows as many open files as the system lets this process have: each trace that may grow is one,
/// and a shell allows 1,024.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // Without it, there are fewer.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Sets `stop` when the process is told to end; the second time ends it at once.
fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<()> {
    for signal in [SIGTERM, SIGINT] {
        let registered = flag::register_conditional_shutdown(signal, 2, stop.clone())
            .and_then(|_| flag::register(signal, stop.clone()));
        registered.map_err(|error| Failure::new(format!("can't listen to signals: {error}")))?;
    }
    Ok(())
}
