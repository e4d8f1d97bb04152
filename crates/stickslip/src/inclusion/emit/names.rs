//! Names in emitted programs: the user's where the language allows them, and all different.

use super::components;
use crate::inclusion::{Description, Inclusion};
use std::cell::RefCell;
use std::collections::HashSet;

/// Keywords, what the program defines itself, and macros of compilers.
const C: &str = "auto break case char const continue default do double else enum extern float for goto if inline int long \
                 register restrict return short signed sizeof static struct switch typedef union unsigned void volatile \
                 while bool true false alignas alignof asm constexpr nullptr static_assert thread_local typeof \
                 typeof_unqual y rates t STATES INITIAL rhs sat sat_vector sign table main N j0 j1 jn y0 y1 yn gamma \
                 signgam div abs index remove rename linux unix i386 INFINITY NAN HUGE_VAL HUGE_VALF HUGE_VALL \
                 double_t float_t math_errhandling MATH_ERRNO MATH_ERREXCEPT FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL \
                 FP_NORMAL FP_ILOGB0 FP_ILOGBNAN FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL fpclassify isfinite isinf isnan \
                 isnormal signbit lesser greater isgreater isgreaterequal isless islessequal islessgreater isunordered M_E M_LOG2E \
                 M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 MAXFLOAT";
/// Functions of <math.h> (C99, 7.12, and common extensions), which exist with the endings f and l too.
const C_MATH: &str = "acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log \
                      log10 log1p log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor \
                      nearbyint rint lrint llrint round lround llround trunc fmod remainder remquo copysign nan nextafter \
                      nexttoward fdim fmax fmin fma exp10 pow10 sincos drem significand scalb finite isinf isnan gamma \
                      j0 j1 jn y0 y1 yn";
const RUST: &str = "as break const continue crate else enum extern false fn for if impl in let loop match mod move mut pub \
                    ref return self Self static struct super trait true type unsafe use where while async await dyn \
                    abstract become box do final gen macro override priv typeof unsized virtual yield try f64 str y t \
                    STATES INITIAL rhs sat sat_vector sign lesser greater table helpers main None Some Ok Err";
const PYTHON: &str = "False None True and as assert async await break class continue def del elif else except finally for \
                      from global if import in is lambda nonlocal not or pass raise return try while with yield match \
                      case type y t STATES INITIAL rhs sat sat_vector sign lesser greater divide power sqrt ln exp sin \
                      cos tan table math min max abs float print sum len tuple OverflowError ValueError";

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
    /// Whether each parameter may be divided by.
    pub divisors: Vec<bool>,
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
            divisors: description.parameters.iter().map(|(_, value)| *value != 0.0).collect(),
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
        if language == Language::C {
            let endings = |name| ["", "f", "l"].map(|ending| format!("{name}{ending}"));
            names
                .taken
                .get_mut()
                .extend(C_MATH.split_whitespace().flat_map(endings));
        }
        for i in 1..=inclusion.description.inputs.len() {
            let tables = ["TABLE", "TIMES", "VALUES"].map(|name| format!("{name}_{i}"));
            names.taken.get_mut().extend(tables);
        }
        let fit = |names: &Identifiers, name: &str| match language {
            Language::Plain => names.free(name),
            _ => names.free(&identifier(name)),
        };
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
    pub(super) fn free(&self, name: &str) -> String {
        let mut taken = self.taken.borrow_mut();
        let mut name = name.to_string();
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// A name of the user's that every language takes. Letters outside of ASCII are spelt as their numbers: C knows none,
/// Python and Rust not all, and Python takes some that differ for the same. Names that begin with `_` are the language's.
fn identifier(name: &str) -> String {
    let first = if name.starts_with('_') { "u" } else { "" };
    let spelt = name
        .chars()
        .map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() || letter == '_' => letter.to_string(),
            letter => format!("u{:04x}", u32::from(letter)),
        })
        .collect::<String>();
    format!("{first}{spelt}")
}
