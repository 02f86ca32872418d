//! Logs to an OpenTelemetry collector: OTLP over HTTP, as protobuf.
//!
//! ```text
//! options    the command line, the environment
//! watch      files and directories                      →  traces
//! source     a trace, as far as it is written           →  logs, part by part
//! ring       a recording that a process writes          →  logs, part by part
//! records    items                                      →  log records
//! metrics    items                                      →  counts, as a file and data points
//! output     records                                    →  batches, with places in traces
//! sender     batches, by threads of their own           →  parts of requests
//! delivery   parts of a request                         →  requests, again if need be
//! client     a request                                  →  the collector, and its answer
//! state      the places whose records were accepted     →  a file
//! upkeep     files that can't be written now
//! ```
//!
//! Invariants: a message is sent at least once, and once where nothing fails; what is sent twice
//! has the same `log.record.uid`; nothing is noted as sent before the collector accepted it; the
//! program that logs is never waited for, nor does it wait.

mod batch;
mod client;
mod delivery;
mod encode;
mod endpoint;
mod headers;
mod metrics;
mod options;
mod output;
mod reading;
mod records;
mod resource;
mod ring;
mod sender;
mod source;
mod state;
mod trace_ids;
mod upkeep;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use self::client::Client;
use self::delivery::{Delivery, LOGS, METRICS, Signal};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use self::metrics::Metrics;
pub(crate) use self::options::OtlpOptions;
use self::options::Target;
use self::output::{Output, Stop};
use self::reading::Reading;
use self::sender::{Sender, SenderThread};
use self::state::State;
use self::watch::Watch;
use crate::args::End;
use crate::failure::{Failure, Result, print};
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
    let stop = Arc::new(AtomicBool::new(false));
    if options.follow {
        stop_on_signals(&stop)?;
    }
    let reading = Reading {
        dictionaries: traces::dictionaries(&options.dictionaries)?,
        labels: Arc::new(options.labels),
        follow: options.follow,
    };
    let way = Way {
        timeout: options.timeout,
        authorities: options.authorities,
        patience: options.patience,
        stop: stop.clone(),
    };
    let state = State::load(options.state.as_deref(), options.follow)?;
    let sent = state.sent().clone();
    let mut metrics = None;
    if options.metrics_file.is_some() || options.metrics.is_some() {
        let counting = metrics.insert(Metrics::new(options.histograms, options.state.as_deref())?);
        counting.be_patient(options.follow);
        if let Some(file) = options.metrics_file {
            counting.write_to(file);
        }
        if let Some(target) = options.metrics {
            let to = way.to(METRICS, target)?;
            counting.push_to(to, reading.labels.clone(), options.metrics_interval);
        }
    }
    let sender = Sender { delivery: way.to(LOGS, options.logs)?, state };
    let mut output = Output::new(SenderThread::start(sender), sent.iter(), metrics);
    let mut watch = Watch::new(options.traces, reading);
    let read = read_all(&mut watch, &mut output, options.follow, &stop);
    if matches!(read, Err(Stop::Sender)) {
        // What else waits does so no longer.
        stop.store(true, Ordering::Relaxed);
    }
    // What was read is sent, even if something can't be.
    let [records, points] = output.finish()?;
    if let Err(Stop::Trace(failure)) = read {
        return Err(failure);
    }
    let noun = if records.accepted == 1 { "record" } else { "records" };
    print(&format!("{} {noun} sent\n", records.accepted))?;
    let is_whole = watch.is_complete && records.refused == 0 && points.refused == 0;
    Ok(if is_whole { End::Done } else { End::Incomplete })
}

/// The way of requests, whatever they have.
struct Way {
    timeout: Duration,
    authorities: Option<PathBuf>,
    patience: Option<Duration>,
    stop: Arc<AtomicBool>,
}

impl Way {
    fn to(&self, signal: Signal, target: Target) -> Result<Delivery> {
        let client = Client::new(target.headers, self.timeout, self.authorities.as_deref())?;
        Ok(Delivery::new(signal, (client, target.url), self.patience, &self.stop))
    }
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
        let mut has_more = watch.look(output)?;
        while has_more && (is_last || !stop.load(Ordering::Relaxed)) {
            if flushed.elapsed() >= LONGEST_BATCH {
                flushed = Instant::now();
                output.flush();
            }
            publish(output)?;
            has_more = watch.look(output)?;
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
        // Where the end came first, some may not be open yet.
        let is_all_open = !has_more && watch.is_all_there();
        if let Some(metrics) = output.metrics.as_mut().filter(|_| is_all_open) {
            metrics.settle_others();
        }
        if is_last {
            return Ok(());
        }
        publish(output)?;
        thread::sleep(POLL_INTERVAL);
    }
}

fn publish(output: &mut Output) -> std::result::Result<(), Stop> {
    match &mut output.metrics {
        Some(metrics) => Ok(metrics.publish_if_due()?),
        None => Ok(()),
    }
}

/// Allows as many open files as the system lets this process have: each trace that may grow is one,
/// and a shell allows 1,024.
pub(crate) fn allow_many_files() {
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
