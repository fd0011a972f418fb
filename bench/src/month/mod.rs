//! A month of users whose hook learns from what they use, compared with the same month without that.

mod user;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::activation::draw::Data;
use crate::bootstrap::Sample;
use crate::measure::rounded;
use crate::month::user::{Told, User};
use crate::search::half::Half;

/// Days of a week.
const WEEK: usize = 7;

/// The day on which the work of some users changes: the first of the third week.
const CHANGE: usize = 2 * WEEK;

/// Of how many users the work of one changes.
const CHANGING: u64 = 3;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder of labelled skills and requests
    #[arg(long)]
    data: PathBuf,
    /// Source repositories whose requests and prompts the users send
    #[arg(long, value_enum, default_value_t = Half::Test)]
    half: Half,
    /// Number of users
    #[arg(long, default_value_t = 30)]
    users: u64,
    /// Number of skills that each has
    #[arg(long, default_value_t = 60)]
    skills: usize,
    /// Number of prompts that each sends in a day
    #[arg(long, default_value_t = 40)]
    prompts: usize,
    /// Number of days
    #[arg(long, default_value_t = 28)]
    days: usize,
    /// Fail if in the last week, learning does not lower the noise by this many percent, or costs right skills
    #[arg(long, value_name = "PERCENT")]
    less_noise: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let data = Data::read(&arguments.data, arguments.half)?;
    let mut with = Month::new(arguments);
    let mut without = Month::new(arguments);
    let (mut silenced, mut needed) = (0, 0);
    let mut highest_bar: f32 = 0.0;
    let mut highest_bar_later: f32 = 0.0;
    for seed in 0..arguments.users {
        let is_changing = seed % CHANGING == 0;
        let user = |learns| User::new(&data, seed, arguments.skills, arguments.prompts, learns);
        let mut learning = user(true)?;
        let mut other = user(false)?;
        with.add(&mut learning, is_changing)?;
        without.add(&mut other, is_changing)?;
        let is_silenced = |id: &&String| !learning.found.contains(*id);
        silenced += other.found.iter().filter(is_silenced).count();
        needed += other.needed.len();
        highest_bar = highest_bar.max(learning.highest_bar);
        highest_bar_later = highest_bar_later.max(learning.bar_after_silence());
    }
    writeln!(
        out,
        "{}",
        json!({ "without": without.to_json(), "with": with.to_json() })
    )?;
    let last = arguments.days.saturating_sub(1) / WEEK;
    let noise = |month: &Month<'_>| month.weeks[last].noise.mean();
    let less_noise = 100.0 * (1.0 - noise(&with) / noise(&without));
    let (more_right, range) = with.weeks[last].right.above(&without.weeks[last].right);
    let (_, noise_range) = with.weeks[last].noise.above(&without.weeks[last].noise);
    let in_points = |range: Option<[f64; 2]>| range.map(|range| range.map(rounded));
    let changed = |month: &Month<'_>| month.weeks[last].changed.mean();
    let recovered = changed(&with) - changed(&without);
    let result = json!({
        "users": arguments.users,
        "days": arguments.days,
        "half": arguments.half.as_str(),
        "without": without.to_json(),
        "with": with.to_json(),
        "last_week": {
            "less_noise_percent": rounded(less_noise),
            "more_right": rounded(more_right),
            "more_right_range": in_points(range),
            "noise_range": in_points(noise_range),
        },
        // Of those whose work changes.
        "changed": { "without": without.changed(), "with": with.changed(), "more_right_later": rounded(recovered) },
        // Of the skills that the last week's requests need: those that are only found without learning.
        "needed": needed,
        "silenced": silenced,
        "highest_bar": rounded(highest_bar.into()),
        "highest_bar_after_a_month_of_silence": rounded(highest_bar_later.into()),
    });
    writeln!(out, "{result}")?;
    if let Some(least) = arguments.less_noise {
        let problem = if less_noise.is_nan() || less_noise < least {
            format!("{less_noise:.1} % less noise")
        } else if more_right < 0.0 {
            format!("{:.1} % fewer right skills", -100.0 * more_right)
        } else if recovered < 0.0 {
            "whoever changed work is told fewer right skills".to_owned()
        } else if silenced > 0 {
            format!("{silenced} skills are silenced")
        } else {
            return Ok(());
        };
        return Err(problem.into());
    }
    Ok(())
}

/// What users were told.
struct Month<'a> {
    arguments: &'a Arguments,
    weeks: Vec<Week>,
}

#[derive(Default)]
struct Week {
    /// Whether a request's right skill is given or named, or was before in the conversation.
    right: Sample,
    /// The same, for those whose work changes in the third week.
    changed: Sample,
    /// Whether a request gets a wrong skill.
    wrong: Sample,
    /// Whether a prompt that needs no skill gets one.
    noise: Sample,
}

impl<'a> Month<'a> {
    fn new(arguments: &'a Arguments) -> Self {
        let weeks = arguments.days.div_ceil(WEEK);
        Self {
            arguments,
            weeks: (0..weeks).map(|_| Week::default()).collect(),
        }
    }

    fn add(&mut self, user: &mut User<'_>, is_changing: bool) -> Result<(), Box<dyn Error>> {
        for day in 0..self.arguments.days {
            if is_changing && day == CHANGE {
                user.change_work();
            }
            if day % WEEK == 0 {
                user.begin_week();
            }
            for told in user.day()? {
                let week = &mut self.weeks[day / WEEK];
                match told {
                    Told::Request {
                        source,
                        right,
                        wrong,
                    } => {
                        week.right.add_whether(&source, right);
                        week.wrong.add_whether(&source, wrong);
                        if is_changing {
                            week.changed.add_whether(&source, right);
                        }
                    }
                    Told::Everyday { source, spoken } => week.noise.add_whether(&source, spoken),
                }
            }
        }
        Ok(())
    }

    fn to_json(&self) -> Value {
        let weeks = self.weeks.iter().map(|week| {
            json!({
                "right": rounded(week.right.mean()),
                "wrong": rounded(week.wrong.mean()),
                "noise": rounded(week.noise.mean()),
            })
        });
        weeks.collect()
    }

    fn changed(&self) -> Value {
        let weeks = self.weeks.iter();
        weeks.map(|week| rounded(week.changed.mean())).collect()
    }
}
