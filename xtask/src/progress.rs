//! The line that says how far the test programs are: one that moves on a terminal, and one a minute
//! elsewhere.
//!
//! Invariant: other output goes through [`Progress::end`], so that none begins in the middle of the
//! line.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Programs that run and have ended.
pub(crate) struct Progress<W> {
    total: usize,
    moves: bool,
    state: Mutex<State<W>>,
}

struct State<W> {
    output: W,
    done: usize,
    running: Vec<(String, Instant)>,
}

impl Progress<io::Stdout> {
    /// That of `total` programs, on standard output.
    pub(crate) fn new(total: usize) -> Self {
        let output = io::stdout();
        Self::with(total, output.is_terminal(), output)
    }
}

impl<W: Write> Progress<W> {
    fn with(total: usize, moves: bool, output: W) -> Self {
        let state = Mutex::new(State { output, done: 0, running: Vec::new() });
        Self { total, moves, state }
    }

    /// Notes that a program runs.
    pub(crate) fn begin(&self, name: &str) {
        self.lock().running.push((name.to_owned(), Instant::now()));
    }

    /// Notes that it has ended, and prints its output.
    pub(crate) fn end(&self, name: &str, output: &str) {
        let mut state = self.lock();
        state.done += 1;
        state.running.retain(|(running, _)| running != name);
        self.write(&mut state, output);
    }

    /// Shows the line now and then, until the sender of `is_over` is dropped.
    pub(crate) fn show_until(&self, is_over: &Receiver<()>) {
        let interval = Duration::from_secs(if self.moves { 1 } else { 60 });
        while is_over.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            self.show();
        }
        self.write(&mut self.lock(), "");
    }

    fn show(&self) {
        let mut state = self.lock();
        let line = state.line(self.total);
        let line = if self.moves { line } else { format!("{line}\n") };
        self.write(&mut state, &line);
    }

    /// Writes in place of the moving line. A reader that has closed the output does not want it.
    fn write(&self, state: &mut State<W>, text: &str) {
        let clear = if self.moves { "\r\x1b[K" } else { "" };
        let _ = write!(state.output, "{clear}{text}").and_then(|()| state.output.flush());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State<W>> {
        self.state.lock().expect("no panic while it is locked")
    }
}

impl<W> State<W> {
    fn line(&self, total: usize) -> String {
        let Self { done, running, .. } = self;
        let line = format!("{done} of {total} test programs, {} running", running.len());
        let Some((name, begun)) = running.iter().min_by_key(|(_, begun)| *begun) else {
            return line;
        };
        let seconds = begun.elapsed().as_secs();
        let time =
            if seconds < 60 { format!("{seconds} s") } else { format!("{} min", seconds / 60) };
        format!("{line}, longest {time} ({name})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(moves: bool) -> String {
        let progress = Progress::with(3, moves, Vec::new());
        progress.show();
        progress.begin("a");
        progress.begin("b");
        progress.lock().running[1].1 -= Duration::from_secs(250);
        progress.show();
        progress.end("b", "output of b\n");
        progress.show();
        let output = progress.lock().output.clone();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn a_terminal_has_one_line_that_moves() {
        assert_eq!(
            run(true),
            "\r\x1b[K0 of 3 test programs, 0 running\
             \r\x1b[K0 of 3 test programs, 2 running, longest 4 min (b)\
             \r\x1b[Koutput of b\n\
             \r\x1b[K1 of 3 test programs, 1 running, longest 0 s (a)"
        );
    }

    #[test]
    fn a_file_has_lines() {
        assert_eq!(
            run(false),
            "0 of 3 test programs, 0 running\n\
             0 of 3 test programs, 2 running, longest 4 min (b)\n\
             output of b\n\
             1 of 3 test programs, 1 running, longest 0 s (a)\n"
        );
    }
}
