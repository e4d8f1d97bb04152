//! Subloading friction completes at any step, whatever its parameters: sets drawn at random, steps up to ten natural periods.

mod common;

use common::{close, finish, written};

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

/// A floor, in a scenario and in numbers.
struct Floor {
    text: String,
    /// μ_s·F.
    strength: f64,
    stiffness: f64,
    /// Whether the force is −stiffness·stretch at any moment, and unique: no contact time, stiff enough.
    plain: bool,
}

/// A floor under `body`.
fn floor(chance: &mut Chance, body: &str) -> Floor {
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
    Floor {
        text,
        strength: mu_static * normal,
        stiffness,
        plain: contact_time == 0.0 && stiffness > 1.01 * unique_above,
    }
}

/// One or two blocks on floors of their own, drawn through a spring by a hook that meets the limit of friction within a few
/// steps of some natural periods; in the plane the hook goes along an arc.
struct Drawn {
    text: String,
    axes: usize,
    floors: Vec<Floor>,
    /// Mass of the first block, stiffness of the spring, speed of the hook and step.
    mass: f64,
    spring: f64,
    speed: f64,
    step: f64,
}

fn drawn(chance: &mut Chance, (blocks, axes): (usize, usize), periods: f64) -> Drawn {
    let names = &["a", "b"][..blocks];
    let mass = chance.log(1e-3, 1e5);
    let spring = chance.log(1e2, 1e7);
    let period = 2.0 * std::f64::consts::PI * (mass / spring).sqrt();
    let step = periods * period;
    let mut text = String::new();
    let (mut floors, mut first) = (Vec::new(), 0.0);
    let mut limit: f64 = 0.0;
    for name in names {
        let floor = floor(chance, name);
        let mass = mass * chance.log(0.5, 2.0);
        if floors.is_empty() {
            first = mass;
        }
        let place = if axes == 1 { "" } else { "position = [0, 0]\n" };
        text += &format!("[bodies.{name}]\nkind = \"mass\"\nmass = {mass}\n{place}{}", floor.text);
        limit = limit.max(floor.strength);
        floors.push(floor);
    }
    if blocks == 2 {
        let link = spring * chance.log(0.1, 10.0);
        text += &format!("[elements.link]\nkind = \"spring\"\nbetween = [\"a\", \"b\"]\nstiffness = {link}\n");
    }
    let speed = limit / (spring * step * chance.log(1.0, 15.0));
    let velocity = if axes == 1 {
        speed.to_string()
    } else {
        let (turning, start) = (chance.log(1e-3, 1.0) / step, 6.0 * chance.next());
        format!("[\"{speed}*cos({turning}*t + {start})\", \"{speed}*sin({turning}*t + {start})\"]")
    };
    let head = format!(
        "[simulation]\nduration = {}\nstep = {step}\nintegrator = \"trapezoidal\"\n[bodies.hook]\nkind = \"driver\"\nvelocity = {velocity}\n\
         [elements.spring]\nkind = \"spring\"\nbetween = [\"hook\", \"a\"]\nstiffness = {spring}\n",
        20.0 * step
    );
    Drawn {
        text: head + &text,
        axes,
        floors,
        mass: first,
        spring,
        speed,
        step,
    }
}

