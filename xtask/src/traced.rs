//! Perfetto's tracing service under `target/tools/traced`, for tests of the producer: the source in
//! the crate perfetto-sdk-sys, with a main function of our own. And once more, optimized, for
//! figures.
//!
//! Cargo fetches the crate, and checks it against the lock file of the bench that compiles
//! ProtoZero out of it. To compile all of it takes 50 seconds of one core without optimisation,
//! which tests do not need, and two minutes with it.

use std::path::PathBuf;
use std::process::Command;

use crate::{Result, shell, workspace};

/// The package that has the crate, and so its version and checksum.
const OWNER: &str = "bench/protozero";
const CRATE: &str = "perfetto-sdk-sys";
/// The main function.
const MAIN: &str = "tests/traced/traced.cc";

/// A way of compiling it: the folder and the compiler's option.
type Variant = (&'static str, &'static str);

const FOR_TESTS: Variant = ("traced", "-O0");
const FOR_FIGURES: Variant = ("traced-optimized", "-O2");

/// Returns true if the service of this version is there.
pub(crate) fn is_there() -> bool {
    is_complete(FOR_TESTS)
}

/// Compiles it; the tests know its place.
pub(crate) fn build() -> Result<()> {
    compile(FOR_TESTS)
}

/// Returns the optimized one, which is compiled if it is not there.
pub fn optimized() -> Result<PathBuf> {
    if !is_complete(FOR_FIGURES) {
        compile(FOR_FIGURES)?;
    }
    Ok(dir(FOR_FIGURES).join("traced"))
}

fn is_complete(variant: Variant) -> bool {
    stamp().is_ok_and(|wanted| workspace::is_complete(&dir(variant), &wanted))
}

fn compile(variant: Variant) -> Result<()> {
    let sources = sources()?;
    let dir = dir(variant);
    workspace::empty_dir(&dir)?;
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", variant.1, "-DNDEBUG", "-w", "-o"]).arg(dir.join("traced"));
    for folder in ["libperfetto_c", "include"] {
        compiler.arg("-I").arg(sources.join(folder));
    }
    compiler.arg(workspace::root().join(MAIN)).args(["-lpthread", "-lrt"]);
    shell::run(&mut compiler)?;
    workspace::complete(&dir, &stamp()?)
}

fn dir((name, _): Variant) -> PathBuf {
    workspace::tools_dir().join(name)
}

/// Everything that the program is made of: the crate by its checksum, and the main function.
fn stamp() -> Result<String> {
    let lock = workspace::read(workspace::root().join(OWNER).join("Cargo.lock"))?;
    let name = format!("name = \"{CRATE}\"");
    let entry = lock.split("[[package]]").find(|entry| entry.contains(&name));
    let entry = entry.ok_or_else(|| format!("{OWNER} has no {CRATE}"))?;
    Ok(entry.trim().to_owned() + &workspace::read(workspace::root().join(MAIN))?)
}

/// The folder of the crate, which cargo fetches if need be.
fn sources() -> Result<PathBuf> {
    let manifest = workspace::root().join(OWNER).join("Cargo.toml");
    let manifest = manifest.to_string_lossy();
    let metadata = workspace::read_metadata(&["--manifest-path", &manifest])?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages.find(|package| package["name"] == CRATE);
    let manifest = found.and_then(|package| package["manifest_path"].as_str());
    let folder = manifest.and_then(|path| PathBuf::from(path).parent().map(PathBuf::from));
    folder.ok_or_else(|| format!("{OWNER} does not depend on {CRATE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_is_of_one_version() {
        let stamp = stamp().unwrap();
        assert!(stamp.contains("checksum = \"") && stamp.contains("ServiceIPCHost"), "{stamp}");
    }
}
