//! Elements and bodies written as equations in a file (`kind = "equations"`): texts compiled as those of an inclusion are, to a
//! program for plain numbers and for dual numbers, which give the tangents.

use crate::body::own::{MOST_COORDINATES, OwnBody};
use crate::element::own::{MOST_AXES, MOST_STATES, Motion, OwnElement, Update};
use crate::inclusion::{Description, Finding, Inclusion, Input, Place, Relaxation};
use nalgebra::{Matrix3, Rotation3, Unit, Vector3};

/// Most numbers that a program here takes and gives.
const MOST_NUMBERS: usize = 32;

/// What may stand in texts beside the names that are given.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// States with their initial values.
    pub states: Vec<(String, f64)>,
    /// Constants.
    pub parameters: Vec<(String, f64)>,
    /// Functions of time.
    pub inputs: Vec<Input>,
    /// Numbers of relaxed `sgn` and `dio`.
    pub relax: Vec<(String, Relaxation)>,
    /// Terms that are never negative.
    pub nonnegative: Vec<String>,
}

/// Texts as one program of names that are given, then of states.
#[derive(Clone, Debug)]
struct Program {
    inclusion: Inclusion,
    /// Numbers of the program: the names that are given and fillers, then the states.
    numbers: usize,
    /// Which of these are fillers, which make room for texts where there are more of them than names.
    given: usize,
    filled: usize,
}

impl Program {
    /// Compiles texts in names that are `given`; the rates of the states come last among the texts.
    fn new(given: &[String], names: &Names, texts: &[String]) -> Result<Self, Vec<Finding>> {
        let states = names.states.len();
        let filled = (texts.len() - states).max(given.len());
        // A filler has a name that no text can have.
        let fillers = (given.len()..filled).map(|i| format!("#{i}"));
        let mut all: Vec<(String, f64)> = given.iter().cloned().chain(fillers).map(|name| (name, 0.0)).collect();
        all.extend(names.states.iter().cloned());
        let (outputs, rates) = texts.split_at(texts.len() - states);
        let padding = std::iter::repeat_n("0".to_string(), filled - outputs.len());
        let texts = outputs.iter().cloned().chain(padding).chain(rates.iter().cloned());
        let equations = all.iter().map(|(name, _)| name.clone()).zip(texts).collect();
        let description = Description {
            states: all,
            parameters: names.parameters.clone(),
            inputs: names.inputs.clone(),
            equations,
            relax: names.relax.clone(),
            nonnegative: names.nonnegative.clone(),
            ..Description::default()
        };
        let place = |finding: Finding| {
            let place = match finding.place {
                Place::State(i) => Place::State(i.saturating_sub(filled)),
                // Of the texts as they were handed in.
                Place::Equation(i) if i >= filled => Place::Equation(i - filled + outputs.len()),
                other => other,
            };
            Finding { place, ..finding }
        };
        let inclusion = Inclusion::of_part(description, filled)
            .map_err(|findings| findings.into_iter().map(place).collect::<Vec<_>>())?;
        let numbers = inclusion.states().len();
        if numbers > MOST_NUMBERS {
            let message = format!("the equations have {numbers} numbers, more than {MOST_NUMBERS}");
            return Err(vec![too_many(message)]);
        }
        Ok(Program {
            inclusion,
            numbers,
            given: given.len(),
            filled,
        })
    }

    /// Initial values of the states, those that relaxation adds among them.
    fn initial(&self) -> &[f64] {
        &self.inclusion.initial()[self.filled..]
    }

    fn state_names(&self) -> Vec<&str> {
        self.inclusion.states()[self.filled..]
            .iter()
            .map(String::as_str)
            .collect()
    }

