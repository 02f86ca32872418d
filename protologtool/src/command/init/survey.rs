//! The sources of a project, as far as a build rule names them: which have log calls, and where the
//! groups are.
//!
//! A look at words, without parsing: the findings are shown to a person, who knows the project.

use super::build::Build;
use crate::exit::Failure;
use crate::lang::Kind;
use crate::lang::java::lexer::{self, Token, TokenKind};
use crate::lang::kotlin::package as kotlin;
use crate::output::cant_read;
use crate::system::System;
use memchr::memmem::Finder;
use std::path::{Path, PathBuf};

/// The most bytes of a project's file that are looked at.
const MAX_POM: u64 = 1 << 20;

/// The end of the name of the interface that enums of groups implement: `IProtoLogGroup`, or one of
/// the program's.
const INTERFACE: &[u8] = b"ProtoLogGroup";
/// Those of Android 15 and of later releases.
const ANDROID_CLASSES: [&str; 2] =
    ["com.android.internal.protolog.common.ProtoLog", "com.android.internal.protolog.ProtoLog"];
/// Directories that builds write to.
const OUTPUTS: [&str; 5] = ["target", "build", "out", "bin", "node_modules"];

/// The findings in a project.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Sources in Java with log calls, relative to the project, as are all paths here; sorted.
    pub(super) java: Vec<PathBuf>,
    /// Those in Kotlin.
    pub(super) kotlin: Vec<PathBuf>,
    /// Those in Rust.
    pub(super) rust: Vec<PathBuf>,
    /// All sources in Rust, with calls or without.
    pub(super) all_rust: Vec<PathBuf>,
    /// The classes of groups, those of tests last.
    pub(super) groups: Vec<GroupClass>,
    /// Those of other modules of the project, in the same order.
    pub(super) other_groups: Vec<GroupClass>,
    /// The modules below, which have build files of their own, with the number of their sources
    /// with log calls. Nothing of theirs but groups is counted elsewhere.
    pub(super) modules: Vec<(PathBuf, usize)>,
    /// Android's class with the log methods, if that is what the calls are of.
    pub(super) android_class: Option<&'static str>,
    /// True if Maven's file says how sources are encoded.
    pub(super) names_encoding: bool,
}

/// An enum whose constants are groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupClass {
    /// Its name with its package.
    pub(super) class: String,
    /// Its source.
    pub(super) source: PathBuf,
}

impl Survey {
    /// Looks at the sources below `project`, where directories with a build file of `build` are
    /// modules.
    pub(super) fn of(project: &Path, build: Build, system: &dyn System) -> Result<Self, Failure> {
        let pom = system.read_found(&project.join("pom.xml"), MAX_POM).unwrap_or_default();
        let names_encoding =
            memchr::memmem::find(&pom, b"<project.build.sourceEncoding>").is_some();
        let mut survey = Self { names_encoding, ..Self::default() };
        let mut open = vec![(PathBuf::new(), None)];
        while let Some((directory, mut module)) = open.pop() {
            let path = project.join(&directory);
            let mut entries = system.entries(&path).map_err(|error| cant_read(&path, &error))?;
            entries.sort_by(|a, b| a.path.cmp(&b.path));
            let name =
                |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_module =
                entries.iter().any(|it| !it.is_directory && build.has_file(&name(&it.path)));
            if is_module && !directory.as_os_str().is_empty() {
                module = Some(survey.modules.len());
                survey.modules.push((directory.clone(), 0));
            }
            for entry in entries {
                let name = name(&entry.path);
                let below = directory.join(&name);
                if !entry.is_directory {
                    survey.look_at(&entry.path, below, module, system)?;
                } else if is_searched(&name) {
                    open.push((below, module));
                }
            }
        }
        survey.sort();
        Ok(survey)
    }

    fn sort(&mut self) {
        for list in [&mut self.java, &mut self.kotlin, &mut self.rust, &mut self.all_rust] {
            list.sort();
        }
        for groups in [&mut self.groups, &mut self.other_groups] {
            groups.sort_by_key(|group| (is_test(&group.source), group.source.clone()));
        }
        self.modules.sort();
    }

    /// The classes of groups: its own before those of other modules.
    pub(super) fn all_groups(&self) -> Vec<&GroupClass> {
        self.groups.iter().chain(&self.other_groups).collect()
    }

    /// Returns true if all calls are in Rust.
    pub(super) fn is_rust(&self) -> bool {
        self.java.is_empty() && self.kotlin.is_empty() && !self.rust.is_empty()
    }

    /// The number of sources with log calls.
    pub(super) fn sources_with_calls(&self) -> usize {
        self.java.len() + self.kotlin.len() + self.rust.len()
    }

    /// The directory that packages begin in; from the place of the groups, or of the first source.
    pub(super) fn source_root(&self) -> PathBuf {
        if let Some(root) = self.groups.first().and_then(GroupClass::source_root) {
            return root;
        }
        let maven = Path::new("src/main/java");
        let first = self.java.iter().chain(&self.kotlin).next();
        match first {
            Some(first) if !first.starts_with(maven) => {
                first.components().next().map(|first| first.as_os_str().into()).unwrap_or_default()
            }
            _ => maven.to_path_buf(),
        }
    }

