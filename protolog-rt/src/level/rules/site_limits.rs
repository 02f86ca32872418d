//! The limits that rules set for a call, and its sampling.
//!
//! Invariant: of each part the last rule that mentions it counts.

use super::Rule;
use super::limiter::{BucketKey, Buckets};
use super::sampler::Sampling;
use protolog_core::Level;
use protolog_core::control::limit::Limit;
use protolog_core::control::rate::Rate;
use protolog_core::control::selector::Selector;
use protolog_core::control::site_rule::SiteSetting;

/// The limits and the rate that rules give a call: each with the index of its rule.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SiteLimits {
    pub(super) call: Option<(usize, Limit)>,
    pub(super) group: Option<(usize, Limit)>,
    sample: Option<(usize, Rate)>,
}

impl SiteLimits {
    /// The limits after one more rule, which has this index, and may say that such calls are
    /// sampled.
    pub(super) fn after(self, setting: SiteSetting, index: usize, may_sample: bool) -> Self {
        let before = if setting.resets { Self::default() } else { self };
        let part = |new: Option<Option<Limit>>, old| match new {
            Some(limit) => limit.map(|limit| (index, limit)),
            None => old,
        };
        Self {
            call: part(setting.limit, before.call),
            group: part(setting.group_limit, before.group),
            sample: match setting.sample.filter(|rate| may_sample || rate.is_none()) {
                Some(rate) => rate.map(|rate| (index, rate)),
                None => before.sample,
            },
        }
    }

    pub(super) fn are_none(&self) -> bool {
        self.call.is_none() && self.group.is_none() && self.sample.is_none()
    }

    /// Returns a rule that switches calls as this one does, and has these limits and this rate.
    pub(super) fn beside(&self, switches: SiteSetting) -> SiteSetting {
        SiteSetting {
            limit: self.call.map(|(_, limit)| Some(limit)),
            group_limit: self.group.map(|(_, limit)| Some(limit)),
            sample: self.sample.map(|(_, rate)| Some(rate)),
            ..switches
        }
    }

    /// Returns what says how a call is sampled.
    pub(super) fn sampling(&self) -> Option<Sampling> {
        self.sample.map(|(index, rate)| Sampling { rate, rule: index as u16 })
    }

    /// Returns the numbers of the buckets of a call with this key, in this group.
    pub(super) fn buckets(
        &self,
        all: &[Rule],
        key: BucketKey,
        group: &str,
        buckets: &mut Buckets,
    ) -> [u32; 2] {
        let call = self.call.map(|(_, limit)| buckets.get_or_add(key, limit));
        let group = self.group.and_then(|(index, limit)| {
            let selector = all.get(index)?.selector.clone();
            Some(buckets.get_or_add(BucketKey::Group(selector, group.into()), limit))
        });
        [call, group].map(Option::unwrap_or_default)
    }
}

/// Returns whether a rule with this selector samples calls of a level: WARN and worse only if it
/// names that level.
pub(super) fn is_sampled(selector: &Selector<'_>, level: Option<Level>) -> bool {
    level.is_some_and(|level| level < Level::Warn || selector.names_level(level))
}
