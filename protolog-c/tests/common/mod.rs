//! Programs in C and C++, compiled against the header and the shared library of this build.

#![allow(dead_code)] // Each test uses a part.

use protolog_reader::{Rendering, Trace};
use protolog_testkit::run;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compilers that are there, with what makes them take the sources as the header wants them. A C++
/// compiler gets sources of C as C++.
pub(crate) const COMPILERS: [&[&str]; 4] = [
    &["cc", "-std=c11"],
    &["c++", "-std=c++17", "-x", "c++"],
    &["clang", "-std=c11"],
    &["clang++", "-std=c++17", "-x", "c++"],
];

/// The compilers of [`COMPILERS`] that are installed. The first two have to be; of the others
/// nothing is promised where they are not.
pub(crate) fn compilers() -> impl Iterator<Item = &'static [&'static str]> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there =
        move |name: &str| std::env::split_paths(&path).any(|dir| dir.join(name).exists());
    COMPILERS.into_iter().filter(move |compiler| {
        let optional = compiler[0].starts_with("clang");
        !optional || is_there(compiler[0])
    })
}

/// The directory of the libraries of this build: tests are beside it.
pub(crate) fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let deps = test.parent().expect("a directory");
    let found = [deps.parent().expect("a directory"), deps];
    let found = found.into_iter().find(|dir| dir.join("libprotolog.so").exists());
    found.expect("the shared library is built").to_owned()
}

pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn source(name: &str) -> PathBuf {
    package().join("tests/programs").join(name)
}

/// The command that compiles a source, with all warnings as errors.
pub(crate) fn compile(compiler: &[&str], options: &[&str], from: &Path, to: &Path) -> Command {
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).args(["-Wall", "-Wextra", "-Werror"]).args(options);
    command.arg(from).args(["-x", "none", "-o"]).arg(to);
    let include = package().join("include");
    command.arg("-I").arg(include).arg("-L").arg(libraries()).args([
        "-lprotolog",
        "-lpthread",
        "-ldl",
    ]);
    command
}

/// A compiled program.
pub(crate) fn program(compiler: &[&str], options: &[&str], name: &str, dir: &Path) -> PathBuf {
    let to = dir.join(format!("{name}-{}{}", compiler[0], options.concat()));
    run(&mut compile(compiler, options, &source(name), &to));
    to
}

/// The command that runs a program with the shared library.
pub(crate) fn command(program: &Path, args: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(program);
    // By its soname.
    let (from, links) = (libraries().join("libprotolog.so"), program.with_extension("lib"));
    std::fs::create_dir_all(&links).expect("make a directory");
    let link = links.join("libprotolog.so.0");
    if !link.exists() {
        std::os::unix::fs::symlink(from, link).expect("link the library");
    }
    command.args(args).env("LD_LIBRARY_PATH", links).env_remove("PROTOLOG");
    command
}

/// The messages of a trace, as text.
pub(crate) fn messages(path: &Path) -> Vec<String> {
    let log = Trace::open(path).expect("open the trace").read().expect("read the trace");
    log.entries().map(|entry| entry.values().text(Rendering::Full)).collect()
}
