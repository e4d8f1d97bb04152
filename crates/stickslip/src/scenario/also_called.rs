//! Names by which laws, kinds and methods are known elsewhere, for error messages.

use super::diagnostic::nearest;
use stickslip_core::registry::{self, Family};

/// What a law is called elsewhere, and what it is called here.
const FRICTION: &[(&str, &str)] = &[
    ("coulomb", "implicit"),
    ("dry", "implicit"),
    ("amontons", "implicit"),
    ("static", "implicit"),
    ("kinetic", "implicit"),
    ("sliding", "implicit"),
    ("stribeck", "implicit"),
    ("viscous", "implicit"),
    ("sign", "implicit"),
    ("signum", "implicit"),
    ("stick-slip", "implicit"),
    ("exact", "implicit"),
    ("set-valued", "implicit"),
    ("rigid", "implicit"),
    ("tanh", "martins-oden"),
    ("arctan", "martins-oden"),
    ("smooth", "martins-oden"),
    ("regularized", "martins-oden"),
    ("regularised", "martins-oden"),
    ("bristle", "lugre"),
    ("elasto-plastic", "proxy"),
    ("elastoplastic", "proxy"),
    ("spring", "proxy"),
    ("spring-damper", "proxy"),
    ("penalty", "proxy"),
    ("jenkins", "proxy"),
    ("dieterich", "subloading"),
    ("ruina", "subloading"),
    ("dieterich-ruina", "subloading"),
    ("rsf", "subloading"),
    ("rate-state", "subloading"),
];

const CONTACT: &[(&str, &str)] = &[
    ("hard", "rigid"),
    ("unilateral", "rigid"),
    ("signorini", "rigid"),
    ("newton", "rigid"),
    ("poisson", "rigid"),
    ("impact", "rigid"),
    ("implicit", "rigid"),
    ("kelvin", "kelvin-voigt"),
    ("voigt", "kelvin-voigt"),
    ("spring", "kelvin-voigt"),
    ("spring-damper", "kelvin-voigt"),
    ("linear", "kelvin-voigt"),
    ("penalty", "kelvin-voigt"),
    ("elastic", "kelvin-voigt"),
    ("soft", "kelvin-voigt"),
    ("compliant", "kelvin-voigt"),
    ("hertz", "hunt-crossley"),
    ("hertzian", "hunt-crossley"),
    ("nonlinear", "hunt-crossley"),
    ("hunt", "hunt-crossley"),
    ("crossley", "hunt-crossley"),
];

/// Words of other keys, by key.
const WORDS: &[(&str, &str, &str)] = &[
    ("integrator", "runge-kutta", "rk4"),
    ("integrator", "explicit", "euler"),
    ("integrator", "forward-euler", "euler"),
    ("integrator", "backward-euler", "implicit-euler"),
    ("integrator", "moreau", "implicit-euler"),
    ("integrator", "time-stepping", "implicit-euler"),
    ("integrator", "rk45", "adaptive"),
    ("integrator", "ode45", "adaptive"),
    ("integrator", "dopri5", "adaptive"),
    ("integrator", "dormand-prince", "adaptive"),
    ("integrator", "bdf", "stiff"),
    ("integrator", "radau", "stiff"),
    ("integrator", "ode15s", "stiff"),
    ("integrator", "tr-bdf2", "stiff"),
    ("integrator", "crank-nicolson", "trapezoidal"),
    ("integrator", "hht", "newmark"),
    ("kind", "block", "mass"),
    ("kind", "point", "mass"),
    ("kind", "particle", "mass"),
    ("kind", "slider", "mass"),
    ("kind", "wheel", "inertia"),
    ("kind", "disk", "inertia"),
    ("kind", "disc", "inertia"),
    ("kind", "flywheel", "inertia"),
    ("kind", "rotor", "inertia"),
    ("kind", "belt", "driver"),
    ("kind", "conveyor", "driver"),
    ("kind", "robot", "linkage"),
    ("kind", "arm", "linkage"),
    ("kind", "pendulum", "linkage"),
    ("kind", "sphere", "rigid-body"),
    ("kind", "ball", "rigid-body"),
    ("kind", "box", "rigid-body"),
    ("kind", "body", "rigid-body"),
    ("kind", "damper", "spring"),
    ("kind", "dashpot", "spring"),
    ("kind", "motor", "actuator"),
    ("kind", "force", "actuator"),
    ("kind", "limit", "stop"),
    ("kind", "hinge", "joint"),
    ("kind", "collision", "contact"),
    ("kind", "transmission", "gear"),
];

/// The word that is meant at a key: by what it is called elsewhere, or by its spelling.
pub(crate) fn word_meant<'a>(key: &str, text: &str, words: &[&'a str]) -> Option<&'a str> {
    let plain = text.trim().to_lowercase().replace([' ', '_'], "-");
    let elsewhere = WORDS.iter().filter(|(of, ..)| *of == key);
    let here = |word: &str| words.iter().find(|known| **known == word).copied();
    let meant = elsewhere
        .filter(|(_, name, _)| *name == plain)
        .find_map(|(.., word)| here(word));
    meant.or_else(|| nearest(text, words.iter().copied()))
}

/// The law that a name means: by what it is called elsewhere, or by its spelling. `None` if no law is near.
pub fn law_meant(family: Family, name: &str) -> Option<&'static str> {
    let lower = name.trim().to_lowercase().replace([' ', '_'], "-");
    let plain = ["-friction", "-contact", "-law", "-model"]
        .iter()
        .fold(lower.as_str(), |name, end| name.strip_suffix(end).unwrap_or(name));
    let elsewhere = match family {
        Family::Friction => FRICTION,
        Family::Contact => CONTACT,
    };
    let here = |name: &str| elsewhere.iter().find(|(other, _)| *other == name).map(|(_, law)| *law);
    here(plain)
        .or_else(|| nearest(plain, registry::names(family)))
        .or_else(|| here(nearest(plain, elsewhere.iter().map(|(name, _)| *name))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_textbooks_mean_a_law() {
        for (name, law) in [
            ("coulomb", "implicit"),
            ("Coulomb", "implicit"),
            ("coulomb friction", "implicit"),
            ("colomb", "implicit"),
            ("implict", "implicit"),
            ("bristle", "lugre"),
            ("LuGre", "lugre"),
            ("dry_friction", "implicit"),
        ] {
            assert_eq!(law_meant(Family::Friction, name), Some(law), "{name}");
        }
        for (name, law) in [
            ("hertz", "hunt-crossley"),
            ("Kelvin", "kelvin-voigt"),
            ("hard", "rigid"),
        ] {
            assert_eq!(law_meant(Family::Contact, name), Some(law), "{name}");
        }
        assert_eq!(law_meant(Family::Friction, "xyzzy"), None);
        for (family, table) in [(Family::Friction, FRICTION), (Family::Contact, CONTACT)] {
            for (name, law) in table {
                assert!(registry::law(family, law).is_some(), "{name}: {law}");
                assert!(registry::law(family, name).is_none(), "{name} is a law itself");
            }
        }
    }
}
