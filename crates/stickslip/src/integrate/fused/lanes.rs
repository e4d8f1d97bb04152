//! The smallest networks side by side: explicit steps of several runs of the same form, each in a lane of a vector.

use super::{Dry, Given, Group, Law, Masses, Motion, Plan, Rub, Tie, Worn};
use crate::integrate::lanes::{Lane, fence};
use crate::integrate::runge_kutta::Tableau;
use crate::network::Network;
use crate::network::abreast::side;
use multiversion::multiversion;
use stickslip_core::friction::curve::Stribeck;
use stickslip_core::friction::lugre::Lugre;
use stickslip_core::friction::proxy::Proxy;
use stickslip_core::scalar::Lanes;

/// Lanes of a pack: one vector of 256 bits. The stages of a longer one would not fit into the registers.
const WIDTH: usize = 4;

type Wide = Lanes<WIDTH>;

/// A law that can be evaluated side by side with others of its form.
pub(in crate::integrate::fused) trait Side: Group + Law<f64> {
    type Wide: Law<Wide>;
    /// Whether two such laws take the same way.
    fn alike(&self, other: &Self) -> bool;
    fn side_by_side(laws: &[&Self; WIDTH]) -> Self::Wide;
}

impl Side for Dry<f64> {
    type Wide = Dry<Wide>;

    fn alike(&self, other: &Self) -> bool {
        self.staged == other.staged
    }

    fn side_by_side(laws: &[&Self; WIDTH]) -> Dry<Wide> {
        Dry {
            law: Proxy {
                stiffness: side(laws, |own| own.law.stiffness),
                damping: side(laws, |own| own.law.damping),
            },
            staged: laws[0].staged,
        }
    }
}

impl Side for Worn<f64> {
    type Wide = Worn<Wide>;

    fn alike(&self, other: &Self) -> bool {
        self.curve.form() == other.curve.form()
    }

    fn side_by_side(laws: &[&Self; WIDTH]) -> Worn<Wide> {
        Worn {
            law: Lugre {
                stiffness: side(laws, |own| own.law.stiffness),
                damping: side(laws, |own| own.law.damping),
            },
            curve: Stribeck::side_by_side(&std::array::from_fn(|i| laws[i].curve)),
            step: side(laws, |own| own.step),
        }
    }
}

impl<L: Side, const N: usize> Plan<f64, L, N> {
    /// Whether two networks differ in numbers only.
    fn alike(&self, other: &Self) -> bool {
        let rubs_alike = self.rubs.iter().zip(&other.rubs).all(|pair| match pair {
            (Some(a), Some(b)) => a.on_driver == b.on_driver && a.law.alike(&b.law),
            (None, None) => true,
            _ => false,
        });
        let ends = |plan: &Self| plan.ties.map(|tie| tie.ends);
        let form = |plan: &Self| {
            let forced = [plan.applied, plan.actuated].map(|signals| signals.map(|signal| signal.is_some()));
            (
                plan.tie_count,
                ends(plan),
                forced,
                plan.driver.map(|driver| driver.position),
            )
        };
        rubs_alike && form(self) == form(other)
    }

    fn side_by_side(plans: &[&Self; WIDTH]) -> Plan<Wide, L::Wide, N> {
        let first = plans[0];
        Plan {
            first_axis: first.first_axis,
            driver: first.driver,
            ties: std::array::from_fn(|i| {
                let ties: [&Tie<f64>; WIDTH] = std::array::from_fn(|lane| &plans[lane].ties[i]);
                Tie {
                    ends: ties[0].ends,
                    stiffness: side(&ties, |tie| tie.stiffness),
                    damping: side(&ties, |tie| tie.damping),
                    length: side(&ties, |tie| tie.length),
                    damped: ties.iter().any(|tie| tie.damped),
                    element: ties[0].element,
                    toward: ties[0].toward,
                }
            }),
            tie_count: first.tie_count,
            rubs: std::array::from_fn(|i| {
                let rub = first.rubs[i].as_ref()?;
                // All have one here, being alike.
                let laws = std::array::from_fn(|lane| plans[lane].rubs[i].as_ref().map_or(&rub.law, |rub| &rub.law));
                Some(Rub {
                    on_driver: rub.on_driver,
                    law: L::side_by_side(&laws),
                    factor: rub.factor,
                    load: rub.load,
                    state: rub.state,
                    element: rub.element,
                })
            }),
            applied: first.applied,
            actuated: first.actuated,
            motors: first.motors,
            driver_velocity: first.driver_velocity,
        }
    }
}

