//! Scenarios changed at random: bytes, keys, numbers, types, nesting.

use super::node::Node;
use super::random::Random;

/// Numbers that tend to be forgotten.
const NUMBERS: &[&str] = &[
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "3",
    "0.5",
    "1e-3",
    "1e-6",
    "1e-9",
    "1e-15",
    "1e-30",
    "1e-300",
    "5e-324",
    "1e3",
    "1e6",
    "1e9",
    "1e12",
    "1e15",
    "1e18",
    "1e30",
    "1e100",
    "1e300",
    "1.7976931348623157e308",
    "-1e300",
    "-1e6",
    "inf",
    "-inf",
    "nan",
    "0x10",
    "1_000",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
    "1e999",
];

/// Values of other types.
const ODD: &[&str] = &[
    "true",
    "false",
    "\"\"",
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    "1979-05-27",
    "07:32:00",
    "\"t\"",
    "\"ground\"",
    "\"é\"",
    "\"a b\"",
    "\"1/0\"",
    "\"0/0\"",
    "\"1 parsec\"",
    "\"1 N\"",
    "\"1 kg\"",
    "\"1 ms\"",
    "\"-5 %\"",
    "\"1 Hz\"",
    "\"10 rpm\"",
    "\"1e308 km\"",
    "\"1 m^99\"",
    "[1, 2]",
    "[1, 2, 3]",
    "[0, 0, 0]",
    "[1, \"a\", {}]",
    "[[1, 2], [3]]",
    "[[0, 0, 0], [1, 0, 0]]",
    "[\"ground\", \"ground\"]",
    "{ element = \"floor\" }",
    "{ expr = \"2*\" }",
    "{ expr = \"t\", unit = \"mm\" }",
    "{ times = [0], values = [] }",
    "{ times = [0, 1], values = [1, 2] }",
    "{ times = [0, 1e-3], values = [1e9, -1e9], interpolation = \"step\", after = \"repeat\" }",
    "{ csv = \"/\", column = \"\" }",
    "{ csv = \"missing.csv\", column = \"x\" }",
    "{ csv = \"profile.csv\", column = \"x\" }",
    "{ law = \"rigid\" }",
    "{ law = \"implicit\", mu = 0.3 }",
    "{ sphere = 0.1 }",
    "{ box = [1, 1, 1] }",
    "{ point = true }",
    "{ plane = { normal = [0, 0, 1] } }",
    "{ capsule = { radius = 0.1, length = 0.2 } }",
    "{ cylinder = { radius = 1e-9, length = 1e9 } }",
    "{ hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] }",
    "{ hull = \"wedge.stl\" }",
    "{ mesh = \"wedge.stl\" }",
    "{ mesh = \"missing.stl\" }",
    "[{ sphere = 0.1 }, { box = [0.1, 0.1, 0.1], position = [0.1, 0, 0] }]",
    "{ speed = [0, 1], force = [2, 1] }",
    "\"\\u0000\"",
    "\"\\u001b[31m\"",
];

/// Expressions, good and bad.
const EXPRESSIONS: &[&str] = &[
    "t",
    "sin(t)",
    "1e9*t",
    "if(t < 0.001, 0, 1e6)",
    "1/t",
    "ln(t)",
    "sqrt(-t)",
    "exp(1000*t)",
    "t^t",
    "1e308*t*1e308",
    "tan(t)",
    "if(t > 0.002, 1/0, 0)",
    "min(t, 1)",
    "t - t",
    "0*t",
    "sign(t)",
    "-1e300*t",
    "abs(sin(1e12*t))",
    "((((((t))))))",
    "2*",
    "t t",
    "x",
    "if(t, t, t)",
    "t < 1",
    "1e-320*t",
    "max(t, 1e305)*1e10",
];

/// Words that a file may hold, with keys and laws.
pub struct Words {
    pub keys: Vec<String>,
    pub words: Vec<String>,
}

/// Any number as it may be written.
pub fn any_number(random: &mut Random) -> Node {
    Node::Raw((*random.pick(NUMBERS)).to_string())
}

/// A number near this one, or far from it.
fn other_number(text: &str, random: &mut Random) -> Node {
    let Ok(value) = text.replace('_', "").parse::<f64>() else {
        return any_number(random);
    };
    let value = if value == 0.0 { 1.0 } else { value };
    let changed = match random.below(10) {
        0 => return any_number(random),
        1 => -value,
        2 => value + 1.0,
        3 | 4 => value * 10_f64.powf(random.between(-12.0, 12.0)),
        5..=7 => value * 10_f64.powf(random.between(-2.0, 2.0)),
        _ => value * random.between(0.3, 3.0),
    };
    let digits = random.below(4);
    match (random.once_in(4), digits) {
        (true, _) if changed.abs() < 1e15 => Node::Raw(format!("{}", changed as i64)),
        (_, digits) => Node::Raw(format!("{changed:.digits$e}")),
    }
}

/// A text near this one, or another.
fn other_text(text: &str, words: &Words, random: &mut Random) -> Node {
    // A quantity keeps its unit: `"10 N/mm"`.
    if let Some((number, unit)) = text.split_once(' ')
        && number.parse::<f64>().is_ok()
        && !random.once_in(5)
        && let Node::Raw(changed) = other_number(number, random)
    {
        return Node::Text(format!("{changed} {unit}"));
    }
    match random.below(6) {
        0 | 1 => Node::text(random.pick(&words.words).as_str()),
        2 => Node::text(*random.pick(EXPRESSIONS)),
        3 => {
            let mut bytes = text.as_bytes().to_vec();
            change_bytes(&mut bytes, random);
            Node::Text(String::from_utf8_lossy(&bytes).into_owned())
        }
        4 => any_number(random),
        _ => Node::Text(format!("{}*({text})", random.below(5))),
    }
}

