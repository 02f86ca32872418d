//! `cargo xtask release --dry-run`: the parts of a release, in their order, and whether all are
//! ready.
//!
//! Nothing is sent to a registry: publishing is done by a person, who has the keys, in the order
//! that the command prints. Decisions and steps of that person alone are listed at the end.
//!
//! | step | where |
//! |---|---|
//! | versions agree, and CHANGELOG has the version | [`versions`] |
//! | metadata, files and dependencies of each package | [`packages`] |
//! | the public interface is the committed one | [`api`] |
//! | the lowest versions that manifests name are enough | [`minimal`] |
//! | a user's first five commands, with packages alone | [`trial`] |
//! | the same tool from two folders | [`reproducible`] |
//! | a package of Debian's | [`deb`] |
//! | a repository of Maven's | `jar/repository.rs`, `maven.rs` |

pub(crate) mod api;
mod deb;
mod minimal;
mod packages;
mod reproducible;
mod trial;
mod versions;

use std::path::Path;
use std::process::Command;

use self::packages::Package;
use crate::steps::{NamedStep, Steps};
use crate::{Result, install, jar, loggers, maven, shell, soak, tools, workspace};

/// The steps in their order.
pub(crate) const STEPS: [NamedStep; 11] = [
    ("versions", "all packages are of one version, of which CHANGELOG has a section", |_| {
        versions::check(&all()?)
    }),
    ("metadata", "each package has its README, licence, keywords, dependencies by version", |_| {
        metadata()
    }),
    ("packages", "cargo builds each package from what would be published", |_| verify()),
    ("api", "the public interface is the one of the lists that are committed", |_| api::compare()),
    ("minimal", "the lowest versions that manifests name are enough to build", |_| {
        minimal::check(&all()?)
    }),
    ("deny", "licences, sources, duplicates and advisories, by cargo-deny", soak::deny),
    ("trial", "a new user's first five commands, with nothing but packages", |_| {
        trial::run(&all()?).map(|_| ())
    }),
    ("debian", "the tool as a package of Debian's, of which lintian has nothing to say", debian),
    ("maven", "the jars in a repository of Maven's, complete, and a project built from it", |_| {
        maven()
    }),
    ("install", "the tool has the same bytes, built in two folders", |_| {
        reproducible::check(&all()?)
    }),
    ("workflow", "the form of what GitHub would run, by check-jsonschema", workflow),
];

/// The steps that a person does.
const BY_HAND: &str = "\
by hand, in this order:
  1. a public place: put it into `repository` in Cargo.toml, which packages and POMs name
  2. `cargo publish --locked --package NAME` for each package, in the order above; each name must be free or ours
  3. the signed files of target/release/maven, in one archive, to the central repository, by whoever has the name `dev.protolog`
  4. a tag of the version, signed";

/// Runs the steps named in `only`, all if it is empty, and says what is left to do.
pub(crate) fn run(only: &[String]) -> Result<()> {
    let packages = all()?;
    println!("the order of publication:");
    for (at, package) in packages.iter().enumerate() {
        println!("  {:>2}. {} {}", at + 1, package.name, package.version);
    }
    let steps = Steps::run_all(only, &STEPS);
    println!("\n{BY_HAND}");
    steps.finish(true)
}

/// The packages to publish, in their order.
fn all() -> Result<Vec<Package>> {
    packages::in_order(&workspace::metadata()?)
}

fn metadata() -> Result<()> {
    shell::report(&packages::findings(&all()?)?, "not ready")
}

/// Has cargo pack the packages and build each from its archive.
fn verify() -> Result<()> {
    let all = all()?;
    let args = [&["package", "--locked", "--quiet"][..], &packages::selected(&all)].concat();
    shell::run_without_output(shell::cargo(&args).arg("--allow-dirty"))?;
    println!("{} packages are built from their archives", all.len());
    Ok(())
}

/// The part of it that `cargo xtask test` does: a new user's commands, and the package of Debian's
/// of the tool that they installed.
pub(crate) fn test(skipped: &mut Vec<String>) -> Result<()> {
    metadata()?;
    let tool = trial::run(&all()?)?;
    package_for_debian(&tool, skipped)
}

/// Builds the tool as people install it, and packs it.
fn debian(skipped: &mut Vec<String>) -> Result<()> {
    let args = ["build", "--locked", "--profile", "tool", "--package", "protolog-tool"];
    shell::run(&mut shell::cargo(&args))?;
    package_for_debian(&workspace::target_dir()?.join("tool/protologtool"), skipped)
}

fn package_for_debian(tool: &Path, skipped: &mut Vec<String>) -> Result<()> {
    let package = deb::build(tool)?;
    println!("{}", workspace::shown(&package));
    let lacks = install::lacks(&tools::LINTIAN, "the package of Debian's", skipped);
    if lacks { Ok(()) } else { deb::check(&package) }
}

/// Fills a repository of Maven's, and has a project find the runtime in it.
pub(crate) fn maven() -> Result<()> {
    let repository = workspace::target_dir()?.join("release/maven");
    jar::repository::fill(&repository, loggers::find().as_ref().ok())?;
    maven::resolve_from(&repository)
}

/// The workflow for GitHub.
const WORKFLOW: &str = ".github/workflows/ci.yml";

/// Compares the workflow with the schema of such files, which check-jsonschema brings along.
fn workflow(skipped: &mut Vec<String>) -> Result<()> {
    if !install::found("check-jsonschema") {
        let why = "check-jsonschema is not installed (`pip install check-jsonschema`)";
        install::skip(skipped, "the form of the workflow", why);
        return Ok(());
    }
    let mut check = Command::new("check-jsonschema");
    check.args(["--builtin-schema", "vendor.github-workflows", WORKFLOW]);
    shell::run(check.current_dir(workspace::root()))
}
