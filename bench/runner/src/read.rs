//! Reading traces: to text, to JSON, filtered, the first and the last lines. Beside it:
//!
//! - the unavoidable work: reading the bytes, decompressing them
//! - Perfetto's own reader on the same trace
//! - babeltrace2 on a CTF trace of the same messages
//! - defmt's decoder on the same messages from its encoder

use std::path::{Path, PathBuf};

use super::measure::{self, Run};
use super::outside;
use super::report::Report;
use xtask::{Result, python, shell, workspace};

/// Of each contestant; odd, so that there is a median run.
const ROUNDS: usize = 3;

/// A contestant that takes so many seconds runs once.
const LONG: f64 = 15.0;

/// Messages of the trace.
const MESSAGES: u64 = 4_000_000;

/// Small traces that have as many in all.
const MANY: u64 = 20_000;

/// A contestant: what it does, and the command line that does it, for a shell that has the trace as
/// `$1`, the tool as `$2` and the folder of the bench as `$3`.
const WAYS: [(&str, &str); 12] = [
    ("cat", "cat \"$1\""),
    ("zstd -d, of zstd -3", "zstd -dcq \"$1.zst\""),
    ("to text", "\"$2\" read-log \"$1\""),
    ("to text, of segments of 8 MiB", "\"$2\" read-log \"$1.segments\""),
    ("to text, of two traces", "\"$2\" read-log \"$1.two\""),
    ("to text, of 20,000 traces", "\"$2\" read-log \"$1.many\""),
    ("to JSON", "\"$2\" read-log \"$1\" --format json"),
    ("--level error", "\"$2\" read-log \"$1\" --level error"),
    ("--grep 'segment 7'", "\"$2\" read-log \"$1\" --grep 'segment 7'"),
    ("--count-by template", "\"$2\" read-log \"$1\" --count-by template"),
    ("the first line", "\"$2\" read-log \"$1\" | head -n 1"),
    ("-n 10", "\"$2\" read-log \"$1\" -n 10"),
];

/// The same for babeltrace2, which prints fields beside the template.
const BABELTRACE: [(&str, &str); 2] = [
    ("babeltrace2, of CTF, to text", "babeltrace2 \"$1.ctf\""),
    ("babeltrace2, of CTF, decoded only", "babeltrace2 \"$1.ctf\" -c sink.utils.dummy"),
];

/// The same for defmt's decoder, in the program that has written the messages. They are those of
/// the trace, without groups and threads.
const DEFMT: [(&str, &str); 2] = [
    ("defmt-decoder, to text", "\"$3/defmt/release/protolog-bench-defmt\" read \"$1.defmt\""),
    (
        "defmt-decoder, decoded only",
        "\"$3/defmt/release/protolog-bench-defmt\" decode \"$1.defmt\"",
    ),
];

/// Writes a trace, reads it in each way, and prints the table.
pub(super) fn run(report: &mut Report) -> Result<()> {
    let programs = workspace::build(&["protolog-tool", "protolog-bench"], &["--release"])?;
    let (dir, writer) = (workspace::target_dir()?.join("bench"), programs.join("protolog-bench"));
    std::fs::create_dir_all(&dir)
        .map_err(|error| format!("can't make `{}`: {error}", dir.display()))?;
    let trace = dir.join("mixed.pftrace");
    let mut write = std::process::Command::new(&writer);
    shell::run(write.arg("mixed").arg(&trace).arg(MESSAGES.to_string()))?;
    write_in_parts(&writer, &trace)?;
    let mut compress = std::process::Command::new("zstd");
    shell::run(compress.args(["-3", "-qf"]).arg(&trace))?;
    let bench = ReadBench { trace, tool: programs.join("protologtool"), dir };
    bench.table(report)
}

/// Writes the same messages as segments of a session, as traces of two, and as those of many.
fn write_in_parts(program: &Path, trace: &Path) -> Result<()> {
    let half = MESSAGES / 2;
    let line = format!(
        "rm -rf \"$1.segments\" \"$1.two\" \"$1.many\" && mkdir \"$1.segments\" \"$1.two\" \"$1.many\" && \
         \"$2\" mixed \"$1.segments/s.pftrace\" {MESSAGES} {} && \
         \"$2\" mixed \"$1.two/a.pftrace\" {half} && \"$2\" mixed \"$1.two/b.pftrace\" {half} && \
         \"$2\" many \"$1.many\" {MANY} {}",
        8 << 20,
        MESSAGES / MANY
    );
    let mut write = std::process::Command::new("/bin/sh");
    shell::run(write.args(["-c", &line, "sh"]).args([trace, program]))
}