/// A value of any type.
fn any_value(words: &Words, random: &mut Random) -> Node {
    match random.below(6) {
        0 => any_number(random),
        1 => Node::text(random.pick(&words.words).as_str()),
        2 => Node::text(*random.pick(EXPRESSIONS)),
        3 => Node::number(10_f64.powf(random.between(-6.0, 6.0))),
        _ => Node::Raw((*random.pick(ODD)).to_string()),
    }
}

/// An argument of `--set`: a key of the scenario or any other, with any value.
pub fn any_set(root: &Node, words: &Words, random: &mut Random) -> String {
    let leaves = root.leaves();
    let mut key = match random.below(3) {
        0 => random.pick(&words.words).clone(),
        1 => format!(
            "{}.{}",
            random.pick(&["simulation", "bodies", "elements", "inclusion", "chain", ""]),
            random.pick(&words.keys)
        ),
        _ if leaves.is_empty() => String::new(),
        _ => random.pick(&leaves).0.clone(),
    };
    if random.once_in(10) {
        let mut bytes = key.into_bytes();
        change_bytes(&mut bytes, random);
        key = String::from_utf8_lossy(&bytes).replace('\0', "");
    }
    let value = match any_value(words, random) {
        Node::Text(text) => text,
        other => other.inline(),
    };
    format!("{key}={}", value.replace('\0', ""))
}

/// Changes numbers and words, but keeps the form: most results are still scenarios.
pub fn change_values(root: &mut Node, words: &Words, random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        for _ in 0..20 {
            let index = random.below(root.count());
            match root.at(index) {
                Some(node @ Node::Raw(_)) => {
                    if let Node::Raw(text) = node.clone() {
                        *node = other_number(&text, random);
                    }
                    break;
                }
                Some(node @ Node::Text(_)) if random.once_in(2) => {
                    if let Node::Text(text) = node.clone() {
                        *node = other_text(&text, words, random);
                    }
                    break;
                }
                _ => {}
            }
        }
    }
    // A method or a law of another name is the change that reaches most.
    if random.once_in(4) {
        let methods: Vec<Node> = stickslip::scenario::INTEGRATORS
            .iter()
            .map(|&name| name.into())
            .collect();
        let method = random.pick(&methods).clone();
        if let Node::Table(entries) = root
            && let Some((_, simulation)) = entries.iter_mut().find(|(name, _)| name == "simulation")
        {
            simulation.put("integrator", method);
        }
    }
}

/// Changes the form: keys, types, nesting.
pub fn change_form(root: &mut Node, other: &Node, words: &Words, random: &mut Random) {
    for _ in 0..1 + random.below(2) {
        let index = random.below(root.count());
        let Some(node) = root.at(index) else { continue };
        match (node, random.below(8)) {
            (Node::Table(entries), 0..=2) => {
                let name = random.pick(&words.keys).clone();
                entries.push((name, any_value(words, random)));
            }
            (Node::Table(entries), 3..=4) if !entries.is_empty() => {
                let at = random.below(entries.len());
                entries.remove(at);
            }
            (Node::Table(entries), 5) if !entries.is_empty() => {
                let at = random.below(entries.len());
                entries[at].0 = random.pick(&words.keys).clone();
            }
            (Node::Table(entries), 6) if !entries.is_empty() => {
                let mut copy = entries[random.below(entries.len())].clone();
                copy.0 += "2";
                entries.push(copy);
            }
            (Node::List(items), 0..=1) if !items.is_empty() => {
                let at = random.below(items.len());
                items.remove(at);
            }
            (Node::List(items), 2..=3) => {
                let item = items.last().cloned().unwrap_or_else(|| any_value(words, random));
                items.push(item);
            }
            (Node::List(items), 4) => items.push(any_value(words, random)),
            (node, 6) => {
                // A piece of another scenario.
                let mut other = other.clone();
                let index = random.below(other.count());
                if let Some(piece) = other.at(index) {
                    *node = piece.clone();
                }
            }
            (node, 7) => {
                for _ in 0..if random.once_in(8) { 300 } else { 1 + random.below(3) } {
                    let inner = std::mem::replace(node, Node::Raw("0".to_string()));
                    *node = if random.once_in(2) {
                        Node::List(vec![inner])
                    } else {
                        Node::Table(vec![("a".to_string(), inner)])
                    };
                }
            }
            (node, _) => *node = any_value(words, random),
        }
    }
}

/// Changes bytes: flips, cuts, doubles, inserts.
pub fn change_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    const PIECES: &[&[u8]] = &[
        b"\"",
        b"[",
        b"]",
        b"{",
        b"}",
        b"=",
        b".",
        b",",
        b"\n",
        b"#",
        b"'''",
        b"\"\"\"",
        b"[[",
        b"]]",
        b"0",
        b"e",
        b"-",
        b"\xff",
        b"\xc3\xa9",
        b"\0",
        b"\\u0000",
        b"nan",
        b"1e999",
        b" = ",
        b"\r\n",
        b"\xef\xbb\xbf",
        b"ground",
    ];
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + 1 + random.below(20)).min(bytes.len());
        match random.below(5) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < end => {
                bytes.drain(at..end);
            }
            2 if at < end => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                bytes.splice(at..at, random.pick(PIECES).iter().copied());
            }
        }
    }
}
