//! The caches of Skillfold on disk. All of it can be deleted at any time: what is missing is made again from the skills.
//!
//! [`DiskIndex`] finds skills by the words of a request among so many that they are better not held in memory.
#![forbid(unsafe_code)]

mod disk;

pub use disk::{Answer, Damage, DiskIndex, Hit, Key, Synced, Writer};
