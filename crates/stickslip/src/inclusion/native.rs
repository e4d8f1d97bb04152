//! Programs as native code (feature `jit`). It goes through the same operations as [`Program::evaluate`] and calls the
//! same elementary functions, so it gives the same bits.
#![allow(unsafe_code)] // Native code is entered through a pointer; `Native::rates` says why that is sound.

use super::program::{ContactStep, FrictionStep, Program, Register, Step};
use crate::profile::parser::{Binary, Comparison, Unary};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{
    AbiParam, FuncRef, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value, types,
};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use stickslip_core::sets::gsat;

/// The right side of a rewritten inclusion as native code.
///
/// The code is never freed: it is a few kilobytes, and nothing that holds a pointer to it can outlive it.
#[derive(Clone, Copy)]
pub struct Native {
    /// States, signals, rates.
    function: extern "C" fn(*const f64, *const f64, *mut f64),
    states: usize,
    /// One more than the largest number of a signal that is read.
    signals: usize,
}

/// Functions that native code calls, by their names.
const CALLED: [(&str, Called); 12] = [
    ("sign", Called::One(sign)),
    ("exp", Called::One(exp)),
    ("ln", Called::One(ln)),
    ("sin", Called::One(sin)),
    ("cos", Called::One(cos)),
    ("tan", Called::One(tan)),
    ("tanh", Called::One(tanh)),
    ("square", Called::One(square)),
    ("pow", Called::Two(pow)),
    ("gsat2", Called::Vector(gsat_in_place::<2>)),
    ("gsat3", Called::Vector(gsat_in_place::<3>)),
    ("abs", Called::One(abs)),
];

#[derive(Clone, Copy)]
enum Called {
    One(extern "C" fn(f64) -> f64),
    Two(extern "C" fn(f64, f64) -> f64),
    Vector(extern "C" fn(f64, *mut f64)),
}

macro_rules! called {
    ($($name:ident $function:ident)*) => {$(
        extern "C" fn $name(x: f64) -> f64 {
            Unary::$function.apply(x)
        }
    )*};
}

called!(sign Sign exp Exp ln Ln sin Sin cos Cos tan Tan tanh Tanh square Square abs Abs);

extern "C" fn pow(a: f64, b: f64) -> f64 {
    Binary::Power.apply(a, b)
}

extern "C" fn gsat_in_place<const N: usize>(bound: f64, vector: *mut f64) {
    // SAFETY: the only caller is code made below, which passes a slot of N numbers on its own stack.
    let vector = unsafe { &mut *vector.cast::<[f64; N]>() };
    *vector = gsat(bound, *vector);
}

