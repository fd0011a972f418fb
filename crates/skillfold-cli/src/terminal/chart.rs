//! Line charts: in the terminal, and as SVG.

/// Rows of a chart in the terminal.
const ROWS: usize = 4;
/// Dots per character: braille has two columns of four.
const DOT_COLUMNS: usize = 2;
const DOT_ROWS: usize = 4;
/// Maximum dots that a value is wide.
const MAX_DOTS_PER_VALUE: usize = 8;
/// The first braille character, without dots.
const BLANK: u32 = 0x2800;
/// The bit of each dot of a braille character, by column and row.
const DOTS: [[u32; DOT_ROWS]; DOT_COLUMNS] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// Size of an SVG, and the space around its lines.
const WIDTH: usize = 720;
const HEIGHT: usize = 240;
const MARGIN: usize = 40;

/// A line of a chart.
pub(crate) struct Series<'a> {
    pub(crate) name: &'a str,
    pub(crate) color: &'a str,
    pub(crate) values: Vec<u64>,
}

/// Draws a line through values, the newest at the right, in lines of at most `width` characters, without spaces at their ends.
pub(crate) fn line_chart(values: &[u64], width: usize) -> Vec<String> {
    let newest = &values[values.len().saturating_sub(width * DOT_COLUMNS)..];
    // Few values are drawn wider.
    let repeated = (width * DOT_COLUMNS / newest.len().max(1)).clamp(1, MAX_DOTS_PER_VALUE);
    let values: Vec<u64> = newest
        .iter()
        .flat_map(|value| std::iter::repeat_n(*value, repeated))
        .collect();
    let columns = values.len().div_ceil(DOT_COLUMNS);
    let mut cells = vec![vec![BLANK; columns]; ROWS];
    let highest = values.iter().copied().max().unwrap_or_default().max(1);
    let top = ROWS * DOT_ROWS - 1;
    let height = |value: u64| usize::try_from(value * top as u64 / highest).unwrap_or(top);
    let mut previous = None;
    for (x, value) in values.iter().enumerate() {
        let y = height(*value);
        // A line has no gaps: the dots between this height and the one before belong to it.
        let from = previous.unwrap_or(y);
        for dot in from.min(y)..=from.max(y) {
            let row = top - dot;
            cells[row / DOT_ROWS][x / DOT_COLUMNS] |= DOTS[x % DOT_COLUMNS][row % DOT_ROWS];
        }
        previous = Some(y);
    }
    // The blank of braille is hidden text, which is escaped on a terminal.
    let character = |cell: &u32| match *cell {
        BLANK => ' ',
        cell => char::from_u32(cell).unwrap_or(' '),
    };
    let lines = cells.iter().map(|row| row.iter().map(character).collect());
    lines
        .map(|line: String| line.trim_end().to_owned())
        .collect()
}

/// Draws lines as an SVG; `from` and `to` are the first and the last time.
pub(crate) fn svg(series: &[Series<'_>], from: &str, to: &str) -> String {
    let values = series
        .iter()
        .flat_map(|series| series.values.iter().copied());
    let highest = values.max().unwrap_or_default().max(1);
    let (right, bottom) = (WIDTH - MARGIN, HEIGHT - MARGIN);
    let mut lines = Vec::new();
    lines.push(format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">"#
    ));
    lines.push(format!(
        r##"<path d="M{MARGIN} {MARGIN}V{bottom}H{right}" fill="none" stroke="#888"/>"##
    ));
    lines.push(format!(
        r#"<text x="4" y="{MARGIN}">{highest}</text><text x="4" y="{bottom}">0</text>"#
    ));
    let below = bottom + 20;
    lines.push(format!(
        r#"<text x="{MARGIN}" y="{below}">{from}</text><text x="{right}" y="{below}" text-anchor="end">{to}</text>"#
    ));
    for (index, series) in series.iter().enumerate() {
        let steps = series.values.len().saturating_sub(1).max(1) as u64;
        let points: Vec<_> = series
            .values
            .iter()
            .zip(0_u64..)
            .map(|(value, at)| {
                let x = MARGIN as u64 + at * (right - MARGIN) as u64 / steps;
                let y = bottom as u64 - value * (bottom - MARGIN) as u64 / highest;
                format!("{x},{y}")
            })
            .collect();
        let Series { name, color, .. } = series;
        let (points, x) = (points.join(" "), MARGIN + index * 160);
        lines.push(format!(
            r#"<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/><text x="{x}" y="20" fill="{color}">{name}</text>"#
        ));
    }
    lines.push("</svg>\n".to_owned());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Series, line_chart, svg};

    #[test]
    fn line_rises_and_falls_without_a_gap() {
        let values = [0, 1, 2, 4, 8, 8, 4, 2, 1, 0, 0, 6];
        insta::assert_snapshot!(format!("[{}]", line_chart(&values, 10).join("]\n[")), @"
        [  ⡏⡇]
        [  ⡇⡇ ⢸]
        [ ⢸⠁⢹ ⢸]
        [⣠⠏ ⠈⢧⣸]
        ");
        assert_eq!(line_chart(&[], 10), vec![String::new(); 4]);
        assert_eq!(line_chart(&values, 3)[0].chars().count(), 3);
    }

    #[test]
    fn svg_has_a_line_for_each_series() {
        let series = [
            Series {
                name: "requests",
                color: "#06c",
                values: vec![1, 4, 2],
            },
            Series {
                name: "with a skill",
                color: "#c60",
                values: vec![0, 1, 1],
            },
        ];
        insta::assert_snapshot!(svg(&series, "2026-11-01", "2026-11-03"), @r##"
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 240" font-family="sans-serif" font-size="12">
        <path d="M40 40V200H680" fill="none" stroke="#888"/>
        <text x="4" y="40">4</text><text x="4" y="200">0</text>
        <text x="40" y="220">2026-11-01</text><text x="680" y="220" text-anchor="end">2026-11-03</text>
        <polyline points="40,160 360,40 680,120" fill="none" stroke="#06c" stroke-width="2"/><text x="40" y="20" fill="#06c">requests</text>
        <polyline points="40,200 360,160 680,160" fill="none" stroke="#c60" stroke-width="2"/><text x="200" y="20" fill="#c60">with a skill</text>
        </svg>
        "##);
    }
}
