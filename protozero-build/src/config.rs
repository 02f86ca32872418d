//! The settings of a build script.

use crate::{Error, Options, generate};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Which .proto files are compiled, and how. See the crate's page for an example.
#[derive(Clone, Debug, Default)]
pub struct Config {
    files: Vec<PathBuf>,
    includes: Vec<PathBuf>,
    options: Options,
}

impl Config {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file to compile.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(path.into());
        self
    }

    /// Adds files to compile.
    pub fn files(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.files.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Adds a directory in which files and their imports are looked for. Without any it is that of
    /// each file.
    pub fn include(mut self, directory: impl Into<PathBuf>) -> Self {
        self.includes.push(directory.into());
        self
    }

    /// The path of the crate `protozero` in the code, `::protozero` by default.
    pub fn runtime(mut self, path: impl Into<String>) -> Self {
        self.options.runtime = path.into();
        self
    }

    /// Leaves out fields that are groups, which are an error otherwise.
    pub fn leave_out_groups(mut self) -> Self {
        self.options.leave_out_groups = true;
        self
    }

    /// Generates code for this message and what it needs, by its full name, instead of all messages
    /// of the files: a part of Perfetto's trace takes a hundredth of the whole to compile. May be
    /// called several times.
    pub fn message(mut self, full_name: impl Into<String>) -> Self {
        self.options.messages.push(full_name.into());
        self
    }

    /// Writes the code to a file in cargo's `OUT_DIR`, and tells cargo which files it comes from.
    pub fn compile(self, name: &str) -> Result<(), Error> {
        let directory = env::var_os("OUT_DIR").ok_or_else(|| Error::File {
            path: name.into(),
            error: io::Error::other("`OUT_DIR` is not set, as cargo does for build scripts"),
        })?;
        let (code, sources) = self.code()?;
        write(&Path::new(&directory).join(name), &code)?;
        // How a build script speaks to cargo.
        for source in sources {
            println!("cargo::rerun-if-changed={}", source.display());
        }
        Ok(())
    }

    /// Writes the code to a file.
    pub fn compile_to(self, path: impl AsRef<Path>) -> Result<(), Error> {
        write(path.as_ref(), &self.code()?.0)
    }

    /// Returns the code, and the files that it comes from.
    fn code(self) -> Result<(String, Vec<PathBuf>), Error> {
        let parents = self.files.iter().filter_map(|file| file.parent().map(Path::to_owned));
        let mut includes = if self.includes.is_empty() { parents.collect() } else { self.includes };
        includes.dedup();
        let schema = |error: protox::Error| Error::Schema(describe(&error));
        let mut compiler = protox::Compiler::new(includes).map_err(schema)?;
        compiler.include_imports(true).include_source_info(true);
        let mut asked = Vec::new();
        for file in &self.files {
            compiler.open_file(file).map_err(schema)?;
        }
        let mut sources = Vec::new();
        for file in compiler.files() {
            sources.extend(file.path().map(Path::to_owned));
            if !file.is_import() {
                asked.push(file.name().to_owned());
            }
        }
        let set = compiler.encode_file_descriptor_set();
        let code = generate(&set, |name| asked.iter().any(|asked| asked == name), &self.options)?;
        Ok((code, sources))
    }
}

/// The text of an error and what is behind it; the place comes first.
fn describe(error: &protox::Error) -> String {
    format!("{error:?}")
}

fn write(path: &Path, code: &str) -> Result<(), Error> {
    fs::write(path, code).map_err(|error| Error::File { path: path.to_owned(), error })
}