    /// The numbers that the program takes.
    fn take<'a>(&self, given: impl Iterator<Item = &'a f64>, states: &[f64]) -> [f64; MOST_NUMBERS] {
        let mut numbers = [0.0; MOST_NUMBERS];
        for (number, given) in numbers[..self.given].iter_mut().zip(given) {
            *number = *given;
        }
        numbers[self.filled..self.filled + states.len()].copy_from_slice(states);
        numbers
    }

    /// The value of input `i` at a time; the time itself comes after the inputs.
    fn input(&self, i: usize, time: f64) -> f64 {
        let inputs = &self.inclusion.description().inputs;
        inputs.get(i).map_or(time, |input| input.profile.value(time))
    }

    /// Values of the texts, then the rates of the states from [`Program::filled`] on.
    fn evaluate(&self, numbers: &[f64; MOST_NUMBERS], time: f64) -> [f64; MOST_NUMBERS] {
        let mut values = [0.0; MOST_NUMBERS];
        let (numbers, out) = (&numbers[..self.numbers], &mut values[..self.numbers]);
        self.inclusion.program().evaluate(numbers, |i| self.input(i, time), out);
        values
    }
}

fn too_many(message: String) -> Finding {
    Finding {
        place: Place::Whole,
        span: None,
        message,
        help: "make several elements or bodies of it".into(),
    }
}

/// The components of a vector that texts name.
const AXES: [&str; 3] = ["x", "y", "z"];

/// An element as equations: force and rates as functions of the relative motion x, v, of states, of the time, and of the step of the
/// stage.
#[derive(Clone, Debug)]
pub struct ElementEquations {
    program: Program,
    axes: usize,
    stored: bool,
    /// Whether the equations name the step, and are thus an update of their own.
    staged: bool,
}

impl ElementEquations {
    /// Compiles an element with these texts of its force (one per axis), of the rates of its states, and of the energy it stores.
    ///
    /// # Errors
    /// What is wrong with the texts; equations count as force, energy if there is one, rates.
    pub fn new(
        names: &Names,
        force: &[String],
        stored: Option<&String>,
        rates: &[String],
    ) -> Result<Self, Vec<Finding>> {
        let axes = force.len().clamp(1, MOST_AXES);
        let of = |word: &str| -> Vec<String> {
            match axes {
                1 => vec![word.to_string()],
                _ => AXES[..axes].iter().map(|axis| format!("{word}.{axis}")).collect(),
            }
        };
        let given: Vec<String> = of("x").into_iter().chain(of("v")).chain(["step".to_string()]).collect();
        let texts: Vec<String> = force.iter().chain(stored).chain(rates).cloned().collect();
        let program = Program::new(&given, names, &texts)?;
        let states = program.initial().len();
        if states > MOST_STATES {
            let message = format!("the element has {states} states, more than {MOST_STATES}");
            return Err(vec![too_many(message)]);
        }
        Ok(ElementEquations {
            staged: program.inclusion.uses_state(2 * axes),
            program,
            axes,
            stored: stored.is_some(),
        })
    }

    /// Whether an expression names a parameter.
    pub(crate) fn uses_parameter(&self, parameter: usize) -> bool {
        self.program.inclusion.uses_parameter(parameter)
    }

    /// The numbers that the program takes.
    fn numbers(&self, motion: &Motion<'_>) -> [f64; MOST_NUMBERS] {
        let given = motion.position.iter().chain(motion.velocity).chain([&motion.step]);
        self.program.take(given, motion.state)
    }

    fn evaluate(&self, motion: &Motion<'_>) -> [f64; MOST_NUMBERS] {
        self.program.evaluate(&self.numbers(motion), motion.time)
    }
}

impl OwnElement for ElementEquations {
    fn initial(&self, _axes: usize) -> Vec<f64> {
        self.program.initial().to_vec()
    }

    fn state_names(&self) -> Vec<&str> {
        self.program.state_names()
    }

    fn about(&self) -> String {
        format!("{:?}", self.program.inclusion.description())
    }

    fn respond(&self, motion: &Motion<'_>, rate: &mut [f64], force: &mut [f64]) {
        let values = self.evaluate(motion);
        force.copy_from_slice(&values[..self.axes]);
        rate.copy_from_slice(&values[self.program.filled..self.program.filled + rate.len()]);
    }

