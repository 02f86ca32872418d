//! The fragments, as texts with places for the findings. Where a build of `integrations/` is run by
//! a test, the fragment is a part of it, which another test compares.

use super::build::Build;
use super::survey::{GroupClass, Survey};
use std::borrow::Cow;
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
        Build::Cargo => include_str!("fragments/dependencies.toml"),
        Build::Maven => include_str!("fragments/pom.xml"),
        Build::GradleKotlin => include_str!("fragments/build.gradle.kts"),
        Build::Gradle => include_str!("fragments/build.gradle"),
        Build::Bazel => include_str!("fragments/BUILD"),
        Build::Soong => include_str!("fragments/Android.bp"),
    };
    let root = survey.source_root();
    let groups = groups(survey);
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

/// The class of groups that the fragment names.
fn groups(survey: &Survey) -> GroupClass {
    let none = || GroupClass {
        class: "com.foo.AppLog".to_owned(),
        source: survey.source_root().join("com/foo/AppLog.java"),
    };
    survey.all_groups().first().map_or_else(none, |found| (*found).clone())
}

/// Returns a name that a fragment would hold and that would not be text in it: builds run text
/// between quotes and parentheses, and the author of the project has chosen its names.
pub(super) fn unsuitable_name(build: Build, survey: &Survey) -> Option<String> {
    let names: Vec<PathBuf> = match build {
        Build::Cargo => Vec::new(),
        _ if is_for_rust(build, survey) => survey.all_rust.clone(),
        _ => {
            let GroupClass { class, source } = groups(survey);
            vec![class.into(), source, survey.source_root()]
        }
    };
    // Where names are words of a command for a shell, a space ends them.
    let takes_spaces = !matches!(build, Build::Bazel | Build::Soong);
    let is_text = |char: char| {
        char.is_alphanumeric() || "_-./+=,~".contains(char) || takes_spaces && char == ' '
    };
    let mut names = names.iter().map(|name| name.to_string_lossy());
    names.find(|name| !name.chars().all(is_text)).map(Cow::into_owned)
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
    fn names_stay_text_in_every_build() {
        let unsuitable = |build, class: &str, source: &str| {
            let groups = vec![GroupClass { class: class.into(), source: source.into() }];
            unsuitable_name(build, &Survey { groups, ..Survey::default() })
        };
        for build in Build::value_variants().iter().copied().filter(|it| *it != Build::Cargo) {
            let fine = "straße-1.0/src_2/c++/app/AppLog.kt";
            assert_eq!(unsuitable(build, "app.AppLog", fine), None);
            for char in "\"'`$(){}<>&;|\\\n\x1b\u{202e}*#:@%!?".chars() {
                let source = format!("src{char}/app/AppLog.java");
                assert_eq!(unsuitable(build, "app.AppLog", &source), Some(source), "{build:?}");
                let class = format!("app.App{char}Log");
                assert_eq!(unsuitable(build, &class, "a/AppLog.java"), Some(class), "{build:?}");
            }
            let is_shell = matches!(build, Build::Bazel | Build::Soong);
            assert_eq!(unsuitable(build, "app.AppLog", "my src/a/AppLog.java").is_some(), is_shell);
        }
        let survey = Survey {
            rust: vec!["a.rs".into()],
            all_rust: vec!["a.rs".into(), "b\".rs".into()],
            ..Survey::default()
        };
        assert_eq!(unsuitable_name(Build::Soong, &survey).as_deref(), Some("b\".rs"));
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
