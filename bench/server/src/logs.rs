//! The ways to log: without, always on as the guide has it, into a file, and `tracing` into a file.

use crate::server::{Log, Nothing, serve as serve_with};
use protolog_rt::{Level, ProtoLogGroup, Session, Triggers, d, e, i};
use std::path::Path;

#[derive(ProtoLogGroup)]
enum ServerLog {
    Web,
    Shop,
    Access,
}

/// Serves with the log of this name, in a directory.
pub(crate) fn serve(log: &str, directory: &Path) {
    match log {
        "none" => serve_with(&Nothing),
        // Messages of all levels in memory, a file at errors, a part of the access log, few errors
        // of a flood.
        "always-on" => {
            let triggers = Triggers::to(directory.join("event.pftrace")).on_level(Level::Error);
            let builder = Session::builder().enable_all().buffer_size(64 << 20).triggers(triggers);
            let builder =
                builder.sample("Access", "1/100").limit("Shop and error", "10/s burst 100");
            record(builder);
        }
        "file" => record(Session::builder().enable_all().file(directory.join("server.pftrace"))),
        "tracing" | "tracing-info" => {
            let level = if log == "tracing" { tracing::Level::DEBUG } else { tracing::Level::INFO };
            let file = tracing_appender::rolling::never(directory, "server.log");
            let (writer, guard) = tracing_appender::non_blocking(file);
            tracing_subscriber::fmt()
                .with_writer(writer)
                .with_ansi(false)
                .with_max_level(level)
                .init();
            serve_with(&Tracing);
            drop(guard);
        }
        other => panic!("no log `{other}`"),
    }
}

fn record(builder: protolog_rt::Builder) {
    let session = builder.start().expect("start a session");
    serve_with(&ProtoLog);
    session.stop().expect("stop it");
}

struct ProtoLog;

impl Log for ProtoLog {
    fn begin(&self, order: u64, path: &str) {
        d!(ServerLog::Web, "order %d: GET %s", order, path);
    }

    fn item(&self, order: u64, item: u64, price: u64) {
        d!(ServerLog::Shop, "order %d: item %d costs %d", order, item, price);
    }

    fn total(&self, order: u64, total: u64) {
        d!(ServerLog::Shop, "order %d: %d in all", order, total);
    }

    fn failed(&self, order: u64, host: &str) {
        e!(ServerLog::Shop, "order %d: no answer from %s", order, host);
    }

    fn access(&self, path: &str, status: u16, bytes: u64, micros: u64) {
        i!(ServerLog::Access, "%s %d, %d bytes in %d us", path, status, bytes, micros);
    }
}

struct Tracing;

impl Log for Tracing {
    fn begin(&self, order: u64, path: &str) {
        tracing::debug!("order {order}: GET {path}");
    }

    fn item(&self, order: u64, item: u64, price: u64) {
        tracing::debug!("order {order}: item {item} costs {price}");
    }

    fn total(&self, order: u64, total: u64) {
        tracing::debug!("order {order}: {total} in all");
    }

    fn failed(&self, order: u64, host: &str) {
        tracing::error!("order {order}: no answer from {host}");
    }

    fn access(&self, path: &str, status: u16, bytes: u64, micros: u64) {
        tracing::info!("{path} {status}, {bytes} bytes in {micros} us");
    }
}
