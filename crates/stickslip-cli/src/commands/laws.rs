//! `stickslip laws [NAME]`.

use crate::failure::{Failure, print, print_json};
use crate::text::list;
use clap::Args;
use stickslip::core::registry::{Family, LAWS, Law};
use stickslip_study::laws::{family, promises, value};

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  stickslip laws
  stickslip laws implicit";

/// List the friction and contact laws, or explain one
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Laws {
    /// The law to explain: equation, source, parameters, integrators, promises
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Laws {
    /// Prints the list or the explanation.
    pub fn execute(self) -> Result<(), Failure> {
        let Some(name) = self.name else {
            if self.json {
                return print_json(&LAWS.iter().map(value).collect::<Vec<_>>());
            }
            return print(&overview());
        };
        // A name may be that of a friction law and of a contact law.
        let found: Vec<&Law> = LAWS.iter().filter(|law| law.name == name).collect();
        if found.is_empty() {
            return Err(Failure::unknown("law", &name, LAWS.iter().map(|law| law.name)));
        }
        match found.as_slice() {
            [law] if self.json => print_json(&value(law)),
            several if self.json => print_json(&several.iter().map(|law| value(law)).collect::<Vec<_>>()),
            laws => print(&laws.iter().map(|law| explained(law)).collect::<Vec<_>>().join("\n")),
        }
    }
}

fn overview() -> String {
    let rows = |family: Family| -> Vec<Vec<String>> {
        let laws = LAWS.iter().filter(|law| law.family == family);
        laws.map(|law| vec![law.name.to_string(), law.summary.to_string()])
            .collect()
    };
    format!(
        "Friction\n{}\nContact (normal force)\n{}\n`stickslip laws NAME` explains one.\n",
        list(&rows(Family::Friction), "  "),
        list(&rows(Family::Contact), "  "),
    )
}

fn explained(law: &Law) -> String {
    let mut out = format!("{} ({} law)\n  {}\n\n", law.name, family(law), law.summary);
    out += &format!("equation     {}\nsource       {}\n", law.equation, law.source);
    let integrators: Vec<String> = (law.integrators.iter().enumerate())
        .map(|(i, name)| {
            if i == 0 {
                format!("{name} (default)")
            } else {
                (*name).to_string()
            }
        })
        .collect();
    out += &format!("integrators  {}\n\n", integrators.join(", "));
    if law.parameters.is_empty() {
        out += "It has no parameters of its own.\n";
    } else {
        let rows: Vec<Vec<String>> = law
            .parameters
            .iter()
            .map(|parameter| {
                let unit = if parameter.unit.is_empty() { "-" } else { parameter.unit };
                let default = parameter
                    .default
                    .map_or("must be given".to_string(), |text| format!("default {text}"));
                vec![
                    parameter.name.to_string(),
                    unit.to_string(),
                    parameter.meaning.to_string(),
                    default,
                ]
            })
            .collect();
        out += &format!("Parameters\n{}", list(&rows, "  "));
    }
    if law.family == Family::Friction && !law.steady_curve {
        out += "\nOf the keys of other friction laws it takes mu_static, mu_kinetic and viscous, with a normal force; how friction\n\
                falls with slip and rises with time is its own, so it takes no stribeck_velocity and no table.\n";
    } else if law.family == Family::Friction {
        out += "\nLike every friction law it takes the steady curve: kinetic, static, viscous, stribeck_velocity,\n\
                stribeck_exponent, or mu and mu_static with a normal force.\n";
    }
    out += "\nPromises\n";
    for (_, meaning, kept) in promises(&law.properties) {
        out += &format!("  {}  {meaning}\n", if kept { "yes" } else { "no " });
    }
    out
}
