//! The definition of a group that the derive writes: plain data for the constants of its calls.

use super::GroupPart;
use crate::names::utf8;
use protolog_core::control::limit::Limit;
use protolog_core::control::rate::Rate;
use protolog_core::control::site_rule::SiteSetting;
use protolog_core::group_id;

/// The definition of a group, for constants.
#[derive(Clone, Copy, Debug)]
pub struct GroupDef {
    /// Low 32 bits of the XXH3-64 of the full name.
    pub id: u32,
    /// The full name, `crate::Enum::Variant`.
    pub name: &'static str,
    /// The tag in logcat's formats.
    pub tag: &'static str,
    /// Name and tag, concatenated.
    pub(crate) texts: &'static str,
    /// Their length.
    pub(crate) texts_length: usize,
    /// The part that its notes have in common.
    pub(crate) part: GroupPart,
    /// Position in the enum.
    pub index: u16,
    /// True if calls are compiled in.
    pub enabled: bool,
    /// True if the group goes to the text output from the start.
    pub log_to_text: bool,
    /// Its rate and its limit, unless rules say otherwise.
    pub(crate) declared: SiteSetting,
}

impl GroupDef {
    /// Defines a group, with the id that follows from its name. `texts` is its name followed by its
    /// tag, which has `tag_length` bytes.
    pub const fn new(
        texts: &'static str,
        tag_length: usize,
        index: u16,
        enabled: bool,
        log_to_text: bool,
    ) -> Self {
        let texts_length = texts.len();
        let (name, tag) = texts.as_bytes().split_at(texts_length - tag_length);
        let (name, tag) = (utf8(name), utf8(tag));
        let id = group_id(name);
        let part = GroupPart::new(id, texts, tag_length);
        let declared = SiteSetting::NONE;
        Self { id, name, tag, texts, texts_length, part, index, enabled, log_to_text, declared }
    }

    /// The same with messages that are sampled at this rate.
    #[must_use]
    pub const fn sampled(mut self, rate: &str) -> Self {
        let rate = Rate::parse(rate);
        assert!(rate.is_some(), "invalid rate: write a part, as in `1/100` or `0.5%`");
        self.declared.sample = Some(rate);
        self
    }

    /// The same with messages that are limited so, those of all calls together.
    #[must_use]
    pub const fn limited(mut self, limit: &str) -> Self {
        let limit = Limit::parse(limit);
        assert!(limit.is_some(), "invalid limit: write a number and a time, as in `100/s`");
        self.declared.group_limit = Some(limit);
        self
    }
}
