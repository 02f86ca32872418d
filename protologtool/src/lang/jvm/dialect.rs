//! The forms of rewritten code: our own, or that of a release of Android.
//!
//! ```text
//! protolog     if (I.isEnabled(G, LogLevel.DEBUG)) I.d(G, 12L, 1L, I.l(n));
//! android-17   if (I.Cache.G_enabled[1]) {  long protoLogParam0 = n;  I.d(G, 12L, 1L, protoLogParam0); }
//! android-16   if (I.Cache.G_enabled[1]) {  long protoLogParam0 = n;  I.d(G, 12L, 1, protoLogParam0); }
//! android-15   { long protoLogParam0 = n; I.d(G, 12L, 1, "text" or null, protoLogParam0); }
//! ```
//!
//! Releases between differ in single points, so that an Android form is a set of them.

use protolog_core::Level;

/// The form of rewritten code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Ours.
    #[default]
    Protolog,
    /// Android's, in this form.
    Android(Android),
}

/// The form of a release of Android.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Android {
    /// The condition that guards a call.
    pub guard: Guard,
    /// True if calls pass the text after the mask, or `null` where the group does not print as
    /// text.
    pub passes_text: bool,
    /// The type of the mask.
    pub mask: MaskType,
    /// Static methods of the class that rewritten code calls; other calls are left with the class
    /// that they name. None: not known, all calls but those that set the process up go to it.
    pub methods: Option<Vec<StaticMethod>>,
}

/// The signature by which a call means a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticMethod {
    /// The method's name.
    pub name: String,
    /// The number of parameters.
    pub parameters: usize,
    /// True if the last one may come any number of times.
    pub variadic: bool,
}

/// The condition that guards a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Nothing: arguments are evaluated whether or not anybody listens.
    None,
    /// A field per group and level of the nested class `Cache`.
    Cache,
    /// The method `isEnabled(group)`.
    IsEnabled,
}

/// The type of the mask, which limits the number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskType {
    /// 16 arguments.
    Int,
    /// 32 arguments.
    Long,
}

/// Methods that set the process up and belong to the class of the calls, not to the one that
/// rewritten code calls.
const SET_UP: [&str; 3] = ["init", "initAsync", "registerLogGroupInProcess"];

impl Android {
    /// Android 15 as released: no guard, text or null, `int` mask.
    pub const ANDROID_15: Self =
        Self { guard: Guard::None, passes_text: true, mask: MaskType::Int, methods: None };

    /// Android 16: fields of `Cache` as guard, no text, `int` mask.
    pub const ANDROID_16: Self =
        Self { guard: Guard::Cache, passes_text: false, mask: MaskType::Int, methods: None };

    /// Android 17: that of Android 16 with a `long` mask.
    pub const ANDROID_17: Self = Self { mask: MaskType::Long, ..Self::ANDROID_16 };

    /// Returns whether a call of this method goes to the class that rewritten code calls.
    pub(crate) fn redirects(&self, method: &str, arguments: usize) -> bool {
        let fits = |known: &StaticMethod| {
            let takes = if known.variadic {
                arguments + 1 >= known.parameters
            } else {
                arguments == known.parameters
            };
            known.name == method && takes
        };
        !SET_UP.contains(&method)
            && self.methods.as_ref().is_none_or(|methods| methods.iter().any(fits))
    }
}

impl MaskType {
    /// The most arguments of a call.
    pub(crate) const fn capacity(self) -> usize {
        match self {
            Self::Int => 16,
            Self::Long => 32,
        }
    }

    /// The mask as a literal of the type.
    pub(in crate::lang) fn literal(self, bits: u64) -> String {
        match self {
            Self::Int => (bits as i32).to_string(),
            Self::Long => format!("{}L", bits as i64),
        }
    }
}

/// A level's index in the fields of `Cache`.
pub(crate) const fn cache_index(level: Level) -> u8 {
    level.severity()
}
