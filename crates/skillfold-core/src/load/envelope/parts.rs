//! What goes into an envelope, and what comes out.

/// The content of an envelope.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct EnvelopeParts<'a> {
    /// The requested id.
    pub id: &'a str,
    /// The instructions, with the arguments filled in.
    pub body: &'a str,
    /// The absolute path of the skill's folder; a skill in memory has none.
    pub base_dir: Option<&'a str>,
    /// The approximate number of tokens in the body.
    pub tokens: u64,
    /// Ids of required skills. At most ten are named; entries that are not valid ids are left out.
    pub requires: &'a [&'a str],
    /// Files of the skill, relative to its folder.
    pub files: &'a [&'a str],
    /// The number of files that are not in `files`.
    pub unlisted: usize,
}

setters! {
    EnvelopeParts<'a> {
        with_id(id: &'a str),
        with_body(body: &'a str),
        with_base_dir(base_dir: Option<&'a str>),
        with_tokens(tokens: u64),
        with_requires(requires: &'a [&'a str]),
        with_files(files: &'a [&'a str]),
        with_unlisted(unlisted: usize),
    }
}

/// Why a skill could not be loaded, for a model to act on.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct LoadFailure<'a> {
    /// The requested id.
    pub id: &'a str,
    /// What went wrong, as a sentence.
    pub message: &'a str,
    /// What to do about it, as a sentence; may be empty.
    pub hint: &'a str,
    /// Similar ids, the nearest first.
    pub nearest: &'a [&'a str],
}

setters! {
    LoadFailure<'a> {
        with_id(id: &'a str),
        with_message(message: &'a str),
        with_hint(hint: &'a str),
        with_nearest(nearest: &'a [&'a str]),
    }
}

/// A rendered envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderedEnvelope {
    /// The text for the model.
    pub text: String,
    /// The number of tags in the body that were neutralised.
    pub neutralised: usize,
}
