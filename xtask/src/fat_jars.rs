//! The result of Maven's plugins for the dictionaries of two jars when they put both into one, as
//! `docs/guides/java.md` says it.
//!
//! Debian's Maven builds the jars offline, in a repository of its own whose other files are links
//! to Debian's.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, maven, shell, tools, workspace};

/// The place of a dictionary in a jar.
const DICTIONARY: &str = "META-INF/protolog/dictionary.pb";

/// A way to make one jar of several: the plugin, its goal and configuration, the jar, and the
/// dictionary that it then has.
struct FatJar {
    plugin: &'static str,
    goal: &'static str,
    configuration: &'static str,
    jar: &'static str,
    dictionary: &'static str,
}

/// A jar that the plugin to shade makes.
const SHADED: FatJar = FatJar {
    plugin: "maven-shade-plugin",
    goal: "shade",
    configuration: "",
    jar: "app-1.0.jar",
    dictionary: "of one",
};

const FAT_JARS: [FatJar; 3] = [
    SHADED,
    FatJar {
        configuration: "<transformers><transformer implementation='org.apache.maven.plugins.shade.resource.AppendingTransformer'>\
                        <resource>META-INF/protolog/dictionary.pb</resource></transformer></transformers>",
        dictionary: "of one\nof two\n",
        ..SHADED
    },
    FatJar {
        plugin: "maven-assembly-plugin",
        goal: "single",
        configuration: "<descriptorRefs><descriptorRef>jar-with-dependencies</descriptorRef></descriptorRefs>",
        jar: "app-1.0-jar-with-dependencies.jar",
        ..SHADED
    },
];

/// Makes the jars in each way, and compares the dictionaries.
pub(crate) fn test() -> Result<()> {
    let dir = workspace::empty_target("java/fat-jars")?;
    maven::link_repository(&dir)?;
    for name in ["one", "two"] {
        let jar = library(&dir, name)?;
        let of = [format!("-Dfile={}", jar.display()), format!("-DartifactId={name}")];
        let rest = ["-DgroupId=com.example", "-Dversion=1.0", "-Dpackaging=jar"];
        let mut install = maven::command(&dir, &dir);
        shell::run_without_output(install.arg("install:install-file").args(of).args(rest))?;
    }
    for (number, fat) in FAT_JARS.iter().enumerate() {
        let project = dir.join(number.to_string());
        workspace::write(project.join("src/main/java/Main.java"), "class Main {}")?;
        workspace::write(project.join("pom.xml"), &pom(fat)?)?;
        shell::run_without_output(maven::command(&dir, &project).arg("package"))?;
        let jar = project.join("target").join(fat.jar);
        let mut unzip = Command::new("unzip");
        // `read` cuts white space at the end.
        let found = shell::read(unzip.arg("-p").arg(&jar).arg(DICTIONARY))?;
        if found.trim_end() != fat.dictionary.trim_end() {
            return Err(format!("{}: dictionaries are `{found}`", fat.plugin));
        }
    }
    Ok(())
}

/// Makes a jar whose dictionary says which one it is.
fn library(dir: &Path, name: &str) -> Result<PathBuf> {
    let (folder, jar) = (dir.join(name), dir.join(format!("{name}.jar")));
    workspace::write(folder.join(DICTIONARY), format!("of {name}"))?;
    let mut command = Command::new("jar");
    command.arg("cf").arg(&jar).arg("-C").arg(&folder).arg("META-INF");
    shell::run_quietly(&mut command)?;
    Ok(jar)
}

/// A project that depends on both jars.
fn pom(fat: &FatJar) -> Result<String> {
    let FatJar { plugin, goal, configuration, .. } = fat;
    let version = version(plugin)?;
    let dependency = |name| {
        format!(
            "<dependency><groupId>com.example</groupId><artifactId>{name}</artifactId><version>1.0</version></dependency>"
        )
    };
    let dependencies = ["one", "two"].map(dependency).concat();
    let fragment = format!(
        "<!-- <dependencies> -->\n{dependencies}\n<!-- <build><plugins> -->\n<plugin>\
         <groupId>org.apache.maven.plugins</groupId><artifactId>{plugin}</artifactId><version>{version}</version>\
         <configuration>{configuration}</configuration><executions><execution><phase>package</phase>\
         <goals><goal>{goal}</goal></goals></execution></executions></plugin>\n"
    );
    maven::put_in(maven::EMPTY, &fragment)
}

/// The version of a plugin that Debian has.
fn version(plugin: &str) -> Result<String> {
    let versions = Path::new(tools::MAVEN_REPOSITORY).join("org/apache/maven/plugins").join(plugin);
    let entries = workspace::entries(&versions);
    let names = entries.iter().filter_map(|entry| entry.file_name()?.to_str());
    let numbers = names.filter(|name| name.starts_with(|c: char| c.is_ascii_digit()));
    let newest = numbers.max().map(str::to_owned);
    newest.ok_or_else(|| format!("no version of {plugin} in `{}`", versions.display()))
}
