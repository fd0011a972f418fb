//! Media types by file name.

use skillfold::core::load::FileKind;

/// The type of files of unknown content.
pub(crate) const BYTES: &str = "application/octet-stream";

/// The type of folders as resources.
pub(crate) const FOLDER: &str = "inode/directory";

const MEDIA_TYPES: [(&str, &str); 26] = [
    ("md", "text/markdown"),
    ("markdown", "text/markdown"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("json", "application/json"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("xml", "application/xml"),
    ("py", "text/x-python"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("ts", "text/x-typescript"),
    ("sh", "application/x-sh"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("svg", "image/svg+xml"),
    ("webp", "image/webp"),
    ("avif", "image/avif"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("gz", "application/gzip"),
];

/// Returns the media type of a file.
pub(crate) fn media_type(path: &str, kind: FileKind) -> &'static str {
    let extension = path.rsplit('.').next().unwrap_or_default();
    let known = MEDIA_TYPES
        .iter()
        .find(|(known, _)| extension.eq_ignore_ascii_case(known));
    match (known, kind) {
        (Some((_, media)), _) => media,
        (None, FileKind::Text | FileKind::Script | FileKind::Data) => "text/plain",
        (None, _) => BYTES,
    }
}

/// Returns the media type of a file by its name alone.
pub(crate) fn media_type_by_name(path: &str) -> &'static str {
    media_type(path, FileKind::Other)
}
