//! `top`: the groups of running programs with their rates, losses and levels, as they change, and
//! switched in place, and so are their single calls.
//!
//! It asks over the control path what `configuration` asks, once each interval, and switches groups
//! by the same change. On a terminal it draws ([`screen`]) until a key or a signal ends it; for
//! machines it prints tables or JSON lines.
//!
//! Invariants: the terminal is as it was when the command ends, whatever ends it but SIGKILL; a
//! program that hangs delays the others once, not each time.

mod columns;
mod keys;
mod screen;
mod sites;
mod terminal;
mod watch;

use super::args::Choice;
use super::programs::{LISTENS, Programs};
use crate::exit::{Exit, Failure};
use crate::system::System;
use protolog_reader::printable_json;
use screen::Screen;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use terminal::Terminal;
use watch::{GroupRow, Sample, Watch};

const HELP: &str = "\
Examples:
  protologtool top
  protologtool top --name server --interval 5
  protologtool top --once
  protologtool top --json | jq 'select(.lost_per_second > 0)'

Each line is a group of a program: from which level on it is printed (TEXT) and recorded by sessions (TRACE), messages and losses in \
a second, and losses since the sessions began. Groups with losses and many messages come first. A program takes part as it does for \
`protologtool configuration`.

Keys: up and down (or k and j) choose a group; t and then a level (v d i w e f, or o for off) sets from which level on it is printed, \
r the same for what sessions may record; s lists its calls, with their rules, limits and rates; p pauses; q ends, and Ctrl-Z suspends. \
Of a call that is chosen there, e and d are `configuration site enable` and `disable`, x takes the rule back, and s leads back. Where less \
may be recorded, y has to confirm it. What is pasted is ignored. Switching takes effect at each thread's next log call.

With --once, one interval is measured and printed; with --json, each group is a line of JSON, interval after interval.

Exit codes: 0 done; 2 wrong command line, no such program, or a program could not be asked; 3 with --once, \
another user has more programs than root looks at, and some are left out.";

/// Arguments of `top`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct TopArgs {
    #[command(flatten)]
    choice: Choice,

    /// Measure for this many seconds at a time
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=3600))]
    interval: u64,

    /// Print one interval, and end
    #[arg(long)]
    once: bool,
}

/// Runs the command.
pub(crate) fn run(args: &TopArgs, system: &dyn System) -> Result<Exit, Failure> {
    let is_drawn = !args.once && !args.choice.json;
    if is_drawn && !(std::io::stdout().is_terminal() && std::io::stdin().is_terminal()) {
        return Err(Failure::new("no terminal to draw on")
            .help("use `--once` for one table, or `--json` for lines of JSON"));
    }
    let mut programs = Programs::find(&args.choice, false, system)?;
    let first = programs.exit();
    let mut watch = Watch::new(std::mem::take(&mut programs.all), &args.choice);
    if is_drawn {
        draw(args, &mut watch).map_err(|error| Failure::new(format!("can't draw: {error}")))?;
        return Ok(Exit::Done);
    }
    let mut last = watch.sample();
    loop {
        std::thread::sleep(Duration::from_secs(args.interval));
        watch.look_for_new();
        let mut sample = watch.sample();
        sample.rate_since(&last);
        if print(&sample, args.choice.json, system).is_err() {
            // Nobody reads on, as after `| head`.
            return Ok(Exit::Done);
        }
        for problem in &sample.problems {
            system.print_error(&format!("warning: {problem}\n"));
        }
        if args.once {
            return Ok(if sample.problems.is_empty() { first } else { Exit::Failed });
        }
        last = sample;
    }
}

fn print(sample: &Sample, json: bool, system: &dyn System) -> std::io::Result<()> {
    if json {
        for row in &sample.rows {
            let line = serde_json::to_string(row)?;
            system.write_output(format!("{}\n", printable_json(&line)).as_bytes())?;
        }
        return Ok(());
    }
    if sample.rows.is_empty() {
        let help = format!("start one of this user that calls {LISTENS}");
        system.print_error(&format!("note: no program listens\nhelp: {help}\n"));
    }
    system.write_output(screen::table(sample).as_bytes())
}

/// Draws until a key or a signal ends it.
fn draw(args: &TopArgs, watch: &mut Watch) -> std::io::Result<()> {
    let mut terminal = Terminal::open()?;
    let mut screen = Screen::default();
    let mut last = watch.sample();
    let mut shown = last.clone();
    let interval = Duration::from_secs(args.interval);
    let mut next = Instant::now() + interval;
    loop {
        terminal.draw(&screen.lines(&shown, terminal.size()))?;
        let Some(keys) = terminal.wait(next.saturating_duration_since(Instant::now()))? else {
            return Ok(());
        };
        for key in keys {
            match screen.press(key, &shown) {
                screen::Answer::End => return Ok(()),
                screen::Answer::Nothing => {}
                screen::Answer::Suspend => {
                    terminal.suspend()?;
                    // The time that it was stopped is no interval.
                    last = watch.sample();
                    next = Instant::now() + interval;
                    // Keys typed before it are answered no more.
                    break;
                }
                screen::Answer::Switch(row, change) => {
                    screen.note(watch.switch(&row, &change));
                    // The levels at once; the rates stay those of the last interval.
                    shown.take_levels(&watch.sample());
                }
                screen::Answer::List(row) => list(&row, &mut screen, watch),
                screen::Answer::Rule(process, rule) => {
                    let done = watch.set_rule(&process, &rule);
                    relist(&shown, &mut screen, watch);
                    screen.note(done);
                }
            }
        }
        if Instant::now() >= next {
            next = Instant::now() + interval;
            if !screen.is_paused() {
                watch.look_for_new();
                shown = watch.sample();
                shown.rate_since(&last);
                last = shown.clone();
                relist(&shown, &mut screen, watch);
            }
        }
    }
}

/// Shows the calls of a group, or says why it can't.
fn list(row: &GroupRow, screen: &mut Screen, watch: &mut Watch) {
    match watch.sites(row) {
        Ok(found) => screen.list(row, found),
        Err(why) => screen.note(why),
    }
}

/// Asks for the calls anew that are shown, if any are.
fn relist(sample: &Sample, screen: &mut Screen, watch: &mut Watch) {
    if let Some(old) = screen.listed() {
        let now = sample.rows.iter().find(|row| row.id() == old.id()).unwrap_or(old);
        list(&now.clone(), screen, watch);
    }
}
