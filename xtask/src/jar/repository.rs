//! Files of each jar in a repository of Maven's: the jar, its sources, its documentation, a POM and
//! the checksums of all; and whether that is all that the central one asks for.
//!
//! Signatures are not made here: the keys are a person's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Built, GROUP, JARS, Jar, VERSION, files_below, list_of, pack};
use crate::loggers::Loggers;
use crate::{Result, java, shell, workspace};

/// The elements that a POM must have, beside its coordinates.
const REQUIRED: &str = "name description url licenses license developers developer scm connection \
    developerConnection packaging";
/// The endings of the files of one version, each of which has a checksum of each kind.
const FILES: [&str; 4] = [".jar", "-sources.jar", "-javadoc.jar", ".pom"];
const CHECKSUMS: [&str; 2] = ["md5", "sha1"];

/// Fills the folder `repository`, and checks its files; without `loggers` there are the jars that
/// need only the JDK.
pub(crate) fn fill(repository: &Path, loggers: Option<&Loggers>) -> Result<()> {
    workspace::empty_dir(repository)?;
    let built = super::build("jars-of-repository", loggers)?;
    let mut findings = Vec::new();
    for jar in &JARS {
        let name = format!("{}-{VERSION}.jar", jar.name);
        let Some(file) = built.files.iter().find(|file| file.ends_with(&name)) else { continue };
        let place = repository.join(GROUP.replace('.', "/")).join(jar.name).join(VERSION);
        let part = |end: &str| place.join(format!("{}-{VERSION}{end}", jar.name));
        workspace::write(part(".jar"), workspace::read_bytes(file)?)?;
        workspace::write(part(".pom"), jar.pom())?;
        let (dir, files) = jar.written(&built)?;
        pack(&part("-sources.jar"), &dir, &files, &["--no-manifest"])?;
        let docs = jar.document(&built, loggers)?;
        let pages = files_below(&docs, Path::new(""));
        pack(&part("-javadoc.jar"), &docs, &pages, &["--no-manifest"])?;
        for file in FILES {
            write_checksums(&part(file))?;
        }
        findings.extend(incomplete(&place, jar.name)?);
    }
    println!("{} jars with sources, documentation and POM", built.files.len());
    shell::report(&findings, "incomplete")
}

impl Jar {
    /// The sources of the jar, in a folder of their packages: where that is, and their names in it.
    fn written(&self, built: &Built) -> Result<(PathBuf, Vec<PathBuf>)> {
        let dir = built.files[0].with_file_name("sources").join(self.name);
        workspace::empty_dir(&dir)?;
        let folders = [Some(self.folder), self.module.ok()];
        let mut files = Vec::new();
        for folder in folders.into_iter().flatten() {
            for source in java::sources(folder)? {
                let place = place_in_packages(&source);
                let text = workspace::read_bytes(workspace::root().join(&source))?;
                workspace::write(dir.join(&place), text)?;
                files.push(place);
            }
        }
        files.sort();
        files.dedup();
        Ok((dir, files))
    }

    /// Has javadoc write the pages of the jar; returns their folder.
    fn document(&self, built: &Built, loggers: Option<&Loggers>) -> Result<PathBuf> {
        let (dir, files) = self.written(built)?;
        let pages = built.files[0].with_file_name("javadoc").join(self.name);
        workspace::empty_dir(&pages)?;
        let mut path = vec![built.files[0].clone()];
        path.extend(loggers.map(self.needs).unwrap_or_default());
        let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
        let mut javadoc = Command::new("javadoc");
        javadoc.args(["-quiet", "-notimestamp", "-Xdoclint:all,-missing", "-encoding", "UTF-8"]);
        javadoc.args(["--release", "17", "-d"]).arg(&pages);
        let option = if self.module.is_ok() { "--module-path" } else { "-classpath" };
        // The runtime's own module is not on its path.
        if self.name != super::RUNTIME {
            javadoc.arg(option).arg(path);
        }
        javadoc.arg(format!("@{}", list_of(&files, &pages)?.display()));
        shell::run_without_output(javadoc.current_dir(dir))?;
        Ok(pages)
    }
}

/// The place of a source in a tree of packages, all of which are in that of the group. Module
/// descriptors lie beside them.
fn place_in_packages(source: &Path) -> PathBuf {
    let top = GROUP.split('.').next().unwrap_or_default();
    let below: PathBuf = source.iter().skip_while(|part| *part != top).collect();
    if below.as_os_str().is_empty() { source.file_name().into_iter().collect() } else { below }
}

fn write_checksums(file: &Path) -> Result<()> {
    for kind in CHECKSUMS {
        let sum = workspace::checksum(&format!("{kind}sum"), file)?;
        workspace::write(format!("{}.{kind}", file.display()), sum)?;
    }
    Ok(())
}

/// Findings on missing and empty files of the version in the folder `place`.
fn incomplete(place: &Path, name: &str) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in FILES {
        let file = place.join(format!("{name}-{VERSION}{file}"));
        let sums = CHECKSUMS.map(|kind| PathBuf::from(format!("{}.{kind}", file.display())));
        for file in [&[file][..], &sums].concat() {
            if fs::metadata(&file).map_or(0, |metadata| metadata.len()) == 0 {
                findings.push(format!("`{}` is empty or not there", file.display()));
            }
        }
    }
    let pom = workspace::read(place.join(format!("{name}-{VERSION}.pom")))?;
    findings
        .extend(lacking(&pom).iter().map(|element| format!("{name}: no <{element}> in its POM")));
    Ok(findings)
}

/// The required elements that a POM does not have, or has without content.
fn lacking(pom: &str) -> Vec<&'static str> {
    let has = |element: &&str| {
        let content = pom.split(&format!("<{element}>")).nth(1);
        let content = content.and_then(|rest| rest.split(&format!("</{element}>")).next());
        content.is_some_and(|content| !content.trim().is_empty())
    };
    REQUIRED.split(' ').filter(|element| !has(element)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_lie_in_their_packages() {
        let place = |source| place_in_packages(Path::new(source)).display().to_string();
        assert_eq!(place("java/src/generated/dev/protolog/A.java"), "dev/protolog/A.java");
        assert_eq!(place("java/module/module-info.java"), "module-info.java");
    }

    #[test]
    fn poms_have_what_is_required() {
        for jar in &JARS {
            assert_eq!(lacking(&jar.pom()), [""; 0], "{}", jar.name);
        }
        let empty = JARS[0].pom().replace("<license>", "").replace("Apache-2.0", "");
        assert_eq!(lacking(&empty), ["license"]);
    }
}
