//! Figures of the stickslip tools: line plots in a grid of panels, written as SVG or PNG, and
//! self-contained HTML pages that show them.
//!
//! The same figure always gives the same bytes. Texts may carry a little mathematics between dollar
//! signs: `"$F_t$ (N)"` sets an italic F with the subscript t; `^` raises, `{...}` groups.
//!
//! ```
//! use stickslip_plot::{Figure, Panel, Series};
//!
//! let time: Vec<f64> = (0..100).map(|i| f64::from(i) * 0.01).collect();
//! let speed = time.iter().map(|t| t * t).collect();
//! let panel = Panel::new("$t$ (s)", "$v$ (m/s)").with(Series::line("block", time, speed));
//! let svg = Figure::from(panel).to_svg();
//! assert!(svg.starts_with("<svg"));
//! ```

mod decimate;
mod draw;
pub mod page;
#[cfg(feature = "png")]
mod raster;
mod scene;
mod schematic;
mod svg;
mod text;
mod ticks;

pub use schematic::{Schematic, Symbol};
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A grid of panels, filled row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Heading of the whole figure; empty for none.
    pub title: String,
    /// Panels per row.
    pub columns: usize,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Width of the axes of one panel, in pixels; labels and margins come on top.
    pub width: f64,
    /// Height of the axes of one panel, in pixels; labels and margins come on top.
    pub height: f64,
    /// Panels of a column whose x axes have the same label and scale get one common range, and only the lowest
    /// of them shows the numbers.
    pub share_x: bool,
}

/// One pair of axes and what is drawn in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Heading of the panel; empty for none.
    pub title: String,
    /// Quantity and unit on the x axis.
    pub x_label: String,
    /// Quantity and unit on the y axis.
    pub y_label: String,
    /// Scale of the x axis.
    pub x_scale: Scale,
    /// Scale of the y axis.
    pub y_scale: Scale,
    /// Fixed range of the x axis; `None` fits the data.
    pub x_range: Option<(f64, f64)>,
    /// Fixed range of the y axis; `None` fits the data.
    pub y_range: Option<(f64, f64)>,
    /// The data.
    pub series: Vec<Series>,
    /// Lines at given values, such as a bound or an instant.
    pub references: Vec<Reference>,
    /// Words at a place of the data: x, y of their middle, and the words.
    pub labels: Vec<(f64, f64, String)>,
    /// Where the names of the series stand.
    pub legend: Legend,
    /// Coloured rectangles behind the data; with them the axes begin and end at their edges.
    pub cells: Option<Cells>,
    /// What their colours mean, to the right of the axes.
    pub bar: Option<ColorBar>,
}

/// Coloured rectangles side by side, such as the cells of a map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// Edges along x, in order: one more than there are columns.
    pub x: Vec<f64>,
    /// Edges along y, in order: one more than there are rows.
    pub y: Vec<f64>,
    /// Colours, column by column; `None` is left white.
    pub colors: Vec<Option<Color>>,
    /// Which of them are hatched, in the same order; those that are left out are not.
    pub hatched: Vec<bool>,
}

/// What colours mean: a scale of numbers, and colours with names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColorBar {
    /// Quantity and unit of the numbers.
    pub label: String,
    /// Numbers at the lower and the upper end.
    pub range: (f64, f64),
    /// Scales of colours side by side, each from the lower to the upper end.
    pub scales: Vec<Vec<Color>>,
    /// Colours with a name.
    pub classes: Vec<Class>,
}

/// A colour with a name, such as a class of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The colour.
    pub color: Color,
    /// Whether it is hatched.
    pub hatched: bool,
    /// What it means.
    pub name: String,
}

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences have equal lengths.
    #[default]
    Linear,
    /// Equal ratios have equal lengths; values that are not positive are left out.
    Log,
}

/// Where the legend of a panel stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Legend {
    /// Inside the axes where no data are; if there is no such place, above the axes, or beside them if it is long.
    /// Above all panels, once, when every panel would repeat it.
    #[default]
    Auto,
    /// To the right of the axes.
    Beside,
    /// Nowhere.
    Hidden,
}