impl Native {
    /// Compiles a program whose inputs are these signals; `None` where there is no native code for this machine.
    pub fn compile(program: &Program, signals: &[usize]) -> Option<Self> {
        let mut flags = settings::builder();
        flags.set("opt_level", "speed").ok()?;
        flags.set("use_colocated_libcalls", "false").ok()?;
        flags.set("is_pic", "false").ok()?;
        let isa = cranelift_native::builder().ok()?;
        let isa = isa.finish(settings::Flags::new(flags)).ok()?;
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        for (name, called) in CALLED {
            let pointer = match called {
                Called::One(function) => function as *const u8,
                Called::Two(function) => function as *const u8,
                Called::Vector(function) => function as *const u8,
            };
            builder.symbol(format!("stickslip_{name}"), pointer);
        }
        let mut module = JITModule::new(builder);
        let pointer = module.target_config().pointer_type();
        let mut context = module.make_context();
        context.func.signature.params.extend([AbiParam::new(pointer); 3]);
        let id = module
            .declare_function("rates", Linkage::Export, &context.func.signature)
            .ok()?;
        let mut room = FunctionBuilderContext::new();
        let mut called = Vec::new();
        for (name, kind) in CALLED {
            let mut signature = module.make_signature();
            signature.params.push(AbiParam::new(types::F64));
            match kind {
                Called::One(_) => {}
                Called::Two(_) => signature.params.push(AbiParam::new(types::F64)),
                Called::Vector(_) => signature.params.push(AbiParam::new(pointer)),
            }
            if !matches!(kind, Called::Vector(_)) {
                signature.returns.push(AbiParam::new(types::F64));
            }
            let name = format!("stickslip_{name}");
            let id = module.declare_function(&name, Linkage::Import, &signature).ok()?;
            called.push(module.declare_func_in_func(id, &mut context.func));
        }
        let mut builder = FunctionBuilder::new(&mut context.func, &mut room);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        builder.seal_block(block);
        let [states, inputs, rates] = *builder.block_params(block) else {
            return None;
        };
        let mut writer = Writer {
            builder,
            registers: vec![None; program.registers],
            called,
            pointer,
            rates,
        };
        writer.load(program, states, inputs, signals)?;
        for step in &program.steps {
            writer.step(step)?;
        }
        writer.builder.ins().return_(&[]);
        writer.builder.finalize(module.target_config());
        module.define_function(id, &mut context).ok()?;
        module.finalize_definitions().ok()?;
        let code = module.get_finalized_function(id);
        Some(Native {
            // SAFETY: the code was made above with this signature, and a module that is dropped leaves its code in place.
            function: unsafe {
                std::mem::transmute::<*const u8, extern "C" fn(*const f64, *const f64, *mut f64)>(code)
            },
            states: program.states,
            signals: signals[..program.inputs].iter().max().map_or(0, |last| last + 1),
        })
    }

    /// The rates of the states, with the present values of the signals.
    #[inline]
    pub fn rates(&self, states: &[f64], signals: &[f64], rates: &mut [f64]) {
        assert!(states.len() >= self.states && signals.len() >= self.signals && rates.len() >= self.states);
        // The code reads `self.states` states and signals below `self.signals`, and writes `self.states` rates: all
        // within the slices, as was just asserted.
        (self.function)(states.as_ptr(), signals.as_ptr(), rates.as_mut_ptr());
    }
}

/// Writes the code of a program.
struct Writer<'a> {
    builder: FunctionBuilder<'a>,
    registers: Vec<Option<Value>>,
    called: Vec<FuncRef>,
    pointer: Type,
    rates: Value,
}