impl<const N: usize> Given<Wide, N> {
    fn side_by_side(given: &[&Given<f64, N>; WIDTH]) -> Self {
        let each = |get: fn(&Given<f64, N>, usize) -> f64| std::array::from_fn(|i| side(given, |own| get(own, i)));
        Given {
            applied: each(|own, i| own.applied[i]),
            actuated: each(|own, i| own.actuated[i]),
            load: each(|own, i| own.load[i]),
            driver: side(given, |own| own.driver),
            slope: side(given, |own| own.slope),
        }
    }
}

/// Several runs in the lanes of vectors.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Pack<L, const N: usize> {
    plan: Plan<Wide, L, N>,
    bodies: Masses<Wide, N>,
    at: Motion<Wide, N>,
    travelled: Wide,
    /// What profiles say at the start, in the middle and at the end of the step.
    given: [Given<Wide, N>; 3],
}

/// Steps of several runs, all of them one step and then the next: while one waits for its sums the others go on.
#[multiversion(targets("x86_64+avx2"))]
fn together<L: Law<Wide>, const S: usize, const N: usize>(
    tableau: &Tableau<S>,
    packs: &mut [Pack<L, N>],
    step: f64,
    steps: u64,
) {
    for _ in 0..steps {
        for pack in packs.iter_mut() {
            fence();
            let [now, middle, next] = &pack.given;
            let at = (&pack.at, pack.travelled);
            (pack.at, pack.travelled) = pack
                .plan
                .step(tableau, &pack.bodies, at, [now, middle, next], step, &mut ());
        }
    }
}

/// One of the runs.
struct Member<'m, 'a, L, const N: usize> {
    lane: &'m mut Lane<'a>,
    plan: Plan<f64, L, N>,
    now: Given<f64, N>,
}

