//! The server: orders of some items, each with a price, from a stock that fails now and then.
//!
//! A request logs eleven messages, ten of DEBUG and one of INFO, and one of ERROR where the stock
//! does not answer. That is one order of 1,000, and all of some thousand in a row, once.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::ops::Range;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;
use tokio::net::TcpListener;

/// Items of an order.
const ITEMS: u64 = 8;

/// Orders of which one fails.
const FAILS: u64 = 1000;

/// Orders that all fail: a flood of errors.
const OUTAGE: Range<u64> = 20_000..23_000;

/// Requests until all is warm, which are not measured.
const WARM: u64 = 2000;

/// A way to log what the server does.
pub(crate) trait Log: Send + Sync + 'static {
    fn begin(&self, order: u64, path: &str);
    fn item(&self, order: u64, item: u64, price: u64);
    fn total(&self, order: u64, total: u64);
    fn failed(&self, order: u64, host: &str);
    fn access(&self, path: &str, status: u16, bytes: u64, micros: u64);
}

/// Without a log.
pub(crate) struct Nothing;

impl Log for Nothing {
    fn begin(&self, _: u64, _: &str) {}
    fn item(&self, _: u64, _: u64, _: u64) {}
    fn total(&self, _: u64, _: u64) {}
    fn failed(&self, _: u64, _: &str) {}
    fn access(&self, _: &str, _: u16, _: u64, _: u64) {}
}

static REQUESTS: AtomicU64 = AtomicU64::new(0);
static CPU_WHEN_WARM: AtomicI64 = AtomicI64::new(0);

/// Serves until standard input ends.
pub(crate) fn serve(log: &'static impl Log) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_io()
        .build()
        .expect("a runtime");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
    println!("{}", listener.local_addr().expect("an address"));
    std::io::stdout().flush().expect("somebody reads");
    let service = move || async move {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            stream.set_nodelay(true).expect("a socket of TCP");
            let answer =
                service_fn(
                    move |request| async move { Ok::<_, Infallible>(answer(log, &request)) },
                );
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
            tokio::spawn(connection);
        }
    };
    thread::spawn(move || runtime.block_on(service()));
    std::io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
    let cpu = harness::cpu() - CPU_WHEN_WARM.load(Ordering::Relaxed);
    let requests = REQUESTS.load(Ordering::Relaxed).saturating_sub(WARM);
    println!("{cpu} {requests}");
}

fn answer(log: &impl Log, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    if REQUESTS.fetch_add(1, Ordering::Relaxed) + 1 == WARM {
        CPU_WHEN_WARM.store(harness::cpu(), Ordering::Relaxed);
    }
    let begun = Instant::now();
    let path = request.uri().path();
    let order = path.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    log.begin(order, path);
    let mut body = String::with_capacity(1024);
    let mut total = 0;
    for item in 0..ITEMS {
        let price = price(order, item);
        log.item(order, item, price);
        let _ = writeln!(body, "{{\"order\":{order},\"item\":{item},\"price\":{price}}}");
        total += price;
    }
    log.total(order, total);
    let fails = order % FAILS == FAILS - 1 || OUTAGE.contains(&order);
    let status = if fails { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    if fails {
        log.failed(order, "stock-1.example.org");
    }
    let micros = begun.elapsed().as_micros() as u64;
    log.access(path, status.as_u16(), body.len() as u64, micros);
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response
}

/// Some work: a price that takes about a microsecond to find.
fn price(order: u64, item: u64) -> u64 {
    let mut hash = order ^ 0xcbf2_9ce4_8422_2325;
    for round in 0..1000 {
        hash = (hash ^ item ^ round).wrapping_mul(0x0100_0000_01b3);
    }
    hash % 10_000
}
