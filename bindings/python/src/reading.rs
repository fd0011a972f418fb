//! What `Skills` and `AgentSkills` share: instructions and files of a skill as views.

use pyo3::prelude::*;
use skillfold::Skills;
use skillfold::core::load::{FileContent, FileList, LoadedText};
use skillfold::core::source::Cursor;
use skillfold::core::{Envelope, Error};
use skillfold::view::{Document, FileListing, FilePart, InstructionsView};

use crate::error::{detached, json, parse};

/// Returns instructions in an envelope.
pub(crate) fn rendered(
    py: Python<'_>,
    envelope: &str,
    render: impl FnOnce(Envelope) -> Result<LoadedText, Error> + Send,
) -> PyResult<String> {
    detached(py, || {
        let envelope: Envelope = parse("envelope", envelope)?;
        let loaded = render(envelope)?;
        Ok(json(Document::Instructions(InstructionsView::new(
            &loaded, envelope,
        ))))
    })
}

/// Returns a page of the files of a skill.
pub(crate) fn listed(
    py: Python<'_>,
    (skills, id): (&Skills, &str),
    after: Option<&str>,
    list: impl FnOnce(Option<&Cursor>) -> Result<FileList, Error> + Send,
) -> PyResult<String> {
    detached(py, || {
        let page = list(after.map(Cursor::after).as_ref())?;
        let catalog = skills.catalog();
        let listing = FileListing::new(&catalog.resolve_or_suggest(id)?, &page);
        Ok(json(Document::Files(listing)))
    })
}

/// Returns a part of a file of a skill.
pub(crate) fn part(
    py: Python<'_>,
    (skills, id): (&Skills, &str),
    read: impl FnOnce() -> Result<FileContent, Error> + Send,
) -> PyResult<String> {
    detached(py, || {
        let content = read()?;
        let catalog = skills.catalog();
        let part = FilePart::new(&catalog.resolve_or_suggest(id)?, &content);
        Ok(json(Document::File(part)))
    })
}
