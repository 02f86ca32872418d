//! The command `protologtool`; everything it does is in the library.
fn main() {}
