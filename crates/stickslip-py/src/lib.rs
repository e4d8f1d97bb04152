//! The part of the Python package that is written in Rust: the module `stickslip._native`.
//!
//! It is thin. What users import is in `python/stickslip/`, which turns files, dicts and texts into the text of a scenario and its changes
//! ([`source::Source`]), and numbers that come back into results. Long work goes through [`work::perform`], which gives the interpreter away,
//! looks for Ctrl-C and keeps panics here.

#![allow(unsafe_op_in_unsafe_fn)] // in what the macros of pyo3 write

mod batch;
mod error;
mod outline;
mod own;
mod rows;
mod run;
mod simulation;
mod source;
mod study;
mod work;

use pyo3::prelude::*;

#[pymodule(name = "_native")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<batch::Batch>()?;
    module.add_function(wrap_pyfunction!(source::read_text, module)?)?;
    module.add_function(wrap_pyfunction!(source::to_toml, module)?)?;
    module.add_function(wrap_pyfunction!(source::check, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(rows::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(rows::sweep_size, module)?)?;
    module.add_function(wrap_pyfunction!(rows::map, module)?)?;
    module.add_function(wrap_pyfunction!(rows::map_plan, module)?)?;
    module.add_class::<run::Expression>()?;
    module.add_function(wrap_pyfunction!(run::rewrite, module)?)?;
    module.add_function(wrap_pyfunction!(run::nearest, module)?)?;
    module.add_function(wrap_pyfunction!(study::compare, module)?)?;
    module.add_function(wrap_pyfunction!(study::experiment, module)?)?;
    module.add_function(wrap_pyfunction!(study::experiments_known, module)?)?;
    module.add_function(wrap_pyfunction!(study::laws_known, module)?)?;
    module.add_function(wrap_pyfunction!(study::analyse, module)?)?;
    Ok(())
}