/// Moves several networks side by side, as far as they are alike and stay finite.
pub(in crate::integrate) fn run_lanes<const S: usize>(tableau: &Tableau<S>, lanes: &mut [Lane<'_>], steps: u64) {
    match lanes.first().map(|lane| lane.network) {
        Some(network) if plans::<Dry<f64>, 1>(network) => run::<Dry<f64>, S, 1>(tableau, lanes, steps),
        Some(network) if plans::<Dry<f64>, 2>(network) => run::<Dry<f64>, S, 2>(tableau, lanes, steps),
        Some(network) if plans::<Worn<f64>, 1>(network) => run::<Worn<f64>, S, 1>(tableau, lanes, steps),
        _ => (),
    }
}

/// Whether a network can be moved beside others.
pub(in crate::integrate) fn takes(network: &Network) -> bool {
    plans::<Dry<f64>, 1>(network) || plans::<Dry<f64>, 2>(network) || plans::<Worn<f64>, 1>(network)
}

fn plans<L: Side, const N: usize>(network: &Network) -> bool {
    plan::<L, N>(network).is_some()
}

fn plan<L: Side, const N: usize>(network: &Network) -> Option<Plan<f64, L, N>> {
    let layout = &network.layout;
    let masses = layout.masses == N && layout.positions == layout.masses + layout.drivers;
    (masses && network.linkages.is_empty() && network.own_bodies.is_empty()).then(|| Plan::of(network, 0))?
}

fn run<L: Side, const S: usize, const N: usize>(tableau: &Tableau<S>, lanes: &mut [Lane<'_>], steps: u64) {
    let mut members: Vec<Member<'_, '_, L, N>> = Vec::with_capacity(lanes.len());
    for lane in lanes {
        let Some(plan) = plan::<L, N>(lane.network) else {
            continue;
        };
        if members.first().is_none_or(|first| first.plan.alike(&plan)) {
            let now = plan.given(lane.network, &mut lane.scratch.signals, 2 * lane.state.step);
            members.push(Member { lane, plan, now });
        }
    }
    let Some(first) = members.first() else {
        return;
    };
    let (length, still) = (
        first.lane.network.step,
        first.plan.driver.is_none_or(|driver| !driver.position),
    );
    let start = first.lane.state.step;
    let mut packs: Vec<Pack<L::Wide, N>> = members.chunks(WIDTH).map(Pack::of).collect();
    let mut done = 0;
    while done < steps {
        // One step in which profiles may change, then as many as they do not.
        let index = 2 * (start + done);
        if tableau.nodes.contains(&1) {
            sample(&mut members, &mut packs, index + 1, 1);
        }
        sample(&mut members, &mut packs, index + 2, 2);
        together(tableau, &mut packs, length, 1);
        done += 1;
        let until = members
            .iter()
            .map(|member| member.lane.scratch.signals.constant_until())
            .min();
        let constant = (until.unwrap_or(0).saturating_sub(index + 3) / 2).min(steps - done);
        for pack in &mut packs {
            pack.given = [pack.given[2]; 3];
        }
        if still {
            together(tableau, &mut packs, length, constant);
            done += constant;
        }
    }
    for (i, Member { lane, plan, now }) in members.iter_mut().enumerate() {
        let (at, travelled) = packs[i / WIDTH].lane(i % WIDTH);
        if at.check() + travelled * 0.0 == 0.0 {
            lane.state.step += steps;
            let values = &mut lane.state.values;
            plan.scatter(lane.network, at, travelled, values);
            plan.place_driver(
                lane.network,
                values,
                lane.state.step,
                now.driver,
                &mut lane.scratch.signals,
            );
        } else {
            // It starts anew alone, and its profiles with it.
            lane.scratch.signals = lane.network.signals.values();
        }
    }
}

/// Brings the profiles of all runs to a grid index.
fn sample<L: Side, const N: usize>(
    members: &mut [Member<'_, '_, L, N>],
    packs: &mut [Pack<L::Wide, N>],
    index: u64,
    place: usize,
) {
    for (members, pack) in members.chunks_mut(WIDTH).zip(packs) {
        for member in members.iter_mut() {
            let Lane { network, scratch, .. } = &mut *member.lane;
            member.now = member.plan.given(network, &mut scratch.signals, index);
        }
        let last = members.len() - 1;
        pack.given[place] = Given::side_by_side(&std::array::from_fn(|i| &members[i.min(last)].now));
    }
}

impl<L, const N: usize> Pack<L, N> {
    /// Up to as many runs as there are lanes, the last of them repeated in lanes that are left.
    fn of<M: Side<Wide = L>>(members: &[Member<'_, '_, M, N>]) -> Self {
        let last = members.len() - 1;
        let members: [&Member<'_, '_, M, N>; WIDTH] = std::array::from_fn(|i| &members[i.min(last)]);
        let states = members.map(|member| member.plan.gather(member.lane.network, &member.lane.state.values));
        let masses = members.map(|member| Masses::<f64, N>::of(member.lane.network));
        let given = Given::side_by_side(&members.map(|member| &member.now));
        let lanes = |get: &dyn Fn(usize) -> f64| Lanes(std::array::from_fn(get));
        Pack {
            plan: Plan::side_by_side(&members.map(|member| &member.plan)),
            bodies: Masses(std::array::from_fn(|i| {
                (lanes(&|lane| masses[lane].0[i].0), lanes(&|lane| masses[lane].0[i].1))
            })),
            at: Motion {
                q: std::array::from_fn(|i| lanes(&|lane| states[lane].0.q[i])),
                v: std::array::from_fn(|i| lanes(&|lane| states[lane].0.v[i])),
                bristle: std::array::from_fn(|i| lanes(&|lane| states[lane].0.bristle[i])),
            },
            travelled: lanes(&|lane| states[lane].1),
            given: [given; 3],
        }
    }

    /// The motion of one of them, and the position of its driver.
    fn lane(&self, lane: usize) -> (Motion<f64, N>, f64) {
        let motion = Motion {
            q: self.at.q.map(|all| all.0[lane]),
            v: self.at.v.map(|all| all.0[lane]),
            bristle: self.at.bristle.map(|all| all.0[lane]),
        };
        (motion, self.travelled.0[lane])
    }
}
