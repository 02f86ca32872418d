//! The programs that are measured: built, or named and left out.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::outside;
use super::super::report::Report;
use super::lttng::Daemon;
use xtask::install::Tool;
use xtask::tools;
use xtask::{Result, shell, workspace};

/// Protolog again, with a ring in a file. What it costs the caller is what the session that streams
/// costs; it is there for what it keeps.
pub(super) const RECORDER: &str = "protolog, recorder";

/// The way in which the messages of a log are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Log {
    /// There is none.
    Nothing,
    /// By the program that measures, as this kind.
    File(&'static str),
    /// By LTTng's tools.
    Lttng,
}

/// Something that is measured.
#[derive(Debug)]
pub(super) struct Candidate {
    /// As in the tables.
    pub(super) title: &'static str,
    /// As on the command line.
    pub(super) word: &'static str,
    pub(super) program: PathBuf,
    pub(super) log: Log,
}

/// See the module.
pub(super) struct Programs {
    /// For files.
    pub(super) dir: PathBuf,
    /// The program of this workspace.
    pub(super) own: PathBuf,
    /// The floor first, then protolog, then peers.
    pub(super) candidates: Vec<Candidate>,
    pub(super) daemon: Option<Daemon>,
}

impl Programs {
    /// Builds what can be built.
    pub(super) fn build(dir: PathBuf, report: &mut Report) -> Result<Self> {
        let options = ["--release", "--features", "peers"];
        let own = workspace::build(&["protolog-bench"], &options)?.join("protolog-bench");
        let mut programs = Self { dir, own: own.clone(), candidates: Vec::new(), daemon: None };
        programs.add(&own, "clock_gettime alone", "clock", Log::Nothing);
        // As users build it, outside the workspace: without LTO, for one.
        let user = outside::build("user")?.join("protolog-bench-user");
        programs.add(&user, "protolog", "protolog", Log::File("messages"));
        programs.add(&user, RECORDER, "recorder", Log::File("recorded"));
        programs.add(&own, "tracing, tracing-appender", "tracing", Log::File("lines"));
        programs.add(&own, "log, flexi_logger", "log", Log::File("lines"));
        match sdk() {
            Ok(peers) => {
                let events = Log::File("events");
                programs.add(&peers, "Perfetto SDK, track event", "track-event", events);
                let messages = Log::File("messages");
                programs.add(&peers, "Perfetto SDK, data source", "data-source", messages);
                programs.add(&peers, "tracing-perfetto", "tracing-perfetto", events);
            }
            Err(problem) => report.skip(&format!("Perfetto's SDK, tracing-perfetto: {problem}")),
        }
        let libraries = ["-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL", "-lspdlog", "-lfmt"];
        match programs.compile("spdlog", &libraries, &[tools::CXX, tools::SPDLOG]) {
            Ok(spdlog) => {
                programs.add(&spdlog, "spdlog, async", "spdlog-async", Log::File("lines"));
                programs.add(&spdlog, "spdlog, on the caller", "spdlog-sync", Log::File("lines"));
            }
            Err(problem) => report.skip(&format!("spdlog: {problem}")),
        }
        let needed = [tools::CXX, tools::LTTNG, tools::LTTNG_UST, tools::BABELTRACE];
        let lttng = programs.compile("lttng", &["-llttng-ust", "-ldl"], &needed);
        match lttng.and_then(|lttng| Ok((lttng, Daemon::start(&programs.dir)?))) {
            Ok((lttng, daemon)) => {
                programs.add(&lttng, "LTTng-UST", "lttng", Log::Lttng);
                programs.daemon = Some(daemon);
            }
            Err(problem) => report.skip(&format!("LTTng-UST: {problem}")),
        }
        Ok(programs)
    }

    fn add(&mut self, program: &Path, title: &'static str, word: &'static str, log: Log) {
        self.candidates.push(Candidate { title, word, program: program.to_path_buf(), log });
    }

    /// Compiles `bench/peers/cpp/NAME.cc`.
    fn compile(&self, name: &str, args: &[&str], needed: &[Tool]) -> Result<PathBuf> {
        if let Some(missing) = needed.iter().find(|tool| !tool.is_present()) {
            return Err(format!("{} is not installed", missing.name));
        }
        let program = self.dir.join(name);
        let source = workspace::root().join("bench/peers/cpp").join(name).with_extension("cc");
        let mut compile = Command::new("c++");
        compile.args(["-O3", "-std=c++17", "-DNDEBUG"]);
        compile.arg("-I").arg(source.parent().unwrap_or(&source)).arg(&source);
        shell::run(compile.arg("-o").arg(&program).args(args).arg("-lpthread"))?;
        Ok(program)
    }

    /// Messages and bytes in a log.
    pub(super) fn count(&self, log: Log, path: &Path) -> Result<(f64, f64)> {
        match (log, &self.daemon) {
            (Log::File(kind), _) => {
                let line = super::line(Command::new(&self.own).args(["count", kind]).arg(path))?;
                Ok((super::figure(&line, "messages"), super::figure(&line, "bytes")))
            }
            (Log::Lttng, Some(daemon)) => daemon.count(),
            _ => Ok((0.0, 0.0)),
        }
    }
}

/// Builds what needs Perfetto's C++.
fn sdk() -> Result<PathBuf> {
    Ok(outside::build("peers")?.join("bench-peers"))
}
