//! Typed writers and readers for [`protozero`], from .proto files.
//!
//! A build script names the files:
//!
//! ```no_run
//! # #[cfg(feature = "parse")]
//! fn main() -> Result<(), protozero_build::Error> {
//!     protozero_build::Config::new().include("proto").file("proto/car.proto").compile("car.rs")
//! }
//! # #[cfg(not(feature = "parse"))]
//! # fn main() {}
//! ```
//!
//! and the program includes what it wrote, with `include!(concat!(env!("OUT_DIR"), "/car.rs"))`.
//! From
//!
//! ```proto
//! package garage;
//! message Car {
//!   optional string owner = 1;
//!   repeated Wheel wheels = 2;
//!   enum Fuel { PETROL = 0; CURRENT = 1; }
//!   optional Fuel fuel = 3;
//!   message Wheel { optional uint32 inches = 1; }
//! }
//! ```
//!
//! come `garage::Car`, `garage::CarReader`, `garage::car::Fuel` and so on:
//!
//! ```
//! # mod garage { include!("../tests/data/car.txt"); pub use garage::*; }
//! use garage::{Car, CarField, CarReader, car};
//! use protozero::{Fixed, Writer};
//!
//! let mut memory = [0; 64];
//! let mut writer = Writer::new(Fixed::new(&mut memory));
//! let mut car = Car::root(&mut writer);
//! car.owner("Bertha").fuel(car::Fuel::CURRENT);
//! for _ in 0..3 {
//!     car.add_wheels().inches(28); // its size is filled in when it is dropped
//! }
//! let bytes = writer.into_slice()?;
//!
//! let mut wheels = 0;
//! for field in CarReader::new(bytes) {
//!     match field? {
//!         CarField::Owner(owner) => assert_eq!(owner, "Bertha"),
//!         CarField::Wheels(_) => wheels += 1, // a reader, which nobody has to use
//!         _ => {}
//!     }
//! }
//! assert_eq!(wheels, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | in the schema | setters | read as |
//! |---|---|---|
//! | `optional`, `required`, without a label, in a oneof | `name(value)` | the value |
//! | `repeated` | `add_name(value)` for one, `name_packed(values)` for all in one piece | `Repeated`, packed or not |
//! | `string`, `bytes` | also `name_pieces(pieces)` | `&str`, which is checked, and `&[u8]` |
//! | a message | `name()`; `name_exact(size)`, `name_encoded(bytes)` | its reader |
//! | an enum | a number with constants for its names | the same; where repeated, as numbers |
//! | a map | as the repeated message of its entries, with `key` and `value` | the reader of an entry |
//! | an extension | a setter of the message that is extended | a field of it |
//! | a group, a message with `DELIMITED` | none: [an error](Error::Group), unless they are [left out](Config::leave_out_groups) | |
//!
//! A nested message borrows its parent until it is dropped. Nothing here checks that a required
//! field is set, or one member of a oneof only: the writer appends, and the last value counts.
//! Names follow Rust's conventions; where two would be the same, or a method's own, the second has
//! `_` behind it. The code needs nothing but `protozero`: no allocation, no `std`.
//!
//! With protoc, `protoc-gen-protozero` writes the same:
//! `protoc --protozero_out=src --protozero_opt=file=car.rs car.proto`. A part of a large schema is
//! `message=FULL_NAME` there, and [`Config::message`] here. It takes editions, which the parser of
//! this crate does not know.

mod emit;
mod error;
mod layout;
mod names;
pub mod plugin;
mod schema;

#[cfg(feature = "parse")]
mod config;
#[cfg(feature = "parse")]
pub use config::Config;
pub use error::Error;

/// Settings of what is generated.
#[derive(Clone, Debug)]
pub struct Options {
    /// The path of the crate `protozero` in the code, such as `::protozero`.
    pub runtime: String,
    /// Leave out fields that are groups; without it, one is an error.
    pub leave_out_groups: bool,
    /// The full names of messages, such as `perfetto.protos.TrackEvent`: only they and what they
    /// need get code. None for all messages of the files.
    pub messages: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { runtime: "::protozero".to_owned(), leave_out_groups: false, messages: Vec::new() }
    }
}

/// Returns the code for the files of a `FileDescriptorSet`, as `protoc --descriptor_set_out` writes
/// it, that `is_asked` says yes to, and for the types of others that these need.
pub fn generate(
    descriptor_set: &[u8],
    is_asked: impl Fn(&str) -> bool,
    options: &Options,
) -> Result<String, Error> {
    generate_from(&schema::read_set(descriptor_set, 1)?, is_asked, options)
}

fn generate_from(
    files: &[schema::File],
    is_asked: impl Fn(&str) -> bool,
    options: &Options,
) -> Result<String, Error> {
    if !schema::is_path(&options.runtime) {
        return Err(Error::Parameter(format!("runtime={}", options.runtime)));
    }
    schema::check(files)?;
    emit::code(&layout::Layout::of(files, is_asked, &options.messages)?, options)
}
