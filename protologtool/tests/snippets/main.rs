//! The snippets of the README and of the pages under `docs`, tried as a reader would try them. They
//! run in packages of their own beside a copy of the repository (a link to it), with exactly the
//! dependencies and features that the page shows.
//!
//! A page is a story. A block of `toml` begins a package, with `[package]` or the dependencies
//! alone. A block of `rust` is its program, or the body of its `main`, and must run to its end; or
//! its library, which must build. A block of `console` has commands after `$`, which run in the
//! package's directory, and their output, times and processes aside. Commands in blocks of `text`
//! name programs that run or were killed, so they are run on a stage. A block of `sh` is to
//! install: its paths and its profile must be there.

mod help;
mod java;
mod named;
mod page;
mod promises;
mod soong;
mod stage;
mod transcript;

use page::Block;
use protolog_testkit::{assert_eq_text, run, run_any, user_environment, workspace_root};
use std::env;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The reader of one page.
struct Reader {
    /// The name of the page, for its packages.
    name: String,
    /// Packages made so far, and the directory of the newest one.
    packages: usize,
    package: PathBuf,
    /// True if the newest package is a library that programs load.
    is_library: bool,
}

/// The test that compiles and runs the library of that page.
const TESTING_GUIDE: &str = include_str!("../../../protolog-rt/tests/testing_guide.rs");

/// The test that runs the commands and queries of that page.
const ARCHIVE_GUIDE: &str = include_str!("../../../fleet/tests/guide.rs");
/// The test that the commands of that page run.
const ANYWHERE_TEST: &str = include_str!("../../../protolog-rt/tests/anywhere.rs");
/// The test that runs the commands of that page.
const C_GUIDE: &str = include_str!("../../../protolog-c/tests/guide.rs");
const OTLP_GUIDE: &str = include_str!("../../../fleet/tests/otlp.rs");

#[test]
fn readme() {
    try_page("README.md");
}

#[test]
fn from_log() {
    try_page("docs/guides/from-log.md");
}

#[test]
fn from_tracing() {
    try_page("docs/guides/from-tracing.md");
}

#[test]
fn faq() {
    try_page("docs/faq.md");
}

#[test]
fn processes() {
    try_page("docs/guides/processes.md");
}

#[test]
fn crashes() {
    try_page("docs/guides/crashes.md");
}

#[test]
fn always_on() {
    try_page("docs/guides/always-on.md");
}

#[test]
fn switching() {
    try_page("docs/guides/switching.md");
}

#[test]
fn perfetto() {
    try_page("docs/guides/perfetto.md");
}

#[test]
fn without_macros() {
    try_page("docs/guides/without-macros.md");
}

#[test]
fn plugins() {
    try_page("docs/guides/plugins.md");
}

#[test]
fn view() {
    try_page("docs/guides/view.md");
}

#[test]
fn java() {
    try_page("docs/guides/java.md");
}

/// The page's first command, on its program, writes what the page shows.
#[test]
fn kotlin() {
    const PAGE: &str = "docs/guides/kotlin.md";
    let text = fs::read_to_string(workspace_root().join(PAGE)).expect("read the page");
    let blocks = page::blocks(&text);
    let of = |language| blocks.iter().filter(move |block| block.language == language);
    let program = of("kotlin").next().expect("a program").text;
    let shown = of("kotlin").nth(1).expect("the output").text;
    let dir = protolog_testkit::temp_dir();
    let source = dir.path().join("src/com/foo");
    fs::create_dir_all(&source).expect("make a directory");
    fs::write(source.join("Server.kt"), program).expect("write the program");
    fs::write(source.join("AppLog.java"), java::GROUPS).expect("write the groups");
    let reader = Reader { package: dir.path().to_owned(), ..Reader::new(PAGE) };
    let output = run_any(&mut reader.command(of("sh").next().expect("a command").text));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let written = dir.path().join("out/src/com/foo/Server.kt");
    let written = fs::read_to_string(written).expect("read the output");
    let short = written.replace("dev.protolog.ProtoLogImpl", "I");
    let short = short.replace("dev.protolog.LogLevel", "L");
    for line in shown.lines().filter(|line| !line.is_empty()) {
        assert!(
            short.lines().any(|it| it == line),
            "{PAGE} shows\n{line}\nnot what is in\n{short}"
        );
    }
}