/// Runs it and checks that friction stays within its limit, and that the motion of one block on a plain floor under the trapezoidal
/// rule obeys m·(v₁ − v₀) = T/2·(f₀ + f₁).
fn completes(drawn: &Drawn, sets: &[&str]) -> Result<(), String> {
    let mut simulation = written(&drawn.text, sets);
    let steps = simulation.built().steps;
    let elements: Vec<_> = ["floor_a", "floor_b"][..drawn.floors.len()]
        .iter()
        .map(|name| simulation.element(name).unwrap())
        .collect();
    let trapezoidal = !sets.iter().any(|set| set.contains("simulation.integrator"));
    let exact = drawn.floors.len() == 1 && drawn.axes == 1 && drawn.floors[0].plain && trapezoidal;
    let (mut velocity, mut force) = (0.0, 0.0);
    for k in 1..=steps {
        simulation.advance(1).map_err(|error| error.to_string())?;
        for (element, floor) in elements.iter().zip(&drawn.floors) {
            let stretch = simulation.element_state(*element)[..drawn.axes]
                .iter()
                .map(|x| x * x)
                .sum::<f64>()
                .sqrt();
            if stretch > floor.strength / floor.stiffness * (1.0 + 1e-9) {
                return Err(format!("stretch {stretch} is too long"));
            }
        }
        if exact {
            let block = simulation.body("a").unwrap();
            let (x, v) = (simulation.position(block)[0], simulation.velocity(block)[0]);
            let pull = drawn.spring * (drawn.speed * k as f64 * drawn.step - x);
            let rub = drawn.floors[0].stiffness * simulation.element_state(elements[0])[0];
            let (gained, pushed) = (drawn.mass * (v - velocity), 0.5 * drawn.step * (force + pull - rub));
            let size = drawn.mass * (v.abs() + velocity.abs()) + drawn.step * (force.abs() + pull.abs() + rub.abs());
            // Velocities are found to 1e-12 of themselves, which a stiff floor turns into forces.
            let slope = drawn.mass + 0.25 * drawn.step * drawn.step * (drawn.spring + drawn.floors[0].stiffness);
            if (gained - pushed).abs() > 1e-9 * size + 4e-12 * slope * (v.abs() + velocity.abs()) {
                return Err(format!("step {k}: m·Δv = {gained}, impulse {pushed}"));
            }
            (velocity, force) = (v, pull - rub);
        }
    }
    Ok(())
}

/// Runs sets of parameters drawn at random, each as it is (or with `always`) and with one of some methods in turn.
fn run_random_sets(size: (usize, usize), count: usize, always: &[&str], in_turn: &[&[&str]]) {
    let mut chance = Chance(7);
    for index in 0..count {
        let periods = chance.log(1e-2, 10.0);
        let drawn = drawn(&mut chance, size, periods);
        let other = in_turn.get(index % in_turn.len().max(1));
        for sets in std::iter::once(&always).chain(other) {
            if let Err(error) = completes(&drawn, sets) {
                panic!(
                    "set {index}, a step of {periods:.2} periods, {sets:?}: {error}\n{}",
                    drawn.text
                );
            }
        }
    }
}

#[test]
fn one_block() {
    run_random_sets(
        (1, 1),
        1000,
        &[],
        &[
            &["elements.floor_a.update=trapezoidal"],
            &["elements.floor_a.update=backward"],
            &["simulation.integrator=implicit-euler"],
        ],
    );
}

/// Steps that are chosen get from one output to the next, anywhere on the axis. An output of `stiff` is interpolated, to its tolerance.
#[test]
fn one_block_with_chosen_steps() {
    for place in ["0", "0.7", "-40"] {
        let sets = [
            "simulation.integrator=stiff",
            &*format!("bodies.a.position={place}"),
            &*format!("bodies.hook.start={place}"),
        ];
        run_random_sets((1, 1), 60, &sets, &[]);
    }
}

/// Newton's method with a line search has no bracket to fall back on, and still solves these.
#[test]
fn two_blocks() {
    run_random_sets((2, 1), 40, &[], &[&["simulation.integrator=implicit-euler"]]);
}

/// The implicit step solves the blocks together, or goes on in halves. Its ledger closes only if the velocities are those that the forces
/// of every part give, and the forces those of their laws.
fn run_random_sets_implicitly(size: (usize, usize), count: usize) {
    let integrator = "simulation.integrator=implicit-euler";
    run_random_sets(size, count, &[integrator], &[]);
    let mut chance = Chance(8);
    for index in 0..count / 2 {
        let periods = chance.log(1e-2, 10.0);
        let drawn = drawn(&mut chance, size, periods);
        let run = finish(written(&drawn.text, &[integrator]), 1);
        let energy = run.report.energy.as_ref().unwrap();
        let apart = (energy.residual - energy.numerical.unwrap()).abs();
        assert!(
            apart <= 1e-10 * run.moved(),
            "set {index}: {apart:e} of {} J\n{}",
            run.moved(),
            drawn.text
        );
    }
}

