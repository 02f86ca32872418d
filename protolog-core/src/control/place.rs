//! The directories of sockets, and when one is private: programs make their socket in no other one, and operators look into no
//! other one.

/// The directory for services, with a directory for each user.
pub const SERVICES: &str = "/run/protolog";
/// The directory for what stands in for the others where another user has taken or could take their place.
pub const FALLBACKS: &str = "/tmp";
/// The beginning of the names in it. A user's id, `-` and random digits follow.
pub const FALLBACK_PREFIX: &str = "protolog-";

/// Returns whether only `user` can enter the directory with this owner and mode, or make another one in its place: the directory that it
/// is in belongs to the same user or root, and others can't write there, or can't rename what is not theirs (as in `/tmp`).
pub const fn is_private(user: u32, mode: u32, parent_user: u32, parent_mode: u32) -> bool {
    // None of the six bits of the group and of others.
    let is_closed = mode.trailing_zeros() >= 6;
    let is_parent_safe = parent_mode & 0o022 == 0 || parent_mode & 0o1000 != 0;
    is_closed && is_parent_safe && (parent_user == user || parent_user == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_can_enter_or_replace_a_private_directory() {
        for (mode, parent_user, parent_mode, expected) in [
            (0o40700, 0, 0o40755, true),
            (0o40700, 0, 0o41777, true),
            (0o40700, 7, 0o40700, true),
            (0o40700, 7, 0o41775, true),
            (0o40700, 8, 0o40700, false),
            (0o40700, 8, 0o41777, false),
            (0o40700, 0, 0o40777, false),
            (0o40700, 0, 0o40775, false),
            (0o40750, 0, 0o40755, false),
            (0o40701, 0, 0o40755, false),
        ] {
            assert_eq!(
                is_private(7, mode, parent_user, parent_mode),
                expected,
                "{mode:o} {parent_mode:o}"
            );
        }
    }
}
