//! Jars that no compiler made: whatever they hold, the evaluator comes back with groups or an
//! error.

use crate::fixture::{compiled, jar};
use proptest::prelude::*;
use protologtool::groups::from_jar;
use std::time::{Duration, Instant};
use zip::CompressionMethod;

/// The class that uses most instructions, and one of few bytes, each of which so matters more.
const CLASSES: [&str; 3] = ["shapes.Computed", "shapes.Bodies", "shapes.KotlinLike"];

/// Far more than the limits allow in an unoptimised build on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(50);

/// Evaluates and gives the time away only if it was too long.
fn evaluate(jar: &[u8], class: &str) {
    let start = Instant::now();
    let _ = from_jar(jar, class);
    assert!(start.elapsed() < TIME_LIMIT, "took {:?}", start.elapsed());
}

/// The class file that holds `class`, changed at some places, among the others as they are.
fn mutated(
    class: &str,
    edits: &[(prop::sample::Index, u8)],
    cut: Option<prop::sample::Index>,
) -> Option<Vec<u8>> {
    let mut entries = compiled()?.entries("17");
    let path = format!("{}.class", class.replace('.', "/"));
    let (_, bytes) = entries.iter_mut().find(|(name, _)| *name == path)?;
    for (at, value) in edits {
        let at = at.index(bytes.len());
        bytes[at] = *value;
    }
    if let Some(cut) = cut {
        bytes.truncate(cut.index(bytes.len()));
    }
    Some(jar(&entries, CompressionMethod::Stored))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn changed_class_files_are_survived(
        class in prop::sample::select(&CLASSES[..]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        if let Some(jar) = mutated(class, &edits, None) {
            evaluate(&jar, class);
        }
    }

    #[test]
    fn cut_class_files_are_survived(
        class in prop::sample::select(&CLASSES[..]),
        cut in any::<prop::sample::Index>(),
    ) {
        if let Some(jar) = mutated(class, &[], Some(cut)) {
            prop_assert!(from_jar(&jar, class).is_err());
        }
    }

    #[test]
    fn changed_jars_are_survived(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        if let Some(mut jar) = compiled().map(|compiled| compiled.jar("17")) {
            for (at, value) in edits {
                let at = at.index(jar.len());
                jar[at] = value;
            }
            if let Some(cut) = cut {
                jar.truncate(cut.index(jar.len()));
            }
            evaluate(&jar, CLASSES[1]);
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        evaluate(&bytes, "a.B");
        let mut class = b"\xca\xfe\xba\xbe\0\0\0\x3d".to_vec();
        class.extend(&bytes);
        evaluate(&jar(&[("a/B.class".to_owned(), class)], CompressionMethod::Stored), "a.B");
    }
}

#[test]
fn a_class_file_that_expands_without_end_is_refused() {
    let bomb = vec![0; 64 << 20];
    let jar = jar(&[("a/B.class".to_owned(), bomb)], CompressionMethod::Deflated);
    assert!(jar.len() < 1 << 20);
    let error = from_jar(&jar, "a.B").unwrap_err().to_string();
    assert!(error.contains("more than 2 MB in one class file"), "{error}");
}
