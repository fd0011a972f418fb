//! Power is lost while the store writes: replays recordings, each with different unflushed writes surviving.

use std::env;

use skillfold_core::Error;
use skillfold_store::{Fault, inject, record};

use crate::check::recover;
use crate::disk::Disk;
use crate::home::{Home, folder};
use crate::points::{Counted, count};
use crate::random::Random;
use crate::scenario::SCENARIOS;

/// Total number of replays; `just faults-store` runs 10,000.
const REPLAYS: u64 = 500;
const EIO: i32 = 5;

/// A recorded scenario, and the disk before it.
struct Recorded<'a> {
    counted: Counted<'a>,
    disk: Disk,
}

impl Recorded<'_> {
    fn replay(&self, seed: u64) -> Result<(), String> {
        let random = &mut Random::new(seed);
        match random.up_to(4) {
            0 => self.lose_power_twice(random),
            1 => self.lose_power_after_a_failure(random),
            2 => self.lose_power_after_a_kill(random),
            _ => self.lose_power(random),
        }
    }

    /// Power is lost once.
    fn lose_power(&self, random: &mut Random) -> Result<(), String> {
        let (disk, is_done) = self.stop(random);
        disk.lose_power(random).write(&self.counted.trial.home.0);
        self.counted.trial.check(is_done)
    }

    /// Power is lost, and again during the recovery.
    fn lose_power_twice(&self, random: &mut Random) -> Result<(), String> {
        let home = self.counted.trial.home;
        let (disk, is_done) = self.stop(random);
        disk.lose_power(random).write(&home.0);
        let mut disk = Disk::read(&home.0);
        let (_, recovery) = record(|| recover(home));
        for step in &recovery[..random.up_to(recovery.len())] {
            disk.apply(step);
        }
        disk.lose_power(random).write(&home.0);
        self.counted.trial.check(is_done)
    }

    /// A call fails, a retry succeeds, and power is lost.
    fn lose_power_after_a_failure(&self, random: &mut Random) -> Result<(), String> {
        let at = random.up_to(self.counted.steps.len() - 1);
        let home = &self.counted.trial.home.0;
        self.counted.before.write(home);
        let mut disk = Disk::read(home);
        let (failed, mut steps) = inject(at, Fault::Error(EIO), || self.act());
        // The failed call did nothing.
        steps.remove(at);
        for step in &steps {
            disk.apply(step);
        }
        let tried = if failed.is_err() {
            self.try_again(disk, random)
        } else {
            disk.lose_power(random).write(home);
            self.counted.trial.check(true)
        };
        tried.map_err(|failure| format!("call {at} failed; {failure}"))
    }

    /// The process is killed, another one does the same and succeeds, and power is lost.
    fn lose_power_after_a_kill(&self, random: &mut Random) -> Result<(), String> {
        let (mut disk, _) = self.stop(random);
        disk.write(&self.counted.trial.home.0);
        let tried = self.try_again(disk, random);
        tried.map_err(|failure| format!("killed first; {failure}"))
    }

    /// Runs the operation on what is on disk or still in memory, then power is lost.
    fn try_again(&self, mut disk: Disk, random: &mut Random) -> Result<(), String> {
        let trial = &self.counted.trial;
        let (tried, steps) = record(|| self.act());
        let refused = tried.err().map(|error| error.kind());
        if refused.is_some() && refused != trial.scenario.again {
            return Err(format!("refused: {refused:?}"));
        }
        for step in &steps {
            disk.apply(step);
        }
        disk.lose_power(random).write(&trial.home.0);
        trial.check(true)
    }

    fn act(&self) -> Result<(), Error> {
        let trial = &self.counted.trial;
        (trial.scenario.act)(trial.home, &trial.subject)
    }

    /// Stops after a random call. Returns the disk, and whether it was the last call.
    fn stop(&self, random: &mut Random) -> (Disk, bool) {
        let steps = &self.counted.steps;
        let reached = random.up_to(steps.len());
        let mut disk = self.disk.clone();
        for step in &steps[..reached] {
            disk.apply(step);
        }
        (disk, reached == steps.len())
    }
}

#[test]
fn power_loss_leaves_the_old_state_or_the_new() {
    let replays = env::var("CRASH_REPLAYS").map_or(REPLAYS, |it| it.parse().unwrap());
    let mut failures = Vec::new();
    for (number, scenario) in (0..).zip(&SCENARIOS) {
        let folder = folder();
        let home = Home(folder.path().join("home"));
        let mut disk = None;
        let mut counted = count(scenario, &home, |home| disk = Some(Disk::read(&home.0)));
        counted.trial.has_modes = false;
        let recorded = Recorded {
            counted,
            disk: disk.unwrap(),
        };
        for seed in (number..replays).step_by(SCENARIOS.len()) {
            if let Err(failure) = recorded.replay(seed) {
                failures.push(format!("{}, seed {seed}: {failure}", scenario.name));
            }
        }
    }
    let (number, few) = (failures.len(), &failures[..failures.len().min(20)]);
    assert!(few.is_empty(), "{number} failures\n{}", few.join("\n\n"));
    println!("{replays} replays of {} scenarios", SCENARIOS.len());
}
