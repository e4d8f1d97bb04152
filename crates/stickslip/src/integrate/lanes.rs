//! Several networks side by side: the variants of a sweep go through the same steps, each in a lane of a vector. Every lane
//! does exactly what its network would do alone, bit for bit (tested).

use super::runge_kutta::{EULER, RK4};
use super::{Method, abreast, balls, fused, one_coordinate};
use crate::network::abreast::WIDTH;
use crate::network::{Network, NetworkState, Scratch};

/// Networks that are moved together where packs of them take turns: enough that none waits for its own sums. Their
/// implicit steps are short.
const IN_TURNS: usize = 32;
const IMPLICIT_IN_TURNS: usize = 48;

/// One network and its state.
pub(crate) struct Lane<'a> {
    pub(crate) network: &'a Network,
    pub(crate) state: &'a mut NetworkState,
    pub(crate) scratch: &'a mut Scratch,
}

/// How many networks of this kind go side by side; 1 if it goes alone.
pub(crate) fn most(method: Method, network: &Network) -> usize {
    if stays_in_registers(method, network) && !balls::are_all(network) {
        if method == Method::ImplicitEuler {
            IMPLICIT_IN_TURNS
        } else {
            IN_TURNS
        }
    } else if stays_in_registers(method, network) || abreast::takes(method, network) {
        WIDTH
    } else {
        1
    }
}

/// Whether the network is one of the smallest, for which there is a shorter way.
fn stays_in_registers(method: Method, network: &Network) -> bool {
    match method {
        Method::ImplicitEuler => super::one_coordinate(network).is_some() || balls::are_all(network),
        Method::Euler | Method::Rk4 => fused::lanes::takes(network),
        _ => false,
    }
}

