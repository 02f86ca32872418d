//! The state that a run leaves for the next, and its file.
//!
//! ```text
//! "protologtool state 4\n"  8 bytes: XXH3-64 of the rest  protobuf:
//! State { fingerprint 1, file* 2 }
//! File  { path 1, name 2, source 3, output 4, name looked up* 5, package searched* 6, Result result 7, all files may answer 8, Wrapper wrapper* 9, declared function* 10 }    see [`result`], [`passes`]
//! Seen  { hash 1, device 2, inode 3, size 4, modified 5, changed 6 }
//! ```
//!
//! Invariant: a file that is cut, damaged or of another version is none at all.

use super::{passes, result};
use crate::lang::jvm::lookups::Lookups;
use crate::lang::jvm::wrapper::Wrapper;
use crate::pipeline::Processed;
use crate::system::Stamp;
use protolog_core::hash;
use protozero::{DecodeError, Heap, Message as Fields, Reader, Writer};
use std::path::Path;

const MAGIC: &[u8] = b"protologtool state 4\n";

/// The results of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunState {
    pub(super) fingerprint: u64,
    /// The sources, in their order.
    pub(super) files: Vec<FileState>,
}

/// One source and its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileState {
    pub(super) path: String,
    /// The name of its output.
    pub(super) name: String,
    pub(super) source: Seen,
    pub(super) output: Seen,
    /// The names and packages that its calls were looked up in.
    pub(super) lookups: Lookups,
    /// The functions that pass templates on.
    pub(super) wrappers: Vec<Wrapper>,
    /// The functions that are called as one of these is.
    pub(super) declares: Vec<String>,
    /// The rest of the result, which most runs only pass on; none if the next run is to make it
    /// again.
    pub(super) result: Option<Vec<u8>>,
}

/// A file as it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) hash: u64,
    /// None where it does not tell.
    pub(super) stamp: Option<Stamp>,
}

impl RunState {
    /// The state in these bytes, if they are one.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (sum, fields) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
        (u64::from_le_bytes(*sum) == hash(fields)).then(|| Self::decode(fields).ok()).flatten()
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(Heap::new());
        let mut fields = writer.message();
        fields.fixed64(1, self.fingerprint);
        for file in &self.files {
            file.encode(&mut fields.nested(2));
        }
        let fields =
            writer.into_vec().expect("the heap takes every write, and no size is announced");
        [MAGIC, &hash(&fields).to_le_bytes(), &fields].concat()
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut state = Self::default();
        for field in Reader::new(bytes) {
            let field = field?;
            match field.number {
                1 => state.fingerprint = field.as_fixed64()?,
                2 => state.files.push(FileState::decode(field.as_message()?)?),
                _ => {}
            }
        }
        Ok(state)
    }
}

impl FileState {
    /// The result of a source that was read as `source`; its output is not written yet. With `redo`
    /// the next run makes it again.
    pub(super) fn new(file: &Processed, source: Seen, redo: bool) -> Self {
        let path = file.path.to_string_lossy().into_owned();
        let result = (!redo).then(|| result::encode(file));
        let (wrappers, declares) = (file.wrappers.clone(), file.declares.clone());
        Self {
            path,
            source,
            lookups: file.lookups.clone(),
            wrappers,
            declares,
            result,
            ..Self::default()
        }
    }

    /// The result again; none if it is to be made again.
    pub(super) fn processed(&self, path: &Path) -> Option<Processed> {
        let result = result::decode(self.result.as_ref()?, path).ok()?;
        let (wrappers, declares) = (self.wrappers.clone(), self.declares.clone());
        Some(Processed { kept: Some(self.output.hash), wrappers, declares, ..result })
    }

