//! `cargo xtask jar`: the Java runtime and its bridges as jars, in `target/java/jars`.
//!
//! With the same JDK the same sources give the same bytes, wherever and whenever. The bridges from
//! SLF4J, Log4j and Logback are compiled with the real libraries; where these are not, those jars
//! are left out, and that is said. Each jar carries its coordinates and dependencies in Maven's
//! form, so that `mvn install:install-file -Dfile=…` needs no more than its name.

pub(crate) mod repository;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::loggers::{self, Loggers};
use crate::{Result, install, java, shell, tools, workspace};

/// The version of this project.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The group of all jars in Maven's coordinates.
const GROUP: &str = "dev.protolog";
/// The jar that all others need.
const RUNTIME: &str = "protolog";
/// The time of all files in a jar; the earliest that the format has.
const DATE: &str = "1980-01-01T00:00:02Z";

/// The description of a project in a POM, for people.
const ABOUT: &str = include_str!("jar/about.xml");

/// A jar.
struct Jar {
    name: &'static str,
    /// A sentence for people who find it in a repository.
    about: &'static str,
    /// The folder of its sources, and of `META-INF`.
    folder: &'static str,
    /// The folder of its module descriptor; without one, the jar is an automatic module of a fixed
    /// name.
    module: Result<&'static str, &'static str>,
    /// The jars that it is compiled with beside the runtime.
    needs: fn(&Loggers) -> Vec<PathBuf>,
    /// True if it has plugins of Log4j, which Log4j's processor lists.
    has_plugins: bool,
    /// The library that programs bring along beside it, if it is not in the JDK: group, artifact
    /// and version for Maven.
    library: Option<[&'static str; 3]>,
}

/// A jar of a named module that needs only the JDK, and the runtime.
const fn jar(name: &'static str, about: &'static str, folder: &'static str) -> Jar {
    Jar {
        name,
        about,
        folder,
        module: Ok(folder),
        needs: |_| vec![],
        has_plugins: false,
        library: None,
    }
}

const JARS: [Jar; 6] = [
    Jar {
        module: Ok("java/module"),
        ..jar(
            RUNTIME,
            "Logs as Perfetto traces: log calls whose texts stay out of the program, and the sessions that record them.",
            "java/src",
        )
    },
    jar("protolog-jul", "Records what programs log by java.util.logging.", "java/bridges/jul"),
    jar(
        "protolog-system-logger",
        "Records what programs log by System.Logger.",
        "java/bridges/system-logger",
    ),
    Jar {
        needs: |loggers| vec![loggers.slf4j()],
        library: Some(["org.slf4j", "slf4j-api", "2.0.18"]),
        ..jar("protolog-slf4j", "Records what programs log by SLF4J.", "java/bridges/slf4j")
    },
    Jar {
        // Log4j's core is no module in all its packages.
        module: Err("dev.protolog.log4j"),
        needs: Loggers::log4j,
        has_plugins: true,
        library: Some(["org.apache.logging.log4j", "log4j-core", "2.19.0"]),
        ..jar(
            "protolog-log4j",
            "An appender of Log4j that records what it is given.",
            "java/bridges/log4j",
        )
    },
    Jar {
        // Logback 1.2 is no module.
        module: Err("dev.protolog.logback"),
        needs: Loggers::logback,
        library: Some(["ch.qos.logback", "logback-classic", "1.2.11"]),
        ..jar(
            "protolog-logback",
            "An appender of Logback that records what it is given.",
            "java/bridges/logback",
        )
    },
];

/// The processor of Log4j that lists plugins, and the list, by which Log4j finds them.
const PLUGIN_PROCESSOR: &str =
    "org.apache.logging.log4j.core.config.plugins.processor.PluginProcessor";
const PLUGINS: &str = "META-INF/org/apache/logging/log4j/core/config/plugins/Log4j2Plugins.dat";

/// The jars that were built.
pub(crate) struct Built {
    pub(crate) files: Vec<PathBuf>,
}

impl Built {
    /// The jar of the runtime.
    pub(crate) fn runtime(&self) -> &Path {
        &self.files[0]
    }
}

/// Builds the jars, and says where they are.
pub(crate) fn run() -> Result<()> {
    if !install::prepare(&[tools::JAVA], false).is_empty() {
        return Err("the jars need a JDK".to_owned());
    }
    let loggers = loggers::find();
    let built = build("jars", loggers.as_ref().ok())?;
    for file in &built.files {
        let size = fs::metadata(file).map_or(0, |metadata| metadata.len().div_ceil(1024));
        println!("{} ({size} KB)", workspace::shown(file));
    }
    if let Err(why) = loggers {
        println!(
            "left out: the bridges from SLF4J, Log4j and Logback because {why} (`cargo xtask setup jar`)"
        );
    }
    Ok(())
}

/// Builds the runtime's jar into the folder `name` of `target/java`.
pub(crate) fn build_runtime(name: &str) -> Result<PathBuf> {
    let dir = workspace::empty_target(&format!("java/{name}"))?;
    JARS[0].build(&dir, &[])
}

/// Builds the jars into the folder `name` of `target/java`; without `loggers` those that need only
/// the JDK.
pub(crate) fn build(name: &str, loggers: Option<&Loggers>) -> Result<Built> {
    let dir = workspace::empty_target(&format!("java/{name}"))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for jar in &JARS {
        let needs = match (loggers, jar.library) {
            (Some(loggers), _) => (jar.needs)(loggers),
            (None, None) => vec![],
            (None, Some(_)) => continue,
        };
        let path = [files.first().cloned().into_iter().collect(), needs].concat();
        files.push(jar.build(&dir, &path)?);
    }
    Ok(Built { files })
}

impl Jar {
    fn build(&self, dir: &Path, path: &[PathBuf]) -> Result<PathBuf> {
        let classes = dir.join("classes").join(self.name);
        workspace::empty_dir(&classes)?;
        let path = env::join_paths(path).map_err(|error| error.to_string())?;
        let mut sources = java::sources(self.folder)?;
        let mut javac = java::javac();
        javac
            .args(["-encoding", "UTF-8", "--release", "17", "-Xlint:all", "-Werror", "-d"])
            .arg(&classes);
        match self.module {
            Ok(module) => {
                let descriptor = Path::new(module).join("module-info.java");
                sources.retain(|source| *source != descriptor);
                sources.push(descriptor);
                javac.args(["-proc:none", "--module-version", VERSION, "--module-path"]).arg(&path);
            }
            Err(_) => {
                javac.args(processors(self.has_plugins));
                // The libraries' classes have annotations of others that are not there.
                javac.args(["-Xlint:-classfile", "-Xlint:-processing", "-classpath"]).arg(&path);
            }
        }
        shell::run_without_output(javac.args(&sources).current_dir(workspace::root()))?;
        if self.has_plugins {
            check_plugins(self.name, &classes)?;
        }
        let services = workspace::root().join(self.folder).join("META-INF");
        if services.is_dir() {
            workspace::copy(services, &classes)?;
        }
        // Where Maven looks for it in a jar.
        let pom = format!("META-INF/maven/{GROUP}/{}/pom.xml", self.name);
        workspace::write(classes.join(pom), self.pom())?;
        self.pack(dir, &classes)
    }

