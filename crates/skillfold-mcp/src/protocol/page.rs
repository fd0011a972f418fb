//! Pagination of lists, and how long clients may cache them. A cursor is the last key of the previous page, so it stays
//! valid when the list changes.

/// Items per page.
pub(crate) const PAGE_ITEMS: usize = 50;

/// How long a client may cache a page or a file, in milliseconds.
pub(crate) const TTL_MS: u64 = 5_000;

/// Maximum length of an accepted cursor in bytes: no key is longer.
const MAX_CURSOR_BYTES: usize = 4096;

/// A page and the next one's cursor.
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<String>,
}

/// Returns the page after a cursor. The items must be ordered by key.
pub(crate) fn page<T>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> &str,
    cursor: Option<&str>,
) -> Page<T> {
    let after = cursor.unwrap_or_default();
    let mut rest = items
        .into_iter()
        .skip_while(|item| cursor.is_some() && key(item) <= after);
    let items: Vec<T> = rest.by_ref().take(PAGE_ITEMS).collect();
    let next = rest
        .next()
        .and_then(|_| items.last().map(|last| key(last).to_owned()));
    Page { items, next }
}

/// Returns whether a cursor can be one of ours.
pub(crate) fn is_cursor(cursor: &str) -> bool {
    !cursor.is_empty() && cursor.len() <= MAX_CURSOR_BYTES
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn pages_return_every_item_once_despite_removals() {
        let all: Vec<String> = (0..120).map(|number| format!("{number:03}")).collect();
        let key = |item: &&String| item.as_str().to_owned();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            // The last item of the previous page is gone.
            let remaining = all.iter().filter(|item| Some(*item) != cursor.as_ref());
            let found = page(remaining, |item| item.as_str(), cursor.as_deref());
            seen.extend(found.items.iter().map(key));
            match found.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, all);
    }
}