    fn encode(&self, fields: &mut Fields<'_, Heap>) {
        fields.string(1, &self.path).string(2, &self.name);
        self.source.encode(&mut fields.nested(3));
        self.output.encode(&mut fields.nested(4));
        for name in &self.lookups.names {
            fields.string(5, name);
        }
        for package in &self.lookups.packages {
            fields.string(6, package);
        }
        if self.lookups.all {
            fields.bool(8, true);
        }
        if let Some(result) = &self.result {
            fields.bytes(7, result);
        }
        for wrapper in &self.wrappers {
            passes::encode(wrapper, &mut fields.nested(9));
        }
        for name in &self.declares {
            fields.string(10, name);
        }
    }

    fn decode(fields: Reader<'_>) -> Result<Self, DecodeError> {
        let mut file = Self::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => field.as_str()?.clone_into(&mut file.path),
                2 => field.as_str()?.clone_into(&mut file.name),
                3 => file.source = Seen::decode(field.as_message()?)?,
                4 => file.output = Seen::decode(field.as_message()?)?,
                5 => drop(file.lookups.names.insert(field.as_str()?.to_owned())),
                6 => drop(file.lookups.packages.insert(field.as_str()?.to_owned())),
                8 => file.lookups.all = field.as_bool()?,
                7 => file.result = Some(field.as_bytes()?.to_vec()),
                9 => file.wrappers.push(passes::decode(field.as_message()?)?),
                10 => file.declares.push(field.as_str()?.to_owned()),
                _ => {}
            }
        }
        Ok(file)
    }
}

impl Seen {
    fn encode(&self, fields: &mut Fields<'_, Heap>) {
        fields.fixed64(1, self.hash);
        if let Some(Stamp { file: (device, number), size, modified, changed }) = self.stamp {
            fields.uint64(2, device).uint64(3, number).uint64(4, size);
            fields.int64(5, modified).int64(6, changed);
        }
    }

    fn decode(fields: Reader<'_>) -> Result<Self, DecodeError> {
        let (mut seen, mut has_stamp) = (Self::default(), false);
        let mut stamp = Stamp { file: (0, 0), size: 0, modified: 0, changed: 0 };
        for field in fields {
            let field = field?;
            has_stamp |= field.number > 1;
            match field.number {
                1 => seen.hash = field.as_fixed64()?,
                2 => stamp.file.0 = field.as_u64()?,
                3 => stamp.file.1 = field.as_u64()?,
                4 => stamp.size = field.as_u64()?,
                5 => stamp.modified = field.as_i64()?,
                6 => stamp.changed = field.as_i64()?,
                _ => {}
            }
        }
        seen.stamp = has_stamp.then_some(stamp);
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> RunState {
        let stamp = Stamp { file: (1, 2), size: 3, modified: -4, changed: i64::MAX };
        let names = ["com".to_owned(), "foo".to_owned()].into();
        let file = FileState {
            path: "src/A.java".into(),
            name: "A.java".into(),
            source: Seen { hash: 1, stamp: Some(stamp) },
            output: Seen { hash: u64::MAX, stamp: None },
            lookups: Lookups { names, packages: ["com.foo".to_owned()].into(), all: true },
            wrappers: vec![passes::tests::wrapper()],
            declares: vec!["p.log".into()],
            result: Some(vec![1, 2]),
        };
        let redo = FileState { path: "B.java".into(), ..FileState::default() };
        RunState { fingerprint: 77, files: vec![file, redo] }
    }

    #[test]
    fn states_are_read_as_written() {
        assert_eq!(RunState::read(&state().to_bytes()), Some(state()));
    }

    #[test]
    fn damaged_states_are_none() {
        let bytes = state().to_bytes();
        for length in 0..bytes.len() {
            assert_eq!(RunState::read(&bytes[..length]), None, "the first {length} bytes");
            let mut damaged = bytes.clone();
            damaged[length] ^= 4;
            assert_eq!(RunState::read(&damaged), None, "damage at {length}");
        }
        // The right sum over bytes that are no state.
        let fields = [0x0a, 0x05];
        let foreign = [MAGIC, &hash(&fields).to_le_bytes(), &fields].concat();
        assert_eq!(RunState::read(&foreign), None);
    }
}