    /// The POM: coordinates, dependencies, and the fields that a repository requires.
    fn pom(&self) -> String {
        let runtime = (self.name != RUNTIME).then_some([GROUP, RUNTIME, VERSION]);
        let needed = |coordinates: [&str; 3], scope| {
            format!(
                "    <dependency>\n{}      <scope>{scope}</scope>\n    </dependency>\n",
                tags(coordinates, 6)
            )
        };
        let dependencies = [(runtime, "compile"), (self.library, "provided")]
            .into_iter()
            .filter_map(|(coordinates, scope)| Some(needed(coordinates?, scope)))
            .collect::<String>();
        let about = ABOUT.replace("@NAME@", self.name).replace("@ABOUT@", self.about);
        format!(
            "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <modelVersion>4.0.0</modelVersion>\n{}{}  \
             <dependencies>\n{dependencies}  </dependencies>\n</project>\n",
            tags([GROUP, self.name, VERSION], 2),
            about.replace("@URL@", env!("CARGO_PKG_REPOSITORY"))
        )
    }

    fn pack(&self, dir: &Path, classes: &Path) -> Result<PathBuf> {
        let file = dir.join(format!("{}-{VERSION}.jar", self.name));
        let mut lines =
            format!("Implementation-Title: {}\nImplementation-Version: {VERSION}\n", self.name);
        if let Err(module) = self.module {
            lines.extend(["Automatic-Module-Name: ", module, "\n"]);
        }
        let manifest = dir.join("classes").join(format!("{}.manifest", self.name));
        workspace::write(&manifest, lines)?;
        let manifest = manifest.to_string_lossy();
        let version = ["--module-version", VERSION];
        let version = if self.module.is_ok() { &version[..] } else { &[] };
        let files = files_below(classes, Path::new(""));
        pack(&file, classes, &files, &[&["--manifest", &manifest], version].concat())?;
        Ok(file)
    }
}

/// Packs `files`, which are relative to `dir`, in this order, and with one time for all.
fn pack(jar: &Path, dir: &Path, files: &[PathBuf], options: &[&str]) -> Result<()> {
    let list = list_of(files, jar)?;
    let mut command = Command::new("jar");
    command.args(["--create", "--date", DATE, "--file"]).arg(jar).args(options);
    shell::run_quietly(command.arg(format!("@{}", list.display())).current_dir(dir))?;
    fs::remove_file(&list).map_err(|error| format!("can't remove `{}`: {error}", list.display()))
}

/// Writes the names of files beside `output`, for a command line that they are too many for.
fn list_of(files: &[PathBuf], output: &Path) -> Result<PathBuf> {
    let list = output.with_extension("list");
    let names: Vec<_> = files.iter().map(|file| format!("{}\n", file.display())).collect();
    workspace::write(&list, names.concat()).map(|()| list)
}

/// The options of javac for annotation processors. A newer JDK runs none that is not named.
fn processors(has_plugins: bool) -> &'static [&'static str] {
    if has_plugins { &["-processor", PLUGIN_PROCESSOR] } else { &["-proc:none"] }
}