/// The page's command is a server that answers, and the settings of all editors have its arguments.
#[test]
fn editors() {
    const PAGE: &str = "docs/guides/editor.md";
    let text = fs::read_to_string(workspace_root().join(PAGE)).expect("read the page");
    let command = text.lines().find_map(|line| line.strip_prefix("    protologtool lsp "));
    let args: Vec<&str> = command.expect("a command").split(' ').collect();
    for block in page::blocks(&text) {
        let lacks = args.iter().find(|arg| !block.text.contains(*arg));
        assert_eq!(lacks, None, "{PAGE}:{}", block.line);
    }
    let dir = protolog_testkit::temp_dir();
    let source = dir.path().join(args.last().expect("a source"));
    fs::create_dir_all(source.parent().expect("a directory")).expect("make a directory");
    let groups = "package com.foo; enum AppLog implements dev.protolog.IProtoLogGroup { NET; }";
    fs::write(source, groups).expect("write the groups");
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ];
    let framed = messages.map(|it| format!("Content-Length: {}\r\n\r\n{it}", it.len()));
    fs::write(dir.path().join("session"), framed.concat()).expect("write the session");
    let mut server = Command::new("sh");
    server.args(["-c", "exec \"$0\" lsp \"$@\" < session", env!("CARGO_BIN_EXE_protologtool")]);
    let output = run(server.args(&args).current_dir(dir.path()));
    assert!(output.stdout.contains("\"hoverProvider\""), "{}", output.stdout);
    assert_eq!(output.stderr, "");
}

/// The output of `init` for Cargo, in an empty package beside a copy of the repository.
#[test]
fn the_fragment_of_init_for_cargo_builds() {
    let output = run(shell(
        "sh",
        "mkdir -p p && touch p/Cargo.toml && protologtool init p",
        protolog_testkit::temp_dir().path(),
    )
    .env("CI", ""));
    let lock = File::create(copy_of_repository().join("lock")).expect("create a lock");
    lock.lock().expect("wait for other pages");
    let mut reader = Reader::new("init");
    reader.begin_package(&output.stdout);
    reader.run_program(
        "use protolog_rt::{ProtoLogGroup, Session, d};\n#[derive(ProtoLogGroup)]\nenum AppLog { Net }\n\
         let session = Session::builder().file(\"app.pftrace\").enable_all().start()?;\nlet bytes = 512;\n\
         d!(AppLog::Net, \"sent %d bytes\", bytes);\nassert_eq!(session.stop()?.messages, 1);\n",
    );
}

/// The pages that users read.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned(), "docs/faq.md".to_owned()];
    for entry in fs::read_dir(workspace_root().join("docs/guides")).expect("list the guides") {
        let name = entry.expect("a guide").file_name();
        pages.push(format!("docs/guides/{}", name.to_string_lossy()));
    }
    pages
}

#[test]
fn no_page_is_left_out() {
    let tests = include_str!("main.rs");
    for page in pages() {
        // A page whose program is a library with tests has a test of its own; so has that of a
        // package outside the workspace.
        let is_tried = match page.as_str() {
            // It takes other systems, on which that test runs.
            "docs/guides/platforms.md" => ANYWHERE_TEST.contains("#[test]"),
            "docs/guides/c.md" => C_GUIDE.contains(&page),
            "docs/guides/archive.md" => ARCHIVE_GUIDE.contains(&page),
            "docs/guides/opentelemetry.md" => OTLP_GUIDE.contains(&page),
            "docs/guides/testing.md" => TESTING_GUIDE.contains(&page),
            "docs/guides/kotlin.md" | "docs/guides/editor.md" => {
                tests.contains(&format!("PAGE: &str = \"{page}\""))
            }
            _ => tests.contains(&format!("try_page(\"{page}\")")),
        };
        assert!(is_tried, "no test tries {page}");
    }
}

fn try_page(page: &str) {
    let text = fs::read_to_string(workspace_root().join(page)).expect("read the page");
    let blocks = page::blocks(&text);
    assert!(!blocks.is_empty(), "{page} has no snippets");
    // This locks, too.
    stage::build_programs();
    // Programs of several pages have one name, and their place in the target directory is one.
    let lock = File::create(copy_of_repository().join("lock")).expect("create a lock");
    lock.lock().expect("wait for other pages");
    let mut reader = Reader::new(page);
    for block in blocks {
        let place = format!("{page}:{}", block.line);
        match block.language {
            "toml" => reader.begin_package(block.text),
            "rust" => reader.run_program(block.text),
            "console" => reader.run_commands(&block, &place),
            "text" if block.text.starts_with("genrule") => soong::run_rule(block.text),
            "text" => transcript::check(block.text, &place),
            "sh" => check_installation(block.text, &place),
            "java" if block.text.contains(" main(") => reader.begin_java(block.text),
            "java" => {} // The tests in `java.rs` have these.
            "sql" => {}  // The test of the extension server has it.
            other => panic!("{place}: no test for blocks of `{other}`"),
        }
    }
}

/// The directory beside the copy of the repository. It is the same in each run, so that what the
/// packages depend on is compiled once.
fn copy_of_repository() -> PathBuf {
    let desk = Path::new(env!("CARGO_TARGET_TMPDIR")).join("snippets");
    fs::create_dir_all(&desk).expect("make a directory");
    match symlink(workspace_root(), desk.join("protolog")) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            panic!("can't link the repository: {error}")
        }
        _ => desk,
    }
}

