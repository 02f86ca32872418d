//! Tables in Markdown, columns aligned for the terminal too.

/// The table; the first column is text, the others are figures.
pub(super) fn markdown(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].chars().count(), 3]).max().unwrap_or(3)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let padded =
        |cells: &[String]| {
            let cells = cells.iter().zip(&widths).enumerate();
            line(
                cells
                    .map(|(at, (cell, width))| {
                        if at == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                    })
                    .collect(),
            )
        };
    let rule = widths.iter().enumerate().map(|(at, width)| {
        if at == 0 { "-".repeat(*width) } else { format!("{}:", "-".repeat(width - 1)) }
    });
    let mut text = padded(&head.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>());
    text.push_str(&line(rule.collect()));
    text.extend(rows.iter().map(|row| padded(row)));
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn aligns_columns() {
        let rows = [
            vec!["floor".to_owned(), "1.25".to_owned()],
            vec!["the tool".to_owned(), "103".to_owned()],
        ];
        let expected = "| what     | files/s |\n| -------- | ------: |\n| floor    |    1.25 |\n| the tool |     103 |\n";
        assert_eq!(super::markdown(&["what", "files/s"], &rows), expected);
    }
}
