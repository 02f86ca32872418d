//! The decision which dialect a run has, and what form its dictionary: one function, for all
//! commands.
//!
//! Android's build makes code and dictionary in separate runs. The one for the dictionary sees no
//! template and other flags, so that the ids of messages depend on two things alone that both runs
//! have: `--dialect`, and the class of the calls. A template or a flag that speaks of Android where
//! these do not is an error: the other run could not know.
//!
//! Invariant: runs with the same `--dialect` and `--protolog-class` make the same ids, or one of
//! them fails.

use crate::args::DialectChoice;
use crate::exit::Failure;
use crate::groups::GroupNumbers;
use crate::inject::{AOSP_PACKAGE, ImplTemplate};
use crate::lang::jvm::dialect::{Android, Dialect, Guard};

/// The facts that a run knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    /// The class of the calls.
    pub(super) class: &'a str,
    pub(super) dialect: DialectChoice,
    pub(super) template: Option<&'a ImplTemplate>,
    pub(super) flags: AndroidFlags,
}

/// The flags that only rules of Android's build pass.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AndroidFlags {
    /// One of any release.
    pub(crate) any: Option<&'static str>,
    /// True if one is given that left with Android 15.
    pub(crate) is_15: bool,
    /// True if one is left out that Android 15 asks for.
    pub(crate) is_later: bool,
}

/// The decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Release {
    /// The form of rewritten code.
    pub(super) dialect: Dialect,
    /// The form of the dictionary; none outside Android.
    pub(super) dictionary: Option<AndroidDictionary>,
}

/// The form of a dictionary for Android.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AndroidDictionary {
    pub(crate) numbers: GroupNumbers,
    /// True if JSON is AOSP's to the byte.
    pub(crate) is_json_of_aosp: bool,
}

/// The releases that the class of the calls tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClassOf {
    Android15,
    Later,
    Others,
}

impl Evidence<'_> {
    /// Decides, or says that it can't be told.
    pub(super) fn release(&self) -> Result<Release, Failure> {
        let class = self.class_of();
        let form = match self.dialect {
            DialectChoice::Protolog => return Ok(Release::PROTOLOG),
            DialectChoice::Auto if class == ClassOf::Others => {
                return self.contradiction().map_or(Ok(Release::PROTOLOG), Err);
            }
            DialectChoice::Auto => match (self.template, class) {
                (Some(template), _) => template.form(),
                (None, ClassOf::Android15) if self.is_15(class) => Android::ANDROID_15,
                // Without code the mask is no matter, and the larger one refuses no call.
                (None, _) => Android::ANDROID_17,
            },
            DialectChoice::Android15 => self.completed(&Android::ANDROID_15),
            DialectChoice::Android16 => self.completed(&Android::ANDROID_16),
            DialectChoice::Android17 => self.completed(&Android::ANDROID_17),
        };
        let is_15 = match self.dialect {
            DialectChoice::Auto => self.is_15(class),
            choice => choice == DialectChoice::Android15,
        };
        let numbers = match (is_15, class) {
            (false, _) => GroupNumbers::Declared,
            (true, ClassOf::Later) => GroupNumbers::Position,
            (true, _) => GroupNumbers::FirstUse,
        };
        let dictionary = AndroidDictionary { numbers, is_json_of_aosp: is_15 };
        Ok(Release { dialect: Dialect::Android(form), dictionary: Some(dictionary) })
    }

    /// Returns whether the class of the calls is one of Android's.
    pub(super) fn is_android_class(&self) -> bool {
        self.class_of() != ClassOf::Others
    }

    fn class_of(&self) -> ClassOf {
        let package = self.class.rsplit_once('.').map_or("", |(package, _)| package);
        match package.strip_prefix(AOSP_PACKAGE) {
            Some(".common") => ClassOf::Android15,
            Some("") => ClassOf::Later,
            _ => ClassOf::Others,
        }
    }

    /// Returns whether the tool that a rule was written for is that of Android 15. The name of its
    /// class alone does not show it: the rules of the Launcher in Android 16 and 17 still pass
    /// that.
    fn is_15(&self, class: ClassOf) -> bool {
        let has_cache = self.template.is_some_and(|it| it.form().guard == Guard::Cache);
        self.flags.is_15 || class == ClassOf::Android15 && !self.flags.is_later && !has_cache
    }

    fn completed(&self, form: &Android) -> Android {
        self.template.map_or(form.clone(), |template| template.completed(form))
    }

    /// The error for a flag or template that is Android's while the class is not.
    fn contradiction(&self) -> Option<Failure> {
        let what = match (self.template, self.flags.any) {
            (Some(template), _) => format!("`{}` is", template.source().path().display()),
            (None, Some(flag)) => format!("`{flag}` is"),
            (None, None) => return None,
        };
        let message =
            format!("can't tell the dialect: {what} of Android, but `{}` is not", self.class);
        Some(Failure::new(message).help(
            "set `--dialect`, here and for `generate-viewer-config`, to `protolog` or to Android's release, such as `android-17`",
        ))
    }
}

