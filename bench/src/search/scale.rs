//! Search in large catalogs: the disk index, compared with the bare engine on the same records.

use std::cell::RefCell;
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use serde_json::{Value, json};
use skillfold_core::search::{DocumentBuilder, DocumentTexts, Query, SearchDocument};
use skillfold_index::{DiskIndex, DocumentKey};

use crate::measure::{Sample, cpu_time, measure, median, rounded};
use crate::search::bare::Bare;

/// The size from which growth is measured.
const SMALL: usize = 100_000;
/// Number of requests.
const REQUESTS: usize = 1_000;
/// Maximum number of terms per request: the index drops any more, but the bare engine would not.
const TERMS: usize = 48;
/// Repetitions of each request; the median counts.
const ROUNDS: usize = 5;
/// How often a skill is changed.
const CHANGES: usize = 15;
/// Maximum ratio to the bare engine's time for the candidates.
const LIMIT: f64 = 1.3;

/// Measures search with 100,000 records, then with `scale`.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts and bytes; a millionth does not matter"
)]
pub(crate) fn run(data: &Path, scale: usize, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let pool = Pool::read(data)?;
    let requests = requests(data)?;
    let small = scale.min(SMALL);
    let first = Figures::of(&pool, small, &requests)?;
    first.write(out)?;
    let last = if scale == small {
        None
    } else {
        let last = Figures::of(&pool, scale, &requests)?;
        last.write(out)?;
        Some(last)
    };
    let last = last.as_ref().unwrap_or(&first);
    let growth = |of: fn(&Figures) -> f64| rounded(of(last) / of(&first));
    let object = json!({
        "bench": "search --scale",
        "pool": pool.records.len(),
        "requests": requests.len(),
        "first": first.object(),
        "last": last.object(),
        "growth": {
            "records": rounded(last.records as f64 / first.records as f64),
            "search_p50": growth(|figures| figures.search.p50()),
            "search_p99": growth(|figures| figures.search.p99()),
            "candidates_p50": growth(|figures| figures.candidates.p50()),
            "bare_p50": growth(|figures| figures.bare.p50()),
            "bytes": growth(|figures| figures.bytes as f64),
        },
        "ratio_to_bare": rounded(last.ratio()),
        "limit": LIMIT,
        "meets_limit": last.ratio() <= LIMIT,
    });
    writeln!(out, "{object}")?;
    Ok(())
}

/// Measurements for one number of records.
struct Figures {
    records: usize,
    build: Sample,
    bare_build: Sample,
    bytes: u64,
    bare_bytes: u64,
    open: Sample,
    update: Vec<Sample>,
    candidates: Times,
    search: Times,
    bare: Times,
}

impl Figures {
    fn of(pool: &Pool, records: usize, requests: &[Query]) -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let (bare, bare_build) =
            measure(|| Bare::build(&folder.path().join("bare"), &mut pool.documents(records)));
        let bare = bare?;
        let at = folder.path().join("search");
        let (synced, build) =
            measure(|| DiskIndex::open(&at, "bench").sync(pool.skills(records, None)));
        assert_eq!(synced?.added, records, "every record is another");
        let (index, open) = measure(|| DiskIndex::open(&at, "bench"));
        let (mut candidates, mut search, mut without) = (Vec::new(), Vec::new(), Vec::new());
        for query in requests {
            let mut times: [Vec<f64>; 3] = Default::default();
            for _ in 0..ROUNDS {
                times[0].push(microseconds(|| bare.candidates(query).map(drop))?);
                times[1].push(microseconds(|| index.candidates(query, Some).map(drop))?);
                times[2].push(microseconds(|| index.search(query, 10, Some).map(drop))?);
            }
            let [bare, close, full] = times.map(median);
            without.push(bare);
            candidates.push(close);
            search.push(full);
        }
        let bytes = index.disk_bytes();
        let update = (0..CHANGES).map(|change| {
            let (synced, sample) = measure(|| index.sync(pool.skills(records, Some(change))));
            let synced = synced?;
            assert_eq!(
                (synced.added, synced.removed.min(1)),
                (1, 1),
                "one skill changed"
            );
            Ok(sample)
        });
        Ok(Self {
            records,
            build,
            bare_build,
            bytes,
            bare_bytes: bare.bytes()?,
            open,
            update: update.collect::<Result<_, Box<dyn Error>>>()?,
            candidates: Times(candidates),
            search: Times(search),
            bare: Times(without),
        })
    }

    /// Returns the ratio to the bare engine's time for the candidates, as the median over the requests.
    fn ratio(&self) -> f64 {
        let pairs = self.candidates.0.iter().zip(&self.bare.0);
        median(pairs.map(|(ours, bare)| ours / bare).collect())
    }

    fn write(&self, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
        let Self { records, .. } = self;
        writeln!(out, "{records} records")?;
        let sizes = [
            ("index", self.build, self.bytes),
            ("bare engine", self.bare_build, self.bare_bytes),
        ];
        for (what, build, bytes) in sizes {
            writeln!(
                out,
                "  {what:<12} built in {:>9.0} ms, {:>9.0} ms of CPU; {bytes:>11} bytes",
                build.wall_ms, build.cpu_ms
            )?;
        }
        let times = [
            ("bare engine", &self.bare),
            ("candidates", &self.candidates),
            ("search", &self.search),
        ];
        for (what, times) in times {
            writeln!(
                out,
                "  {what:<12} p50 {:>8.0} µs, p99 {:>8.0} µs of CPU",
                times.p50(),
                times.p99()
            )?;
        }
        writeln!(
            out,
            "  one changed skill {:.1} ms, {:.1} ms of CPU; opened in {:.1} ms; \
             candidates {:.2} times the bare engine's time",
            middle(&self.update, |sample| sample.wall_ms),
            middle(&self.update, |sample| sample.cpu_ms),
            self.open.wall_ms,
            self.ratio()
        )?;
        Ok(())
    }

    fn object(&self) -> Value {
        json!({
            "records": self.records,
            "build_ms": rounded(self.build.wall_ms),
            "build_cpu_ms": rounded(self.build.cpu_ms),
            "bytes": self.bytes,
            "open_ms": rounded(self.open.wall_ms),
            "update_ms": rounded(middle(&self.update, |sample| sample.wall_ms)),
            "update_cpu_ms": rounded(middle(&self.update, |sample| sample.cpu_ms)),
            "search_us": self.search.object(),
            "candidates_us": self.candidates.object(),
            "bare_us": self.bare.object(),
            "bare_build_ms": rounded(self.bare_build.wall_ms),
            "bare_build_cpu_ms": rounded(self.bare_build.cpu_ms),
            "bare_bytes": self.bare_bytes,
            "ratio_to_bare": rounded(self.ratio()),
        })
    }
}

