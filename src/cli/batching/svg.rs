//! Draws fronts of cost and delay as an SVG file.

use std::fmt::Write;

/// Of the drawing, in pixels.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 560.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 60.0;

/// Steps of an axis.
const STEPS: u32 = 5;

/// Readable by most people who see colours in another way (Okabe, Ito: Color universal design, 2008).
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#f0e442"];

/// A strategy's points, batches a day beside hours of expected delay, in the order of its parameter.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Draws the part of the curves up to these batches a day and hours.
pub(super) fn draw(curves: &[Curve], most: (f64, f64)) -> String {
    let x = |batches: f64| LEFT + batches / most.0 * (WIDTH - LEFT - RIGHT);
    let y = |hours: f64| HEIGHT - BOTTOM - hours / most.1 * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let mut add = |text: String| svg.write_str(&text).expect("a String takes everything");
    for step in 0..=STEPS {
        let (batches, hours) =
            (most.0 * f64::from(step) / f64::from(STEPS), most.1 * f64::from(step) / f64::from(STEPS));
        let (x, y, bottom, right) = (x(batches), y(hours), HEIGHT - BOTTOM, WIDTH - RIGHT);
        add(format!("<path d=\"M{x:.1} {TOP}V{bottom}M{LEFT} {y:.1}H{right}\" stroke=\"#ddd\" fill=\"none\"/>\n"));
        add(format!("<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{batches:.1}</text>\n", bottom + 20.0));
        add(format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{hours:.1}</text>\n", LEFT - 8.0, y + 4.0));
    }
    add(format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">batches a day</text>\n",
        x(most.0 / 2.0),
        HEIGHT - 16.0
    ));
    let middle = y(most.1 / 2.0);
    add(format!(
        "<text x=\"18\" y=\"{middle:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {middle:.1})\">expected delay, hours</text>\n"
    ));
    for (at, curve) in curves.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let dash = if at < COLOURS.len() { "" } else { " stroke-dasharray=\"5 3\"" };
        let inside: Vec<_> =
            curve.points.iter().filter(|(batches, hours)| *batches <= most.0 && *hours <= most.1).collect();
        let points: Vec<_> =
            inside.iter().map(|(batches, hours)| format!("{:.1},{:.1}", x(*batches), y(*hours))).collect();
        add(match inside[..] {
            [(batches, hours)] => {
                format!("<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"{colour}\"/>\n", x(*batches), y(*hours))
            }
            _ => format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>\n",
                points.join(" ")
            ),
        });
        let (x, y) = (WIDTH - RIGHT + 12.0, TOP + 16.0 + 20.0 * at as f64);
        add(format!("<path d=\"M{x} {:.1}h22\" stroke=\"{colour}\" stroke-width=\"3\"{dash}/>\n", y - 4.0));
        add(format!("<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>\n", x + 28.0, escaped(&curve.name)));
    }
    svg + "</svg>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
