//! Writes files and skill folders: locked, atomic, and confined to an open folder.

pub(crate) mod calls;
pub(crate) mod fault;
pub(crate) mod temporary_name;

pub(crate) mod dir;

mod flock;

pub(crate) mod restore;

pub(crate) mod staged;

pub(crate) mod write_root;

mod cleanup;
pub(crate) mod folder_link;
pub(crate) mod lock;

pub(crate) mod bounded_log;

pub(crate) mod write_target;

pub(crate) mod skill_files;

pub(crate) mod merge_skills;

pub(crate) mod staged_folder;

pub(crate) mod skill_folder;