    /// Looks at a file, of the module with that number or of none.
    fn look_at(
        &mut self,
        path: &Path,
        below: PathBuf,
        module: Option<usize>,
        system: &dyn System,
    ) -> Result<(), Failure> {
        let Some(kind) = Kind::of_path(path) else { return Ok(()) };
        let bytes = system.read(path).map_err(|error| cant_read(path, &error))?;
        let has = |text: &str| Finder::new(text).find(&bytes).is_some();
        if kind == Kind::Rust && module.is_none() {
            self.all_rust.push(below.clone());
        }
        if kind != Kind::Rust {
            let found = group_enums(kind, &bytes);
            let groups = if module.is_some() { &mut self.other_groups } else { &mut self.groups };
            let classes = found.into_iter();
            groups.extend(classes.map(|class| GroupClass { class, source: below.clone() }));
        }
        let has_calls = if kind == Kind::Rust { has("protolog_rt") } else { has("ProtoLog.") };
        if !has_calls {
            return Ok(());
        }
        if let Some(module) = module {
            self.modules[module].1 += 1;
            return Ok(());
        }
        if kind != Kind::Rust {
            let android = ANDROID_CLASSES.into_iter().find(|class| has(class));
            self.android_class = self.android_class.or(android);
        }
        match kind {
            Kind::Java => self.java.push(below),
            Kind::Kotlin => self.kotlin.push(below),
            Kind::Rust => self.rust.push(below),
        }
        Ok(())
    }
}

impl GroupClass {
    /// The directory that the package begins in, if the source is where its package says.
    fn source_root(&self) -> Option<PathBuf> {
        let directory = self.source.parent()?;
        let package = self.class.rsplit_once('.').map_or("", |(package, _)| package);
        let root = directory.to_str()?.strip_suffix(&package.replace('.', "/"))?;
        Some(PathBuf::from(if root == "/" { root } else { root.trim_end_matches('/') }))
    }
}

/// The enums of a source that implement the interface of groups, with their package; Kotlin's
/// tokens are alike enough.
fn group_enums(kind: Kind, bytes: &[u8]) -> Vec<String> {
    if Finder::new(INTERFACE).find(bytes).is_none() {
        return Vec::new();
    }
    let package = match kind {
        Kind::Kotlin => kotlin::package(&String::from_utf8_lossy(bytes)).unwrap_or_default(),
        _ => lexer::package(bytes),
    };
    let tokens: Vec<Token> =
        lexer::tokens(bytes).filter(|token| token.kind != TokenKind::Comment).collect();
    let text = |token: &Token| &bytes[token.range()];
    let mut found = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| text(token) == b"enum") {
        let mut rest = tokens[at + 1..].iter().filter(|token| text(token) != b"class");
        let Some(name) = rest.next().filter(|token| token.kind == TokenKind::Word) else {
            continue;
        };
        let is_head = |token: &&Token| token.kind != TokenKind::Punct(b'{');
        if rest.take_while(is_head).any(|token| text(token).ends_with(INTERFACE)) {
            let name = String::from_utf8_lossy(text(name));
            let dot = if package.is_empty() { "" } else { "." };
            found.push(format!("{package}{dot}{name}"));
        }
    }
    found
}

fn is_searched(name: &str) -> bool {
    !name.starts_with('.') && !name.starts_with("bazel-") && !OUTPUTS.contains(&name)
}

fn is_test(path: &Path) -> bool {
    path.components()
        .any(|part| matches!(part.as_os_str().to_str(), Some("test" | "tests" | "androidTest")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enums_of_groups() {
        let cases: [(&str, &[&str]); 5] = [
            ("package a.b; enum Log implements IProtoLogGroup { A }", &["a.b.Log"]),
            ("public enum Log implements X, dev.protolog.IProtoLogGroup {}", &["Log"]),
            ("enum Other { A } // IProtoLogGroup", &[]),
            ("enum Other { A } class C { IProtoLogGroup g; }", &[]),
            ("enum", &[]),
        ];
        for (source, expected) in cases {
            assert_eq!(group_enums(Kind::Java, source.as_bytes()), expected, "{source}");
        }
        let kotlin = "package a\nenum class Log(val tag: String) : IProtoLogGroup { A(\"a\") }";
        assert_eq!(group_enums(Kind::Kotlin, kotlin.as_bytes()), ["a.Log"]);
    }

    #[test]
    fn packages_begin_where_the_groups_say() {
        let cases = [
            ("a.b.Log", "src/main/java/a/b/Log.java", Some("src/main/java")),
            ("Log", "src/Log.java", Some("src")),
            ("a.Log", "a/Log.java", Some("")),
            ("a.Log", "src/Log.java", None),
        ];
        for (class, source, expected) in cases {
            let group = GroupClass { class: class.into(), source: source.into() };
            assert_eq!(group.source_root(), expected.map(PathBuf::from), "{source}");
        }
    }
}
