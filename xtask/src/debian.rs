//! Compilers that Debian packages, unpacked under `target/tools` and not installed: what a test
//! needs beside the toolchain that developers have, without rustup and without root.
//!
//! `rustc-web` is Debian's compiler for its browsers, `rust-web-src` the standard library's source,
//! with which cargo builds the standard library for targets that come without one.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, install, shell, workspace};

/// A compiler that was unpacked.
pub(crate) struct Compiler {
    dir: PathBuf,
    /// Where its shared libraries are.
    libraries: PathBuf,
    /// Major version of its LLVM.
    llvm: String,
}

/// Names of packages that belong together: the compiler, its standard library, the source of that.
struct Family {
    compiler: &'static str,
    library: &'static str,
    source: &'static str,
}

const FAMILIES: [Family; 2] = [
    Family { compiler: "rustc-web", library: "libstd-rust-web-dev", source: "rust-web-src" },
    Family { compiler: "rustc", library: "libstd-rust-dev", source: "rust-src" },
];

/// The compiler of version `wanted` (as in `1.85`), or the newest without it, that [`fetch`] has
/// unpacked.
pub(crate) fn open(wanted: Option<&str>) -> Result<Compiler> {
    let dir = dir(wanted);
    if workspace::is_complete(&dir, "") {
        Compiler::open(&dir)
    } else {
        Err(format!("{} is not there", workspace::shown(&dir)))
    }
}

/// Unpacks that compiler; with the source of its standard library if `has_source`. An error says
/// why that can't be.
pub(crate) fn fetch(wanted: Option<&str>, has_source: bool) -> Result<()> {
    let dir = dir(wanted);
    check()?;
    if offered(None).is_none() {
        update()?;
    }
    let (family, version) = offered(wanted).ok_or_else(|| {
        let of = wanted.map_or_else(String::new, |wanted| format!(" of version {wanted}"));
        format!("Debian offers no compiler{of} here")
    })?;
    workspace::empty_dir(&dir)?;
    let mut pinned: Vec<String> =
        [family.compiler, family.library].iter().map(|name| format!("{name}={version}")).collect();
    if has_source {
        pinned.push(format!("{}={version}", family.source));
    }
    for package in download(&pinned, &dir)? {
        unpack(&package, &dir)?;
    }
    let compiler = Compiler::open(&dir)?;
    println!("unpacked: {} in {}", compiler.version()?, workspace::shown(&dir));
    workspace::complete(&dir, "")
}

/// Unpacks the files of packages into a folder, without their dependencies.
pub(crate) fn unpack_packages(packages: &[&str], dir: &Path) -> Result<()> {
    check()?;
    let packages: Vec<String> = packages.iter().map(ToString::to_string).collect();
    fetch_files(&packages, dir)?.iter().try_for_each(|package| unpack(package, dir))
}

/// An error where packages of Debian's can't be unpacked.
fn check() -> Result<()> {
    if install::found("apt-get") && install::found("dpkg-deb") {
        return Ok(());
    }
    Err("this is no Debian".to_owned())
}

fn dir(wanted: Option<&str>) -> PathBuf {
    workspace::tools_dir().join(format!("rustc-{}", wanted.unwrap_or("newest")))
}

impl Compiler {
    fn open(dir: &Path) -> Result<Self> {
        let is_driver = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with("librustc_driver")
        };
        let mut folders = workspace::entries(dir.join("usr/lib")).into_iter();
        let libraries = folders.find(|folder| workspace::entries(folder).iter().any(is_driver));
        let libraries =
            libraries.ok_or_else(|| format!("no compiler in `{}`", workspace::shown(dir)))?;
        let mut compiler = Self { dir: dir.to_owned(), libraries, llvm: String::new() };
        let verbose = shell::read(compiler.with(&mut Command::new(compiler.rustc())).arg("-vV"))?;
        let llvm = verbose.lines().find_map(|line| line.strip_prefix("LLVM version: "));
        let major = llvm.and_then(|version| version.split('.').next());
        compiler.llvm = major.map(str::to_owned).unwrap_or_default();
        Ok(compiler)
    }

    fn rustc(&self) -> PathBuf {
        self.dir.join("usr/bin/rustc")
    }

    fn version(&self) -> Result<String> {
        let version = shell::read(self.with(&mut Command::new(self.rustc())).arg("--version"))?;
        Ok(version.trim().to_owned())
    }

    /// A `cargo` command that compiles with it. Unstable options of cargo are allowed: building the
    /// standard library is one.
    pub(crate) fn cargo(&self, args: &[&str], target_dir: &str) -> Result<Command> {
        let mut cargo = shell::cargo(args);
        self.with(&mut cargo).env("RUSTC", self.rustc()).env("RUSTC_BOOTSTRAP", "1");
        cargo.env("CARGO_TARGET_DIR", workspace::target_dir()?.join("oldest").join(target_dir));
        // Built once, mostly.
        cargo.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
        Ok(cargo)
    }

    fn with<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("LD_LIBRARY_PATH", &self.libraries)
    }

    /// The folder of LLVM's static unwinder, which programs of musl need: glibc's own asks glibc's
    /// loader.
    pub(crate) fn unwinder(&self) -> Result<PathBuf> {
        let folder = self.dir.join("usr/lib").join(format!("llvm-{}", self.llvm)).join("lib");
        if !folder.join("libunwind.a").is_file() {
            for package in download(&[format!("libunwind-{}-dev", self.llvm)], &self.dir)? {
                unpack(&package, &self.dir)?;
            }
        }
        Ok(folder)
    }
}

