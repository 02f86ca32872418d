//! The messages of `protolog-bench mixed` as defmt has them: `write FILE COUNT` writes them with
//! its encoder, `read FILE` prints them with its decoder, and `decode FILE` decodes them and prints
//! nothing. The formats are in this program itself.
//!
//! Groups, threads and a number of decimals of floats are left out, since defmt has none.

mod output;

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::time::Instant;
use std::{env, fs, io};

use defmt_decoder::{DecodeError, Table};

/// The threads of the trace, whose messages take turns here.
const THREADS: u64 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", file, count] => Ok(write(file, count.parse()?)?),
        ["read", file] => read(file, true),
        ["decode", file] => read(file, false),
        _ => Err("expected `write FILE COUNT`, `read FILE` or `decode FILE`".into()),
    }
}

/// Writes so many messages.
fn write(file: &str, count: u64) -> io::Result<()> {
    output::begin(Instant::now());
    for index in 0..count / THREADS {
        (0..THREADS).for_each(|thread| log(index, thread));
    }
    fs::write(file, output::take())
}

/// Decodes all messages of a file, and prints them or only counts them.
fn read(file: &str, is_printed: bool) -> Result<(), Box<dyn Error>> {
    let program = fs::read(env::current_exe()?)?;
    let table = Table::parse(&program)?.ok_or("the program has no section `.defmt`")?;
    let mut stream = table.new_stream_decoder();
    let mut out = io::BufWriter::with_capacity(64 << 10, io::stdout().lock());
    let mut count = 0_u64;
    let mut file = fs::File::open(file)?;
    // The decoder moves what it has not decoded yet with each message, so that large parts would
    // take longer.
    let mut part = [0; 4096];
    loop {
        let size = file.read(&mut part)?;
        if size == 0 {
            break;
        }
        stream.received(&part[..size]);
        loop {
            match stream.decode() {
                Ok(frame) if is_printed => writeln!(out, "{}", frame.display(false))?,
                Ok(_) => {}
                Err(DecodeError::UnexpectedEof) => break,
                Err(DecodeError::Malformed) => return Err("a message is damaged".into()),
            }
            count += 1;
        }
    }
    out.flush()?;
    eprintln!("{count} messages");
    Ok(())
}

/// A message of `bench/src/mixed.rs`.
fn log(index: u64, thread: u64) {
    let number = index * 7919 + thread;
    let host = ["alpha", "beta", "gamma"][(number % 3) as usize];
    match number % 20 {
        0..=8 => {
            let millis = index as f64 / 7.0;
            defmt::debug!("sent {=u64} bytes to {=str} in {=f64} ms", index % 900, host, millis);
        }
        9..=14 => {
            let key = format!("user/{}", number % 500);
            defmt::trace!("lookup {=str}: hit={=bool}", key.as_str(), !index.is_multiple_of(5));
        }
        15..=17 => {
            defmt::info!(
                "flushed page {=u64} ({=u64:x}) of segment {=u64}",
                index,
                number,
                index % 50
            );
        }
        18 => defmt::warn!("{=str} does not answer, attempt {=u64}", host, number % 4 + 1),
        _ => defmt::error!(
            "can't write {=str}: {=str}",
            "/var/lib/app/wal",
            "no space left on device"
        ),
    }
}
