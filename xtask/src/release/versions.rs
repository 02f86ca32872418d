//! One version for all: packages, the runtime for Java, and a section of CHANGELOG.

use super::packages::Package;
use crate::{Result, shell, workspace};

/// The version of this project, which the jars have too.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An error unless all that is released says the same version.
pub(super) fn check(packages: &[Package]) -> Result<()> {
    let changelog = workspace::read(workspace::root().join("CHANGELOG.md"))?;
    let versions: Vec<(&str, &str)> =
        packages.iter().map(|it| (it.name.as_str(), it.version.as_str())).collect();
    shell::report(&findings(&versions, &changelog), "not ready")
}

fn findings(packages: &[(&str, &str)], changelog: &str) -> Vec<String> {
    let others = packages.iter().filter(|(_, version)| *version != VERSION);
    let mut findings: Vec<String> = others
        .map(|(name, version)| format!("{name} is of version {version}, not {VERSION}"))
        .collect();
    let heading = format!("## {VERSION}");
    let is_heading = |line: &&str| line.split(" (").next() == Some(&heading);
    let section = changelog.lines().skip_while(|line| !is_heading(line)).skip(1);
    if !section.take_while(|line| !line.starts_with("## ")).any(|line| line.starts_with("- ")) {
        findings.push(format!("CHANGELOG.md has no entry below `{heading}`; say what is new"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_other_versions_and_an_empty_section() {
        let good = format!("# Changelog\n\n## {VERSION} (today)\n\n### x\n- y\n");
        assert_eq!(findings(&[("a", VERSION)], &good), [""; 0]);
        let bad = format!("## {VERSION}\n\n## 0.0.1\n- y\n");
        let found = findings(&[("a", "0.0.1")], &bad);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], format!("a is of version 0.0.1, not {VERSION}"));
    }
}