fn middle(samples: &[Sample], of: fn(&Sample) -> f64) -> f64 {
    median(samples.iter().map(of).collect())
}

/// CPU microseconds per request.
struct Times(Vec<f64>);

impl Times {
    fn p50(&self) -> f64 {
        self.at(50)
    }

    fn p99(&self) -> f64 {
        self.at(99)
    }

    fn at(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let place = sorted.len() * percent / 100;
        sorted
            .get(place.min(sorted.len().saturating_sub(1)))
            .copied()
            .unwrap_or_default()
    }

    fn object(&self) -> Value {
        json!({ "p50": rounded(self.p50()), "p99": rounded(self.p99()) })
    }
}

fn microseconds<E: Into<Box<dyn Error>>>(
    run: impl FnOnce() -> Result<(), E>,
) -> Result<f64, Box<dyn Error>> {
    let start = cpu_time();
    black_box(run()).map_err(Into::into)?;
    Ok(cpu_time().saturating_sub(start).as_secs_f64() * 1e6)
}

/// Real records, from which others are generated.
struct Pool {
    records: Vec<Record>,
}

struct Record {
    name: String,
    description: String,
    tags: String,
    triggers: String,
}

impl Pool {
    fn read(data: &Path) -> Result<Self, Box<dyn Error>> {
        let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let record = |line: Value| Record {
            name: text(&line, "name"),
            description: text(&line, "description"),
            tags: text(&line, "tags"),
            triggers: text(&line, "triggers"),
        };
        let mut records = Vec::new();
        for line in lines(&data.join("pool.jsonl.zst"))? {
            records.push(record(line?));
        }
        Ok(Self { records })
    }

    /// Returns each document's key and builder; `change` replaces one of them.
    fn skills(
        &self,
        records: usize,
        change: Option<usize>,
    ) -> impl Iterator<Item = (DocumentKey, impl FnOnce() -> Option<SearchDocument>)> {
        let documents = std::rc::Rc::new(RefCell::new(DocumentBuilder::new()));
        (0..records).map(move |number| {
            let number = match change {
                Some(change) if number == 0 => records + change,
                Some(_) | None => number,
            };
            let documents = documents.clone();
            (key(number), move || {
                Some(self.document(number, &mut documents.borrow_mut()))
            })
        })
    }

    fn documents(&self, records: usize) -> impl Iterator<Item = SearchDocument> {
        let mut documents = DocumentBuilder::new();
        (0..records).map(move |number| self.document(number, &mut documents))
    }

    /// Generates a record: one from the pool, or the first half of one and the second half of another. No two records
    /// have the same pair.
    fn document(&self, number: usize, documents: &mut DocumentBuilder) -> SearchDocument {
        let count = self.records.len();
        let first = &self.records[number % count];
        let round = number / count;
        let second = &self.records[(number % count + round * 7_919) % count];
        let name = halves(&first.name, &second.name, '-');
        let description = halves(&first.description, &second.description, ' ');
        documents.from_texts(
            &DocumentTexts::default()
                .with_name(&name)
                .with_description(&description)
                .with_tags(&[&first.tags])
                .with_triggers(&[&second.triggers])
                .with_body(None),
        )
    }
}

fn halves(first: &str, second: &str, between: char) -> String {
    let parts = |text: &str| text.split(between).count();
    let (head, tail) = (parts(first).div_ceil(2), parts(second) / 2);
    let head = first.split(between).take(head);
    let tail = second.split(between).skip(parts(second) - tail);
    head.chain(tail)
        .collect::<Vec<_>>()
        .join(&between.to_string())
}

/// Returns a key that is distributed like a digest.
fn key(number: usize) -> DocumentKey {
    let spread = (number as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    DocumentKey::new((spread ^ spread >> 61).to_be_bytes())
}

fn requests(data: &Path) -> Result<Vec<Query>, Box<dyn Error>> {
    let mut requests = Vec::new();
    for line in lines(&data.join("queries.jsonl.zst"))? {
        let query = Query::new(line?["query"].as_str().unwrap_or_default());
        if (1..=TERMS).contains(&query.terms().len()) {
            requests.push(query);
        }
    }
    // Spread over the entire file, so that each of its sources is included.
    let step = requests.len().div_ceil(REQUESTS).max(1);
    Ok(requests.into_iter().step_by(step).collect())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the records are in a folder that the caller names"
)]
fn lines(
    path: &Path,
) -> Result<impl Iterator<Item = Result<Value, Box<dyn Error>>>, Box<dyn Error>> {
    let mut decoder = zstd::Decoder::new(File::open(path)?)?;
    decoder.window_log_max(27)?;
    let lines = BufReader::new(decoder).lines();
    Ok(lines.map(|line| Ok(serde_json::from_str(&line?)?)))
}
