//! All that carries from one step to the next, as bytes: what [`Simulation::snapshot`] takes and [`Simulation::restore`] puts back.
//!
//! Every type that has a part in it says once, in a list of its fields, which of them carry. The list has all fields of the type: a
//! new one does not compile before somebody has decided.

#[cfg(doc)]
use crate::Simulation;
use std::fmt;

/// Everything that a simulation carries from one step to the next, at one moment.
///
/// Put back with [`Simulation::restore`], the simulation goes on with exactly the bytes of the original: positions, velocities and
/// states of laws, actuators that were taken over, the memory of methods that choose their steps, sums of energy, what elements did last.
///
/// It can be kept in a file, and read in another process that builds the same system:
///
/// ```
/// use stickslip::integrate::Method;
/// use stickslip::model::{Friction, GROUND, Model};
/// use stickslip::{Simulation, Snapshot, SnapshotError};
///
/// let build = |mass: f64| -> Result<Simulation, Box<dyn std::error::Error>> {
///     let mut model = Model::new(1e-3, Method::Rk4);
///     let block = model.mass("block", mass, &[0.02], &[0.0]);
///     model.spring("spring", block, GROUND, 1e3, 0.5);
///     model.friction("floor", block, GROUND, Friction::law("dahl", 3.0).parameter("stiffness", 2e3));
///     Ok(model.build()?)
/// };
/// let mut whole = build(2.0)?;
/// whole.advance(150)?;
/// let bytes = whole.snapshot().to_bytes(); // to a file
/// whole.advance(350)?;
///
/// let mut other = build(2.0)?; // later, elsewhere
/// other.restore(&Snapshot::from_bytes(&bytes)?)?;
/// assert_eq!(other.steps_done(), 150);
/// other.advance(350)?;
/// assert_eq!(other.state(), whole.state()); // to the last bit
///
/// let heavier = build(2.5)?.restore(&Snapshot::from_bytes(&bytes)?);
/// assert_eq!(heavier, Err(SnapshotError::OtherSystem)); // a state of another system would mean nothing here
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Which system it is of.
    pub(crate) system: u64,
    /// Steps done.
    pub(crate) step: u64,
    /// The rest, field by field.
    pub(crate) bytes: Vec<u8>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("system", &format_args!("{:016x}", self.system))
            .field("step", &self.step)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// Why bytes are no snapshot, or a snapshot cannot be put into a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// The bytes do not begin as those of a snapshot.
    NotASnapshot,
    /// They are of another version of the format.
    Version(u8),
    /// Some are missing, were added or were changed.
    Damaged,
    /// The snapshot was taken of another system.
    OtherSystem,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASnapshot => write!(f, "these bytes are no snapshot of a simulation"),
            Self::Version(found) => write!(
                f,
                "the snapshot has version {found} of the format, and this program reads version {VERSION}\n\
                 help: take it anew with this program"
            ),
            Self::Damaged => write!(
                f,
                "the snapshot is damaged: bytes are missing, were added or were changed\nhelp: copy it again from its source, whole"
            ),
            Self::OtherSystem => write!(
                f,
                "the snapshot is of another system: bodies, elements, integrator, step or numbers differ\n\
                 help: build the system that it was taken of; to carry motion over to another one use set_position and set_velocity"
            ),
        }
    }
}

impl std::error::Error for SnapshotError {}

/// What snapshots begin with, before the version.
const MAGIC: &[u8; 7] = b"stkslip";
/// To be counted up with every change of what a snapshot holds.
const VERSION: u8 = 1;
/// Bytes before the contents: magic, version, system, step.
const HEAD: usize = 24;
/// Bytes of the sum at the end.
const SUM: usize = 8;

impl Snapshot {
    /// Steps done when it was taken.
    pub fn steps_done(&self) -> u64 {
        self.step
    }

    /// As bytes, for a file: with a version and a checksum, the same on every machine.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.bytes.len() + SUM);
        bytes.extend_from_slice(MAGIC);
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.system.to_le_bytes());
        bytes.extend_from_slice(&self.step.to_le_bytes());
        bytes.extend_from_slice(&self.bytes);
        let sum = Sum::of(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads what [`Snapshot::to_bytes`] wrote. Anything else is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        if !bytes.starts_with(MAGIC) {
            return Err(SnapshotError::NotASnapshot);
        }
        let (head, rest) = bytes.split_at_checked(HEAD).ok_or(SnapshotError::Damaged)?;
        let version = head[MAGIC.len()];
        if version != VERSION {
            return Err(SnapshotError::Version(version));
        }
        let length = rest.len().checked_sub(SUM).ok_or(SnapshotError::Damaged)?;
        let (contents, sum) = rest.split_at(length);
        if Sum::of(&bytes[..HEAD + length]).to_le_bytes() != *sum {
            return Err(SnapshotError::Damaged);
        }
        let mut reader = Reader(&head[8..]);
        let (mut system, mut step) = (0, 0);
        system.load(&mut reader)?;
        step.load(&mut reader)?;
        Ok(Snapshot {
            system,
            step,
            bytes: contents.to_vec(),
        })
    }
}