/// Named data: the points (x, y) in order. A value that is not finite interrupts the line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Name in the legend; empty for none.
    pub label: String,
    /// Abscissae; what exceeds the shorter of `x` and `y` is ignored.
    pub x: Vec<f64>,
    /// Ordinates.
    pub y: Vec<f64>,
    /// How the points are drawn.
    pub style: Style,
    /// Colour; `None` takes the next one of [`Color::PALETTE`].
    pub color: Option<Color>,
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A line whose dash pattern follows from its place in the panel (the first is solid), so that series are told
    /// apart without colour too.
    #[default]
    Line,
    /// A solid line.
    Solid,
    /// A dashed line.
    Dashed,
    /// A dotted line.
    Dotted,
    /// A line that keeps each value until the next point, dashed as [`Style::Line`].
    Steps,
    /// Markers only, whose shape follows from the place in the panel.
    Points,
    /// Markers joined by a thin solid line.
    Marked,
}

/// A line across the axes at one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Which axis the value belongs to.
    pub direction: Direction,
    /// Where the line stands.
    pub value: f64,
    /// Text beside the line; empty for none.
    pub label: String,
}

/// The direction of a [`Reference`] line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// At a value of y.
    Horizontal,
    /// At a value of x.
    Vertical,
}

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color(pub u8, pub u8, pub u8);

impl Color {
    /// The colours of Okabe and Ito, which readers with any colour vision can tell apart, in the order in which series
    /// take them (their yellow is too faint on white for a line and is replaced by grey).
    pub const PALETTE: [Self; 8] = [
        Self(0, 114, 178),
        Self(213, 94, 0),
        Self(0, 158, 115),
        Self(204, 121, 167),
        Self(86, 180, 233),
        Self(230, 159, 0),
        Self(0, 0, 0),
        Self(128, 128, 128),
    ];
    /// Black.
    pub const BLACK: Self = Self(0, 0, 0);
    /// A grey for what only accompanies the data.
    pub const GREY: Self = Self(128, 128, 128);
    const WHITE: Self = Self(255, 255, 255);

    /// A colour between two: 0 is the first, 1 the second.
    #[must_use]
    pub fn mix(first: Self, second: Self, part: f64) -> Self {
        let part = part.clamp(0.0, 1.0);
        let channel = |a: u8, b: u8| libm::round(f64::from(a) * (1.0 - part) + f64::from(b) * part) as u8;
        Self(
            channel(first.0, second.0),
            channel(first.1, second.1),
            channel(first.2, second.2),
        )
    }
}

impl Default for Figure {
    fn default() -> Self {
        Self {
            title: String::new(),
            columns: 1,
            panels: Vec::new(),
            width: 440.0,
            height: 240.0,
            share_x: true,
        }
    }
}

impl From<Panel> for Figure {
    fn from(panel: Panel) -> Self {
        Self {
            panels: vec![panel],
            ..Self::default()
        }
    }
}

impl Panel {
    /// Empty linear axes with these labels.
    pub fn new(x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self {
            x_label: x_label.into(),
            y_label: y_label.into(),
            ..Self::default()
        }
    }

    /// The panel with one more series.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}

impl Series {
    /// A line in the next colour of the palette.
    pub fn line(label: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self {
            label: label.into(),
            x,
            y,
            ..Self::default()
        }
    }

    /// The series drawn in another style.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The series drawn in this colour.
    #[must_use]
    pub fn color(mut self, color: Color) -> Self {
        self.color = Some(color);
        self
    }
}

impl Reference {
    /// A line at a value of y.
    pub fn horizontal(value: f64, label: impl Into<String>) -> Self {
        Self {
            direction: Direction::Horizontal,
            value,
            label: label.into(),
        }
    }

