//! Links the program as defmt's decoder needs it: the formats in a section whose addresses are
//! their numbers.

use std::path::Path;
use std::{env, fs};

/// The section of defmt's own linker script, beside those that a program for this machine has
/// anyway. By itself, that script would replace them, and the program would not start.
const SECTION: &str = "
EXTERN(_defmt_acquire);
EXTERN(_defmt_release);
PROVIDE(_defmt_timestamp = __defmt_default_timestamp);
PROVIDE(_defmt_panic = __defmt_default_panic);
SECTIONS
{
  .defmt 1 (INFO) :
  {
    . = 1;
    *(.defmt.prim.*);
    __DEFMT_MARKER_TRACE_START = .;
    *(.defmt.trace.*);
    __DEFMT_MARKER_TRACE_END = .;
    __DEFMT_MARKER_DEBUG_START = .;
    *(.defmt.debug.*);
    __DEFMT_MARKER_DEBUG_END = .;
    __DEFMT_MARKER_INFO_START = .;
    *(.defmt.info.*);
    __DEFMT_MARKER_INFO_END = .;
    __DEFMT_MARKER_WARN_START = .;
    *(.defmt.warn.*);
    __DEFMT_MARKER_WARN_END = .;
    __DEFMT_MARKER_ERROR_START = .;
    *(.defmt.error.*);
    __DEFMT_MARKER_ERROR_END = .;
    *(.defmt.*);
    __DEFMT_MARKER_END = .;
    KEEP(*(.defmt.end .defmt.end.*));
  }
}
INSERT AFTER .comment;
";

fn main() {
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    let script = Path::new(&out).join("section.x");
    fs::write(&script, SECTION).expect("write the linker script");
    println!("cargo:rustc-link-arg-bins=-T{}", script.display());
    // The number of a format is its address as it was linked, not as it was loaded. Only GNU's
    // linker gives the section that address.
    println!("cargo:rustc-link-arg-bins=-no-pie");
    println!("cargo:rustc-link-arg-bins=-fuse-ld=bfd");
    // Calls below that level are not compiled at all.
    println!("cargo:rustc-env=DEFMT_LOG=trace");
    println!("cargo:rerun-if-changed=build.rs");
}
