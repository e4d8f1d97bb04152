//! What every figure and page must satisfy, whatever the data.

use proptest::prelude::*;
use stickslip_plot::page::{Claim, Page, Section, Value, Verdict, document};
use stickslip_plot::{Figure, Legend, Panel, PlotError, Reference, Scale, Series, Style};

/// Parses an SVG document or fails.
fn parsed(svg: &str) -> roxmltree::Document<'_> {
    roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"))
}

fn texts(svg: &str) -> Vec<String> {
    let document = parsed(svg);
    let texts = document.descendants().filter(|n| n.has_tag_name("text"));
    texts
        .map(|n| {
            n.descendants()
                .filter_map(|d| d.is_text().then(|| d.text()).flatten())
                .collect()
        })
        .collect()
}

fn ramp(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64).collect()
}

fn styles() -> impl Strategy<Value = Style> {
    prop_oneof![
        Just(Style::Line),
        Just(Style::Dashed),
        Just(Style::Steps),
        Just(Style::Points),
        Just(Style::Marked)
    ]
}

fn scales() -> impl Strategy<Value = Scale> {
    prop_oneof![Just(Scale::Linear), Just(Scale::Log)]
}

/// Any number at all, often an awkward one.
fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -10.0..10.0,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
        Just(0.0),
        Just(1.0)
    ]
}

