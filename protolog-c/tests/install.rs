//! The library as it is installed: found by pkg-config and by CMake.

mod common;

use common::{libraries, messages, package};
use protolog_testkit::{TempDir, run, run_any, temp_dir, tool};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = r#"#include <protolog.h>
PROTOLOG_GROUPS(AppLog, Net)
int main(int count, char **args) {
    struct protolog_options options = PROTOLOG_OPTIONS_INIT;
    struct protolog_session *session;
    if (count < 2) return 2;
    options.file = args[1];
    if (protolog_session_start(&options, &session) != PROTOLOG_OK) return 1;
    protolog_d(AppLog, Net, "version %s", protolog_version());
    return protolog_session_stop(session, NULL);
}
"#;

/// Installs the libraries of this build below a directory.
fn installed(libdir: &str) -> (TempDir, PathBuf) {
    let dir = temp_dir();
    let prefix = dir.path().join("installed");
    let mut install = Command::new("sh");
    install.arg(package().join("install.sh")).arg(&prefix).env("LIBDIR", libdir);
    run(install.env("PROTOLOG_LIBRARIES", libraries()).env_remove("DESTDIR"));
    fs::write(dir.path().join("app.c"), PROGRAM).expect("write a source");
    fs::write(dir.path().join("app.cc"), PROGRAM).expect("write a source");
    (dir, prefix)
}

/// Runs the program with the installed library.
fn log_with(dir: &Path, program: &Path, lib: &Path) {
    let trace = dir.join("app.pftrace");
    run(Command::new(program).arg(&trace).env("LD_LIBRARY_PATH", lib));
    assert_eq!(messages(&trace), [format!("version {}", env!("CARGO_PKG_VERSION"))]);
    fs::remove_file(trace).expect("remove the trace");
}

#[test]
fn pkg_config_finds_it() {
    if tool("pkg-config").is_none() {
        return;
    }
    for libdir in ["lib", "lib/x86_64-linux-gnu"] {
        let (dir, prefix) = installed(libdir);
        let lib = prefix.join(libdir);
        let flags = |more: &[&str]| {
            let mut ask = Command::new("pkg-config");
            ask.args(more).args(["--cflags", "--libs", "protolog"]);
            let output = run(ask.env("PKG_CONFIG_PATH", lib.join("pkgconfig"))).stdout;
            output.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        for (compiler, source) in [("cc", "app.c"), ("c++", "app.cc")] {
            let program = dir.path().join(compiler);
            let mut compile = Command::new(compiler);
            compile.arg(dir.path().join(source)).args(flags(&[])).arg("-o").arg(&program);
            run(&mut compile);
            log_with(dir.path(), &program, &lib);
        }
        // The static library alone.
        let program = dir.path().join("static");
        let mut compile = Command::new("cc");
        compile.arg(dir.path().join("app.c")).arg("-I").arg(prefix.join("include"));
        compile
            .arg(lib.join("libprotolog.a"))
            .args(["-lpthread", "-ldl", "-lm", "-o"])
            .arg(&program);
        run(&mut compile);
        log_with(dir.path(), &program, Path::new("/nonexistent"));
    }
}

#[test]
fn cmake_finds_it() {
    let Some(cmake) = tool("cmake") else { return };
    let (dir, prefix) = installed("lib");
    let lists = "cmake_minimum_required(VERSION 3.13)\nproject(app C CXX)\n\
        set(CMAKE_CXX_STANDARD 17)\nfind_package(protolog 0.1 REQUIRED)\n\
        add_executable(shared app.c)\ntarget_link_libraries(shared protolog::protolog)\n\
        add_executable(cpp app.cc)\ntarget_link_libraries(cpp protolog::protolog)\n\
        add_executable(static app.c)\ntarget_link_libraries(static protolog::static)\n";
    fs::write(dir.path().join("CMakeLists.txt"), lists).expect("write the lists");
    let build = dir.path().join("build");
    let mut configure = Command::new(&cmake);
    configure.arg("-S").arg(dir.path()).arg("-B").arg(&build);
    run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
    run(Command::new(&cmake).arg("--build").arg(&build));
    for program in ["shared", "cpp", "static"] {
        log_with(dir.path(), &build.join(program), &prefix.join("lib"));
    }

    let later = lists.replace("protolog 0.1", "protolog 99");
    fs::write(dir.path().join("CMakeLists.txt"), later).expect("write the lists");
    let mut configure = Command::new(&cmake);
    configure.arg("-S").arg(dir.path()).arg("-B").arg(dir.path().join("later"));
    let output = run_any(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
    assert_ne!(output.code, Some(0), "a later version is not there");
}

#[test]
fn a_prefix_is_a_whole_path() {
    let mut install = Command::new("sh");
    install.arg(package().join("install.sh")).arg("relative");
    let output = run_any(install.env("PROTOLOG_LIBRARIES", libraries()));
    assert_eq!(output.code, Some(2));
    assert_eq!(
        output.stderr,
        "protolog-c: `relative` is no absolute path\nhelp: write the whole path\n"
    );
}
