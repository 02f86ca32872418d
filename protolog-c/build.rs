//! The name by which programs find the shared library: without it, a program would refer to the
//! path that it was linked with.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Raised when what a program was compiled with no longer fits: see abi.txt.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libprotolog.so.0");
}
