//! Writes traces from descriptions, for viewing in Perfetto or as a fuzzing corpus:
//!
//!     cargo run -p protolog-reader --example describe -- DIR protolog-reader/tests/cases/*.txt
//!
//! writes `DIR/<name>.pftrace` for each. `tests/common/trace/mod.rs` has the syntax of
//! descriptions, which end at a line `--- …`: the expectations of the tests follow.

use std::path::{Path, PathBuf};
use std::{fs, io};

#[path = "../tests/common/trace/mod.rs"]
mod description;

fn main() -> io::Result<()> {
    let mut paths = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(dir) = paths.next() else {
        eprintln!("usage: describe DIR FILE...");
        std::process::exit(2);
    };
    fs::create_dir_all(&dir)?;
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let text = text.split("\n--- ").next().unwrap_or_default();
        let name = Path::new(path.file_stem().unwrap_or_default()).with_extension("pftrace");
        fs::write(dir.join(name), description::trace(text))?;
    }
    Ok(())
}
