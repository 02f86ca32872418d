//! The tool's time beside that of the work it can't avoid, on one thread: reading files, and
//! parsing those that hold calls.
//!
//! `cargo xtask bench tool` prepares the sources and runs this as
//! `cargo bench -p protolog-tool --bench speed -- LIST CLASS GROUPS PACKAGES`. LIST is a file that
//! lists Java sources, CLASS the enum of groups, GROUPS its source, and PACKAGES a file that lists
//! directories of Rust packages. The candidates alternate, so that a noisy neighbour hits both;
//! medians are printed as a table.

mod java;
mod measure;
mod rust;

use std::path::{Path, PathBuf};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [list, class, groups, packages] = &words[..] else {
        // `cargo bench` and `cargo test --benches` run everything.
        println!(
            "nothing to measure: pass Java sources, the enum of groups, its source and Rust packages"
        );
        return;
    };
    let lines = |path: &String| -> Vec<PathBuf> {
        let text = std::fs::read_to_string(path).expect("the list can be read");
        text.lines().map(PathBuf::from).collect()
    };
    let java = lines(list);
    if !java.is_empty() {
        java::run(&java, class, Path::new(groups));
    }
    rust::run(&lines(packages));
}
