//! Installs generated or real skills in a folder.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skillfold_core::read::parse;
use skillfold_core::{FsSource, Root, Scope};

use crate::corpus;

/// A time after everything was written, so that all revisions are settled.
pub(crate) fn far_future() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(7_000_000_000)
}

pub(crate) fn roots(folder: &Path) -> Result<Vec<Root>, skillfold_core::Error> {
    Ok(vec![Root::new(
        Scope::User,
        "bench",
        FsSource::open(folder)?,
    )])
}

/// Installs skills below a folder and returns their files' paths.
pub(crate) fn lay_out(
    root: &Path,
    skills: usize,
    corpus: Option<&Path>,
) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::with_capacity(skills);
    match corpus {
        None => {
            for number in 0..skills {
                files.push(made(root, number)?);
            }
        }
        Some(corpus) => {
            let texts = corpus::entries(corpus)?.collect::<Result<Vec<_>, _>>()?;
            // If fewer skills are needed than the corpus has, they are spread over it; if more, the corpus is installed
            // again.
            let spread =
                |number: usize| number * texts.len() / skills.min(texts.len()).max(1) % texts.len();
            files = install(root, (0..skills).map(|number| &texts[spread(number)]))?;
        }
    }
    Ok(files)
}

/// Installs files from a corpus below a folder and returns their paths.
pub(crate) fn install<'a>(
    root: &Path,
    entries: impl Iterator<Item = &'a corpus::Entry>,
) -> std::io::Result<Vec<PathBuf>> {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut files = Vec::new();
    for entry in entries {
        let name = installed_name(entry);
        let copies = taken.entry(name.clone()).or_default();
        // Two skills with the same name cannot be in one folder; the second goes into its own group.
        let group = if *copies == 0 {
            root.to_owned()
        } else {
            root.join(format!("group-{copies}"))
        };
        *copies += 1;
        files.push(written(&group.join(name), &entry.text)?);
    }
    Ok(files)
}

/// Returns the folder an installer would use for a skill: the skill's name, or else its original folder.
fn installed_name(entry: &corpus::Entry) -> String {
    let name = parse(entry.text.as_bytes(), &entry.folder)
        .manifest
        .map(|manifest| manifest.name().to_string());
    let usable = |name: &String| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    name.filter(usable).unwrap_or_else(|| {
        let plain = entry
            .folder
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-');
        let plain: String = plain.collect();
        if plain.is_empty() {
            "skill".to_owned()
        } else {
            plain
        }
    })
}

/// Writes a skill with the given text.
#[expect(clippy::disallowed_methods, reason = "a bench lays out its own files")]
pub(crate) fn written(folder: &Path, text: &str) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let file = folder.join("SKILL.md");
    std::fs::write(&file, text)?;
    Ok(file)
}

/// Writes a generated skill: plain frontmatter, a body of 2 to 8 KB, two resources.
#[expect(clippy::disallowed_methods, reason = "a bench lays out its own files")]
pub(crate) fn made(root: &Path, number: usize) -> std::io::Result<PathBuf> {
    let name = format!("made-skill-{number:06}");
    let folder = root.join(&name);
    let sentence =
        "Read the input, check it against the rules above, and write the result beside it.\n";
    let body = sentence.repeat(25 + number * 7 % 73);
    let text = format!(
        "---\nname: {name}\ndescription: Does task {number} of a made collection. Use when task {number} is asked for.\nlicense: MIT\n\
         allowed-tools: Read Grep Bash(git:*)\nmetadata:\n  author: bench\n  version: \"1.0.{number}\"\n---\n\n# {name}\n\n{body}"
    );
    for (path, content) in [
        ("references/guide.md", "# Guide\n"),
        ("scripts/run.py", "print('made')\n"),
    ] {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, content)?;
    }
    written(&folder, &text)
}

/// Drops files from the page cache, so that they are read from disk.
#[cfg(all(test, target_os = "linux"))]
#[expect(
    clippy::disallowed_methods,
    reason = "a bench lets go of its own files"
)]
pub(crate) fn forget(files: &[PathBuf]) {
    use rustix::fs::{Advice, fadvise};
    for file in files {
        let file = std::fs::File::open(file).expect("a bench reads its own files");
        file.sync_all().expect("a file can be written through");
        fadvise(&file, 0, None, Advice::DontNeed).expect("the system takes advice");
    }
}
