//! Spans of time as people write them: `90`, `"30s"`, `"1h30m"`.

/// Seconds from text: a number (seconds), or numbers with units (`d`, `h`, `m`, `s`), added up.
pub(super) fn parse(text: &str) -> Result<f64, String> {
    let wrong =
        || format!("{text:?} is not a span of time: give seconds, or text such as \"30s\", \"10m\" or \"1h30m\"");
    if let Ok(seconds) = number(text.trim()) {
        return Ok(seconds);
    }
    let mut seconds = 0.0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !is_part_of_number(c)).ok_or_else(wrong)?;
        let (amount, tail) = rest.split_at(digits);
        let amount = number(amount).map_err(|()| wrong())?;
        let unit = tail.chars().next().ok_or_else(wrong)?;
        seconds += amount
            * match unit {
                's' => 1.0,
                'm' => 60.0,
                'h' => 3_600.0,
                'd' => 86_400.0,
                _ => return Err(wrong()),
            };
        rest = tail[unit.len_utf8()..].trim_start();
    }
    if text.trim().is_empty() { Err(wrong()) } else { Ok(seconds) }
}

fn is_part_of_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

/// Plain decimals alone: neither signs nor exponents, nor `inf`.
fn number(text: &str) -> Result<f64, ()> {
    if text.chars().all(is_part_of_number) { text.parse().map_err(|_| ()) } else { Err(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_every_form() {
        for (text, seconds) in [
            ("30s", 30.0),
            ("10m", 600.0),
            ("2h", 7_200.0),
            ("1d", 86_400.0),
            ("1.5h", 5_400.0),
            ("1h30m", 5_400.0),
            ("1d 2h 0.5s", 93_600.5),
            ("90", 90.0),
            ("0", 0.0),
        ] {
            assert_eq!(parse(text), Ok(seconds), "{text}");
        }
        for text in ["", " ", "m", "10 m", "10x", "1h30", "-5s", "1e3", "1..5s", "inf", "10é", "soon"] {
            assert!(parse(text).unwrap_err().contains("is not a span of time"), "{text}");
        }
    }
}
