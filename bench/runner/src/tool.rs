//! The time of `protologtool` beside that of the work it can't avoid:
//!
//! - over the sources of a JDK: reading the same files, and tree-sitter's own time on the
//!   declarations that hold calls
//! - over the crates that this workspace depends on: reading, and syn
//! - over as much source as AOSP's tool was once measured with

mod again;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use super::corpus::{self, Corpus, SourceFile};
use super::measure::{self, Run};
use super::table;
use xtask::{Result, shell, workspace};

/// Of each contestant; odd, so that there is a median run.
const ROUNDS: usize = 5;

/// The corpus with which AOSP's tool was measured, Android 15's of October 2024 on two cores,
/// transform and generate together: files, bytes, calls, seconds of CPU, megabytes at least.
const AOSP: [(usize, u64, usize, f64, f64); 3] = [
    (332, 4_300_000, 639, 17.0, 1400.0),
    (356, 12_000_000, 798, 29.0, 1400.0),
    (2194, 46_000_000, 0, 71.0, 2400.0),
];

/// Prepares the sources, builds the tool, measures, prints the tables.
pub(super) fn run() -> Result<()> {
    let target = workspace::target_dir()?;
    let corpus = corpus::prepare(&target.join("bench/jdk"))?;
    let tool = workspace::build(&["protolog-tool"], &["--release"])?.join("protologtool");
    beside_floors(&corpus, &target)?;
    let of_kotlin = target.join("bench/kotlin");
    let bench = ToolBench { tool: tool.clone(), corpus: &corpus, target: target.clone() };
    bench.whole()?;
    let kotlin = corpus::kotlin::prepare(&of_kotlin)?;
    bench.languages(&ToolBench { tool, corpus: &kotlin, target })?;
    again::run(&bench)?;
    bench.as_aosp()
}

/// Files without and with calls beside their floors, on one thread of one process.
fn beside_floors(corpus: &Corpus, target: &Path) -> Result<()> {
    let list = target.join("bench/files");
    let paths = corpus.files.iter().map(|file| corpus.dir.join(&file.path).display().to_string());
    workspace::write(&list, paths.collect::<Vec<_>>().join("\n"))?;
    let mut bench =
        shell::cargo(&["bench", "--locked", "--package=protolog-tool", "--bench=speed"]);
    bench.arg("--").arg(&list).arg(corpus::GROUPS_CLASS);
    bench.arg(corpus.dir.join(corpus::GROUPS_SOURCE));
    let packages = target.join("bench/packages");
    workspace::write(&packages, rust_packages()?.join("\n"))?;
    shell::run(bench.arg(&packages))
}

