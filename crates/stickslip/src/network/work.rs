//! What a step does to the energy of the network.

use crate::snapshot::carried;

/// Energies that went through the network, integrated by the method itself.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Energy put in by drivers, actuators and applied forces.
    pub input: f64,
    /// Energy each element delivered to the bodies.
    pub delivered: Vec<f64>,
    /// Part of it that is the method's own doing: a spring taken at the start of a step that stretches by Δ delivers
    /// ½·k·Δ² more than it loses, one taken at the end as much less.
    pub own: Vec<f64>,
    /// Kinetic energy the method loses by itself.
    pub kinetic: f64,
    /// Energy of weight and springs that bodies lose where impacts and overlaps displace them.
    pub displaced: f64,
    /// Work of drivers given by position that springs taken at one end of the step get wrong: the force goes there from its start to its end
    /// on the way, and a driver that jumps meets both at once.
    pub driven: f64,
    /// Energy that bodies of the user's own gained from their own forces, where the method counts it.
    pub within: f64,
}

carried!(Work: input, delivered, own, kinetic, displaced, driven, within; not);

impl Work {
    /// None yet, of so many elements.
    pub fn new(elements: usize) -> Self {
        Work {
            delivered: vec![0.0; elements],
            own: vec![0.0; elements],
            ..Work::default()
        }
    }

    /// None yet again, of so many elements.
    pub(crate) fn begin(&mut self, elements: usize) {
        let [mut delivered, mut own] = [&mut self.delivered, &mut self.own].map(std::mem::take);
        for sums in [&mut delivered, &mut own] {
            sums.clear();
            sums.resize(elements, 0.0);
        }
        *self = Work {
            delivered,
            own,
            ..Work::default()
        };
    }

    /// Whether all energies are numbers.
    pub(crate) fn is_finite(&self) -> bool {
        let mut sums = self.delivered.iter().chain(&self.own).chain([
            &self.input,
            &self.kinetic,
            &self.displaced,
            &self.driven,
            &self.within,
        ]);
        sums.all(|sum| sum.is_finite())
    }

    /// Takes the energies of another, of as many elements.
    pub(crate) fn copy_from(&mut self, other: &Work) {
        (self.input, self.kinetic, self.displaced) = (other.input, other.kinetic, other.displaced);
        (self.driven, self.within) = (other.driven, other.within);
        self.delivered.copy_from_slice(&other.delivered);
        self.own.copy_from_slice(&other.own);
    }
}
