//! Memory use: all skills' metadata, the instructions of those in use, and everything at once.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use skillfold_core::{Catalog, CatalogOptions, LoadOptions, Loader};

use crate::allocator::held_by;
use crate::layout::{far_future, lay_out, roots};
use crate::measure::rounded;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Number of skills to install
    #[arg(long, default_value_t = 100)]
    skills: usize,
    /// Number of skills to load
    #[arg(long, default_value_t = 10)]
    loaded: usize,
    /// Real files to install, instead of generated ones
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Fail if the metadata takes over 2.5 MB, both over 3 MB, or less than 80 % is saved
    #[arg(long)]
    judge: bool,
}

/// Maximum size of the metadata of 100 skills, in bytes.
const METADATA: isize = 2_500_000;
/// Maximum size of the metadata with ten skills loaded, in bytes.
const TEN_LOADED: isize = 3_000_000;
/// Minimum share saved compared with holding everything.
const SAVING: f64 = 0.8;

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let files = lay_out(folder.path(), arguments.skills, arguments.corpus.as_deref())?;
    let held = Held::of(folder.path(), &files, arguments.loaded)?;
    writeln!(
        out,
        "{}",
        json!({
            "skills": arguments.skills,
            "loaded": arguments.loaded,
            "metadata_bytes": held.metadata,
            "ten_loaded_bytes": held.loaded,
            "eager_bytes": held.eager,
            "saving": rounded(held.saving()),
        })
    )?;
    let misses = held.metadata > METADATA || held.loaded > TEN_LOADED || held.saving() < SAVING;
    if arguments.judge && misses {
        return Err("more memory is held than the goals allow".into());
    }
    Ok(())
}

/// Bytes held in memory.
struct Held {
    metadata: isize,
    /// By the metadata and the skills in use.
    loaded: isize,
    /// By the metadata and the full text of every file.
    eager: isize,
}

