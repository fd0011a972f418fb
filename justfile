# The menu. `just` lists it; CI runs the same commands through .ci/run.

corpus := "../shared/data/skills_corpus.jsonl.zst"
requests := "../shared/data/retrieval"

_default:
    @just --list --unsorted

# Format, lint, test and document, as before a commit
check:
    cargo fmt --all --check
    cargo clippy --all-targets -- -D warnings
    cargo nextest run
    cargo test --doc
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

# Run the tests
test:
    cargo nextest run
    cargo test --doc

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
    cargo run --release -p skillfold-bench --features static-model -- search --data {{folder}} --pool 10000 \
        --method static --model {{models}}/static

# The same with a transformer, which takes minutes to compile and more to compute
transformer models folder=requests:
    TEST_MODELS={{models}} cargo nextest run -p skillfold-index --features static-model,transformer model::
    cargo run --release -p skillfold-bench --features static-model,transformer -- search --data {{folder}} --pool 10000 \
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

# How many lines of what chooses and discloses run in tests (needs cargo-llvm-cov and the component llvm-tools)
coverage:
    mkdir -p target
    CARGO_PROFILE_DEV_DEBUG=0 cargo llvm-cov nextest -p skillfold-core --lcov --output-path target/lcov --status-level fail \
        -E 'test(/^(budget|costs|disclose|explain|matching|recall|search|session|steady|suggest)::/) + test(/^choose::/)'
    python3 .ci/coverage.py target/lcov 95 crates/skillfold-core/src/choose crates/skillfold-core/src/disclose

# The short form of the benches, as CI runs it
bench-smoke file=corpus folder=requests:
    cargo run --release -p skillfold-bench -- corpus --file {{file}}
    cargo run --release -p skillfold-bench -- discover --skills 10000 --corpus {{file}} --runs 15 --at-most 4.5 --refresh-at-most 1.3
    cargo run --release -p skillfold-bench -- load --skills 1000 --corpus {{file}} --at-most 2.5 --checked-at-most 2.0
    cargo run --release -p skillfold-bench -- memory --corpus {{file}} --judge
    cargo run --release -p skillfold-bench -- catalog --skills 100000 --refreshes 50 --at-most 10
    cargo run --release -p skillfold-bench -- sessions --sessions 500 --turns 20 --swaps 20
    cargo run --release -p skillfold-bench -- reload --skills 2000 --changes 20 --creations 5000 --edits 1000 --polls 1 --at-most 6
    cargo run --release -p skillfold-bench -- disclose --data {{folder}} --turns 100 --judge
    cargo build --release -p skillfold-cli
    cargo run --release -p skillfold-bench -- mcp --clients 100 --seconds 5 --at-least 0.15

# Compare the linter's verdicts with the reference validator's on every file (needs the PyPI package skills-ref)
agreement file=corpus every="1" python="python3":
    cargo run --release -p skillfold-bench -- agreement --file {{file}} --every {{every}} --python {{python}}

# A short fuzz run of each target (needs cargo-fuzz and a nightly compiler)
fuzz-smoke runs="100000":
    for target in lines manifest frontmatter fix; do just _fuzz $target yaml {{runs}}; done
    just _fuzz envelope envelope {{runs}}

# Ten million executions of each target
fuzz-long: (fuzz-smoke "10000000")

_fuzz target dict runs:
    mkdir -p fuzz/corpus/{{target}}
    cargo +nightly fuzz run -s none --no-trace-compares {{target}} fuzz/corpus/{{target}} fuzz/seeds/{{target}} -- \
        -runs={{runs}} -timeout=1 -rss_limit_mb=256 -max_len=256 -dict=fuzz/{{dict}}.dict -print_final_stats=1

# Swap files and folders for links while they are read, for so many seconds each (the tests do it for one)
race seconds="60":
    RACE_SECONDS={{seconds}} cargo nextest run -p skillfold-core -p skillfold -p skillfold-cli race swapped --no-capture

# Everything that CI runs
ci:
    bash .ci/run
