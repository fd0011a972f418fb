# The menu. `just` lists it; CI runs the same commands through .ci/run.

corpus := "../shared/data/skills_corpus.jsonl.zst"
requests := "../shared/data/retrieval"

_default:
    @just --list --unsorted

# Format, lint, test and document, as before a commit
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo nextest run --workspace
    cargo test --workspace --doc
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

# Run the tests
test:
    cargo nextest run --workspace
    cargo test --workspace --doc

# Read every real file of a corpus and count what was loaded, repaired and refused
corpus file=corpus:
    cargo run --release -p skillfold-bench -- corpus --file {{file}}

# What finding skills costs: real files by both readers, made files, 100 and 100,000 of them
discover file=corpus:
    cargo run --release -p skillfold-bench -- discover --skills 10000 --corpus {{file}} --runs 15
    cargo run --release -p skillfold-bench -- discover --skills 10000 --corpus {{file}} --runs 15 --yaml-only
    cargo run --release -p skillfold-bench -- discover --skills 100000 --corpus {{file}} --runs 5
    cargo run --release -p skillfold-bench -- discover --skills 10000
    cargo run --release -p skillfold-bench -- discover --skills 100 --runs 25

# What look-ups and pages cost among 100,000 skills, and 1,000 refreshes while two threads read
catalog:
    cargo run --release -p skillfold-bench -- catalog --skills 100000 --refreshes 1000

# What a load costs, for the first time and again, and what is held in memory
load file=corpus:
    cargo run --release -p skillfold-bench -- load --skills 1000
    cargo run --release -p skillfold-bench -- load --skills 1000 --corpus {{file}}
    cargo run --release -p skillfold-bench -- memory
    cargo run --release -p skillfold-bench -- memory --corpus {{file}}

# How far the estimate of tokens is from an exact count
tokens file=corpus:
    cargo run --release -p skillfold-bench -- tokens --file {{file}}
    cargo run --release -p skillfold-bench -- tokens --file {{file}} --descriptions

# What matching a message costs, with seldom and with common triggers
match:
    cargo run --release -p skillfold-bench -- match --skills 1000
    cargo run --release -p skillfold-bench -- match --skills 10000
    cargo run --release -p skillfold-bench -- match --skills 1000 --common
    cargo run --release -p skillfold-bench -- match --skills 10000 --common

# What requests cost that need no skill, and how often the right skill is given unasked
disclose folder=requests:
    cargo run --release -p skillfold-bench -- disclose --data {{folder}} --judge
    cargo run --release -p skillfold-bench -- disclose --data {{folder}} --style tiers
    cargo run --release -p skillfold-bench -- activation --data {{folder}}

# Search with models that tell meanings: tests, and how often the right skill is found (needs what bench/models.py makes)
meaning models folder=requests:
    TEST_MODELS={{models}} cargo nextest run -p skillfold-index --features static-model model::
    cargo run --release -p skillfold-bench --features static-model,fts5 -- search --data {{folder}} --pool 10000 \
        --method static --model {{models}}/static

# The same with a transformer, which takes minutes to compile and more to compute
transformer models folder=requests:
    TEST_MODELS={{models}} cargo nextest run -p skillfold-index --features static-model,transformer model::
    cargo run --release -p skillfold-bench --features static-model,transformer,fts5 -- search --data {{folder}} --pool 10000 \
        --method transformer --model {{models}}/transformer --vectors {{models}}

# Ten thousand conversations at once, while the skills are swapped
sessions:
    cargo run --release -p skillfold-bench -- sessions --sessions 10000 --turns 50 --swaps 100

# What the server takes over HTTP: a thousand clients at once, then fifty as fast as they can
mcp:
    cargo build --release -p skillfold-cli
    cargo run --release -p skillfold-bench -- mcp --clients 1000 --seconds 60

# How soon a change of files is seen, what it costs, and whether storms of changes leave anything stale
reload:
    cargo run --release -p skillfold-bench -- reload --skills 10000 --changes 200
    cargo run --release -p skillfold-bench -- reload --skills 100000 --changes 100 --creations 0 --edits 0 --polls 0

# How many lines of what chooses and discloses run in tests; fails below 95 %
coverage:
    bash .ci/deep coverage

# Compare the linter's verdicts with the reference validator's on every file (needs the PyPI package skills-ref)
agreement file=corpus every="1" python="python3":
    cargo run --release -p skillfold-bench -- agreement --file {{file}} --every {{every}} --python {{python}}

# Ten million runs or half an hour of each fuzz target
fuzz:
    bash .ci/deep fuzz_long

# Swap files and folders for links while they are read and written, for so many seconds each (the tests do it for one)
race seconds="60":
    RACE_SECONDS={{seconds}} bash .ci/deep races

# Attack the command and the server as processes, and count what did not hold; `just attack 1` is the long form
attack part="0.1" *options:
    cargo build --release -p skillfold-cli
    python3 conformance/attack/run.py --skillfold "${CARGO_TARGET_DIR:-target}/release/skillfold" --part {{part}} {{options}}

# Everything that CI runs
ci:
    bash .ci/run

# What takes too long for CI: fuzzing, races, coverage, models, features, the oldest compiler, semver, the corpus, all benches
deep *stages:
    bash .ci/deep {{stages}}
