//! The nearest valid word, for error messages.

/// The candidate most like `word`, or `None` when nothing is near enough to be a plausible slip of the keyboard.
///
/// A wrong case counts half of a wrong letter, so that `kn` suggests `kN` rather than `km`.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(64).collect();
    let allowed = 2 * word.len().div_ceil(2).min(3);
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Twice the edit distance (insert, delete, replace), with a change of case at half price.
fn distance(word: &[char], candidate: &str) -> usize {
    let mut row: Vec<usize> = (0..=word.len()).map(|i| 2 * i).collect();
    for c in candidate.chars() {
        let mut diagonal = row[0];
        row[0] += 2;
        for (i, &w) in word.iter().enumerate() {
            let replace = match () {
                _ if w == c => 0,
                _ if w.to_lowercase().eq(c.to_lowercase()) => 1,
                _ => 2,
            };
            let best = (diagonal + replace).min(row[i] + 2).min(row[i + 1] + 2);
            diagonal = row[i + 1];
            row[i + 1] = best;
        }
    }
    row[word.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_obvious_word_and_nothing_far() {
        let units = ["m", "mm", "km", "N", "kN", "Pa"];
        assert_eq!(nearest("kn", units), Some("kN"));
        assert_eq!(nearest("pa", units), Some("Pa"));
        assert_eq!(nearest("sine", ["sin", "min", "sign"]), Some("sin"));
        assert_eq!(nearest("furlong", units), None);
    }

    #[test]
    fn distance_is_twice_levenshtein() {
        let letters: Vec<char> = "kitten".chars().collect();
        assert_eq!(distance(&letters, "sitting"), 6);
    }
}
