//! A small program that joins the service: what it takes to build, and its size.

use std::fs;
use std::path::Path;

use super::super::measure;
use super::super::report::Report;
use xtask::{Result, workspace};

/// Each with its title, its folder in `bench/perfetto` and its name.
const PROGRAMS: [(&str, &str, &str); 2] = [
    ("protolog-rt", "own", "protolog-bench-joined"),
    ("perfetto-sdk", "sdk", "protolog-bench-sdk"),
];

/// Builds each from nothing, as in a release of a user's.
pub(super) fn run(report: &mut Report) -> Result<()> {
    let mut rows = Vec::new();
    for (title, folder, name) in PROGRAMS {
        let target = workspace::target_dir()?.join("bench/joined-build").join(folder);
        workspace::empty_dir(&target)?;
        let manifest = workspace::root().join("bench/perfetto").join(folder).join("Cargo.toml");
        let mut args = ["build", "--quiet", "--release", "--locked"].map(str::to_owned).to_vec();
        for (flag, path) in [("--manifest-path", &manifest), ("--target-dir", &target)] {
            args.extend([flag.to_owned(), path.display().to_string()]);
        }
        let times = target.with_extension("times");
        let run = measure::program(Path::new("cargo"), &args, &workspace::root(), &times)?;
        let program = target.join("release").join(name);
        let size = fs::metadata(&program)
            .map_err(|error| format!("can't read `{}`: {error}", program.display()))?
            .len();
        rows.push(vec![
            title.to_owned(),
            format!("{:.1}", run.wall),
            format!("{:.1}", run.cpu.unwrap_or(f64::NAN)),
            format!("{:.0}", size as f64 / 1024.0),
        ]);
    }
    let head = ["a program of one message", "build s", "CPU s", "stripped KiB"];
    report.add("Build and size", &head, &rows);
    Ok(())
}
