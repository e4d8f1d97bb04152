//! Scenarios to start from (`stickslip new`).

/// A commented scenario for a newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// What `stickslip new` calls it.
    pub name: &'static str,
    /// What it shows, in one line.
    pub description: &'static str,
    /// The scenario file.
    pub text: &'static str,
}

/// Every template.
pub const TEMPLATES: &[Template] = &[
    Template {
        name: "block",
        description: "a block dragged by a spring over a floor",
        text: include_str!("../../templates/block.toml"),
    },
    Template {
        name: "incline",
        description: "a block on a slope that must not creep",
        text: include_str!("../../templates/incline.toml"),
    },
    Template {
        name: "stick-slip",
        description: "a mass pulled slowly by a spring jerks along",
        text: include_str!("../../templates/stick-slip.toml"),
    },
    Template {
        name: "sphere",
        description: "a thrown ball that slides, then rolls",
        text: include_str!("../../templates/sphere.toml"),
    },
    Template {
        name: "arm",
        description: "a robot arm with friction in its joints",
        text: include_str!("../../templates/arm.toml"),
    },
    Template {
        name: "drive",
        description: "a motor moves a table by a screw, between end stops",
        text: include_str!("../../templates/drive.toml"),
    },
    Template {
        name: "inclusion",
        description: "equations of your own with friction and contact",
        text: include_str!("../../templates/inclusion.toml"),
    },
    Template {
        name: "own",
        description: "a body and an element of your own, as equations",
        text: include_str!("../../templates/own.toml"),
    },
];

impl Template {
    /// The template of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        TEMPLATES.iter().find(|template| template.name == name)
    }
}
