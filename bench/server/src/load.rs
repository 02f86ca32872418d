//! Clients: connections that send one request after the other, and measure each.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// Sends so many requests over so many connections, and prints what was measured.
pub(crate) fn run(address: &str, connections: usize, requests: u64) {
    let next = AtomicU64::new(0);
    let begun = Instant::now();
    let mut times: Vec<u64> = thread::scope(|scope| {
        let clients: Vec<_> =
            (0..connections).map(|_| scope.spawn(|| client(address, &next, requests))).collect();
        clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect()
    });
    let seconds = begun.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    let rate = requests as f64 / seconds;
    println!("{rate:.0} {} {} {}", at(0.5), at(0.99), at(0.999));
}

fn client(address: &str, next: &AtomicU64, requests: u64) -> Vec<u64> {
    let stream = TcpStream::connect(address).expect("connect");
    stream.set_nodelay(true).expect("a socket of TCP");
    let mut input = BufReader::new(stream.try_clone().expect("a socket"));
    let mut output = stream;
    let (mut times, mut line, mut body) = (Vec::new(), String::new(), Vec::new());
    loop {
        let order = next.fetch_add(1, Ordering::Relaxed);
        if order >= requests {
            return times;
        }
        let request = format!("GET /orders/{order} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let begun = Instant::now();
        output.write_all(request.as_bytes()).expect("the server reads");
        let mut length = 0;
        loop {
            line.clear();
            input.read_line(&mut line).expect("a line of the answer");
            let lower = line.trim_end().to_ascii_lowercase();
            if lower.is_empty() {
                break;
            }
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        body.resize(length, 0);
        input.read_exact(&mut body).expect("the body");
        times.push(begun.elapsed().as_nanos() as u64);
    }
}