/// The directories of the packages on which this workspace depends: much real Rust.
fn rust_packages() -> Result<Vec<String>> {
    let mut cargo = shell::cargo(&["metadata", "--offline", "--locked", "--format-version", "1"]);
    let metadata: serde_json::Value = serde_json::from_str(&shell::read(&mut cargo)?)
        .map_err(|error| format!("can't read what cargo says of packages: {error}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let others = packages.filter(|package| package["source"].is_string());
    let manifests = others.filter_map(|package| package["manifest_path"].as_str());
    Ok(manifests.filter_map(|path| Some(Path::new(path).parent()?.display().to_string())).collect())
}

struct ToolBench<'a> {
    tool: PathBuf,
    corpus: &'a Corpus,
    target: PathBuf,
}

impl ToolBench<'_> {
    /// The whole corpus, on one thread and on two.
    fn whole(&self) -> Result<()> {
        let files = &self.corpus.files;
        let (mut read, mut one, mut two) = (Vec::new(), Vec::new(), Vec::new());
        // One round before those that count, to warm the file cache.
        for round in 0..=ROUNDS {
            let runs = [self.read()?, self.transform(files, 1)?, self.transform(files, 2)?];
            if round > 0 {
                [&mut read, &mut one, &mut two]
                    .into_iter()
                    .zip(runs)
                    .for_each(|(all, run)| all.push(run));
            }
        }
        let rows = [
            row("floor: read, one thread", &read, files),
            row("transform-protolog-calls --jobs 1", &one, files),
            row("transform-protolog-calls --jobs 2", &two, files),
        ];
        println!("\n{}\n", caption(files));
        let head = ["what", "files/s", "MB/s", "wall s", "spread %", "CPU s", "peak MB"];
        println!("{}", table::markdown(&head, &rows));
        Ok(())
    }

    /// Files with calls of both languages, on one thread: Kotlin's beside Java's.
    fn languages(&self, kotlin: &Self) -> Result<()> {
        let benches = [("Java", self), ("Kotlin", kotlin)];
        let of = |bench: &Self| bench.corpus.files.iter().filter(|file| file.calls > 0).cloned();
        let files = benches.map(|(_, bench)| of(bench).collect::<Vec<_>>());
        let mut runs = [Vec::new(), Vec::new()];
        for round in 0..=ROUNDS {
            for (at, (_, bench)) in benches.iter().enumerate() {
                let run = bench.transform(&files[at], 1)?;
                if round > 0 {
                    runs[at].push(run);
                }
            }
        }
        let row = |at: usize| {
            let megabytes = size(&files[at]) as f64 / 1e6;
            let cpu = measure::median(&runs[at]).cpu.unwrap_or(0.0).max(0.005);
            vec![
                benches[at].0.to_owned(),
                files[at].len().to_string(),
                format!("{megabytes:.1}"),
                count_calls(&files[at]).to_string(),
                format!("{:.0}", cpu * 1e3),
                format!("{:.0}", megabytes / cpu),
            ]
        };
        println!(
            "\nFiles with calls, of OpenJDK 17 and of Kotlin's libraries, to a srcjar and a dictionary, start of the program included. \
             One thread, medians of {ROUNDS} runs.\n"
        );
        let head = ["files with calls", "files", "MB", "calls", "CPU ms", "MB/s"];
        println!("{}", table::markdown(&head, &[row(0), row(1)]));
        Ok(())
    }

    /// As many files and bytes as AOSP's tool was measured with, and at least as many calls.
    fn as_aosp(&self) -> Result<()> {
        let (with, without): (Vec<SourceFile>, Vec<SourceFile>) =
            self.corpus.files.iter().cloned().partition(|file| file.calls > 0);
        let mut rows = Vec::new();
        for (count, bytes, calls, cpu, peak) in AOSP {
            let mut files = corpus::nearest(&with, count.min(with.len()), bytes);
            let (missing, rest) = (count - files.len(), bytes.saturating_sub(size(&files)));
            if missing > 0 {
                files.extend(corpus::nearest(&without, missing, rest));
            }
            let runs: Result<Vec<Run>> = (0..ROUNDS).map(|_| self.transform(&files, 2)).collect();
            let median = measure::median(&runs?);
            let (own, own_peak) =
                (median.cpu.unwrap_or(0.0), median.peak.unwrap_or(0) as f64 / 1e6);
            rows.push(vec![
                format!(
                    "{} files, {:.1} MB, {} calls",
                    files.len(),
                    size(&files) as f64 / 1e6,
                    count_calls(&files)
                ),
                format!(
                    "{count} files, {:.1} MB{}",
                    bytes as f64 / 1e6,
                    if calls > 0 { format!(", {calls} calls") } else { String::new() }
                ),
                format!("{own:.2}"),
                format!("{cpu:.0}"),
                format!("1/{:.0}", cpu / own.max(0.005)),
                format!("{own_peak:.0}"),
                format!("1/{:.0}", peak / own_peak.max(1.0)),
            ]);
        }
        println!(
            "\nBoth outputs in one pass, beside AOSP's tool (Android 15, two cores, measured elsewhere). Medians of {ROUNDS} runs.\n"
        );
        let head = ["here", "AOSP", "CPU s", "AOSP's", "of its CPU", "peak MB", "of its memory"];
        println!("{}", table::markdown(&head, &rows));
        Ok(())
    }

    /// The tool over these files, which writes an archive and a dictionary.
    fn transform(&self, files: &[SourceFile], jobs: usize) -> Result<Run> {
        let archive = self.target.join("bench/out.srcjar").display().to_string();
        self.run(files, jobs, &["--output-srcjar".to_owned(), archive])
    }

    /// The tool over these files, which writes a dictionary and, by these flags, sources.
    fn run(&self, files: &[SourceFile], jobs: usize, sources: &[String]) -> Result<Run> {
        let output = |name: &str| self.target.join("bench").join(name).display().to_string();
        let list = self.target.join("bench/arguments");
        let paths: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
        workspace::write(&list, paths.join("\n"))?;
        let options = [
            ["--protolog-class", "dev.protolog.ProtoLog"],
            ["--loggroups-class", corpus::GROUPS_CLASS],
            ["--loggroups-source", corpus::GROUPS_SOURCE],
            ["--viewer-config", &output("out.pb")],
            ["--jobs", &jobs.to_string()],
        ];
        let words = options.concat().into_iter().map(str::to_owned).chain(sources.iter().cloned());
        let command = ["transform-protolog-calls".to_owned()].into_iter().chain(words);
        let args: Vec<String> = command.chain([format!("@{}", list.display())]).collect();
        measure::program(&self.tool, &args, &self.corpus.dir, &self.target.join("bench/time"))
    }

    /// Reads every file whole.
    fn read(&self) -> Result<Run> {
        let paths: Vec<PathBuf> =
            self.corpus.files.iter().map(|file| self.corpus.dir.join(&file.path)).collect();
        let reader = thread::spawn(move || {
            let (begun, used) = (Instant::now(), cpu_seconds());
            for path in &paths {
                let bytes = workspace::read_bytes(path)?;
                std::hint::black_box(bytes);
            }
            let cpu = cpu_seconds().zip(used).map(|(now, then)| now - then);
            Ok(Run { wall: begun.elapsed().as_secs_f64(), cpu, peak: None })
        });
        reader.join().expect("reading does not panic")
    }
}

/// Processor time that this thread has used.
fn cpu_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? as f64 / 1e9)
}

fn size(files: &[SourceFile]) -> u64 {
    files.iter().map(|file| file.bytes).sum()
}

fn count_calls(files: &[SourceFile]) -> usize {
    files.iter().map(|file| file.calls).sum()
}

fn caption(files: &[SourceFile]) -> String {
    let changed = files.iter().filter(|file| file.calls > 0).count();
    let (megabytes, calls) = (size(files) as f64 / 1e6, count_calls(files));
    format!(
        "{} Java files of OpenJDK 17, {megabytes:.1} MB; {changed} of them hold {calls} log calls. Medians of \
         {ROUNDS} runs, files cached; the tool writes a srcjar and a dictionary.",
        files.len()
    )
}

fn row(what: &str, runs: &[Run], files: &[SourceFile]) -> Vec<String> {
    let median = measure::median(runs);
    let unknown = || "-".to_owned();
    vec![
        what.to_owned(),
        format!("{:.0}", files.len() as f64 / median.wall),
        format!("{:.1}", size(files) as f64 / 1e6 / median.wall),
        format!("{:.2}", median.wall),
        format!("{:.0}", measure::spread(runs)),
        median.cpu.map_or_else(unknown, |cpu| format!("{cpu:.2}")),
        median.peak.map_or_else(unknown, |peak| format!("{:.0}", peak as f64 / 1e6)),
    ]
}