struct ReadBench {
    trace: PathBuf,
    tool: PathBuf,
    dir: PathBuf,
}

impl ReadBench {
    fn table(&self, report: &mut Report) -> Result<()> {
        let size = std::fs::metadata(&self.trace)
            .map_err(|error| format!("can't read `{}`: {error}", self.trace.display()))?
            .len();
        let mut ways: Vec<(String, String)> =
            WAYS.iter().map(|(name, line)| ((*name).to_owned(), (*line).to_owned())).collect();
        if python::is_there() {
            let environment = python::environment();
            let script = workspace::root().join("tests/oracle/trace_processor.mjs");
            let query = "SELECT ts, level, tag, message FROM protolog ORDER BY ts";
            let line = format!(
                "node '{}' --dist '{}' --sql '{query}' \"$1\"",
                script.display(),
                environment.web_dist.display()
            );
            ways.push(("trace_processor (wasm), to JSON".to_owned(), line));
        } else {
            report.skip("trace_processor: its wheel is not there (`cargo xtask setup`)");
        }
        match self.make_ctf() {
            Ok(()) => {
                ways.extend(BABELTRACE.map(|(name, line)| (name.to_owned(), line.to_owned())));
            }
            Err(error) => report.skip(&format!("babeltrace2 (Debian's package): {error}")),
        }
        match self.write_defmt() {
            Ok(()) => ways.extend(DEFMT.map(|(name, line)| (name.to_owned(), line.to_owned()))),
            Err(error) => report.skip(&format!("defmt: {error}")),
        }
        let mut runs: Vec<Vec<Run>> = vec![Vec::new(); ways.len()];
        // One round before those that count, to warm the file cache.
        for round in 0..=ROUNDS {
            for ((_, line), runs) in ways.iter().zip(&mut runs) {
                if runs.iter().any(|run| run.wall > LONG) {
                    continue;
                }
                let run = self.run(line)?;
                runs.extend((round > 0 || run.wall > LONG).then_some(run));
            }
        }
        let rows: Vec<Vec<String>> =
            ways.iter().zip(&runs).map(|((name, _), runs)| row(name, runs)).collect();
        report.add(
            &format!("Reading {MESSAGES} messages of four threads, {:.1} MB", size as f64 / 1e6),
            &["what", "wall s", "spread %", "CPU s", "million messages per CPU s", "peak MB"],
            &rows,
        );
        Ok(())
    }

    /// Makes a CTF trace of the same messages, which takes a minute.
    fn make_ctf(&self) -> Result<()> {
        let script = workspace::root().join("bench/ctf.py");
        let line = "babeltrace2 --version > /dev/null && rm -rf \"$1.ctf\" && \"$2\" read-log \"$1\" --format json | python3 \"$3\" \"$1.ctf\"";
        let mut make = std::process::Command::new("/bin/sh");
        shell::run(make.args(["-c", line, "sh"]).args([&self.trace, &self.tool, &script]))
    }

    /// Builds the program that uses defmt, and has it write the same messages.
    fn write_defmt(&self) -> Result<()> {
        let mut write =
            std::process::Command::new(outside::build("defmt")?.join("protolog-bench-defmt"));
        shell::run(
            write
                .arg("write")
                .arg(self.trace.with_extension("pftrace.defmt"))
                .arg(MESSAGES.to_string()),
        )
    }

    fn run(&self, line: &str) -> Result<Run> {
        let output = format!("({line}) > /dev/null 2> /dev/null");
        let words = ["-c", &output, "sh"].map(str::to_owned).into_iter();
        let paths = [&self.trace, &self.tool, &self.dir].map(|path| path.display().to_string());
        let words: Vec<String> = words.chain(paths).collect();
        measure::program(Path::new("/bin/sh"), &words, &self.dir, &self.dir.join("time"))
    }
}

fn row(name: &str, runs: &[Run]) -> Vec<String> {
    let median = measure::median(runs);
    let cpu = median.cpu.unwrap_or(0.0);
    vec![
        name.to_owned(),
        format!("{:.2}", median.wall),
        format!("{:.0}", measure::spread(runs)),
        format!("{cpu:.2}"),
        format!("{:.2}", MESSAGES as f64 / 1e6 / cpu.max(0.005)),
        format!("{:.0}", median.peak.unwrap_or(0) as f64 / 1e6),
    ]
}