    fn derivatives(&self, motion: &Motion<'_>, matrix: &mut [f64]) -> bool {
        let (axes, filled, states) = (self.axes, self.program.filled, motion.state.len());
        let columns = 2 * axes + states;
        let numbers = self.numbers(motion);
        let put = |row: usize, column: usize, value: f64| {
            let row = match row {
                force if force < axes => Some(force),
                rate if rate >= filled => Some(axes + rate - filled),
                _ => None,
            };
            let column = match column {
                motion if motion < 2 * axes => Some(motion),
                state if state >= filled => Some(2 * axes + state - filled),
                _ => None,
            };
            if let (Some(row), Some(column)) = (row, column) {
                matrix[row * columns + column] = value;
            }
        };
        let program = self.program.inclusion.program();
        program.derivatives(
            &numbers[..self.program.numbers],
            |i| self.program.input(i, motion.time),
            put,
        );
        true
    }

    fn update(&self) -> Update {
        if self.staged { Update::Own } else { Update::Solved }
    }

    fn stored(&self, motion: &Motion<'_>) -> f64 {
        match self.stored {
            true => self.evaluate(motion)[self.axes],
            false => 0.0,
        }
    }

    fn stores(&self) -> bool {
        self.stored
    }
}

/// A place on a body that elements can take hold of.
#[derive(Clone, Debug)]
pub struct FrameTexts {
    /// Its name.
    pub name: String,
    /// Its position, one text per axis.
    pub position: [String; 3],
    /// The axis it turns about and the angle, as text.
    pub turn: Option<([f64; 3], String)>,
}

/// The texts of a body.
#[derive(Clone, Debug, Default)]
pub struct BodyTexts {
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
    /// M, row by row.
    pub mass_matrix: Vec<String>,
    /// One force per coordinate.
    pub force: Vec<String>,
    /// Rates of the states, in their order.
    pub rates: Vec<String>,
    /// Potential energy.
    pub potential: Option<String>,
    /// Places on the body.
    pub frames: Vec<FrameTexts>,
}

/// A body as equations: M(q)·v̇ = load + force, ż = rates.
#[derive(Clone, Debug)]
pub struct BodyEquations {
    coordinates: Vec<String>,
    /// M by rows.
    rows: Vec<Program>,
    /// Force and potential; rates of the states.
    motion: Program,
    potential: bool,
    frames: Vec<PlacedFrame>,
}

#[derive(Clone, Debug)]
struct PlacedFrame {
    name: String,
    /// x, y, z, angle.
    place: Program,
    axis: Option<Unit<Vector3<f64>>>,
}

/// Which text of a body a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyPart {
    /// Force, potential and rates, in this order.
    Motion,
    /// A row of the mass matrix.
    Row(usize),
    /// A frame: x, y, z, angle.
    Frame(usize),
}

impl BodyEquations {
    /// Compiles a body.
    ///
    /// # Errors
    /// What is wrong with the texts.
    pub fn new(names: &Names, texts: &BodyTexts) -> Result<Self, Vec<(BodyPart, Finding)>> {
        let speeds = texts.coordinates.iter().map(|name| format!("{name}_dot"));
        let given: Vec<String> = texts.coordinates.iter().cloned().chain(speeds).collect();
        let said =
            |part: BodyPart| move |findings: Vec<Finding>| findings.into_iter().map(|f| (part, f)).collect::<Vec<_>>();
        let all: Vec<String> = texts
            .force
            .iter()
            .chain(&texts.potential)
            .chain(&texts.rates)
            .cloned()
            .collect();
        let motion = Program::new(&given, names, &all).map_err(said(BodyPart::Motion))?;
        if motion.initial().len() > MOST_STATES {
            let message = format!("the body has more than {MOST_STATES} states");
            return Err(vec![(BodyPart::Motion, too_many(message))]);
        }
        // The mass matrix knows the coordinates, the parameters and the time, frames the first two.
        let still = Names {
            parameters: names.parameters.clone(),
            inputs: names.inputs.clone(),
            ..Names::default()
        };
        let count = texts.coordinates.len().clamp(1, MOST_COORDINATES);
        let mut rows = Vec::new();
        for (i, row) in texts.mass_matrix.chunks(count).enumerate() {
            rows.push(Program::new(&texts.coordinates, &still, row).map_err(said(BodyPart::Row(i)))?);
        }
        let mut frames = Vec::new();
        for (i, frame) in texts.frames.iter().enumerate() {
            let turn = frame.turn.iter().map(|(_, angle)| angle.clone());
            let place: Vec<String> = frame.position.iter().cloned().chain(turn).collect();
            let fixed = Names {
                inputs: Vec::new(),
                ..still.clone()
            };
            let program = Program::new(&texts.coordinates, &fixed, &place).map_err(said(BodyPart::Frame(i)))?;
            if program.inclusion.uses_time() {
                let finding = Finding {
                    place: Place::Whole,
                    span: None,
                    message: "a frame moves with the coordinates of its body, not with the time".into(),
                    help: "take `t` out of its position and angle".into(),
                };
                return Err(vec![(BodyPart::Frame(i), finding)]);
            }
            let axis = frame
                .turn
                .as_ref()
                .map(|(axis, _)| Unit::new_normalize(Vector3::from(*axis)));
            frames.push(PlacedFrame {
                name: frame.name.clone(),
                place: program,
                axis,
            });
        }
        Ok(BodyEquations {
            coordinates: texts.coordinates.clone(),
            rows,
            motion,
            potential: texts.potential.is_some(),
            frames,
        })
    }

