//! The identity of a process, as its session writes it into its sequence.

use protolog_core::schema::sequence_info;
use protozero::{DecodeError, Field};

/// Information about the process of a sequence.
#[derive(Debug)]
pub(crate) struct ProcessInfo<'a> {
    /// The pid and the fingerprint.
    pub(crate) process: Option<(u32, u64)>,
    /// The boot id.
    pub(crate) boot: Option<&'a [u8]>,
}

/// Parses the parts of a `SEQUENCE_INFO` that are about the process.
pub(crate) fn process_info(info: Field<'_>) -> Result<ProcessInfo<'_>, DecodeError> {
    let (mut pid, mut process, mut boot) = (None, None, None);
    for field in info.as_message()? {
        let field = field?;
        match field.number {
            sequence_info::PID => pid = Some(field.as_u32()?),
            sequence_info::BOOT_ID => boot = Some(field.as_bytes()?),
            sequence_info::PROCESS => process = Some(field.as_fixed64()?),
            _ => {}
        }
    }
    Ok(ProcessInfo { process: pid.zip(process), boot })
}
