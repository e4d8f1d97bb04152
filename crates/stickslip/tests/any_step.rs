//! Subloading friction completes at any step, whatever its parameters: sets drawn at random, steps up to ten natural periods.

mod common;

use common::written;

/// Numbers that look random and are the same in every run (Steele, Lea and Flood's SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Between two bounds, evenly in the logarithm.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        low * libm::pow(high / low, self.next())
    }

    fn choose<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[(self.next() * words.len() as f64) as usize]
    }
}

/// A floor under `body`, and its limit μ_s·F with its tangential stiffness.
fn floor(chance: &mut Chance, body: &str) -> (String, f64, f64) {
    let normal = chance.log(1.0, 1e4);
    let mu_kinetic = chance.log(0.05, 1.0);
    let mu_static = mu_kinetic * (1.0 + chance.log(1e-2, 3.0));
    let kappa = chance.log(1.0, 1e6);
    let unique_above = normal * kappa * (mu_static / mu_kinetic - 1.0);
    // From below the stiffness that makes the force unique to far above it.
    let stiffness = unique_above * chance.log(0.5, 1e3);
    let r = kappa * chance.log(0.1, 1e3);
    let eta = chance.log(1e-6, 10.0);
    let contact_time = if chance.next() < 0.5 {
        0.0
    } else {
        chance.log(1e-7, 1e-2)
    };
    let exponents = if chance.next() < 0.8 {
        String::new()
    } else {
        format!(
            "kappa_exponent = {}\neta_exponent = {}\n",
            chance.log(0.5, 3.0),
            chance.log(0.5, 3.0)
        )
    };
    let evolution = chance.choose(&["log", "ratio"]);
    let text = format!(
        "[elements.floor_{body}]\nkind = \"friction\"\nbetween = [\"{body}\", \"ground\"]\nlaw = \"subloading\"\n\
         mu_static = {mu_static}\nmu_kinetic = {mu_kinetic}\nnormal_force = {normal}\ntangential_stiffness = {stiffness}\n\
         kappa = {kappa}\neta = {eta}\nr = {r}\nevolution = \"{evolution}\"\ncontact_time = {contact_time}\n{exponents}"
    );
    (text, mu_static * normal, stiffness)
}

/// One or two blocks on floors of their own, drawn through a spring by a hook that meets the limit of friction within a few
/// steps of some natural periods; the scenario, and what the stretch of each floor cannot exceed.
fn drawn(chance: &mut Chance, blocks: usize, periods: f64) -> (String, Vec<f64>) {
    let names = &["a", "b"][..blocks];
    let mass = chance.log(1e-3, 1e5);
    let spring = chance.log(1e2, 1e7);
    let period = 2.0 * std::f64::consts::PI * (mass / spring).sqrt();
    let step = periods * period;
    let mut text = String::new();
    let mut longest = Vec::new();
    let mut limit: f64 = 0.0;
    for name in names {
        let (floor, strength, stiffness) = floor(chance, name);
        let mass = mass * chance.log(0.5, 2.0);
        text += &format!("[bodies.{name}]\nkind = \"mass\"\nmass = {mass}\n{floor}");
        longest.push(strength / stiffness);
        limit = limit.max(strength);
    }
    if blocks == 2 {
        let link = spring * chance.log(0.1, 10.0);
        text += &format!("[elements.link]\nkind = \"spring\"\nbetween = [\"a\", \"b\"]\nstiffness = {link}\n");
    }
    let speed = limit / (spring * step * chance.log(1.0, 15.0));
    let head = format!(
        "[simulation]\nduration = {}\nstep = {step}\nintegrator = \"trapezoidal\"\n[bodies.hook]\nkind = \"driver\"\nvelocity = {speed}\n\
         [elements.spring]\nkind = \"spring\"\nbetween = [\"hook\", \"a\"]\nstiffness = {spring}\n",
        20.0 * step
    );
    (head + &text, longest)
}

/// Runs it and checks that friction stays within its limit.
fn completes(text: &str, longest: &[f64], sets: &[&str]) -> Result<(), String> {
    let mut simulation = written(text, sets);
    let steps = simulation.built().steps;
    let floors: Vec<_> = ["floor_a", "floor_b"][..longest.len()]
        .iter()
        .map(|name| simulation.element(name).unwrap())
        .collect();
    for _ in 0..steps {
        simulation.advance(1).map_err(|error| error.to_string())?;
        for (floor, longest) in floors.iter().zip(longest) {
            let stretch = simulation.element_state(*floor)[0].abs();
            if stretch > longest * (1.0 + 1e-9) {
                return Err(format!("stretch {stretch} above {longest}"));
            }
        }
    }
    Ok(())
}

/// Runs sets of parameters drawn at random, each as it is (or with `always`) and with one of some methods in turn.
fn run_random_sets(blocks: usize, count: usize, always: &[&str], in_turn: &[&[&str]]) {
    let mut chance = Chance(7);
    for index in 0..count {
        let periods = chance.log(1e-2, 10.0);
        let (text, longest) = drawn(&mut chance, blocks, periods);
        for sets in [always, in_turn[index % in_turn.len()]] {
            if let Err(error) = completes(&text, &longest, sets) {
                panic!("set {index}, a step of {periods:.2} periods, {sets:?}: {error}\n{text}");
            }
        }
    }
}

#[test]
fn one_block() {
    run_random_sets(
        1,
        1000,
        &[],
        &[
            &["elements.floor_a.update=trapezoidal"],
            &["elements.floor_a.update=backward"],
            &["simulation.integrator=implicit-euler"],
        ],
    );
}

/// Newton's method with a line search has no bracket to fall back on, and still solves these.
#[test]
fn two_blocks() {
    run_random_sets(2, 40, &[], &[&["simulation.integrator=implicit-euler"]]);
}
