//! `stickslip rewrite`: every form, and what it refuses.

mod common;

use common::Folder;

#[test]
fn every_form_holds_the_terms_of_the_equation() {
    let folder = Folder::new("rewrite");
    folder.run(&["new", "inclusion", "block.toml"]).ok();
    for (form, words) in [
        (
            "text",
            [
                "f_dio1 = K_dio1·max(0, dio1 - beta_dio1·(z + dio1)/alpha_dio1)",
                "f_sgn1 = K_sgn1·sat(mu·f_dio1/K_sgn1, sgn1 + beta_sgn1·vx)",
                "= (push - f_sgn1)/m",
            ],
        ),
        ("latex", ["\\documentclass", "\\operatorname{sgn}", "\\end{document}"]),
        (
            "python",
            ["def rhs(t, y):", "STATES = [\"x\", \"z\"", "def sat(bound, x):"],
        ),
        (
            "c",
            ["void rhs(double t", "const char *const STATES[N]", "#include <math.h>"],
        ),
        ("rust", ["pub fn rhs(t: f64", "pub const STATES", "pub fn sat("]),
    ] {
        let out = folder.run(&["rewrite", "block.toml", "--emit", form]).ok().out;
        for word in words {
            assert!(out.contains(word), "{form}: no {word:?} in:\n{out}");
        }
    }
    let text = folder.run(&["rewrite", "block.toml"]).ok().out;
    assert_eq!(text, folder.run(&["rewrite", "block.toml", "--emit", "text"]).ok().out);
    let set = ["rewrite", "block.toml", "--set", "inclusion.parameters.mu=0.125"];
    assert!(folder.run(&set).ok().out.contains("mu = 0.125"));
}

/// Lines as one would write them by hand: no sign after a sign, no power of the last factor alone, axes upright.
#[test]
fn latex_reads_as_the_equation_was_written() {
    let folder = Folder::new("rewrite-latex");
    folder.write(
        "signs.toml",
        r#"[simulation]
duration = 1
step = 1e-4
integrator = "rk4"
[inclusion]
states = { p = 0.1, v = 0, w = 0, ux = 0, uy = 0 }
parameters = { M = 2, a = 3 }
relax = { sgn = { stiffness = 1e5, beta = 5e-3 } }
[inclusion.equations]
p = "(-p)*v"
v = "a - (-p)*v"
w = "(-M*p)^2"
ux = "-a*sgn([ux, uy]).x"
uy = "-a*sgn([ux, uy]).y"
"#,
    );
    let out = folder.run(&["rewrite", "signs.toml", "--emit", "latex"]).ok().out;
    let lines: Vec<&str> = out.lines().map(str::trim).collect();
    for line in [
        r"\frac{\mathrm{d}}{\mathrm{d}t} p &= -p \, v \\",
        r"\frac{\mathrm{d}}{\mathrm{d}t} v &= a - \left(-p \, v\right) \\",
        r"\frac{\mathrm{d}}{\mathrm{d}t} w &= {\left(-M \, p\right)}^{2} \\",
        r"\frac{\mathrm{d}}{\mathrm{d}t} u_x &\in -a \, \operatorname{sgn}\left(u_x, u_y\right)_{\mathrm{x}} \\",
        r"\frac{\mathrm{d}}{\mathrm{d}t} u_y &\in -a \, \operatorname{sgn}\left(u_x, u_y\right)_{\mathrm{y}}",
        r"\frac{\mathrm{d}}{\mathrm{d}t} u_x &= -f_{s1\mathrm{x}} \\",
        r"\frac{\mathrm{d}}{\mathrm{d}t} a_{1\mathrm{y}} &= \frac{f_{s1\mathrm{y}}/K_{s1} - a_{1\mathrm{y}}}{\beta_{s1}}",
    ] {
        assert!(lines.contains(&line), "no {line} in:\n{out}");
    }
}

#[test]
fn bad_files_and_forms_are_refused() {
    let folder = Folder::with_block("rewrite-refused");
    folder
        .run(&["rewrite", "block.toml"])
        .fails(2, &["has no `[inclusion]`"]);
    folder.run(&["new", "inclusion", "equations.toml"]).ok();
    folder
        .run(&["rewrite", "equations.toml", "--emit", "fortran"])
        .fails(2, &["fortran", "python"]);
    let spoilt = folder.read("equations.toml").replace("sgn(vx)", "sgn(wx)");
    folder.write("spoilt.toml", &spoilt);
    folder
        .run(&["rewrite", "spoilt.toml"])
        .fails(2, &["unknown name \"wx\"", "^"]);
}
