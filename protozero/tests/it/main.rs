//! The tests of this crate, as one program: bytes at every boundary, an oracle, and the compiled
//! code.

mod all_types;
mod codegen;
mod oracle;
mod read;
mod scattered;
mod wire;
mod write;
