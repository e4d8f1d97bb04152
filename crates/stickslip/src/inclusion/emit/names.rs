//! Names in emitted programs: the user's where the language allows them, and all different.

use super::components;
use crate::inclusion::{Description, Inclusion};
use std::cell::RefCell;
use std::collections::HashSet;

const C: &str = "auto break case char const continue default do double else enum extern float for goto if inline int long \
                 register restrict return short signed sizeof static struct switch typedef union unsigned void volatile \
                 while bool true false y rates t STATES INITIAL rhs sat sat_vector sign table main N fmin fmax fabs sqrt \
                 exp log sin cos tan tanh pow hypot floor j0 j1 jn y0 y1 yn gamma signgam div abs index remove rename";
const RUST: &str = "as break const continue crate else enum extern false fn for if impl in let loop match mod move mut pub \
                    ref return self Self static struct super trait true type unsafe use where while async await dyn \
                    abstract become box do final gen macro override priv typeof unsized virtual yield try f64 str y t \
                    STATES INITIAL rhs sat sat_vector sign table";
const PYTHON: &str = "False None True and as assert async await break class continue def del elif else except finally for \
                      from global if import in is lambda nonlocal not or pass raise return try while with yield match \
                      case type y t STATES INITIAL rhs sat sat_vector sign table math min max abs float print";

/// The language names are for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Plain,
    C,
    Rust,
    Python,
}

/// Names that belong to one relaxed term.
pub(super) struct Relaxed {
    /// K, β and α.
    pub numbers: [String; 3],
    /// Its force, by component.
    pub force: Vec<String>,
    /// The argument of a dio.
    pub argument: String,
}

/// What everything is called in a program.
pub(super) struct Identifiers {
    pub states: Vec<String>,
    pub parameters: Vec<String>,
    pub inputs: Vec<String>,
    pub contacts: Vec<Relaxed>,
    pub frictions: Vec<Relaxed>,
    pub sat: &'static str,
    taken: RefCell<HashSet<String>>,
}

impl Identifiers {
    /// The names as written.
    pub(super) fn plain(description: &Description) -> Self {
        Identifiers {
            states: description.states.iter().map(|(name, _)| name.clone()).collect(),
            parameters: description.parameters.iter().map(|(name, _)| name.clone()).collect(),
            inputs: description.inputs.iter().map(|input| input.name.clone()).collect(),
            contacts: Vec::new(),
            frictions: Vec::new(),
            sat: "sat",
            taken: RefCell::default(),
        }
    }

    /// Names for a program.
    pub(super) fn new(inclusion: &Inclusion, language: Language) -> Self {
        let words = match language {
            Language::Plain => "",
            Language::C => C,
            Language::Rust => RUST,
            Language::Python => PYTHON,
        };
        let mut names = Identifiers::plain(&inclusion.description);
        names.taken = RefCell::new(words.split_whitespace().map(String::from).collect());
        // Only C is kept to ASCII.
        let ascii = language == Language::C;
        let fit = |names: &Identifiers, name: &str| names.free(&identifier(name, ascii));
        names.states = inclusion
            .states
            .iter()
            .map(|name| fit(&names, &name.replace('.', "_")))
            .collect();
        names.parameters = names.parameters.iter().map(|name| fit(&names, name)).collect();
        names.inputs = names.inputs.iter().map(|name| fit(&names, name)).collect();
        let relaxed = |names: &Identifiers, own: &str, force: Vec<String>, argument: &str| Relaxed {
            numbers: ["K", "beta", "alpha"].map(|number| names.free(&format!("{number}_{own}"))),
            force: force.iter().map(|name| names.free(name)).collect(),
            argument: names.free(argument),
        };
        for i in 1..=inclusion.contacts.len() {
            let own = format!("dio{i}");
            let contact = relaxed(&names, &own, vec![format!("f_{own}")], &format!("gap{i}"));
            names.contacts.push(contact);
        }
        for (i, friction) in inclusion.frictions.iter().enumerate() {
            let own = format!("sgn{}", i + 1);
            let force = components(&format!("f_{own}"), &friction.arguments);
            let friction = relaxed(&names, &own, force, &format!("theta{}", i + 1));
            names.frictions.push(friction);
        }
        names
    }

    /// The name of a shared term.
    pub(super) fn shared(&self, number: usize) -> String {
        self.free(&format!("w{number}"))
    }

    /// This name, or one like it that is not taken.
    fn free(&self, name: &str) -> String {
        let mut taken = self.taken.borrow_mut();
        let mut name = name.to_string();
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// A name of the user's with letters that C does not know spelt as their numbers.
fn identifier(name: &str, ascii: bool) -> String {
    if !ascii {
        return name.to_string();
    }
    name.chars()
        .map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() || letter == '_' => letter.to_string(),
            letter => format!("u{:04x}", u32::from(letter)),
        })
        .collect()
}