    /// Whether an expression names a parameter.
    pub(crate) fn uses_parameter(&self, parameter: usize) -> bool {
        let frames = self.frames.iter().map(|frame| &frame.place);
        let mut programs = self.rows.iter().chain([&self.motion]).chain(frames);
        programs.any(|program| program.inclusion.uses_parameter(parameter))
    }

    fn evaluate(&self, motion: &Motion<'_>) -> [f64; MOST_NUMBERS] {
        let given = motion.position.iter().chain(motion.velocity);
        let numbers = self.motion.take(given, motion.state);
        self.motion.evaluate(&numbers, motion.time)
    }
}

impl OwnBody for BodyEquations {
    fn coordinates(&self) -> Vec<&str> {
        self.coordinates.iter().map(String::as_str).collect()
    }

    fn inertia(&self, motion: &Motion<'_>, matrix: &mut [f64]) {
        let count = self.coordinates.len();
        for (row, program) in matrix.chunks_mut(count).zip(&self.rows) {
            let numbers = program.take(motion.position.iter(), &[]);
            row.copy_from_slice(&program.evaluate(&numbers, motion.time)[..count]);
        }
    }

    fn force(&self, motion: &Motion<'_>, force: &mut [f64]) {
        force.copy_from_slice(&self.evaluate(motion)[..force.len()]);
    }

    fn potential(&self, motion: &Motion<'_>) -> f64 {
        match self.potential {
            true => self.evaluate(motion)[self.coordinates.len()],
            false => 0.0,
        }
    }

    fn initial(&self) -> Vec<f64> {
        self.motion.initial().to_vec()
    }

    fn state_names(&self) -> Vec<&str> {
        self.motion.state_names()
    }

    fn about(&self) -> String {
        let programs = self
            .rows
            .iter()
            .chain([&self.motion])
            .chain(self.frames.iter().map(|frame| &frame.place));
        programs
            .map(|program| format!("{:?}", program.inclusion.description()))
            .chain(self.frames.iter().map(|frame| format!("{:?}", frame.axis)))
            .collect()
    }

    fn rates(&self, motion: &Motion<'_>, rate: &mut [f64]) {
        let first = self.motion.filled;
        rate.copy_from_slice(&self.evaluate(motion)[first..first + rate.len()]);
    }

    fn frames(&self) -> Vec<&str> {
        self.frames.iter().map(|frame| frame.name.as_str()).collect()
    }

    fn place(&self, frame: usize, q: &[f64]) -> (Vector3<f64>, Matrix3<f64>) {
        let PlacedFrame { place, axis, .. } = &self.frames[frame];
        let [x, y, z, angle, ..] = place.evaluate(&place.take(q.iter(), &[]), 0.0);
        let turn = axis.map_or(Matrix3::identity(), |axis| {
            *Rotation3::from_axis_angle(&axis, angle).matrix()
        });
        (Vector3::new(x, y, z), turn)
    }
}
