//! The commands of the service: the replies to `GetAsyncCommand`, and to `InitializeConnection`.
//!
//! Invariant: any bytes are decoded; a command that is not known is none.

use protozero::{DecodeError, Reader, scalar};

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Starts to record, as an encoded `DataSourceConfig` says.
    Start { id: u64, config: Vec<u8> },
    /// Ends that.
    Stop { id: u64 },
    /// Asks for all that was logged.
    Flush { ids: Vec<u64>, request: u64, flags: u64 },
    /// Asks for packets that can be read without earlier ones.
    Clear { ids: Vec<u64> },
    /// Gives memory, in a file that comes along, with pages of this size in KiB.
    Memory { page_kb: u32 },
}

/// Fields of `GetAsyncCommandResponse`.
mod command {
    pub(super) const START_DATA_SOURCE: u32 = 1;
    pub(super) const STOP_DATA_SOURCE: u32 = 2;
    pub(super) const SETUP_TRACING: u32 = 3;
    pub(super) const FLUSH: u32 = 5;
    pub(super) const CLEAR_INCREMENTAL_STATE: u32 = 7;
}

impl Command {
    /// Returns the memory that it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let more = match self {
            Self::Start { config, .. } => config.capacity(),
            Self::Flush { ids, .. } | Self::Clear { ids } => size_of::<u64>() * ids.capacity(),
            Self::Stop { .. } | Self::Memory { .. } => 0,
        };
        size_of::<Self>() + more
    }

    /// Decodes a reply; none where it asks for nothing that has to be done.
    pub(super) fn decode(bytes: &[u8]) -> Result<Option<Self>, DecodeError> {
        let mut found = None;
        for field in Reader::new(bytes) {
            let field = field?;
            match field.number {
                command::START_DATA_SOURCE => {
                    let (mut id, mut config) = (0, Vec::new());
                    for field in field.as_message()? {
                        let field = field?;
                        match field.number {
                            1 => id = field.as_u64()?,
                            2 => config = field.as_bytes()?.to_vec(),
                            _ => {}
                        }
                    }
                    found = Some(Self::Start { id, config });
                }
                command::STOP_DATA_SOURCE => {
                    let mut id = 0;
                    for field in field.as_message()? {
                        let field = field?;
                        if field.number == 1 {
                            id = field.as_u64()?;
                        }
                    }
                    found = Some(Self::Stop { id });
                }
                command::SETUP_TRACING => {
                    let mut page_kb = 0;
                    for field in field.as_message()? {
                        let field = field?;
                        if field.number == 1 {
                            page_kb = field.as_u32()?;
                        }
                    }
                    found = Some(Self::Memory { page_kb });
                }
                command::FLUSH => {
                    let (mut ids, mut request, mut flags) = (Vec::new(), 0, 0);
                    for field in field.as_message()? {
                        let field = field?;
                        match field.number {
                            1 => append_ids(&mut ids, &field)?,
                            2 => request = field.as_u64()?,
                            3 => flags = field.as_u64()?,
                            _ => {}
                        }
                    }
                    found = Some(Self::Flush { ids, request, flags });
                }
                command::CLEAR_INCREMENTAL_STATE => {
                    let mut ids = Vec::new();
                    for field in field.as_message()? {
                        let field = field?;
                        if field.number == 1 {
                            append_ids(&mut ids, &field)?;
                        }
                    }
                    found = Some(Self::Clear { ids });
                }
                _ => {}
            }
        }
        Ok(found)
    }
}

fn append_ids(ids: &mut Vec<u64>, field: &protozero::Field<'_>) -> Result<(), DecodeError> {
    for id in field.values::<scalar::Uint64>()? {
        ids.push(id?);
    }
    Ok(())
}

/// Returns whether the service has accepted the memory of this process.
pub(super) fn takes_our_memory(reply: &[u8]) -> Result<bool, DecodeError> {
    let mut takes = false;
    for field in Reader::new(reply) {
        let field = field?;
        if field.number == 1 {
            takes = field.as_bool()?;
        }
    }
    Ok(takes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfetto_ipc::frame::message;

    #[test]
    fn commands_are_decoded_whatever_is_beside_them() {
        let start = message(|to| {
            to.nested(1).uint64(1, 7).bytes(2, b"\x10\x03").uint64(99, 1);
        });
        let expected = Command::Start { id: 7, config: b"\x10\x03".to_vec() };
        assert_eq!(Command::decode(&start), Ok(Some(expected)));
        let stop = message(|to| {
            to.nested(2).uint64(1, 7);
        });
        assert_eq!(Command::decode(&stop), Ok(Some(Command::Stop { id: 7 })));
        let flush = message(|to| {
            // One by one, and packed.
            to.nested(5).uint64(1, 7).bytes(1, &[8, 9]).uint64(2, 3).uint64(3, 0x14);
        });
        let expected = Command::Flush { ids: vec![7, 8, 9], request: 3, flags: 0x14 };
        assert_eq!(Command::decode(&flush), Ok(Some(expected)));
        let clear = message(|to| {
            to.nested(7).uint64(1, 300);
        });
        assert_eq!(Command::decode(&clear), Ok(Some(Command::Clear { ids: vec![300] })));
        let memory = message(|to| _ = to.nested(3).uint32(1, 4));
        assert_eq!(Command::decode(&memory), Ok(Some(Command::Memory { page_kb: 4 })));
        assert_eq!(Command::decode(&message(|to| _ = to.nested(77))), Ok(None));
        assert!(Command::decode(&start[..start.len() - 1]).is_err());
    }
}
