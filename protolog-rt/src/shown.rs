//! Texts of values that have none of their own: errors with their causes, bytes, and all that is
//! `Debug`.
//!
//! Arguments of `%s` are `Display`. These wrappers are, for what is not, and say so in the call: so
//! that a reader of the source knows what a reader of the log will see.
//!
//! Invariants: nothing is formatted, and nothing allocated, before the call prints the wrapper, so
//! a call at a level that is off costs nothing; a text ends, whatever the value does.

use core::error::Error;
use core::fmt::{self, Debug, Display, Formatter};

/// Returns an error with its causes, for `%s`: `can't load: app.toml: permission denied`.
///
/// The causes are those of [`Error::source`], from the outermost inwards. After 64 of them an
/// ellipsis stands for the others, so that a circle of errors ends, too.
///
/// ```
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Config }
/// # fn load(path: &str) -> Result<(), std::io::Error> { std::fs::read(path).map(drop) }
/// if let Err(error) = load("app.toml") {
///     protolog_rt::e!(AppLog::Config, "no configuration: %s", protolog_rt::chain(&error));
/// }
/// ```
///
/// For a `Box<dyn Error>`, an `Arc<dyn Error>` and `anyhow::Error`: `chain(&*error)`.
pub fn chain<'a>(error: &'a (dyn Error + 'a)) -> Chain<'a> {
    Chain(error)
}

/// Returns bytes in hexadecimal, for `%s`: `0a1bff`.
///
/// For arrays, slices, vectors and all that is `AsRef<[u8]>`. A precision in the template prints
/// the first bytes: `%.8s` four of them.
///
/// ```
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// # let packet = [0x0a, 0x1b, 0xff];
/// protolog_rt::d!(AppLog::Net, "packet %s of %d bytes", protolog_rt::hex(&packet), packet.len());
/// ```
pub fn hex<B: AsRef<[u8]> + ?Sized>(bytes: &B) -> Hex<'_> {
    Hex(bytes.as_ref())
}

/// Returns a value as `{:?}` prints it, for `%s`: a `Duration`, a `Result`, a vector, an enum.
///
/// ```
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// # let elapsed = std::time::Duration::from_micros(1500);
/// protolog_rt::d!(AppLog::Net, "answered in %s", protolog_rt::debug(&elapsed)); // 1.5ms
/// ```
pub fn debug<T: Debug + ?Sized>(value: &T) -> AsDebug<'_, T> {
    AsDebug(value)
}

/// An error with its causes: see [`chain`].
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a>(&'a (dyn Error + 'a));

/// Bytes in hexadecimal: see [`hex`].
#[derive(Clone, Copy, Debug)]
pub struct Hex<'a>(&'a [u8]);

/// A value as `Debug` prints it: see [`debug`].
#[derive(Clone, Copy, Debug)]
pub struct AsDebug<'a, T: ?Sized>(&'a T);

/// The causes that are printed: more are a circle.
const CAUSES: usize = 64;

impl Display for Chain<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut outer = self.0;
        write!(f, "{outer}")?;
        for _ in 0..CAUSES {
            let Some(cause) = outer.source() else { return Ok(()) };
            write!(f, ": {cause}")?;
            outer = cause;
        }
        if outer.source().is_some() { f.write_str(": …") } else { Ok(()) }
    }
}

impl Display for Hex<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<T: Debug + ?Sized> Display for AsDebug<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// An error with another one as its cause; number 0 has none, and the first of a circle has
    /// itself.
    #[derive(Debug)]
    struct Failed(u32, Option<Box<Failed>>, bool);

    impl Display for Failed {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            write!(f, "failed {}", self.0)
        }
    }

    impl Error for Failed {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            static CIRCLE: Failed = Failed(9, None, true);
            if self.2 { Some(&CIRCLE) } else { self.1.as_deref().map(|cause| cause as _) }
        }
    }

    #[test]
    fn an_error_has_its_causes_behind_it() {
        let inner = Failed(0, None, false);
        assert_eq!(chain(&inner).to_string(), "failed 0");
        let outer = Failed(2, Some(Box::new(Failed(1, Some(Box::new(inner)), false))), false);
        assert_eq!(chain(&outer).to_string(), "failed 2: failed 1: failed 0");
        let boxed: Box<dyn Error> = Box::new(outer);
        assert_eq!(chain(&*boxed).to_string(), "failed 2: failed 1: failed 0");
    }

    #[test]
    fn a_circle_of_errors_ends() {
        let text = chain(&Failed(9, None, true)).to_string();
        assert_eq!(text, format!("failed 9{}: …", ": failed 9".repeat(CAUSES)));
    }

    #[test]
    fn bytes_are_hexadecimal() {
        assert_eq!(hex(&[0x0a, 0x1b, 0xff]).to_string(), "0a1bff");
        assert_eq!(hex(&Vec::new()).to_string(), "");
        assert_eq!(hex("é").to_string(), "c3a9");
    }

    #[test]
    fn values_are_as_debug_prints_them() {
        assert_eq!(debug(&Duration::from_micros(1500)).to_string(), "1.5ms");
        assert_eq!(debug(&Err::<(), _>("late")).to_string(), "Err(\"late\")");
        assert_eq!(debug(&[Some(1), None][..]).to_string(), "[Some(1), None]");
    }
}