/// An error unless Log4j's processor has listed the plugins among the classes of a jar: without the
/// list Log4j finds none of them, and says nothing.
fn check_plugins(jar: &str, classes: &Path) -> Result<()> {
    if classes.join(PLUGINS).is_file() {
        return Ok(());
    }
    let help = "look at javac's annotation processors";
    Err(format!("`{jar}` has no `{PLUGINS}`, so Log4j would not find it\nhelp: {help}"))
}

/// Coordinates as elements of a POM, each on a line of its own.
fn tags(coordinates: [&str; 3], indent: usize) -> String {
    let [group, artifact, version] = coordinates;
    let blank = " ".repeat(indent);
    format!(
        "{blank}<groupId>{group}</groupId>\n{blank}<artifactId>{artifact}</artifactId>\n{blank}<version>{version}</version>\n"
    )
}

/// The files in `dir`, at any depth, sorted, each relative to it.
fn files_below(dir: &Path, below: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in workspace::entries(dir.join(below)) {
        let path = below.join(entry.file_name().unwrap_or_default());
        if entry.is_dir() {
            files.extend(files_below(dir, &path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jar_of_plugins_without_their_list_is_refused() {
        let classes = env::temp_dir().join(format!("protolog-plugins-{}", std::process::id()));
        let list = classes.join(PLUGINS);
        fs::create_dir_all(list.parent().unwrap()).unwrap();
        let refused = check_plugins("protolog-log4j", &classes).unwrap_err();
        assert!(refused.starts_with("`protolog-log4j` has no `META-INF/"), "{refused}");
        fs::write(&list, "a plugin").unwrap();
        assert_eq!(check_plugins("protolog-log4j", &classes), Ok(()));
        fs::remove_dir_all(classes).unwrap();
    }

    /// A JDK from 23 on runs no processor that is not named.
    #[test]
    fn the_processor_of_plugins_is_named_where_there_are_some() {
        let with: Vec<_> = JARS.iter().filter(|jar| jar.has_plugins).map(|jar| jar.name).collect();
        assert_eq!(with, ["protolog-log4j"]);
        let processors = |jar: &Jar| processors(jar.has_plugins).concat();
        for jar in &JARS {
            let expected = if jar.has_plugins { "-processor" } else { "-proc:none" };
            assert!(processors(jar).starts_with(expected), "{}", jar.name);
        }
    }
}
