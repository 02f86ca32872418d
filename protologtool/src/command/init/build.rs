//! The builds that `init` writes for, and how each is recognized.

use crate::exit::Failure;
use crate::system::System;
use clap::ValueEnum;
use std::path::Path;

/// A build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Build {
    /// Cargo, for Rust
    Cargo,
    /// Maven
    Maven,
    /// Gradle, with scripts in Kotlin
    GradleKotlin,
    /// Gradle, with scripts in Groovy
    Gradle,
    /// Bazel
    Bazel,
    /// Android's build
    Soong,
}

/// Names of build files. A project with several of them builds with the first: a project of Bazel
/// or Soong often carries manifests for other tools.
const FILES: [(&str, Build); 10] = [
    ("Android.bp", Build::Soong),
    ("MODULE.bazel", Build::Bazel),
    ("WORKSPACE", Build::Bazel),
    ("WORKSPACE.bazel", Build::Bazel),
    ("BUILD", Build::Bazel),
    ("BUILD.bazel", Build::Bazel),
    ("pom.xml", Build::Maven),
    ("build.gradle.kts", Build::GradleKotlin),
    ("build.gradle", Build::Gradle),
    ("Cargo.toml", Build::Cargo),
];

impl Build {
    /// The build of a project; an error if it has no build file, or those of several builds.
    pub(super) fn of_directory(directory: &Path, system: &dyn System) -> Result<Self, Failure> {
        let mut there: Vec<(&str, Self)> =
            FILES.into_iter().filter(|(name, _)| system.is_file(&directory.join(name))).collect();
        there.dedup_by_key(|(_, build)| *build);
        match there.as_slice() {
            [] => Err(Failure::new(format!("no build file in `{}`", directory.display())).help(
                "run it in the directory of `pom.xml`, `build.gradle`, `BUILD`, `Android.bp` or `Cargo.toml`, name a build with `--build`, or run `protologtool transform-protolog-calls` before the compiler",
            )),
            [(_, build)] => Ok(*build),
            several => {
                let names: Vec<String> = several.iter().map(|(name, _)| format!("`{name}`")).collect();
                let message =
                    format!("several builds in `{}`: {}", directory.display(), names.join(", "));
                Err(Failure::new(message).help("name one of them with `--build`"))
            }
        }
    }

    /// Returns true for the name of a build file of this build: a directory with one is a module,
    /// with a step of its own.
    pub(super) fn has_file(self, name: &str) -> bool {
        let is_same = |build: Self| build.title() == self.title();
        FILES.iter().any(|(file, build)| *file == name && is_same(*build))
    }

    /// Returns whether a module may name sources of another one by their path.
    pub(super) fn shares_groups(self) -> bool {
        matches!(self, Self::Maven | Self::Gradle | Self::GradleKotlin)
    }

    /// Returns true if the directory has a build file of this build, or settings that name its
    /// modules.
    pub(super) fn has_project(self, directory: &Path, system: &dyn System) -> bool {
        let settings = ["settings.gradle", "settings.gradle.kts"];
        let names = FILES.iter().map(|(name, _)| *name).filter(|name| self.has_file(name));
        let has = |name: &str| system.is_file(&directory.join(name));
        names.chain(settings.into_iter().filter(|_| self.title() == "Gradle")).any(has)
    }

    /// Its name, for people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Cargo => "Cargo",
            Self::Maven => "Maven",
            Self::GradleKotlin | Self::Gradle => "Gradle",
            Self::Bazel => "Bazel",
            Self::Soong => "Android's build",
        }
    }

    /// Returns whether the fragment names the class of groups. In Rust the groups are those that
    /// derive `ProtoLogGroup`.
    pub(super) fn takes_groups(self) -> bool {
        self != Self::Cargo
    }

    /// The place of the fragment, after "put this".
    pub(super) fn place(self) -> &'static str {
        match self {
            Self::Cargo => "into `Cargo.toml`; the macros need no other step",
            Self::Maven => "into `pom.xml`, each part into the element that it names",
            Self::GradleKotlin => "at the end of `build.gradle.kts`",
            Self::Gradle => "at the end of `build.gradle`",
            Self::Bazel => "into `BUILD`, and the tool into `bin` beside it",
            Self::Soong => "into `Android.bp`, and the tool into `bin` beside it",
        }
    }

    /// The way to the runtime, where a fragment needs its sources or its jar.
    pub(super) fn runtime(self) -> Option<String> {
        let jar = concat!("target/java/jars/protolog-", env!("CARGO_PKG_VERSION"), ".jar");
        let made = format!("run `cargo xtask jar` in a copy of protolog for the runtime, `{jar}`");
        match self {
            Self::Maven => Some(format!(
                "{made}, and put it into your repository by `mvn install:install-file -Dfile=../protolog/{jar}`"
            )),
            Self::GradleKotlin | Self::Gradle => Some(format!(
                "{made}; of a copy that is not `../protolog` name it by `-PprotologRuntime=FILE`"
            )),
            Self::Bazel => Some(format!("{made}, and put it into `bin` too")),
            Self::Cargo => Some(
                "run `git clone REPOSITORY ../protolog` for the runtime, or name another copy by `path`"
                    .to_owned(),
            ),
            Self::Soong => None,
        }
    }

    /// The use of a fragment in a file of its own, after "use `FILE`".
    pub(super) fn use_of_file(self) -> &'static str {
        match self {
            Self::GradleKotlin => "by `apply(from = …)` in `build.gradle.kts`",
            Self::Gradle => "by `apply from: …` in `build.gradle`",
            _ => "to copy from",
        }
    }
}
