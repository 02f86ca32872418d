//! The fragments, as texts with places for what was found. Where a build of `integrations/` is run by a test, the fragment is
//! a part of it, which another test compares.

use super::build::Build;
use super::survey::{GroupClass, Survey};
use std::path::{Path, PathBuf};

/// The property of Maven that says how sources are encoded.
const MAVEN_ENCODING: &str = "${project.build.sourceEncoding}";

/// Returns true if the fragment is one for sources in Rust.
pub(super) fn is_for_rust(build: Build, survey: &Survey) -> bool {
    build == Build::Cargo || (build == Build::Soong && survey.is_rust())
}

/// The fragment for a build, with the findings put in.
pub(super) fn fill(build: Build, survey: &Survey) -> String {
    if build == Build::Soong && is_for_rust(build, survey) {
        return fill_rust(include_str!("fragments/Android.rust.bp"), survey);
    }
    let template = match build {
        Build::Cargo => include_str!("fragments/Cargo.toml"),
        Build::Maven => include_str!("fragments/pom.xml"),
        Build::GradleKotlin => include_str!("fragments/build.gradle.kts"),
        Build::Gradle => include_str!("fragments/build.gradle"),
        Build::Bazel => include_str!("fragments/BUILD"),
        Build::Soong => include_str!("fragments/Android.bp"),
    };
    let root = survey.source_root();
    let groups = survey.all_groups().first().map_or_else(
        || GroupClass {
            class: "com.foo.AppLog".to_owned(),
            source: root.join("com/foo/AppLog.java"),
        },
        |found| (*found).clone(),
    );
    let class = survey.android_class.unwrap_or("dev.protolog.ProtoLog");
    // The template of the class that rewritten code calls is in Android's sources.
    let is_kept = |line: &&str| survey.android_class.is_some() || !line.contains(":protolog-impl");
    let template: String = template.split_inclusive('\n').filter(is_kept).collect();
    let root = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root };
    template
        .replace("@GROUPS@", &groups.class)
        .replace("@GROUPS_SOURCE@", &groups.source.to_string_lossy())
        .replace("@ROOT@", &root.to_string_lossy())
        .replace("@ENCODING@", if survey.names_encoding { MAVEN_ENCODING } else { "UTF-8" })
        .replace("@CLASS@", class)
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
}

/// A rule for a crate: its root first, as Soong wants it.
fn fill_rust(template: &str, survey: &Survey) -> String {
    let is_named = |path: &&PathBuf| path.ends_with("main.rs") || path.ends_with("lib.rs");
    let roots = survey.all_rust.iter().filter(is_named);
    let root = roots.min_by_key(|path| path.components().count()).unwrap_or(&survey.rust[0]);
    let below = root.parent().unwrap_or(Path::new(""));
    let others = survey.all_rust.iter().filter(|path| *path != root && path.starts_with(below));
    let sources: Vec<String> =
        [root].into_iter().chain(others).map(|path| format!("\"{}\"", path.display())).collect();
    let location = format!("$(location {})", root.display());
    let directory = root.components().fold(location, |path, _| format!("$$(dirname {path})"));
    template
        .replace("@ROOT@", &root.to_string_lossy())
        .replace("@SOURCES@", &sources.join(", "))
        .replace("@DIRECTORY@", &directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Transform;
    use clap::{Args, ValueEnum};

    fn survey() -> Survey {
        let source = "src/main/java/app/AppLog.java".into();
        Survey {
            groups: vec![GroupClass { class: "app.AppLog".into(), source }],
            names_encoding: true,
            ..Survey::default()
        }
    }

    /// That project is built and run by `cargo xtask test java`.
    #[test]
    fn the_fragment_for_maven_is_part_of_the_project_that_is_tested() {
        let project = include_str!("../../../../integrations/maven/pom.xml");
        let mut lines = project.lines().map(str::trim);
        for line in fill(Build::Maven, &survey()).lines().map(str::trim) {
            if !line.is_empty() && !line.starts_with("<!--") {
                assert!(lines.any(|other| other == line), "`{line}`");
            }
        }
    }

    /// The script in Groovy is built and run by `cargo xtask test java`.
    #[test]
    fn the_fragments_for_gradle_are_the_scripts_of_integrations() {
        let scripts = [
            (Build::Gradle, include_str!("../../../../integrations/gradle/protolog.gradle")),
            (
                Build::GradleKotlin,
                include_str!("../../../../integrations/gradle/protolog.gradle.kts"),
            ),
        ];
        for (build, script) in scripts {
            assert_eq!(fill(build, &survey()), script);
        }
    }

    #[test]
    fn every_flag_is_one_of_the_tool() {
        let table = Transform::augment_args(clap::Command::new("transform-protolog-calls"));
        let known: Vec<String> = table
            .get_arguments()
            .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
            .collect();
        for build in Build::value_variants() {
            let text = fill(*build, &survey());
            assert!(!text.contains('@'), "{text}");
            let words = text.split(|c: char| !(c.is_alphanumeric() || c == '-'));
            let mut flags =
                words.filter(|word| word.starts_with("--") && word.len() > 2).peekable();
            assert_eq!(flags.peek().is_some(), *build != Build::Cargo, "{build:?}");
            for flag in flags {
                assert!(known.iter().any(|it| it == flag), "{build:?}: {flag}");
            }
        }
    }
}
