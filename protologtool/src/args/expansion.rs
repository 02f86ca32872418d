//! The limit of what compressed traces expand to, on the command line.

use protolog_reader::{Limits, Stats};

/// Arguments of commands that read traces.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Expansion {
    /// Read compressed traces up to this many times their size, or up to 64 MiB if that is more,
    /// and show as much text of messages that name one text again and again; the rest is left out,
    /// which standard error and exit code 3 say
    #[arg(long, value_name = "TIMES", default_value_t = Limits::EXPANSION, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_expansion: u64,
}

impl Default for Expansion {
    fn default() -> Self {
        Self { max_expansion: Limits::EXPANSION }
    }
}

impl Expansion {
    /// The line that says how more of a trace is read; empty for a trace that was not cut.
    pub(crate) fn hint(self, stats: &Stats) -> String {
        if stats.is_cut_by_expansion() { self.advice() } else { String::new() }
    }

    /// See [`hint`](Self::hint).
    pub(crate) fn advice(self) -> String {
        let limit = self.max_expansion;
        format!("help: read more of a trace that you trust with `--max-expansion`, above {limit}\n")
    }
}
