//! The levels whose calls are compiled in, by features of this crate.
//!
//! The features are those of the crate `log`, and mean the same: `max_level_info` leaves out all
//! calls below INFO, `release_max_level_info` does so in builds without `debug_assertions`, where
//! it decides over the former. Where several crates of a program ask for different ones, the one
//! that leaves out most holds. The calls of all crates see the constant, since it is this crate's.

use protolog_core::Level;

/// The least severe level whose calls are compiled in; none if no calls are. Features of this
/// crate choose it: see [the crate's page](crate#levels-that-are-compiled-in).
pub const STATIC_MAX_LEVEL: Option<Level> = least_severe(
    if cfg!(debug_assertions) { [false; 6] } else { release_features() },
    [
        cfg!(feature = "max_level_off"),
        cfg!(feature = "max_level_error"),
        cfg!(feature = "max_level_warn"),
        cfg!(feature = "max_level_info"),
        cfg!(feature = "max_level_debug"),
        cfg!(feature = "max_level_trace"),
    ],
);

/// The levels of the features, in their order.
const LEVELS: [Option<Level>; 6] = [
    None,
    Some(Level::Error),
    Some(Level::Warn),
    Some(Level::Info),
    Some(Level::Debug),
    Some(Level::Verbose),
];

const fn release_features() -> [bool; 6] {
    [
        cfg!(feature = "release_max_level_off"),
        cfg!(feature = "release_max_level_error"),
        cfg!(feature = "release_max_level_warn"),
        cfg!(feature = "release_max_level_info"),
        cfg!(feature = "release_max_level_debug"),
        cfg!(feature = "release_max_level_trace"),
    ]
}

/// Returns the level of the first feature that is on, of those that decide over others first.
const fn least_severe(release: [bool; 6], all: [bool; 6]) -> Option<Level> {
    let mut index = 0;
    while index < 12 {
        if (index < 6 && release[index]) || (index >= 6 && all[index - 6]) {
            return LEVELS[index % 6];
        }
        index += 1;
    }
    Some(Level::Verbose)
}

/// Returns true if calls at `level` are compiled in.
#[inline]
pub const fn is_level_compiled(level: Level) -> bool {
    match STATIC_MAX_LEVEL {
        Some(least) => level as u8 >= least as u8,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_feature_that_leaves_out_most_holds_and_those_of_release_builds_decide() {
        let features = |on: &[usize]| std::array::from_fn(|index| on.contains(&index));
        let none = features(&[]);
        assert_eq!(least_severe(none, none), Some(Level::Verbose));
        for (index, level) in LEVELS.into_iter().enumerate() {
            assert_eq!(least_severe(none, features(&[index])), level);
            assert_eq!(least_severe(features(&[index]), features(&[0, 3])), level);
            assert_eq!(least_severe(features(&[index, 5]), none), level);
            assert_eq!(least_severe(none, features(&[5, index])), level);
        }
    }

    #[test]
    fn levels_are_compared_by_severity() {
        assert!(Level::ALL.is_sorted_by_key(|level| *level as u8));
        assert_eq!(STATIC_MAX_LEVEL, Some(Level::Verbose), "tests are built without the features");
        assert!(Level::ALL.into_iter().all(is_level_compiled));
    }
}