impl Held {
    fn of(folder: &Path, files: &[PathBuf], in_use: usize) -> Result<Self, Box<dyn Error>> {
        let discover = || {
            Ok::<_, Box<dyn Error>>(Catalog::discover(
                roots(folder)?,
                CatalogOptions::default(),
                far_future(),
            ))
        };
        let (catalog, metadata) = held_by(discover);
        let catalog = catalog?;
        // Averages over all ways to select the skills in use, so that their sizes represent all skills.
        let ways = (catalog.len() / in_use.max(1)).max(1);
        let mut texts = 0;
        for first in 0..ways {
            texts += bytes_in_use(&catalog, first, ways, in_use)?;
        }
        texts /= isize::try_from(ways)?;
        let (all, everything) = held_by(|| read_all(files));
        drop(all?);
        Ok(Self {
            metadata,
            loaded: metadata + texts,
            eager: metadata + everything,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "bytes of some megabytes")]
    fn saving(&self) -> f64 {
        1.0 - self.loaded as f64 / self.eager.max(1) as f64
    }
}

/// Loads every nth skill, starting at `first`, and returns the bytes they hold.
fn bytes_in_use(
    catalog: &Catalog,
    first: usize,
    every: usize,
    in_use: usize,
) -> Result<isize, Box<dyn Error>> {
    let (loader, texts) = held_by(|| {
        let loader = Loader::new(LoadOptions::default(), far_future);
        for entry in catalog.entries().skip(first).step_by(every).take(in_use) {
            loader.load(&entry, "")?;
        }
        Ok::<_, Box<dyn Error>>(loader)
    });
    if loader?.stats().entries != in_use {
        return Err("a loaded skill was not remembered".into());
    }
    Ok(texts)
}

/// Reads every file in full, like a library that loads everything at startup.
#[expect(
    clippy::disallowed_methods,
    reason = "the comparison is what anyone would write"
)]
fn read_all(files: &[PathBuf]) -> std::io::Result<Vec<Vec<u8>>> {
    files.iter().map(std::fs::read).collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use skillfold::core::{ContextLifetime, FsSource, Root, Scope};
    use skillfold::{Environment, Host, Skills};

    use super::{Held, METADATA, SAVING, TEN_LOADED, read_all};
    use crate::allocator::held_by;
    use crate::layout::{lay_out, written};
    use crate::matching::{Random, vocabulary};

    /// Installs 100 skills of two to five thousand tokens, a realistic size.
    fn typical(folder: &Path) -> Vec<PathBuf> {
        let mut random = Random(1);
        let words = vocabulary(&mut random);
        let skill = |number: usize| {
            let count = 1_500 + number % 10 * 250;
            let text: Vec<&str> = (0..count)
                .map(|_| {
                    let reach = if random.below(4) > 0 {
                        600
                    } else {
                        words.len()
                    };
                    words[random.below(reach)].as_str()
                })
                .collect();
            let about = text[..20].join(" ");
            let text = format!(
                "---\nname: made-{number}\ndescription: {about}\n---\n{}\n",
                text.join(" ")
            );
            written(&folder.join(format!("made-{number}")), &text).unwrap()
        };
        (0..100).map(skill).collect()
    }

    /// Returns the bytes held by a host that has answered a request and loaded some skills.
    fn held(folder: &Path, matching: &str, loaded: usize) -> isize {
        let run = || -> Skills {
            let root = Root::new(Scope::User, "bench", FsSource::open(folder).unwrap());
            let host = Host::new(Environment::new(folder)).set("default_roots", "false");
            let skills = host
                .root(root)
                .set("matching", matching)
                .discover()
                .unwrap()
                .skills;
            let mut session =
                skills.session(skills.report().settings.policy(), ContextLifetime::History);
            session.turn("What is 2+2?");
            for number in 0..loaded {
                skills.load(&format!("made-{number}"), "").unwrap();
            }
            skills
        };
        // The process's one-time allocations do not belong to this host.
        run();
        held_by(run).1
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "bytes of some megabytes")]
    fn host_using_a_tenth_holds_at_most_3_mb_and_a_fifth_of_all_without_search() {
        let folder = tempfile::tempdir().unwrap();
        let files = typical(folder.path());
        let (texts, everything) = held_by(|| read_all(&files).unwrap());
        let eager = held(folder.path(), "keyword", 0) + everything;
        drop(texts);
        let (keyword, hybrid) = (
            held(folder.path(), "keyword", 10),
            held(folder.path(), "hybrid", 10),
        );
        let said = format!("{keyword} and {hybrid} of {eager} bytes");
        assert!(keyword <= TEN_LOADED && hybrid <= TEN_LOADED, "{said}");
        assert!(keyword as f64 <= (1.0 - SAVING) * eager as f64, "{said}");
        // The search index exists, and is smaller than the texts.
        assert!(keyword < hybrid && hybrid < eager, "{said}");
    }

    #[test]
    fn host_memory_grows_only_by_used_skills() {
        let folder = tempfile::tempdir().unwrap();
        typical(folder.path());
        for matching in ["keyword", "hybrid"] {
            let at = [0, 10, 50].map(|loaded| held(folder.path(), matching, loaded));
            let (ten, fifty) = (at[1] - at[0], at[2] - at[0]);
            assert!((4 * ten..6 * ten).contains(&fifty), "{matching}: {at:?}");
        }
    }

    #[test]
    fn memory_grows_with_used_skills() {
        let folder = tempfile::tempdir().unwrap();
        let files = lay_out(folder.path(), 100, None).unwrap();
        let ten = Held::of(folder.path(), &files, 10).unwrap();
        let fifty = Held::of(folder.path(), &files, 50).unwrap();
        assert!(ten.metadata <= METADATA && ten.loaded <= TEN_LOADED);
        let (ten, fifty) = (ten.loaded - ten.metadata, fifty.loaded - fifty.metadata);
        assert!(
            (4 * ten..6 * ten).contains(&fifty),
            "{ten} and {fifty} bytes"
        );
    }
}
