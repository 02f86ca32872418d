//! The effect of rules on a single call: recorded or not, and printed or not, each as its group or
//! whatever its group says.
//!
//! Invariant: of on and off at most one holds, for each.

use protolog_core::control::site_rule::SiteSetting;

/// The effect of rules on a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SiteState(pub(super) u8);

const TRACE_ON: u8 = 1;
const TRACE_OFF: u8 = 2;
const TEXT_ON: u8 = 4;
const TEXT_OFF: u8 = 8;
/// Its messages are decided by their arguments: sampled by the value of one or the size of all, or
/// switched. No rule's words are a part of it.
const BY_ARGUMENTS: u8 = 16;
/// Its messages are switched by their arguments, and this is what they may be.
const CONDITIONAL: u8 = 32;
/// Of its messages those that say the same as the one before are only counted.
const REPEAT: u8 = 64;

impl SiteState {
    /// A call of which rules say nothing.
    pub(crate) const NONE: Self = Self(0);

    /// The state after one more rule.
    pub(super) fn after(self, setting: SiteSetting) -> Self {
        let mut bits = if setting.resets { 0 } else { self.0 };
        let mut set = |value: Option<bool>, on: u8, off: u8| {
            if let Some(value) = value {
                bits = bits & !(on | off) | if value { on } else { off };
            }
        };
        set(setting.trace, TRACE_ON, TRACE_OFF);
        set(setting.text, TEXT_ON, TEXT_OFF);
        match setting.repeat {
            Some(true) => Self(bits | REPEAT),
            Some(false) => Self(bits & !REPEAT),
            None => Self(bits),
        }
    }

    /// Returns whether all sessions record it, whatever they record of its group.
    pub(crate) fn is_traced(self) -> bool {
        self.0 & TRACE_ON != 0
    }

    /// Returns whether no session records it.
    pub(crate) fn is_untraced(self) -> bool {
        self.0 & TRACE_OFF != 0
    }

    /// Returns whether messages that say the same as the one before are only counted.
    #[inline]
    pub(crate) fn merges_repeats(self) -> bool {
        self.0 & REPEAT != 0
    }

    /// Returns whether it is printed, where its group is or is not.
    pub(crate) fn is_printed(self, is_group_printed: bool) -> bool {
        self.0 & TEXT_ON != 0 || is_group_printed && self.0 & TEXT_OFF == 0
    }

    /// The state of a call whose messages are one or the other: of on and off, on; as the group or
    /// off, as the group.
    #[must_use]
    pub(super) fn or(self, other: Self) -> Self {
        let on = (self.0 | other.0) & (TRACE_ON | TEXT_ON | REPEAT);
        Self(on | self.0 & other.0 & (TRACE_OFF | TEXT_OFF))
    }

    /// The same of a call whose messages are switched by their arguments.
    #[must_use]
    pub(super) fn conditional(self) -> Self {
        Self(self.0 | CONDITIONAL)
    }

    /// Returns whether its messages are switched by their arguments.
    pub(super) fn is_conditional(self) -> bool {
        self.0 & CONDITIONAL != 0
    }

    /// The same of a call whose messages are decided by their arguments.
    #[must_use]
    #[inline]
    pub(super) fn by_arguments(self) -> Self {
        Self(self.0 | BY_ARGUMENTS)
    }

    /// The same of another one.
    #[must_use]
    #[inline]
    pub(super) fn unconditional(self) -> Self {
        Self(self.0 & !(BY_ARGUMENTS | CONDITIONAL))
    }

    /// Returns whether its messages are decided by their arguments.
    #[inline]
    pub(crate) fn is_by_arguments(self) -> bool {
        self.0 & BY_ARGUMENTS != 0
    }

    pub(super) fn switches_on(self) -> bool {
        self.0 & (TRACE_ON | TEXT_ON) != 0
    }

    /// Returns the words of a rule that does the same.
    pub(super) fn setting(self) -> SiteSetting {
        let part = |on, off| match (self.0 & on != 0, self.0 & off != 0) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let (trace, text) = (part(TRACE_ON, TRACE_OFF), part(TEXT_ON, TEXT_OFF));
        let repeat = self.merges_repeats().then_some(true);
        SiteSetting { trace, text, repeat, ..SiteSetting::default() }
    }
}
