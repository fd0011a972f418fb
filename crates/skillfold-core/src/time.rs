//! Times as text. The engine never asks for the time; it is given it.

use std::time::{SystemTime, UNIX_EPOCH};

const SECOND_MS: u64 = 1_000;
const DAY_MS: u64 = 24 * 60 * 60 * SECOND_MS;

/// Formats a number of milliseconds since 1970 as RFC 3339, in UTC and to the second.
///
/// ```
/// assert_eq!(skillfold_core::text::utc_ms(1_763_212_668_999), "2025-11-15T13:17:48Z");
/// ```
pub fn utc_ms(time_ms: u64) -> String {
    let (year, month, day) = civil_date(time_ms / DAY_MS);
    let second = time_ms % DAY_MS / SECOND_MS;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Formats a time as RFC 3339, in UTC and to the second. Times before 1970 are 1970.
pub fn utc(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    utc_ms(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Returns the year, month and day of a number of days since 1970, in the Gregorian calendar, in which 400 years have
/// 146,097 days. Years start in March here, so that the leap day is the last day of the year.
fn civil_date(days: u64) -> (u64, u64, u64) {
    // Days since 0000-03-01.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let is_next = month >= 10;
    let month = if is_next { month - 9 } else { month + 3 };
    (era * 400 + year + u64::from(is_next), month, day)
}

#[cfg(test)]
mod tests {
    use super::{DAY_MS, utc_ms};

    #[test]
    fn dates_follow_the_calendar() {
        let first = |day: u64| utc_ms(day * DAY_MS)[..10].to_owned();
        assert_eq!(utc_ms(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc_ms(1_763_212_668_999), "2025-11-15T13:17:48Z");
        assert_eq!(first(11_016), "2000-02-29");
        assert_eq!(first(11_017), "2000-03-01");
        assert_eq!(first(47_540), "2100-02-28");
        assert_eq!(first(47_541), "2100-03-01");
        assert_eq!(utc_ms(253_402_300_799_999), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn timestamps_sort_by_day() {
        let mut before = String::new();
        for day in 0..60_000 {
            let now = utc_ms(day * DAY_MS);
            assert!(before < now, "{before} {now}");
            before = now;
        }
    }
}