    /// A line at a value of x.
    pub fn vertical(value: f64, label: impl Into<String>) -> Self {
        Self {
            direction: Direction::Vertical,
            value,
            label: label.into(),
        }
    }
}

/// Pixels of a saved PNG per pixel of the layout: a panel of 440 px becomes 1100 px, sharp at the width of a column of print.
const SAVED_PNG_SCALE: f64 = 2.5;

impl Figure {
    /// The figure with its panels below each other, for a narrow screen: axes are `width` wide. Where only the panels of the
    /// first row have a title, it is that of the column, and columns stay together.
    #[must_use]
    pub fn narrow(&self, width: f64) -> Self {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns);
        let (heads, others) = self.panels.split_at(columns.min(self.panels.len()));
        let titled = |panel: &Panel| !panel.title.is_empty();
        let by_column = heads.iter().all(titled) && !others.iter().any(titled);
        let place = |i: usize| {
            if by_column { (i % rows) * columns + i / rows } else { i }
        };
        let order = (0..rows * columns).map(place);
        let mut panels: Vec<Panel> = order.filter_map(|place| self.panels.get(place).cloned()).collect();
        for panel in &mut panels {
            if panel.legend == Legend::Beside {
                panel.legend = Legend::Auto;
            }
        }
        Self {
            title: self.title.clone(),
            columns: 1,
            width,
            height: self.height,
            panels,
            // Panels of different columns may have different ranges.
            share_x: self.share_x && columns == 1,
        }
    }

    /// The figure as an SVG document. It contains no `id`, so that any number of figures fit in one page.
    pub fn to_svg(&self) -> String {
        svg::write(&draw::scene(self))
    }

    /// The figure as a PNG image with `scale` image pixels per pixel of the layout.
    ///
    /// # Errors
    /// If the image has no size or is too large, or if the crate was built without the feature `png`.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, PlotError> {
        #[cfg(feature = "png")]
        return raster::png(&draw::scene(self), scale);
        #[cfg(not(feature = "png"))]
        {
            let _ = scale;
            Err(PlotError::NoPng)
        }
    }

    /// The figure in the format that the extension of `path` names: `.svg` or `.png`.
    ///
    /// # Errors
    /// If the extension is another one or the image cannot be drawn.
    pub fn encode(&self, path: impl AsRef<Path>) -> Result<Vec<u8>, PlotError> {
        let path = path.as_ref();
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Ok(self.to_svg().into_bytes()),
            "png" => self.to_png(SAVED_PNG_SCALE),
            _ => Err(PlotError::Extension(path.to_path_buf())),
        }
    }

    /// Writes the figure in the format that the extension of `path` names: `.svg` or `.png`. An existing file is
    /// replaced only once the new one is complete.
    ///
    /// # Errors
    /// If the extension is another one, the image cannot be drawn, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        let path = path.as_ref();
        replace_file(path, &self.encode(path)?)
    }
}

/// Writes beside `path` and renames, so that a reader never sees half a file.
fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), PlotError> {
    let failed = |error: io::Error| PlotError::Write(path.to_path_buf(), error);
    let (part, mut file) = new_part(path).map_err(failed)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&part, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&part);
        failed(error)
    })
}

/// Creates a file beside `path` that nobody else writes: neither another thread nor another process, which may have the same
/// number on another machine.
fn new_part(path: &Path) -> io::Result<(PathBuf, fs::File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{}-{count}.part", std::process::id()));
        let part = path.with_file_name(name);
        match fs::File::create_new(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            created => return created.map(|file| (part, file)),
        }
    }
}

/// Why a figure could not be written.
#[derive(Debug)]
pub enum PlotError {
    /// The name of the file ends neither in `.svg` nor in `.png`.
    Extension(PathBuf),
    /// The file could not be written.
    Write(PathBuf, io::Error),
    /// An image of this many pixels (width, height) cannot be drawn.
    Size(f64, f64),
    /// The image could not be encoded.
    Encode(String),
    /// The crate was built without the feature `png`.
    NoPng,
}

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extension(path) => {
                write!(f, "{}: a figure is saved as .svg or .png", path.display())
            }
            Self::Write(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Size(width, height) => {
                write!(f, "cannot draw an image of {width} x {height} pixels")
            }
            Self::Encode(reason) => write!(f, "cannot encode the image: {reason}"),
            Self::NoPng => f.write_str("this build draws SVG only (feature `png` is off)"),
        }
    }
}

impl std::error::Error for PlotError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write(_, error) => Some(error),
            _ => None,
        }
    }
}
