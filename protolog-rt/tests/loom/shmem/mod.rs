//! `shmem` as it is, over memory of the model.

#[path = "../../../src/shmem/buffer.rs"]
pub(crate) mod buffer;
#[path = "../../../src/shmem/drain.rs"]
pub(crate) mod drain;
#[path = "../../../src/shmem/flow.rs"]
mod flow;
mod memory;
#[path = "../../../src/shmem/page.rs"]
mod page;
#[path = "../../../src/shmem/ring.rs"]
mod ring;
