//! Why the dictionary of a binary can't be had.

use object::FileKind;
use std::fmt;

/// Why a binary can't be read, or its notes can't be taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryError(BinaryProblem);

/// The reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BinaryProblem {
    /// Neither ELF nor PE nor Mach-O; its kind, if that is known.
    Foreign(Option<FileKind>),
    /// An object file that is not linked yet.
    Object,
    /// The file is cut off or damaged; where.
    Broken(String),
    /// The file has no notes of log calls.
    NoNotes,
    /// The notes were taken out before, into the dictionary with this hash.
    Stripped(u64),
    /// A dictionary that was put into the program can't be read.
    Dictionary(String),
    /// The file has calls of C or C++, which read their format strings when they log.
    Printf,
    /// The file carries a signature, which a change would make void.
    Signed,
}

impl BinaryError {
    /// The problem.
    pub fn problem(&self) -> &BinaryProblem {
        &self.0
    }

    /// The advice.
    pub fn help(&self) -> &'static str {
        match self.0 {
            BinaryProblem::Foreign(_) => "give an executable or shared object of ELF, PE or Mach-O",
            BinaryProblem::Object => "give the executable or shared object that is linked from it",
            BinaryProblem::Broken(_) => "build it again, or copy it completely",
            BinaryProblem::NoNotes => {
                "give the program that calls the macros of `protolog_rt`, not one that only starts it"
            }
            BinaryProblem::Stripped(_) => {
                "use the dictionary that was written then, or give the program that was not stripped"
            }
            BinaryProblem::Dictionary(_) => "build it with a dictionary that `protologtool` wrote",
            BinaryProblem::Printf => "ship it as it is, without `--strip-to`",
            BinaryProblem::Signed => "strip it first and sign the result",
        }
    }
}

impl From<BinaryProblem> for BinaryError {
    fn from(problem: BinaryProblem) -> Self {
        Self(problem)
    }
}

impl std::error::Error for BinaryError {}

impl fmt::Display for BinaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            BinaryProblem::Foreign(Some(FileKind::Archive)) => {
                f.write_str("an archive of object files, not linked")
            }
            BinaryProblem::Foreign(_) => f.write_str("no ELF, PE or Mach-O file"),
            BinaryProblem::Object => f.write_str("an object file that is not linked"),
            BinaryProblem::Broken(what) => write!(f, "the file is damaged: {what}"),
            BinaryProblem::NoNotes => f.write_str("it has no log calls of `protolog_rt`"),
            BinaryProblem::Printf => f.write_str("its calls of C read their texts when they log"),
            BinaryProblem::Stripped(hash) => {
                write!(f, "its texts were already moved to the dictionary `{hash:016x}`")
            }
            BinaryProblem::Dictionary(what) => {
                write!(f, "the dictionary in it can't be read: {what}")
            }
            BinaryProblem::Signed => {
                f.write_str("it is signed, and stripping would invalidate the signature")
            }
        }
    }
}
