//! Features that leave levels out: of calls below there is no code, no template and no argument
//! evaluated, but the compiler has checked them. A program is built with some of the features,
//! outside this workspace; unit tests of `compiled.rs` have which of them holds.

use protolog_testkit::{run, run_any};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// Names of levels as the program has them, the least severe first.
const LEVELS: [&str; 6] = ["verbose", "debug", "info", "warn", "error", "wtf"];

/// A copy of the program that can be built.
fn copy() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
        let fixture = runtime.join("tests/fixtures/max_level");
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("max_level");
        fs::create_dir_all(copy.join("src")).expect("make a directory");
        fs::copy(fixture.join("src/main.rs"), copy.join("src/main.rs")).expect("copy the program");
        let manifest = fs::read_to_string(fixture.join("Cargo.toml")).expect("read the manifest");
        let manifest = manifest.replace("PROTOLOG_RT", &runtime.display().to_string());
        fs::write(copy.join("Cargo.toml"), manifest).expect("write the manifest");
        let lock = protolog_testkit::workspace_root().join("Cargo.lock");
        fs::copy(lock, copy.join("Cargo.lock")).expect("copy the lock file");
        copy
    })
}

fn cargo(args: &[&str], features: &[&str]) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(args).args(["--quiet", "--offline", "--target-dir"]).arg(copy().join("target"));
    cargo.args(["--features", &features.join(",")]).current_dir(copy()).env_remove("RUSTFLAGS");
    cargo
}

/// Builds the program in release, with features of protolog-rt, and checks that the first `out`
/// levels are left out.
fn check_release(features: &[&str], out: usize, constant: &str) {
    let features: Vec<_> = features.iter().map(|name| format!("protolog-rt/{name}")).collect();
    let features: Vec<_> = features.iter().map(String::as_str).collect();
    let mut build = cargo(&["rustc", "--release"], &features);
    let dir = protolog_testkit::temp_dir();
    let assembly = dir.path().join("levels.s");
    run(build.args(["--", "--emit"]).arg(format!("asm={},link", assembly.display())));
    let program = copy().join("target/release/levels");
    check_run(&program, out, constant, &features);
    let assembly = fs::read_to_string(assembly).expect("read the assembly");
    let binary = fs::read(&program).expect("read the program");
    for (number, level) in LEVELS.into_iter().enumerate() {
        let text = format!("text of {level}");
        let has_text = binary.windows(text.len()).any(|window| window == text.as_bytes());
        assert_eq!(has_text, number >= out, "{features:?}: {level}");
        for name in [format!("at_{level}"), format!("rewritten_{level}")] {
            let code = instructions(&assembly, &name);
            let is_empty = matches!(code[..], [] | ["retq" | "ret"]);
            assert_eq!(is_empty, number < out, "{features:?}: {name}: {code:?}");
        }
    }
}

/// Checks what the program says of itself.
fn check_run(program: &Path, out: usize, constant: &str, features: &[&str]) {
    let dir = protolog_testkit::temp_dir();
    let output = run(Command::new(program).arg(dir.path().join("levels.pftrace"))).stdout;
    let evaluated = LEVELS[out..].iter().flat_map(|level| {
        [format!("evaluated at_{level}\n"), format!("evaluated rewritten_{level}\n")]
    });
    let levels = LEVELS.len() - out;
    let expected = format!(
        "{}{constant}: {levels} levels, {} messages\n",
        evaluated.collect::<String>(),
        3 * levels
    );
    assert_eq!(output, expected, "{features:?}");
}

/// The instructions of a function that is not mangled; none if the compiler removed it, as empty.
/// Functions of the same code may share it.
fn instructions<'a>(assembly: &'a str, name: &str) -> Vec<&'a str> {
    let label = format!("{name}:");
    let alias = format!(".set {name}, ");
    let shared = assembly.lines().find_map(|line| line.trim().strip_prefix(&alias));
    if let Some(other) = shared {
        return instructions(assembly, other);
    }
    let mut lines = assembly.lines().skip_while(|line| *line != label);
    lines.next();
    let code = lines.take_while(|line| !line.starts_with(".Lfunc_end")).map(str::trim);
    code.filter(|line| !line.starts_with(['.', '#']) && !line.ends_with(':')).collect()
}

#[test]
fn calls_below_the_level_leave_nothing_and_features_of_release_builds_decide_there() {
    check_release(&["max_level_warn", "release_max_level_info"], 2, "Some(Info)");
}

#[test]
fn a_debug_build_heeds_only_the_features_for_all_builds() {
    let features = ["protolog-rt/max_level_off", "protolog-rt/release_max_level_info"];
    run(&mut cargo(&["build"], &features));
    check_run(&copy().join("target/debug/levels"), 6, "None", &features);
}

#[test]
fn calls_that_are_left_out_are_checked() {
    for features in [&["mistake"][..], &["mistake", "protolog-rt/max_level_off"]] {
        let output = run_any(&mut cargo(&["check"], features));
        assert_ne!(output.code, Some(0), "{features:?}");
        assert!(
            output.stderr.contains("`&str`") || output.stderr.contains("`str`"),
            "{}",
            output.stderr
        );
    }
}
