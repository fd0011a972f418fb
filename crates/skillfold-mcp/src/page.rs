//! Lists page by page, and for how long they hold. A cursor is the key that the last page ended with, and stays good when the list changes.

/// Items that a page holds.
pub(crate) const PAGE: usize = 50;

/// How long a client may take a page or a file for current, in milliseconds.
pub(crate) const TTL_MS: u64 = 5_000;

/// Bytes of the longest cursor that is taken: no key is longer.
const CURSOR_BYTES: usize = 4096;

/// A page, and what to ask for the next with.
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<String>,
}

/// Returns the page after a cursor, of items that are in the order of their keys.
pub(crate) fn page<T>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> &str,
    cursor: Option<&str>,
) -> Page<T> {
    let after = cursor.unwrap_or_default();
    let mut rest = items
        .into_iter()
        .skip_while(|item| cursor.is_some() && key(item) <= after);
    let items: Vec<T> = rest.by_ref().take(PAGE).collect();
    let next = rest
        .next()
        .and_then(|_| items.last().map(|last| key(last).to_owned()));
    Page { items, next }
}

/// Returns whether a cursor may be one of ours.
pub(crate) fn is_cursor(cursor: &str) -> bool {
    !cursor.is_empty() && cursor.len() <= CURSOR_BYTES
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn pages_hold_every_item_once_whatever_goes_away_in_between() {
        let all: Vec<String> = (0..120).map(|number| format!("{number:03}")).collect();
        let key = |item: &&String| item.as_str().to_owned();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            // The item that the last page ended with is gone.
            let left = all.iter().filter(|item| Some(*item) != cursor.as_ref());
            let found = page(left, |item| item.as_str(), cursor.as_deref());
            seen.extend(found.items.iter().map(key));
            match found.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, all);
    }
}