impl Reader {
    fn new(page: &str) -> Self {
        let (name, package) = (page.replace(['/', '.'], "-"), copy_of_repository());
        Self { name, packages: 0, package, is_library: false }
    }

    /// Makes a package with this manifest, or with these dependencies.
    fn begin_package(&mut self, manifest: &str) {
        self.packages += 1;
        self.package = copy_of_repository().join(format!("{}-{}", self.name, self.packages));
        match fs::remove_dir_all(&self.package) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                panic!("can't begin anew: {error}")
            }
            _ => fs::create_dir_all(self.package.join("src")).expect("make a package"),
        }
        self.is_library = manifest.contains("cdylib");
        let head = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n";
        let head = if manifest.contains("[package]") { "" } else { head };
        // It lies below this workspace, but is outside of it.
        let manifest = format!("{head}{manifest}\n[workspace]\n");
        fs::write(self.package.join("Cargo.toml"), manifest).expect("write a manifest");
        // The versions that are on this machine.
        fs::copy(workspace_root().join("Cargo.lock"), self.package.join("Cargo.lock"))
            .expect("copy the lock file");
    }

    /// Makes a directory with this program, which commands compile and run.
    fn begin_java(&mut self, source: &str) {
        self.packages += 1;
        self.package = copy_of_repository().join(format!("{}-{}", self.name, self.packages));
        let _ = fs::remove_dir_all(&self.package);
        fs::create_dir_all(&self.package).expect("make a directory");
        fs::write(self.package.join("Main.java"), source).expect("write a program");
        let groups = "--loggroups-class Main.AppLog --loggroups-source Main.java";
        run(&mut self.command(&format!("protologtool check --deny-warnings {groups} Main.java")));
    }

    /// Runs a program, or the body of one, as the program of the newest package; or builds its
    /// library.
    fn run_program(&self, source: &str) {
        if self.is_library {
            fs::write(self.package.join("src/lib.rs"), source).expect("write a library");
            run(&mut self.command("cargo build --quiet"));
            run(&mut self.command("protologtool check --deny-warnings src"));
            return;
        }
        let whole = if source.contains("fn main()") {
            source.to_owned()
        } else {
            format!("fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{source}Ok(())\n}}\n")
        };
        fs::write(self.package.join("src/main.rs"), whole).expect("write a program");
        run(&mut self.command("cargo run --quiet"));
        run(&mut self.command("protologtool check --deny-warnings src"));
    }

    /// Runs each command and compares what it prints with the lines after it.
    fn run_commands(&self, block: &Block, place: &str) {
        for (command, expected) in page::commands(block.text) {
            let output = run_any(&mut self.command(command));
            assert_eq!(output.code, Some(0), "{place}: `{command}`\n{}", output.stderr);
            assert_eq_text(&page::without_times(&output.stdout), &page::without_times(&expected));
        }
    }

    /// A line of shell in the newest package, with the tool on the path.
    fn command(&self, line: &str) -> Command {
        shell("sh", line, &self.package)
    }
}

/// A line of shell, in a directory, with the tool on the path.
fn shell(shell: &str, line: &str, directory: &Path) -> Command {
    let mut command = Command::new(shell);
    command.args(["-c", line]).current_dir(directory).env("PATH", tool_and_path());
    command.envs(user_environment(env!("CARGO_TARGET_TMPDIR"))).env_remove("RUSTFLAGS");
    // A reader's `cargo` does not know that of this test.
    for (name, _) in env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("CARGO_PKG_")
            || name_text == "CARGO_MANIFEST_DIR"
            || name_text == "PROTOLOG"
        {
            command.env_remove(&name);
        }
    }
    command
}

/// The path of programs, with the tool's directory first.
fn tool_and_path() -> String {
    let tool =
        Path::new(env!("CARGO_BIN_EXE_protologtool")).parent().expect("it is in a directory");
    format!("{}:{}", tool.display(), env::var("PATH").unwrap_or_default())
}

/// The package and the profile to install must be there.
fn check_installation(text: &str, place: &str) {
    let manifest =
        fs::read_to_string(workspace_root().join("Cargo.toml")).expect("read the manifest");
    for line in text.lines().filter(|line| line.starts_with("cargo install")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |option: &str| {
            let at = words.iter().position(|word| *word == option);
            at.and_then(|at| words.get(at + 1))
                .unwrap_or_else(|| panic!("{place}: no `{option}` in `{line}`"))
        };
        let package = after("--path").strip_prefix("protolog/").expect("a path in the repository");
        assert!(
            workspace_root().join(package).join("Cargo.toml").is_file(),
            "{place}: no `{package}`"
        );
        let profile = format!("[profile.{}]", after("--profile"));
        assert!(manifest.contains(&profile), "{place}: no `{profile}`");
    }
}
