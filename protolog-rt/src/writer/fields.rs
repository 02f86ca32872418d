//! A few protobuf fields in the making, on the stack, for the packets that chunks begin with.

use protozero::{Fixed, Message};

/// Up to `N` bytes of fields, on the stack. What does not fit is left out whole; sizes are chosen
/// so that all fits.
#[derive(Debug)]
pub(crate) struct Fields<const N: usize> {
    memory: [u8; N],
    length: usize,
}

impl<const N: usize> Fields<N> {
    /// No fields.
    pub(crate) fn new() -> Self {
        Self { memory: [0; N], length: 0 }
    }

    /// Adds the fields that `fill` sets.
    pub(crate) fn add(&mut self, fill: impl FnOnce(&mut Message<'_, Fixed<'_>>)) {
        let free = self.memory.get_mut(self.length..).unwrap_or_default();
        let mut writer = protozero::Writer::new(Fixed::new(free));
        fill(&mut writer.message());
        let added = writer.finish().map(|done| done.length as usize);
        debug_assert!(added.is_ok(), "{N} bytes are too few");
        self.length += added.unwrap_or(0);
    }

    /// Adds a nested message.
    pub(crate) fn nested<const M: usize>(&mut self, field: u32, message: &Fields<M>) {
        self.add(|to| {
            to.bytes(field, message.bytes());
        });
    }

    /// The fields.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.memory.get(..self.length).unwrap_or_default()
    }
}
