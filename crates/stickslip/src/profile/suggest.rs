//! The nearest valid word, for error messages.

/// The candidate nearest to `word` in spelling, or that it abbreviates, if any is near enough to be meant.
///
/// A wrong case counts half of a wrong letter, so that `kn` suggests `kN` rather than `km`.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const SHORTEST: usize = 3;
    let letters: Vec<char> = word.chars().take(64).collect();
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other: Vec<char> = candidate.chars().take(64).collect();
            let distance = distance(&letters, &other);
            // A third of the letters may be wrong, one in words of three letters and more, in shorter ones only a case.
            let longest = letters.len().max(other.len());
            let allowed = if longest < SHORTEST {
                1
            } else {
                2 * (longest / 3).max(1)
            };
            let begins = candidate.to_lowercase().starts_with(&lower);
            // Words that begin alike may end in another way: body, bodies.
            let alike = letters.iter().zip(&other).take_while(|(a, b)| a == b).count();
            let alike = alike >= SHORTEST && 2 * alike >= longest && distance <= allowed + 2;
            let near =
                distance <= allowed || alike || (begins && (letters.len() >= SHORTEST || letters.len() == other.len()));
            near.then_some((distance, candidate))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Twice the edit distance (insert, delete, replace, exchange neighbours), with a change of case at half price.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                2 * (i + j)
            } else {
                let replace = match (a[i - 1], b[j - 1]) {
                    (x, y) if x == y => 0,
                    (x, y) if x.to_lowercase().eq(y.to_lowercase()) => 1,
                    _ => 2,
                };
                let exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let exchange = if exchanged { rows[i - 2][j - 2] + 2 } else { usize::MAX };
                (rows[i - 1][j - 1] + replace)
                    .min(rows[i - 1][j] + 2)
                    .min(rows[i][j - 1] + 2)
                    .min(exchange)
            };
        }
    }
    rows[a.len()][b.len()]
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
        assert_eq!(nearest("body", ["bodies", "elements"]), Some("bodies"));
        assert_eq!(nearest("rnu", ["run", "new", "laws"]), Some("run"));
    }

    #[test]
    fn distance_is_twice_levenshtein() {
        let letters = |word: &str| word.chars().collect::<Vec<_>>();
        assert_eq!(distance(&letters("kitten"), &letters("sitting")), 6);
        assert_eq!(distance(&letters("amss"), &letters("mass")), 2);
        assert_eq!(distance(&letters("Mass"), &letters("mass")), 1);
    }
}
