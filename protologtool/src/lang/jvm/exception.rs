//! The exception that a call of Java or Kotlin may pass behind the arguments of its template, which
//! is written with its stack trace.
//!
//! Types are not resolved here. A call that passes one argument more than its template takes is
//! wrong, unless that argument is evidently an exception: by its declared type, or by its name
//! where none is declared. Rewritten code hands it to a method that takes only exceptions, so
//! the compiler corrects a wrong guess.

/// Endings of the names of types that are exceptions.
const TYPES: [&str; 3] = ["Exception", "Error", "Throwable"];

/// Names of variables that mean an exception, and endings of such names.
const NAMES: [&str; 6] = ["e", "ex", "exc", "t", "th", "cause"];
const ENDINGS: [&str; 6] = ["exception", "error", "throwable", "Exception", "Error", "Throwable"];

/// Methods and properties that give an exception.
const GIVERS: [&str; 4] = ["getCause", "getTargetException", "exceptionOrNull", "cause"];

/// Returns whether a type, as it is written, is one of exceptions.
pub(in crate::lang) fn is_type(written: &str) -> bool {
    let name = written.trim_end_matches(['?', '!']).trim_end();
    let name = name.rsplit('.').next().unwrap_or(name);
    TYPES.iter().any(|end| name.ends_with(end))
}

/// Returns whether a variable of no declared type is named like an exception.
pub(in crate::lang) fn is_name(name: &str) -> bool {
    NAMES.contains(&name) || ENDINGS.iter().any(|end| name.ends_with(end))
}

/// Returns whether a method or property of this name gives an exception.
pub(in crate::lang) fn is_giver(name: &str) -> bool {
    GIVERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_names() {
        assert!(is_type("java.io.IOException") && is_type("Throwable?") && is_type("Error"));
        assert!(!is_type("ErrorCode") && !is_type("String") && !is_type("Exceptions"));
        assert!(is_name("e") && is_name("lastError") && !is_name("errors") && !is_name("text"));
        assert!(is_giver("getCause") && !is_giver("getMessage"));
    }
}
