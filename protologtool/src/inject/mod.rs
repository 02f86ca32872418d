//! The class that rewritten Android code calls: a copy of `ProtoLogImpl`, the template, with the
//! values that only the build knows put in.
//!
//! ```text
//! public class ProtoLogImpl {                    public class ProtoLogImpl_454675969 {
//!     @ProtoLogToolInjected(VIEWER_CONFIG_PATH)      @ProtoLogToolInjected(VIEWER_CONFIG_PATH)
//!     private static String sPath;                   private static final String sPath = "/etc/core.protolog.pb";
//!     …                                              …
//! }                                                  public static class Cache { … }
//!                                                }
//! ```
//!
//! The template also tells which form calls must have, so that one tool serves several releases:
//! see [`ImplTemplate::form`]. Its text is spliced, never printed from a tree. Reading is in
//! [`template`], writing in [`generate`].

mod generate;
mod template;

pub use generate::{Generated, Values};
pub use template::ImplTemplate;

use std::path::PathBuf;

/// Where AOSP's tool takes the template from, relative to the root of Android's sources.
pub const AOSP_TEMPLATE: &str =
    "frameworks/base/core/java/com/android/internal/protolog/ProtoLogImpl.java";

/// The package of Android's ProtoLog.
pub const AOSP_PACKAGE: &str = "com.android.internal.protolog";

/// The number in the generated class's name, from the paths of a run as they were given, the
/// groups' file last: AOSP's formula, so that the class has the same name on every machine, and
/// another one in every module.
pub fn class_number(paths: &[PathBuf]) -> u32 {
    let step = |hash: i32, next: i32| hash.wrapping_mul(31).wrapping_add(next);
    let hash = |path: &PathBuf| {
        path.to_string_lossy().encode_utf16().fold(0, |hash, unit| step(hash, i32::from(unit)))
    };
    paths.iter().map(hash).fold(1, step).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_that_of_aosp() {
        let paths = ["frameworks/base/org/example/Example.java", "not_required.jar"];
        assert_eq!(class_number(&paths.map(PathBuf::from)), 454675969);
    }
}
