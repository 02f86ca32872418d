//! Runs after a first one into the same directory, on disk and in memory (tmpfs): where nothing
//! waits for a disk, a first run is cheap, so that the same work after it is a larger part.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Corpus, ROUNDS, SourceFile, ToolBench, caption, table};
use crate::measure::{self, Run};
use xtask::{Result, workspace};

/// The number of files.
const FILES: usize = 2000;

/// The first run, runs after no change, and runs after a change of one file with calls.
const KINDS: [&str; 3] = ["first run", "nothing changed", "one file with calls changed"];

/// Measures both places, prints the table.
pub(super) fn run(bench: &ToolBench<'_>) -> Result<()> {
    let all = &bench.corpus.files;
    let files: Vec<SourceFile> =
        all.iter().step_by((all.len() / FILES).max(1)).take(FILES).cloned().collect();
    let on_disk = runs(bench, &files)?;
    let memory = Memory::with(&files, &bench.corpus.dir)?;
    let corpus = Corpus { dir: memory.0.join("sources"), files: files.clone() };
    let in_memory = runs(
        &ToolBench { tool: bench.tool.clone(), corpus: &corpus, target: memory.0.clone() },
        &files,
    )?;
    let cpu = |runs: &[Run]| measure::median(runs).cpu.unwrap_or(0.0) * 1e3;
    let cells = |runs: &[Vec<Run>; 3], at: usize| {
        let (first, this) = (cpu(&runs[0]), cpu(&runs[at]));
        [format!("{this:.0}"), format!("1/{:.1}", first / this.max(1.0))]
    };
    let rows = [0, 1, 2].map(|at| {
        let figures = [&on_disk, &in_memory].into_iter().flat_map(|runs| cells(runs, at));
        [KINDS[at].to_owned()].into_iter().chain(figures).collect::<Vec<_>>()
    });
    println!("\n{}\n", caption(&files).replace("a srcjar and", "a directory, a makefile and"));
    let head = ["one thread", "CPU ms, disk", "of the first", "CPU ms, tmpfs", "of the first"];
    println!("{}", table::markdown(&head, &rows));
    Ok(())
}

/// The runs of each kind, over these files of the bench's corpus.
fn runs(bench: &ToolBench<'_>, files: &[SourceFile]) -> Result<[Vec<Run>; 3]> {
    let changed = files.iter().find(|file| file.calls > 0).ok_or("no file has a call")?;
    let changed = bench.corpus.dir.join(&changed.path);
    let text = workspace::read_bytes(&changed)?;
    let text = String::from_utf8_lossy(&text);
    let path = |name: &str| bench.target.join("bench").join(name).display().to_string();
    let output = ["--output-dir", &path("sources"), "--depfile", &path("out.d")].map(str::to_owned);
    let (mut first, mut same, mut one) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        workspace::empty_dir(Path::new(&output[1]))?;
        first.push(bench.run(files, 1, &output)?);
        // The stamps of the outputs do not count yet.
        bench.run(files, 1, &output)?;
        same.push(bench.run(files, 1, &output)?);
        workspace::write(&changed, format!("{text}// {round}\n"))?;
        one.push(bench.run(files, 1, &output)?);
    }
    workspace::write(&changed, &*text)?;
    Ok([first, same, one])
}

/// A directory in memory, removed when the value is dropped.
struct Memory(PathBuf);

impl Memory {
    /// One with copies of these files of `from`, in `sources`, and room for outputs in `bench`.
    fn with(files: &[SourceFile], from: &Path) -> Result<Self> {
        let memory = Self(PathBuf::from(format!("/dev/shm/protolog-bench-{}", std::process::id())));
        workspace::empty_dir(&memory.0.join("bench"))?;
        let groups = Path::new(super::corpus::GROUPS_SOURCE);
        for path in files.iter().map(|file| &*file.path).chain([groups]) {
            let to = memory.0.join("sources").join(path);
            fs::create_dir_all(to.parent().unwrap_or(&memory.0))
                .and_then(|()| fs::copy(from.join(path), &to))
                .map_err(|error| format!("can't write `{}`: {error}", to.display()))?;
        }
        Ok(memory)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