proptest! {
    #[test]
    fn any_data_give_a_well_formed_figure(
        data in prop::collection::vec((numbers(), numbers()), 0..40),
        style in styles(),
        (x_scale, y_scale) in (scales(), scales()),
        x_range in prop::option::of((numbers(), numbers())),
        y_range in prop::option::of((numbers(), numbers())),
        value in numbers(),
        (title, label) in ("\\PC{0,12}", any::<String>()),
        size in numbers(),
    ) {
        let (x, y) = data.into_iter().unzip();
        let panel = Panel {
            title,
            x_scale,
            y_scale,
            x_range,
            y_range,
            references: vec![Reference::horizontal(value, label.clone()), Reference::vertical(value, "v")],
            ..Panel::new(label.clone(), "y").with(Series::line(label, x, y).style(style))
        };
        let figure = Figure { height: size, columns: 2, panels: vec![panel.clone(), panel], ..Figure::default() };
        let svg = figure.to_svg();
        parsed(&svg);
        prop_assert_eq!(&svg, &figure.to_svg());
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}

#[test]
fn no_id_can_clash() {
    let svg = Figure::from(Panel::new("x", "y").with(Series::line("a", ramp(9), ramp(9)))).to_svg();
    let document = parsed(&svg);
    assert!(document.descendants().all(|n| n.attribute("id").is_none()));
}

#[test]
fn long_series_give_small_files() {
    let n = 40_000;
    // A noise without any structure, from the multiplier of Lehmer's generator.
    let mut state = 1_u64;
    let noise: Vec<f64> = (0..n)
        .map(|_| {
            state = state * 48_271 % 2_147_483_647;
            state as f64
        })
        .collect();
    for style in [Style::Line, Style::Steps, Style::Points] {
        let size = Figure::from(Panel::new("t", "y").with(Series::line("", ramp(n), noise.clone()).style(style)))
            .to_svg()
            .len();
        assert!(size < 150_000, "{style:?}: {size} bytes");
    }
}

#[test]
fn missing_values_interrupt_the_line() {
    let y = vec![1.0, 2.0, f64::NAN, 1.0, 3.0, f64::INFINITY, 2.0];
    let svg = Figure::from(Panel::new("", "").with(Series::line("", ramp(7), y))).to_svg();
    let document = parsed(&svg);
    let blue = |n: &roxmltree::Node| n.attribute("stroke") == Some("#0072b2");
    let paths: Vec<_> = document
        .descendants()
        .filter(blue)
        .filter_map(|n| n.attribute("d"))
        .collect();
    // Two pieces of line, and the last sample as a dot.
    assert_eq!(paths.iter().map(|d| d.matches('M').count()).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn constant_and_empty_series_get_axes_with_numbers() {
    for y in [vec![], vec![0.0; 5], vec![3e-18; 5], vec![1e7; 5], vec![f64::NAN; 5]] {
        let svg = Figure::from(Panel::new("x", "y").with(Series::line("", ramp(y.len()), y))).to_svg();
        assert!(texts(&svg).len() >= 2 + 3 + 3, "{svg}");
    }
}

#[test]
fn tiny_numbers_share_a_power_of_ten() {
    let y = ramp(5).iter().map(|y| y * 1e-18).collect();
    let texts = texts(&Figure::from(Panel::new("x", "y").with(Series::line("", ramp(5), y))).to_svg());
    assert!(texts.contains(&"×10−18".to_string()), "{texts:?}");
    assert!(texts.contains(&"4.0".to_string()));
}

#[test]
fn columns_share_the_x_axis() {
    let panel = |n| Panel::new("t (s)", "y").with(Series::line("", ramp(n), ramp(n)));
    let mut figure = Figure {
        panels: vec![panel(3), panel(101)],
        ..Figure::default()
    };
    let count = |figure: &Figure, text: &str| texts(&figure.to_svg()).iter().filter(|t| *t == text).count();
    assert_eq!(count(&figure, "t (s)"), 1);
    figure.share_x = false;
    assert_eq!(count(&figure, "t (s)"), 2);
}

#[test]
fn a_legend_that_all_panels_repeat_is_drawn_once() {
    let panel = || Panel::new("t", "y").with(Series::line("law", ramp(3), ramp(3)));
    let mut figure = Figure {
        panels: vec![panel(), panel()],
        ..Figure::default()
    };
    let count = |figure: &Figure| texts(&figure.to_svg()).iter().filter(|t| *t == "law").count();
    assert_eq!(count(&figure), 1);
    figure.panels[0].series[0].style = Style::Dashed;
    assert_eq!(count(&figure), 2);
    figure.panels[0].legend = Legend::Hidden;
    assert_eq!(count(&figure), 1);
}

#[test]
fn threads_that_save_the_same_file_leave_a_whole_one() {
    let directory = std::env::temp_dir().join(format!("stickslip-plot-threads-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("a.svg");
    // What a process of this number has left behind is in nobody's way.
    std::fs::write(directory.join(format!(".a.svg.{}-0.part", std::process::id())), "old").unwrap();
    let figures = [1, 20_000].map(|count| {
        let numbers: Vec<f64> = (0..count).map(|i| f64::from(i % 7)).collect();
        Figure::from(Panel::new("x", "y").with(Series::line("", numbers.clone(), numbers)))
    });
    std::thread::scope(|scope| {
        for figure in &figures {
            for _ in 0..2 {
                scope.spawn(|| (0..20).for_each(|_| figure.save(&path).unwrap()));
            }
        }
    });
    let saved = std::fs::read_to_string(&path).unwrap();
    assert!(figures.iter().any(|figure| figure.to_svg() == saved));
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 2);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn saving_follows_the_extension() {
    let directory = std::env::temp_dir().join(format!("stickslip-plot-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let figure = Figure::from(Panel::new("x", "y"));
    figure.save(directory.join("a.svg")).unwrap();
    assert!(
        std::fs::read_to_string(directory.join("a.svg"))
            .unwrap()
            .starts_with("<svg")
    );
    #[cfg(feature = "png")]
    {
        figure.save(directory.join("a.PNG")).unwrap();
        assert!(std::fs::read(directory.join("a.PNG")).unwrap().starts_with(b"\x89PNG"));
        assert!(matches!(figure.to_png(0.0), Err(PlotError::Size(..))));
        assert!(matches!(figure.to_png(f64::NAN), Err(PlotError::Size(..))));
        assert!(matches!(figure.to_png(1e9), Err(PlotError::Size(..))));
    }
    assert!(matches!(
        figure.save(directory.join("a.pdf")),
        Err(PlotError::Extension(_))
    ));
    assert!(matches!(
        figure.save(directory.join("no/such/a.svg")),
        Err(PlotError::Write(..))
    ));
    let left: Vec<_> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert!(
        left.iter().all(|name| !name.to_string_lossy().ends_with(".part")),
        "{left:?}"
    );
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn pages_escape_count_and_link() {
    let claim = |verdict| Claim {
        claim: "a < b & \"c\"".into(),
        source: "<script> in the [study](study.html)".into(),
        values: vec![Value {
            expected: "$x_0$".into(),
            ..Value::default()
        }],
        remark: String::new(),
        verdict,
        scenario: "a&b.toml".into(),
    };
    let page = Page {
        title: "T <1>".into(),
        intro: vec!["<b>".into()],
        sections: vec![Section {
            heading: "H".into(),
            figures: vec![
                (Figure::from(Panel::new("x", "y")).into(), "c".into()),
                (Figure::default().into(), "d".into()),
            ],
            claims: vec![
                claim(Verdict::Holds),
                claim(Verdict::Holds),
                claim(Verdict::Fails),
                claim(Verdict::Contradicted),
                claim(Verdict::NotTestable("<why>".into())),
            ],
            ..Section::default()
        }],
        footer: String::new(),
    };
    let html = page.to_html();
    assert_eq!(html, page.to_html());
    for absent in ["<script", "<b>T", "<why>", "a < b", "a&b"] {
        assert!(!html.contains(absent), "{absent}");
    }
    for present in [
        "<title>T &lt;1&gt;</title>",
        "a &lt; b &amp; &quot;c&quot;",
        "<i>x</i><sub>0</sub>",
        "5 claims:",
        "2 hold<",
        "1 fails<",
        "1 contradicted<",
        "1 not testable<",
        "href=\"#claim-5\"",
        "id=\"claim-5\"",
        "<a href=\"study.html\">study</a>",
        "Figure 2.",
        "&lt;why&gt;",
    ] {
        assert!(html.contains(present), "{present}");
    }
    let mut ids: Vec<_> = html
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn numbers_of_a_claim_stand_in_rows_and_open_where_they_disagree() {
    let value = |name: &str, agrees| Value {
        what: format!("w{name}"),
        expected: format!("e{name}"),
        measured: format!("m{name}"),
        agrees,
        source: format!("s{name}"),
    };
    let page = |verdict, agrees| Page {
        sections: vec![Section {
            claims: vec![Claim {
                claim: "c".into(),
                source: String::new(),
                values: vec![value("1", true), value("2", agrees)],
                remark: "r".into(),
                verdict,
                scenario: String::new(),
            }],
            ..Section::default()
        }],
        ..Page::default()
    };
    let folded = page(Verdict::Holds, true).to_html();
    let open = page(Verdict::Contradicted, false).to_html();
    for i in 1..=2 {
        let row = format!("<div>w{i}</div></td><td data-label=\"Expected\"><div>e{i}</div></td>");
        assert!(folded.contains(&row) && open.contains(&row));
    }
    assert!(!folded.contains("id=\"claim-1\" open") && open.contains("id=\"claim-1\" open"));
    assert_eq!(open.matches("class=\"apart\"").count(), 1);
}

#[test]
fn a_narrow_figure_keeps_columns_together_only_where_they_have_a_title() {
    let titles = |figure: &Figure| {
        figure
            .narrow(200.0)
            .panels
            .iter()
            .map(|p| p.y_label.clone())
            .collect::<Vec<_>>()
    };
    let panel = |title: &str, name: &str| Panel {
        title: title.into(),
        ..Panel::new("x", name)
    };
    let grid = |below: &str| Figure {
        columns: 2,
        panels: vec![
            panel("force", "a"),
            panel("speed", "b"),
            panel(below, "c"),
            panel(below, "d"),
        ],
        ..Figure::default()
    };
    assert_eq!(titles(&grid("")), ["a", "c", "b", "d"]);
    assert_eq!(titles(&grid("own")), ["a", "b", "c", "d"]);
    let narrow = grid("").narrow(200.0);
    assert_eq!((narrow.columns, narrow.width, narrow.share_x), (1, 200.0, false));
}

#[test]
fn labels_of_a_short_log_axis_do_not_touch() {
    // 2e-5, 5e-5, 1e-4 and so on would be written over each other.
    let x = vec![1.3e-5, 9e-4];
    let panel = Panel {
        x_scale: Scale::Log,
        ..Panel::new("x", "y").with(Series::line("", x.clone(), x))
    };
    let svg = Figure {
        width: 120.0,
        ..Figure::from(panel)
    }
    .to_svg();
    let shown = texts(&svg);
    assert!(shown.iter().any(|text| text == "0.0001"), "{shown:?}");
    assert!(!shown.iter().any(|text| text == "0.00005"), "{shown:?}");
}

#[test]
fn documents_have_headings_lists_tables_and_links() {
    let html = document(
        "T",
        "# One\n\nA *b* `c<d` and **e**\ngoes on, see [f](f.html), [g](g.md).\n\n- first\n- second\n  line\n\n| a | b |\n|---|---|\n| 1 | < |\n",
    );
    for present in [
        "<h1>One</h1>",
        "<code>c&lt;d</code> and <b>e</b> goes on, see <a href=\"f.html\">f</a>, g.",
        "• first</p>",
        "• second line</p>",
        "<tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td>&lt;</td></tr>",
    ] {
        assert!(html.contains(present), "{present}\n{html}");
    }
}