/// Moves networks with the same step up to `steps` steps. One that cannot go with the others, or whose numbers do not stay
/// finite, is left behind where it parted from them and goes on alone.
pub(crate) fn run(method: Method, lanes: &mut [Lane<'_>], steps: u64) {
    let small = lanes
        .first()
        .is_some_and(|lane| stays_in_registers(method, lane.network));
    match (small, method) {
        (false, _) => abreast::run_lanes(method, lanes, steps),
        (_, Method::ImplicitEuler) if balls::are_all(lanes[0].network) => balls::run_lanes(lanes, steps),
        (_, Method::ImplicitEuler) => one_coordinate::run_lanes(lanes, steps),
        (_, Method::Euler) => fused::lanes::run_lanes(&EULER, lanes, steps),
        (_, Method::Rk4) => fused::lanes::run_lanes(&RK4, lanes, steps),
        _ => (),
    }
}

/// Keeps the compiler from joining one pack with the next: it would take lane 0 of every pack for one vector and spend its
/// time on putting them together.
#[inline(always)]
pub(super) fn fence() {
    std::hint::black_box(());
}

#[cfg(test)]
mod tests {
    use crate::Simulation;
    use crate::scenario::Scenario;

    fn simulation(name: &str, sets: &[&str]) -> Simulation {
        let path = format!("{}/../../benches/scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_string()).collect();
        let scenario = Scenario::read(path, &sets).unwrap_or_else(|error| panic!("{error}"));
        Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Three masses, a driver by position, springs and frictions of two laws.
    fn train(integrator: &str, law: &str, sets: &[&str]) -> Simulation {
        let text = format!(
            r#"
            [simulation]
            duration = 1
            step = 1e-3
            integrator = "{integrator}"
            [bodies.a]
            kind = "mass"
            mass = 1
            [bodies.b]
            kind = "mass"
            mass = 2
            velocity = 1
            [bodies.c]
            kind = "inertia"
            inertia = 3
            [bodies.hook]
            kind = "driver"
            position = "sin(9*t)"
            [elements.ab]
            kind = "spring"
            between = ["a", "b"]
            stiffness = 100
            damping = 1
            [elements.pull]
            kind = "spring"
            between = ["hook", "a"]
            stiffness = 200
            [elements.floor]
            kind = "friction"
            between = ["a", "ground"]
            law = "{law}"
            kinetic = 1
            static = 1.5
            stribeck_velocity = 0.1
            viscous = 0.2
            [elements.table]
            kind = "friction"
            between = ["b", "ground"]
            law = "{law}"
            kinetic = 1
            [elements.bearing]
            kind = "friction"
            between = ["c", "ground"]
            law = "{law}"
            kinetic = 1
            "#
        );
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_string()).collect();
        let scenario = Scenario::parse(&text, "train.toml", &sets).unwrap_or_else(|error| panic!("{error}"));
        Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn balls_go_in_lanes() {
        let sets = [
            "elements.floor.friction.mu=0.1",
            "elements.floor.friction.mu=0.2",
            "bodies.ball.mass=2",
        ];
        let mut all = sets.map(|set| simulation("w3", &[set]));
        assert!(all[0].abreast() > 1);
        Simulation::advance_together(&mut all.iter_mut().collect::<Vec<_>>(), 9000);
        for (set, together) in sets.iter().zip(&all) {
            assert_eq!(together.steps_done(), 9000);
            let mut alone = simulation("w3", &[set]);
            alone.advance(9000).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(alone.state().values, together.state().values, "{set}");
        }
    }

    #[test]
    fn a_train_goes_in_lanes() {
        for (integrator, law) in [
            ("implicit-euler", "implicit"),
            ("rk4", "lugre"),
            ("rk4", "proxy"),
            ("euler", "proxy"),
        ] {
            let sets = |i: u32| {
                let sets = [
                    format!("elements.ab.stiffness={}", 100 + i),
                    format!("bodies.c.velocity={i}"),
                ];
                match i {
                    // Built in another way.
                    3 => [&sets[..], &["elements.ab.between=[\"a\", \"ground\"]".to_string()]].concat(),
                    // It overflows.
                    7 => [
                        &sets[..],
                        &[
                            "bodies.b.velocity=1e300".to_string(),
                            "elements.ab.damping=1e300".to_string(),
                        ],
                    ]
                    .concat(),
                    _ => sets.to_vec(),
                }
            };
            let new = |i: u32| train(integrator, law, &sets(i).iter().map(String::as_str).collect::<Vec<_>>());
            let mut all: Vec<Simulation> = (0..12).map(new).collect();
            assert!(all[0].abreast() > 1);
            Simulation::advance_together(&mut all.iter_mut().collect::<Vec<_>>(), 500);
            for (i, together) in (0..).zip(&all) {
                let stays = i == 3 || i == 7;
                assert_eq!(together.steps_done(), if stays { 0 } else { 500 }, "{integrator}, {i}");
                if !stays {
                    let mut alone = new(i);
                    alone.advance(500).unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(alone.state().values, together.state().values, "{integrator}, {i}");
                }
            }
        }
        let coupled = train("implicit-euler", "implicit", &["elements.table.between=[\"b\", \"a\"]"]);
        assert_eq!(coupled.abreast(), 1);
    }

    /// That rows are right is seen in their bytes; that they went side by side, only here.
    #[test]
    fn those_that_are_built_alike_move_and_others_stay() {
        let lugre = [
            "elements.floor.law=lugre",
            "elements.floor.stiffness=1000",
            "elements.floor.damping=10",
        ];
        let stribeck = ["elements.floor.static=12", "elements.floor.stribeck_velocity=1"];
        let elsewhere = ["elements.spring.between=[\"block\", \"ground\"]"];
        for (name, sets, other) in [
            ("w4", &[][..], &["elements.floor.viscous=1"][..]),
            ("w1", &[], &stribeck),
            ("w1-rk4", &[], &elsewhere),
            ("w1-rk4", &lugre, &["elements.floor.law=proxy"]),
        ] {
            let masses = ["bodies.block.mass=1", "bodies.block.mass=2", "bodies.block.mass=3"];
            let mut all: Vec<Simulation> = masses
                .iter()
                .map(|mass| simulation(name, &[sets, &[mass]].concat()))
                .collect();
            all.push(simulation(name, other));
            assert!(all[0].abreast() > 1);
            Simulation::advance_together(&mut all.iter_mut().collect::<Vec<_>>(), 3000);
            let done: Vec<u64> = all.iter().map(Simulation::steps_done).collect();
            assert_eq!(done, [3000, 3000, 3000, 0], "{name}");
            for (mass, together) in masses.iter().zip(&all) {
                let mut alone = simulation(name, &[sets, &[mass]].concat());
                alone.advance(3000).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(alone.state().values, together.state().values, "{name}, {mass}");
            }
        }
        assert_eq!(simulation("w2", &[]).abreast(), 1);
    }
}
