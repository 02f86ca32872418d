//! Builds the programs of `fixtures/programs/`, in one way after another.

use protolog_testkit::run;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A way of building.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) optimised: u8,
    /// `off`, `thin` or `fat`.
    pub(crate) lto: &'static str,
    /// The system's `bfd` or `lld`, rather than the one that comes with Rust.
    pub(crate) linker: Option<&'static str>,
    /// True if a shared library is linked, and the runtime is in it.
    pub(crate) shared: bool,
}

/// Opt-level 0, no LTO, the linker that comes with Rust.
pub(crate) const PLAIN: Way = Way { optimised: 0, lto: "off", linker: None, shared: false };

/// The files that were built.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) app: PathBuf,
    pub(crate) plugin: PathBuf,
    /// The library that is linked, where there is one.
    pub(crate) shared: Option<PathBuf>,
}

impl Way {
    /// Builds in this way.
    pub(crate) fn build(self) -> Built {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/binary/fixtures/programs");
        let Self { optimised, lto, linker, shared } = self;
        let name = format!(
            "binary-{optimised}-{lto}-{}{}",
            linker.unwrap_or("own"),
            ["", "-shared"][usize::from(shared)]
        );
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        copy_to(&source, &copy);
        let lock = protolog_testkit::workspace_root().join("Cargo.lock");
        fs::copy(lock, copy.join("Cargo.lock")).expect("copy the lock file");

        let mut flags = Vec::new();
        let chosen = linker.map(|linker| format!("-Clink-arg=-fuse-ld={linker}"));
        if let Some(chosen) = &chosen {
            flags.extend(["-Clinker-features=-lld", chosen]);
        }
        if shared {
            flags.push("-Cprefer-dynamic");
        }
        let cargo = |package: &str, features: &[&str]| {
            let mut cargo = Command::new(env!("CARGO"));
            cargo
                .args(["build", "--quiet", "--offline", "--package", package])
                .args(features)
                .current_dir(&copy)
                .env("CARGO_TARGET_DIR", copy.join("target"))
                .env("CARGO_PROFILE_DEV_OPT_LEVEL", optimised.to_string())
                .env("CARGO_PROFILE_DEV_LTO", lto)
                .env("RUSTFLAGS", flags.join(" "));
            run(&mut cargo);
        };
        cargo("app", if shared { &["--features", "shared"] } else { &[] });
        cargo("plugin", &[]);
        let out = copy.join("target/debug");
        Built {
            app: out.join("app"),
            plugin: out.join("libplugin.so"),
            shared: shared.then(|| out.join("liblinked.so")),
        }
    }
}

impl Built {
    /// The program, about to log into `trace`.
    pub(crate) fn run(&self, app: &Path, trace: &Path) -> Command {
        let mut command = Command::new(app);
        command.arg(trace).arg(&self.plugin);
        if let Some(shared) = &self.shared {
            let libraries = run(Command::new("rustc").args(["--print", "target-libdir"])).stdout;
            let own = shared.parent().expect("a directory").display();
            command.env("LD_LIBRARY_PATH", format!("{own}:{own}/deps:{}", libraries.trim()));
        }
        command
    }
}

fn copy_to(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("make a directory for the fixture");
    for entry in fs::read_dir(from).expect("list the fixture") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_to(&path, &target);
            continue;
        }
        let runtime = protolog_testkit::workspace_root().join("protolog-rt");
        let text = fs::read_to_string(&path).expect("read the fixture");
        let text = text.replace("PROTOLOG_RT", &runtime.display().to_string());
        // An unchanged file is not built anew.
        if fs::read_to_string(&target).is_ok_and(|known| known == text) {
            continue;
        }
        fs::write(target, text).expect("copy the fixture");
    }
}