/// The advice on a class of the calls that no source names.
pub(crate) fn advice(class: &str) -> String {
    let of_sources = "check `--protolog-class` against the imports of the sources";
    match class.strip_prefix(AOSP_PACKAGE) {
        Some(".common.ProtoLog") => {
            format!("{of_sources}: since Android 16 the class is `{AOSP_PACKAGE}.ProtoLog`")
        }
        _ => of_sources.to_owned(),
    }
}

impl Release {
    const PROTOLOG: Self = Self { dialect: Dialect::Protolog, dictionary: None };
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "com.android.internal.protolog.common.ProtoLog";
    const NEW: &str = "com.android.internal.protolog.ProtoLog";
    const OTHER: &str = "com.foo.ProtoLog";

    fn decide(class: &str, dialect: DialectChoice, flags: AndroidFlags) -> Option<Release> {
        Evidence { class, dialect, template: None, flags }.release().ok()
    }

    /// With any flags, the ids of a run are those of every other one of its class and dialect, or
    /// it fails.
    #[test]
    fn ids_depend_on_class_and_dialect_alone() {
        let all = [
            DialectChoice::Auto,
            DialectChoice::Protolog,
            DialectChoice::Android15,
            DialectChoice::Android16,
            DialectChoice::Android17,
        ];
        for class in [OLD, NEW, OTHER] {
            for dialect in all {
                let flags = [
                    (None, false, false),
                    (None, false, true),
                    (Some("--x"), false, false),
                    (Some("--x"), true, false),
                ];
                let releases =
                    flags.map(|(any, is_15, is_later)| AndroidFlags { any, is_15, is_later });
                let mut decided =
                    releases.into_iter().filter_map(|flags| decide(class, dialect, flags));
                let first = decided.next().unwrap().dictionary.is_some();
                assert!(decided.all(|it| it.dictionary.is_some() == first), "{class} {dialect:?}");
            }
        }
    }

    #[test]
    fn class_and_flags_tell_the_release() {
        let numbers = |class, flags| {
            let release = decide(class, DialectChoice::Auto, flags);
            release.map(|it| it.dictionary.map(|it| (it.numbers, it.is_json_of_aosp)))
        };
        let (none, some) = (
            AndroidFlags::default(),
            AndroidFlags { any: Some("--viewer-config-file-path"), ..AndroidFlags::default() },
        );
        let of_15 = AndroidFlags { is_15: true, ..some };
        assert_eq!(numbers(OLD, none), Some(Some((GroupNumbers::FirstUse, true))));
        let later = AndroidFlags { is_later: true, ..none };
        assert_eq!(numbers(OLD, later), Some(Some((GroupNumbers::Declared, false))));
        assert_eq!(numbers(NEW, some), Some(Some((GroupNumbers::Declared, false))));
        assert_eq!(numbers(NEW, of_15), Some(Some((GroupNumbers::Position, true))));
        assert_eq!(numbers(OTHER, none), Some(None));
        assert_eq!(numbers(OTHER, some), None);
    }
}