/// The family and the version that Debian offers: the wanted one, or the newest.
fn offered(wanted: Option<&str>) -> Option<(&'static Family, String)> {
    let mut offers = Vec::new();
    for family in &FAMILIES {
        let mut ask = Command::new("apt-cache");
        let lines = shell::read(ask.args(["madison", family.compiler])).unwrap_or_default();
        offers.extend(versions(&lines).into_iter().map(|version| (family, version)));
    }
    offers.retain(|(_, version)| wanted.is_none_or(|wanted| number(version) == number(wanted)));
    offers.into_iter().max_by_key(|(_, version)| number(version))
}

/// The versions in the lines of `apt-cache madison`.
fn versions(lines: &str) -> Vec<String> {
    let second = |line: &str| Some(line.split('|').nth(1)?.trim().to_owned());
    lines.lines().filter_map(second).collect()
}

/// Major and minor number of a version.
pub(crate) fn number(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Downloads packages and their dependencies that are not installed; returns the files.
fn download(packages: &[String], dir: &Path) -> Result<Vec<PathBuf>> {
    let mut plan = Command::new("apt-get");
    plan.args(["install", "--simulate", "--no-install-recommends"]).args(packages);
    let mut wanted = packages.to_vec();
    for line in shell::read(&mut plan)?.lines() {
        wanted.extend(planned(line).filter(|package| !wanted.iter().any(|it| same(it, package))));
    }
    fetch_files(&wanted, dir)
}

/// Downloads packages into a folder below `dir`; returns the files.
fn fetch_files(wanted: &[String], dir: &Path) -> Result<Vec<PathBuf>> {
    let packages = dir.join("packages");
    workspace::empty_dir(&packages)?;
    // As root apt would give up its rights, and those of the folder are not for it.
    let fetch = || {
        let mut fetch = Command::new("apt-get");
        fetch.args(["download", "-qq", "-o", "APT::Sandbox::User=root"]);
        shell::run_without_output(fetch.args(wanted).current_dir(&packages))
    };
    // A package that the lists name may have been replaced.
    fetch().or_else(|_| update().and_then(|()| fetch()))?;
    Ok(workspace::entries(&packages))
}

/// The package of a line `Inst NAME (VERSION …)`; none where one is there already, in an older
/// version.
fn planned(line: &str) -> Option<String> {
    let (name, rest) = line.strip_prefix("Inst ")?.split_once(' ')?;
    let version = rest.strip_prefix('(')?.split(' ').next()?;
    Some(format!("{name}={version}"))
}

fn same(one: &str, other: &str) -> bool {
    one.split('=').next() == other.split('=').next()
}

/// Unpacks a package; of a source no more than the standard library, a tenth of it.
fn unpack(package: &Path, dir: &Path) -> Result<()> {
    let is_source = package.to_string_lossy().contains("-src_");
    if !is_source {
        return shell::run_quietly(Command::new("dpkg-deb").arg("-x").arg(package).arg(dir));
    }
    let line = "dpkg-deb --fsys-tarfile \"$0\" | tar -x -C \"$1\" --wildcards './usr/src/*/library' './usr/lib/rustlib/src'";
    shell::run_quietly(Command::new("sh").args(["-c", line]).arg(package).arg(dir))
}

/// Updates apt's lists of packages, where that is allowed.
fn update() -> Result<()> {
    if !install::is_root() {
        return Err("apt's lists are old (`apt-get update`)".to_owned());
    }
    shell::run_without_output(Command::new("apt-get").args(["update", "-qq"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_apt_says() {
        let lines =
            " rustc-web | 1.96.0+dfsg1-1~deb12u2 | somewhere bookworm/main amd64 Packages\n";
        assert_eq!(versions(lines), ["1.96.0+dfsg1-1~deb12u2"]);
        assert_eq!(number("1.96.0+dfsg1-1~deb12u2"), Some((1, 96)));
        assert_eq!(number("1.85"), Some((1, 85)));
        let line =
            "Inst libllvm22 (1:22.1.8-1~deb12u1 Debian-Security:12/oldstable-security [amd64])";
        assert_eq!(planned(line).as_deref(), Some("libllvm22=1:22.1.8-1~deb12u1"));
        assert_eq!(planned("Inst libc6 [2.35] (2.36 Debian:12 [amd64])"), None);
        assert_eq!(planned("Conf libllvm22 (1:22.1.8)"), None);
    }
}
