//! Full names of groups, `crate::Enum::Variant`, computed in constants.
//!
//! The derive macro knows the enum and the variant, the compiler knows the module's path; the
//! path's first segment is the crate.

/// Returns the length of the full name of `variant` (`Enum::Variant`) in the crate of `module`.
pub const fn full_name_len(module: &str, variant: &str) -> usize {
    crate_len(module) + 2 + variant.len()
}

/// Returns the full name of a group: the first segment of `module`, `::`, `variant`
/// (`Enum::Variant`). `N` is [`full_name_len`].
pub const fn full_name<const N: usize>(module: &str, variant: &str) -> [u8; N] {
    let (module, variant) = (module.as_bytes(), variant.as_bytes());
    let start = N - variant.len();
    let mut bytes = [b':'; N];
    let mut at = 0;
    while at < N {
        if at < start - 2 {
            bytes[at] = module[at];
        } else if at >= start {
            bytes[at] = variant[at - start];
        }
        at += 1;
    }
    bytes
}

/// Returns the bytes of [`full_name`] as a string.
pub const fn utf8(bytes: &'static [u8]) -> &'static str {
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("a group's name is UTF-8"),
    }
}

/// Returns the length of the first segment of a module's path.
const fn crate_len(module: &str) -> usize {
    let bytes = module.as_bytes();
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b':' {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_groups_name_begins_with_the_crate() {
        const NAME: &[u8] = &full_name::<{ full_name_len("app::net::tcp", "Log::Net") }>(
            "app::net::tcp",
            "Log::Net",
        );
        assert_eq!(utf8(NAME), "app::Log::Net");
        const ROOT: &[u8] = &full_name::<{ full_name_len("a", "B::C") }>("a", "B::C");
        assert_eq!(utf8(ROOT), "a::B::C");
    }
}
