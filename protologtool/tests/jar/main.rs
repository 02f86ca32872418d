//! Groups from jars, against the JVM and against hostile jars.
//!
//! The Java sources under `fixtures/groups` are compiled by the real javac when the tests run, for
//! several releases, since javac's output for enums and concatenations differs; what a JVM finds in
//! the same classes by reflection is the oracle.

mod errors;
mod fixture;
mod hostile;
mod kotlin;
mod shapes;
mod source;