#[test]
fn blocks_in_the_implicit_step() {
    run_random_sets_implicitly((1, 1), 200);
    run_random_sets_implicitly((2, 1), 200);
}

#[test]
fn blocks_in_the_plane_in_the_implicit_step() {
    run_random_sets_implicitly((1, 2), 300);
    run_random_sets_implicitly((2, 2), 100);
}

/// Steady sliding in the plane: R = 1, μ = (κv + η)/(κv/μ_k + η/μ_s), friction against the motion, however long the step is.
#[test]
fn steady_sliding_in_the_plane_at_any_step() {
    let (v, kappa, eta, load) = (libm::hypot(1e-3, 0.7e-3), 3000.0, 0.05, 60.0);
    let mu = (kappa * v + eta) / (kappa * v / 0.2 + eta / 0.4);
    for step in [0.2, 1.0, 7.0, 100.0] {
        let text = format!(
            "[simulation]\nduration = {}\nstep = {step}\nintegrator = \"implicit-euler\"\n\
             [bodies.block]\nkind = \"mass\"\nmass = 50\nposition = [0, 0]\n\
             [bodies.hook]\nkind = \"driver\"\nvelocity = [\"1e-3\", \"0.7e-3\"]\n\
             [elements.spring]\nkind = \"spring\"\nbetween = [\"hook\", \"block\"]\nstiffness = 5000\ndamping = 5000\n\
             [elements.floor]\nkind = \"friction\"\nbetween = [\"block\", \"ground\"]\nlaw = \"subloading\"\n\
             mu_static = 0.4\nmu_kinetic = 0.2\nnormal_force = {load}\ntangential_stiffness = 1e6\nkappa = {kappa}\neta = {eta}\n\
             r = 2e4\n",
            1000.0 * step
        );
        let run = finish(written(&text, &[]), 1000);
        let last = |column: &str| run.column(column)[1];
        for (axis, part) in [("x", 1e-3 / v), ("y", 0.7e-3 / v)] {
            close("velocity", last(&format!("block.velocity.{axis}")), v * part, 1e-12);
            close("force", last(&format!("floor.force.{axis}")), -mu * load * part, 1e-9);
        }
    }
}

/// The plain method fails as published, and what is said then is true of the scenario.
#[test]
fn what_helps_where_newtons_method_fails_as_published() {
    let mut chance = Chance(7);
    let mut failed = 0;
    for _ in 0..20 {
        let drawn = drawn(&mut chance, (1, 2), 5.0);
        let sets = [
            "simulation.integrator=implicit-euler",
            "elements.floor_a.update=trapezoidal",
            "elements.floor_a.newton=as-published",
        ];
        if let Err(error) = completes(&drawn, &sets) {
            assert!(error.contains("use newton = \"safeguarded\""), "{error}");
            assert!(!error.contains("compliant"), "{error}");
            failed += 1;
        }
    }
    assert!(failed > 0);
}

/// An exponent below 1 makes healing infinitely steep at μ_s, where μ then stays within 1e-11: that costs no steps.
#[test]
fn steep_healing_with_chosen_steps() {
    let text = r#"
[simulation]
duration = 1
step = 0.05
integrator = "stiff"
[bodies.hook]
kind = "driver"
velocity = 0.2
[bodies.a]
kind = "mass"
mass = 0.12
[elements.spring]
kind = "spring"
between = ["hook", "a"]
stiffness = 450
[elements.floor]
kind = "friction"
between = ["a", "ground"]
law = "subloading"
mu_static = 1.06
mu_kinetic = 0.92
normal_force = 28
tangential_stiffness = 14
kappa = 4.5
kappa_exponent = 1.9
eta = 0.6
eta_exponent = 0.56
r = 1400
evolution = "ratio"
"#;
    let mut simulation = written(text, &[]);
    let steps = simulation.built().steps;
    simulation.advance(steps).unwrap();
    let taken = simulation.statistics().steps;
    assert!(taken < 10_000, "{taken} steps");
}