/// The sum of a text, never 0.
pub(crate) fn sum_of(text: &str) -> u64 {
    Sum::of(text.as_bytes()).max(1)
}

/// FNV-1a, 64 bits: finds damage and tells systems apart; it does not withstand an attacker.
pub(crate) struct Sum(pub(crate) u64);

impl Sum {
    pub(crate) fn new() -> Self {
        Sum(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn of(bytes: &[u8]) -> u64 {
        let mut sum = Sum::new();
        sum.add(bytes);
        sum.0
    }
}

impl fmt::Write for Sum {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

/// Bytes that are still to be read.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let (first, rest) = self.0.split_first_chunk().ok_or(SnapshotError::Damaged)?;
        self.0 = rest;
        Ok(*first)
    }
}

/// What carries from step to step.
pub(crate) trait Carried {
    fn save(&self, bytes: &mut Vec<u8>);

    /// Reads what [`Carried::save`] wrote, into the room there is.
    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError>;
}

/// Says which fields of a type carry from step to step, and which follow from them, are fixed, or are room to compute in.
macro_rules! carried {
    ($type:ty: $($field:ident),+; not $($other:ident),*) => {
        impl $crate::snapshot::Carried for $type {
            fn save(&self, bytes: &mut Vec<u8>) {
                let Self { $($field,)+ $($other: _,)* } = self;
                $($field.save(bytes);)+
            }

            fn load(&mut self, bytes: &mut $crate::snapshot::Reader<'_>) -> Result<(), $crate::snapshot::SnapshotError> {
                let Self { $($field,)+ $($other: _,)* } = self;
                $($field.load(bytes)?;)+
                Ok(())
            }
        }
    };
}
pub(crate) use carried;

macro_rules! plain {
    ($($number:ty),*) => {
        $(impl Carried for $number {
            fn save(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
                *self = <$number>::from_le_bytes(bytes.take()?);
                Ok(())
            }
        })*
    };
}
plain!(f64, u64, u32, u8);

impl Carried for usize {
    fn save(&self, bytes: &mut Vec<u8>) {
        (*self as u64).save(bytes);
    }

    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
        let mut number = 0u64;
        number.load(bytes)?;
        *self = usize::try_from(number).map_err(|_| SnapshotError::Damaged)?;
        Ok(())
    }
}

impl Carried for bool {
    fn save(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(*self));
    }

    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
        *self = match bytes.take()? {
            [0] => false,
            [1] => true,
            _ => return Err(SnapshotError::Damaged),
        };
        Ok(())
    }
}

impl<T: Carried, const N: usize> Carried for [T; N] {
    fn save(&self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|one| one.save(bytes));
    }

    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
        self.iter_mut().try_for_each(|one| one.load(bytes))
    }
}

impl Carried for nalgebra::Vector3<f64> {
    fn save(&self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|one| one.save(bytes));
    }

    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
        self.iter_mut().try_for_each(|one| one.load(bytes))
    }
}

/// The length of a list is fixed once the system is built.
impl<T: Carried> Carried for Vec<T> {
    fn save(&self, bytes: &mut Vec<u8>) {
        self.len().save(bytes);
        self.iter().for_each(|one| one.save(bytes));
    }

    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
        let mut length = 0usize;
        length.load(bytes)?;
        if length != self.len() {
            return Err(SnapshotError::Damaged);
        }
        self.iter_mut().try_for_each(|one| one.load(bytes))
    }
}

/// Whether it is there is fixed once the system is built.
impl<T: Carried> Carried for Option<T> {
    fn save(&self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|one| one.save(bytes));
    }

    fn load(&mut self, bytes: &mut Reader<'_>) -> Result<(), SnapshotError> {
        self.iter_mut().try_for_each(|one| one.load(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_snapshot_are_refused() {
        let whole = Snapshot {
            system: 7,
            step: 9,
            bytes: (0..=255).collect(),
        };
        let bytes = whole.to_bytes();
        assert_eq!(Snapshot::from_bytes(&bytes), Ok(whole));
        for length in 0..bytes.len() {
            assert!(Snapshot::from_bytes(&bytes[..length]).is_err(), "cut to {length}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let expected = match at {
                    0..7 => SnapshotError::NotASnapshot,
                    7 => SnapshotError::Version(changed[7]),
                    _ => SnapshotError::Damaged,
                };
                assert_eq!(Snapshot::from_bytes(&changed), Err(expected), "byte {at}, bit {bit}");
            }
        }
        let longer = [bytes, vec![0]].concat();
        assert_eq!(Snapshot::from_bytes(&longer), Err(SnapshotError::Damaged));
    }

    /// The published values of FNV-1a for no byte, "a" and "foobar".
    #[test]
    fn the_sum_is_that_of_its_definition() {
        let published = [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ];
        for (text, sum) in published {
            assert_eq!(Sum::of(text.as_bytes()), sum, "{text}");
        }
    }
}
