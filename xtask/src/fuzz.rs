//! Running the fuzz targets: built with the coverage that libFuzzer needs, which a stable compiler
//! has, and run for a while each, from seeds that the tests hold.
//!
//! Corpora stay under `fuzz/corpus`, and failing inputs under `fuzz/artifacts`, where `cargo fuzz`
//! has them too.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, install, shell, toolchain, tools, workspace};

/// The flags that cargo-fuzz passes, without a sanitizer: the targets are in safe Rust.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Cdebug-assertions -Coverflow-checks";

/// The seconds for which each target runs.
const SECONDS: &str = "PROTOLOG_FUZZ_SECONDS";

/// Builds all targets and runs each, or only that which `PROTOLOG_FUZZ_TARGET` names.
pub(crate) fn run(skipped: &mut Vec<String>) -> Result<()> {
    if install::lacks(&tools::CXX, "the fuzz targets", skipped) {
        return Ok(());
    }
    let (root, target) = (workspace::root(), workspace::target_dir()?.join("fuzz"));
    // Named, so that build scripts go without coverage.
    let (host, _) = toolchain::host(&mut Command::new("rustc"))?;
    let manifest = root.join("fuzz/Cargo.toml");
    let only = std::env::var("PROTOLOG_FUZZ_TARGET").ok();
    let mut build = shell::cargo(&["build", "--locked", "--release", "--manifest-path"]);
    build.arg(manifest).args(["--target", &host]);
    match &only {
        Some(name) => build.args(["--bin", name]),
        None => build.arg("--bins"),
    };
    shell::run(build.env("RUSTFLAGS", FLAGS).env("CARGO_TARGET_DIR", &target))?;
    let names = names(&root.join("fuzz/fuzz_targets"));
    let wanted = names.iter().filter(|name| only.as_ref().is_none_or(|only| only == *name));
    let mut failed = Vec::new();
    for name in wanted {
        let program = target.join(&host).join("release").join(name);
        if let Err(problem) = fuzz(&program, name, &root) {
            eprintln!("error: {problem}");
            failed.push(name.as_str());
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("{} failed", failed.join(", "))) }
}

/// The targets: each file is one.
fn names(dir: &Path) -> Vec<String> {
    let mut files = workspace::entries(dir);
    files.retain(|file| file.extension().is_some_and(|end| end == "rs"));
    files.iter().filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect()
}

fn fuzz(program: &Path, name: &str, root: &Path) -> Result<()> {
    let [corpus, artifacts] =
        ["corpus", "artifacts"].map(|it| root.join("fuzz").join(it).join(name));
    for dir in [&corpus, &artifacts] {
        workspace::make_dir(dir)?;
    }
    seed(name, &corpus, root)?;
    let seconds = std::env::var(SECONDS).unwrap_or_else(|_| "60".to_owned());
    let mut run = Command::new(program);
    run.arg(&corpus)
        .args([
            format!("-max_total_time={seconds}"),
            format!("-artifact_prefix={}/", artifacts.display()),
        ])
        .args(["-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0"])
        .current_dir(root);
    shell::run(&mut run)
}

/// Puts the data of the tests into a target's corpus.
fn seed(name: &str, corpus: &Path, root: &Path) -> Result<()> {
    let add = |number: usize, bytes: &[u8]| {
        workspace::write(corpus.join(format!("seed-{number}")), bytes)
    };
    let texts =
        |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    let seeds: Vec<Vec<u8>> = match name {
        "transform" => ["java/cases", "java/newer", "java/errors", "java/effects", "aosp/cases"]
            .iter()
            .flat_map(|dir| files(&root.join("protologtool/tests").join(dir)))
            .filter_map(|file| fs::read_to_string(file).ok())
            .flat_map(|text| text.split("\n=== ").skip(1).map(java_seed).collect::<Vec<_>>())
            .collect(),
        "dictionary" => files(&root.join("viewer-config/testdata"))
            .iter()
            .filter_map(|file| fs::read(file).ok())
            .collect(),
        "command_line" => texts(&[
            "check --protolog-class a.B --loggroups-class c.D --loggroups-source b b.java\0enum D { A }",
            "-c \"x y\" @b\0--jobs 2\n'a b'",
            "generate-viewer-config\n--viewer-config\nx.pb\n@b",
        ]),
        // The size of the pieces, and the requests.
        "view_request" => texts(&[
            "\0GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "\x03GET /data HTTP/1.1\r\nHost: 127.0.0.1:80\r\n@PROOF@\r\n\r\n",
            "\x40POST /session HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 18446744073709551615\r\n\r\n",
            "\x07GET /data HTTP/1.1\r\nHost: 127.0.0.1\r\n@PROOF@\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ]),
        // Kinds of commands, sessions, and no more: start, log, flush, clear, stop.
        "perfetto_commands" => [
            &b"\x02\x01\0\x46\x01\0\x09\x01\0\x44\x01\0"[..],
            b"\x02\x01\0\x42\x02\0\x48\x01\x01\x02\x44\x02\0\x46\x01\0",
            b"\x40\x01\x05\xf2\x07\x02\x10\x01\x02\x01\0",
        ]
        .map(<[u8]>::to_vec)
        .to_vec(),
        // The configurations of which Rust and Java say what they mean.
        "perfetto_config" => {
            let vectors = root.join("protolog-core/testdata/source_configs.tsv");
            let vectors = workspace::read(vectors)?;
            let rows = vectors.lines().skip(1).filter_map(|row| row.split('\t').nth(1));
            rows.map(bytes_of_hex).collect()
        }
        "reader" => {
            let cases = files(&root.join("protolog-reader/tests/cases"));
            let mut describe = shell::cargo(&["run", "-q", "-p", "protolog-reader", "--example"]);
            return shell::run_quietly(describe.args(["describe", "--"]).arg(corpus).args(cases));
        }
        _ => Vec::new(),
    };
    seeds.iter().enumerate().try_for_each(|(number, bytes)| add(number, bytes))
}

/// The bytes of hexadecimal digits.
fn bytes_of_hex(digits: &str) -> Vec<u8> {
    let pairs = (0..digits.len()).step_by(2).filter_map(|at| digits.get(at..at + 2));
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

/// A case of the tests, `title [kind]` and source and its rewritten form, as the target takes it.
fn java_seed(case: &str) -> Vec<u8> {
    let (title, rest) = case.split_once('\n').unwrap_or((case, ""));
    let body = rest.split("\n---").next().unwrap_or(rest).replace("CASE", "X");
    let kind = match title.split_once('[').map(|(_, kind)| kind) {
        Some("members]") => "m",
        Some("file]") => "f",
        _ => "b",
    };
    (kind.to_owned() + &body).into_bytes()
}

/// The files in a folder.
fn files(dir: &Path) -> Vec<PathBuf> {
    workspace::entries(dir).into_iter().filter(|file| file.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::{bytes_of_hex, java_seed};

    #[test]
    fn seeds_in_hexadecimal_are_bytes() {
        assert_eq!(bytes_of_hex("10030aff"), [0x10, 3, 10, 255]);
    }

    #[test]
    fn a_case_is_a_seed_with_its_kind() {
        let seed = |case| String::from_utf8(java_seed(case)).unwrap_or_default();
        assert_eq!(seed("plain\nd(NET, \"x\");\n---\nafter\n"), "bd(NET, \"x\");");
        assert_eq!(seed("two [members]\nint CASE;\n--- android-16\nafter"), "mint X;");
        assert_eq!(seed("three [file]\nclass CASE {}\n---\n"), "fclass X {}");
    }
}