impl Writer<'_> {
    /// Constants, states and inputs. What is not used costs nothing: the compiler leaves it out.
    fn load(&mut self, program: &Program, states: Value, inputs: Value, signals: &[usize]) -> Option<()> {
        let first_state = program.constants.len();
        let first_input = first_state + program.states;
        for (i, &value) in program.constants.iter().enumerate() {
            self.registers[i] = Some(self.number(value));
        }
        for i in 0..program.states {
            self.registers[first_state + i] = Some(self.read(states, i)?);
        }
        for i in 0..program.inputs {
            self.registers[first_input + i] = Some(self.read(inputs, *signals.get(i)?)?);
        }
        Some(())
    }

    fn read(&mut self, base: Value, index: usize) -> Option<Value> {
        let offset = i32::try_from(8 * index).ok()?;
        Some(
            self.builder
                .ins()
                .load(types::F64, MemFlagsData::trusted(), base, offset),
        )
    }

    fn number(&mut self, value: f64) -> Value {
        self.builder.ins().f64const(value)
    }

    fn at(&self, register: Register) -> Option<Value> {
        self.registers.get(usize::from(register)).copied().flatten()
    }

    fn put(&mut self, register: Register, value: Value) -> Option<()> {
        *self.registers.get_mut(usize::from(register))? = Some(value);
        Some(())
    }

    fn rate(&mut self, number: usize, value: Value) -> Option<()> {
        let offset = i32::try_from(8 * number).ok()?;
        self.builder
            .ins()
            .store(MemFlagsData::trusted(), value, self.rates, offset);
        Some(())
    }

    fn call(&mut self, name: &str, arguments: &[Value]) -> Option<Value> {
        let index = CALLED.iter().position(|(known, _)| *known == name)?;
        let call = self.builder.ins().call(self.called[index], arguments);
        self.builder.inst_results(call).first().copied()
    }

    /// `if holds(a, b) { yes } else { no }`.
    fn choose(&mut self, holds: FloatCC, a: Value, b: Value, yes: Value, no: Value) -> Value {
        let condition = self.builder.ins().fcmp(holds, a, b);
        self.builder.ins().select(condition, yes, no)
    }

    /// The first where it wins or is NaN, else the second; as in the program.
    fn extremum(&mut self, wins: FloatCC, a: Value, b: Value) -> Value {
        let inner = self.choose(wins, a, b, a, b);
        self.choose(FloatCC::Unordered, a, a, a, inner)
    }

    fn step(&mut self, step: &Step) -> Option<()> {
        let two = |writer: &Self, a: Register, b: Register| Some((writer.at(a)?, writer.at(b)?));
        match *step {
            Step::Add(to, a, b) => {
                let (a, b) = two(self, a, b)?;
                let value = self.builder.ins().fadd(a, b);
                self.put(to, value)
            }
            Step::Subtract(to, a, b) => {
                let (a, b) = two(self, a, b)?;
                let value = self.builder.ins().fsub(a, b);
                self.put(to, value)
            }
            Step::Multiply(to, a, b) => {
                let (a, b) = two(self, a, b)?;
                let value = self.builder.ins().fmul(a, b);
                self.put(to, value)
            }
            Step::Divide(to, a, b) => {
                let (a, b) = two(self, a, b)?;
                let value = self.builder.ins().fdiv(a, b);
                self.put(to, value)
            }
            Step::Min(to, a, b) => {
                let (a, b) = two(self, a, b)?;
                let value = self.extremum(FloatCC::LessThan, a, b);
                self.put(to, value)
            }
            Step::Max(to, a, b) => {
                let (a, b) = two(self, a, b)?;
                let value = self.extremum(FloatCC::GreaterThan, a, b);
                self.put(to, value)
            }
            Step::Power(to, a, b) => {
                let (a, b) = two(self, a, b)?;
                let value = self.call("pow", &[a, b])?;
                self.put(to, value)
            }
            Step::Compare(comparison, to, a, b) => {
                let (a, b) = two(self, a, b)?;
                let holds = match comparison {
                    Comparison::Less => FloatCC::LessThan,
                    Comparison::LessOrEqual => FloatCC::LessThanOrEqual,
                    Comparison::Greater => FloatCC::GreaterThan,
                    Comparison::GreaterOrEqual => FloatCC::GreaterThanOrEqual,
                    Comparison::Equal => FloatCC::Equal,
                    Comparison::NotEqual => FloatCC::NotEqual,
                };
                let (one, zero) = (self.number(1.0), self.number(0.0));
                let value = self.choose(holds, a, b, one, zero);
                self.put(to, value)
            }
            Step::Unary(function, to, a) => {
                let a = self.at(a)?;
                let value = self.unary(function, a)?;
                self.put(to, value)
            }
            Step::Choose(to, condition, a, b) => {
                let (a, b) = two(self, a, b)?;
                let (condition, zero) = (self.at(condition)?, self.number(0.0));
                let value = self.choose(FloatCC::Equal, condition, zero, b, a);
                self.put(to, value)
            }
            Step::Contact(contact) => self.contact(&contact),
            Step::Friction(friction) => self.friction(&friction),
            Step::Rate(number, from) => {
                let value = self.at(from)?;
                self.rate(usize::from(number), value)
            }
        }
    }

    fn unary(&mut self, function: Unary, a: Value) -> Option<Value> {
        let name = match function {
            Unary::Negate => return Some(self.builder.ins().fneg(a)),
            Unary::Sqrt => return Some(self.builder.ins().sqrt(a)),
            Unary::Abs => "abs",
            Unary::Square => "square",
            Unary::Sign => "sign",
            Unary::Exp => "exp",
            Unary::Ln => "ln",
            Unary::Sin => "sin",
            Unary::Cos => "cos",
            Unary::Tan => "tan",
            Unary::Tanh => "tanh",
        };
        self.call(name, &[a])
    }

    /// As `relax_dio` of the program.
    fn contact(&mut self, contact: &ContactStep) -> Option<()> {
        let (argument, e) = (self.at(contact.argument)?, self.at(contact.state)?);
        let [k, beta, alpha] = [contact.stiffness, contact.beta, contact.alpha].map(|value| self.number(value));
        let zero = self.number(0.0);
        let sum = self.builder.ins().fadd(argument, e);
        let product = self.builder.ins().fmul(beta, sum);
        let quotient = self.builder.ins().fdiv(product, alpha);
        let stretch = self.builder.ins().fsub(e, quotient);
        let push = self.choose(FloatCC::GreaterThan, zero, stretch, zero, stretch);
        let force = self.builder.ins().fmul(k, push);
        let minus_e = self.builder.ins().fneg(e);
        let relaxing = self.builder.ins().fdiv(minus_e, beta);
        let minus_sum = self.builder.ins().fneg(sum);
        let pressed = self.builder.ins().fdiv(minus_sum, alpha);
        let rate = self.extremum(FloatCC::GreaterThan, relaxing, pressed);
        self.put(contact.force, force)?;
        self.rate(usize::from(contact.rate), rate)
    }

    /// As `relax_sgn` of the program.
    fn friction(&mut self, friction: &FrictionStep) -> Option<()> {
        let axes = usize::from(friction.axes);
        let [k, beta] = [friction.stiffness, friction.beta].map(|value| self.number(value));
        let bound = self.at(friction.bound)?;
        let mut forces = Vec::new();
        for (argument, axis) in friction.arguments[..axes].iter().zip(0u16..) {
            let (theta, a) = (self.at(*argument)?, self.at(friction.state + axis)?);
            let ahead = self.builder.ins().fmul(beta, theta);
            let sum = self.builder.ins().fadd(a, ahead);
            forces.push(self.builder.ins().fmul(k, sum));
        }
        if let [trial] = forces[..] {
            let zero = self.number(0.0);
            let bound = self.choose(FloatCC::GreaterThan, zero, bound, zero, bound);
            let low = self.builder.ins().fneg(bound);
            let raised = self.choose(FloatCC::LessThan, trial, low, low, trial);
            forces[0] = self.choose(FloatCC::LessThan, bound, raised, bound, raised);
        } else {
            let size = 8 * u32::from(friction.axes);
            let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
            let slot = self.builder.create_sized_stack_slot(slot);
            let address = self.builder.ins().stack_addr(self.pointer, slot, 0);
            for (&trial, offset) in forces.iter().zip((0..).step_by(8)) {
                self.builder
                    .ins()
                    .store(MemFlagsData::trusted(), trial, address, offset);
            }
            let name = if axes == 2 { "gsat2" } else { "gsat3" };
            self.call_in_place(name, bound, address)?;
            for (force, axis) in forces.iter_mut().zip(0..) {
                *force = self.read(address, axis)?;
            }
        }
        for (force, axis) in forces.into_iter().zip(0u16..) {
            let a = self.at(friction.state + axis)?;
            let stretch = self.builder.ins().fdiv(force, k);
            let difference = self.builder.ins().fsub(stretch, a);
            let rate = self.builder.ins().fdiv(difference, beta);
            self.put(friction.force + axis, force)?;
            self.rate(usize::from(friction.rate + axis), rate)?;
        }
        Some(())
    }

    fn call_in_place(&mut self, name: &str, bound: Value, address: Value) -> Option<()> {
        let index = CALLED.iter().position(|(known, _)| *known == name)?;
        self.builder.ins().call(self.called[index], &[bound, address]);
        Some(())
    }
}
