# `just` lists the recipes. CI runs the same commands through .ci/run.

corpus := "../shared/data/skills_corpus.jsonl.zst"
requests := "../shared/data/retrieval"

_default:
    @just --list --unsorted

# Check formatting, lints, tests and documentation, as before a commit
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

# Parse every real file of a corpus and count loaded, repaired and refused ones
corpus file=corpus:
    cargo run --release -p skillfold-bench -- corpus --file {{file}}

# Cost of discovery: real files with both readers, generated files, 100 and 100,000 skills
discover file=corpus:
    cargo run --release -p skillfold-bench -- discover --skills 10000 --corpus {{file}} --runs 15
    cargo run --release -p skillfold-bench -- discover --skills 10000 --corpus {{file}} --runs 15 --yaml-only
    cargo run --release -p skillfold-bench -- discover --skills 100000 --corpus {{file}} --runs 5
    cargo run --release -p skillfold-bench -- discover --skills 10000
    cargo run --release -p skillfold-bench -- discover --skills 100 --runs 25

# Cost of lookups and pages with 100,000 skills, and 1,000 refreshes while two threads read
catalog:
    cargo run --release -p skillfold-bench -- catalog --skills 100000 --refreshes 1000

# Cost of a first and a repeated load, and memory use
load file=corpus:
    cargo run --release -p skillfold-bench -- load --skills 1000
    cargo run --release -p skillfold-bench -- load --skills 1000 --corpus {{file}}
    cargo run --release -p skillfold-bench -- memory
    cargo run --release -p skillfold-bench -- memory --corpus {{file}}

# Error of the token estimate compared with exact counts
tokens file=corpus:
    cargo run --release -p skillfold-bench -- tokens --file {{file}}
    cargo run --release -p skillfold-bench -- tokens --file {{file}} --descriptions

# Cost of matching a message, with rare and with common triggers
match:
    cargo run --release -p skillfold-bench -- match --skills 1000
    cargo run --release -p skillfold-bench -- match --skills 10000
    cargo run --release -p skillfold-bench -- match --skills 1000 --common
    cargo run --release -p skillfold-bench -- match --skills 10000 --common

# Cost of requests that need no skill
disclose folder=requests:
    cargo run --release -p skillfold-bench -- disclose --data {{folder}} --judge
    cargo run --release -p skillfold-bench -- disclose --data {{folder}} --style tiers

# How often a prompt gets the right skill unasked, and how often one that needs none gets anything
activation folder=requests:
    cargo run --release -p skillfold-bench -- activation --data {{folder}} --pool 20 --pool 60 --pool 200 --pool 659 --pool 10000 --draws 100

# A month of 30 users with a hook that learns from what they use, and with one that does not
month folder=requests:
    cargo run --release -p skillfold-bench -- month --data {{folder}} --less-noise 0

# 10,000 hostile or broken events for the hook
hook-attack:
    HOOK_EVENTS=10000 cargo nextest run --workspace -E 'test(every_event_gets_exit_code_zero)'

# Search by meaning with a static model: tests and accuracy (needs the models from bench/models.py)
meaning models folder=requests:
    TEST_MODELS={{models}} cargo nextest run -p skillfold-index --features static-model model::
    cargo run --release -p skillfold-bench --features static-model,fts5 -- search --data {{folder}} --pool 10000 \
        --method static --model {{models}}/static

# Ten thousand concurrent conversations while the skills are swapped
sessions:
    cargo run --release -p skillfold-bench -- sessions --sessions 10000 --turns 50 --swaps 100

# How late another task of a single-threaded runtime gets while skills are discovered, chosen and loaded as futures
futures:
    cargo run --release -p skillfold-bench -- futures --skills 10000 --calls 1000

# Load on the HTTP server: a thousand concurrent clients, then fifty as fast as they can
mcp:
    cargo build --release -p skillfold-cli
    cargo run --release -p skillfold-bench -- mcp --clients 1000 --seconds 60

# How soon a file change is seen, its cost, and whether bursts of changes leave anything stale
reload:
    cargo run --release -p skillfold-bench -- reload --skills 10000 --changes 200
    cargo run --release -p skillfold-bench -- reload --skills 100000 --changes 100 --creations 0 --edits 0 --polls 0

# Line coverage of the folders `choose` and `disclose`; fails below 95 %
coverage:
    bash .ci/deep coverage

# Compare the linter's verdicts with the reference validator's on every file (needs the PyPI package skills-ref)
agreement file=corpus every="1" python="python3":
    cargo run --release -p skillfold-bench -- agreement --file {{file}} --every {{every}} --python {{python}}

# Run each fuzz target ten million times or for half an hour
fuzz:
    bash .ci/deep fuzz_long

# Swap files and folders for links while they are read and written; `seconds` per race (tests run one second)
race seconds="60":
    RACE_SECONDS={{seconds}} bash .ci/deep races

# Attack the command and the server as processes, and count failures; `just attack 1` is the long form
attack part="0.1" *options:
    cargo build --release -p skillfold-cli
    python3 conformance/attack/run.py --skillfold "${CARGO_TARGET_DIR:-target}/release/skillfold" --part {{part}} {{options}}

# Show what of our server and our skills reaches the model in real clients; `just clients --skills 63` for one size
clients *options:
    cargo build --release -p skillfold-cli
    python3 conformance/clients/run.py --skillfold "${CARGO_TARGET_DIR:-target}/release/skillfold" \
        --cache "${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-ci/clients" --corpus {{corpus}} {{options}}

# Take real clients through `setup`, new and removed skills, and `--undo`, and compare every byte; `just cycle --client codex` for one
cycle *options:
    cargo build --release -p skillfold-cli
    python3 conformance/clients/cycle.py --skillfold "${CARGO_TARGET_DIR:-target}/release/skillfold" \
        --cache "${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-ci/clients" {{options}}

# Compare what Claude Code, Codex and Skillfold list of 358 awkward skills; `just awkward --table` prints the tables of the page
awkward *options:
    cargo build --release -p skillfold-cli
    python3 conformance/clients/awkward.py --skillfold "${CARGO_TARGET_DIR:-target}/release/skillfold" \
        --cache "${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-ci/clients" {{options}}

# Compare what `list`, `prompt`, `why`, `report` and `doctor` say about real clients with what their models get
truth *options:
    cargo build --release -p skillfold-cli
    python3 conformance/clients/truth.py --skillfold "${CARGO_TARGET_DIR:-target}/release/skillfold" \
        --cache "${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-ci/clients" {{options}}

# Drive real clients with our hook, and install our plugins into them
client-hooks:
    cargo build --release -p skillfold-cli
    python3 conformance/clients/hooks.py --skillfold "${CARGO_TARGET_DIR:-target}/release/skillfold" \
        --cache "${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-ci/clients"
    python3 conformance/clients/plugins.py --skillfold "${CARGO_TARGET_DIR:-target}/release/skillfold" \
        --cache "${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-ci/clients"

# Let models run scripts and tools of skills in real clients, and answer our form in their terminals; `--client codex` for one
client-scripts *options:
    cargo build --release -p skillfold-cli
    python3 conformance/clients/scripts.py --skillfold "${CARGO_TARGET_DIR:-target}/release/skillfold" \
        --cache "${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-ci/clients" {{options}}

# Time of the hook from exec to exit, with 60, 1,000 and 10,000 skills
hook-latency folder=requests:
    cargo build --release -p skillfold-cli
    python3 bench/hook_latency.py --skillfold "${CARGO_TARGET_DIR:-target}/release/skillfold" --data {{folder}}

# Generate the plugin packages for clients, and check them
plugins folder:
    python3 packaging/plugins/generate.py {{folder}}
    python3 packaging/plugins/generate.py --check {{folder}}

# Build and pack the static Linux binary into dist/, and try it; fails if the archive has 20 MB
archive:
    bash .ci/deep archive

# Build the wheel of the Python package and test it as it is installed, with the real frameworks
python:
    bash .ci/python

# Pack the Node package, and test it as it is installed
node:
    bash .ci/node

# Compare the Python package with its peers, and its memory over a million calls; `python` has the wheel and bench/python/requirements.txt
python-bench python="python3" file=corpus *options:
    cargo build --release -p skillfold-bench
    {{python}} bench/python/run.py --corpus {{file}} --engine "${CARGO_TARGET_DIR:-target}/release/skillfold-bench" {{options}}
    {{python}} bench/python/memory.py

# Compare the Node package with its peers and with the engine alone; needs `just npm x86_64-unknown-linux-gnu`, and `modules` with bench/node/package.json installed
node-bench modules file=corpus *options:
    cargo build --profile smoke -p skillfold-bench
    python3 bench/node/run.py --packages dist/npm --modules {{modules}} --corpus {{file}} --engine "${CARGO_TARGET_DIR:-target}/smoke/skillfold-bench" {{options}}

# Draw docs/performance.md from bench/figures.json; `just plots --check` fails if a drawing or a source page differs
plots *options:
    python3 bench/plots.py {{options}}

# Build the wheels for other systems into dist/wheels, and check them
wheels *targets:
    packaging/wheels.sh {{targets}}

# Build the packages for npm for other systems into dist/npm, and check them
npm *targets:
    packaging/npm.sh {{targets}}

# Draw the terminal of the README in a real one (tmux)
picture:
    cargo build --release -p skillfold-cli
    python3 docs/images/terminal.py target/release/skillfold

# Let every call of the store fail, lose what was not flushed, and race approvals, in the long form
crashes:
    bash .ci/deep crashes

# Probes and a thousand hostile runs against the built-in sandbox and bubblewrap, and what it costs to start a script in each
sandbox:
    BOX_RUNS=1000 cargo nextest run --workspace --no-capture -E 'package(skillfold-run)'
    TEST_SANDBOX=bubblewrap BOX_RUNS=1000 cargo nextest run --workspace --no-capture -E 'package(skillfold-run)'
    cargo run --release -p skillfold-bench -- run

# Compare a call of a WebAssembly tool with the same function called natively
wasm-bench *options:
    cargo run --release -p skillfold-bench --features wasm -- wasm {{options}}

# An agent proposes a change over MCP, a person reviews it in a real terminal; `--update` writes the screens
improve *options:
    cargo build --release -p skillfold-cli
    python3 conformance/improve/run.py --skillfold target/release/skillfold {{options}}

# A person lets a skill run in a real terminal, a model runs it over MCP; `--update` writes the screens
run-scripts *options:
    cargo build --release -p skillfold-cli
    python3 conformance/run/run.py --skillfold target/release/skillfold {{options}}

# Skills from real servers of git and files: 200 restored, 1,000 changed bytes, 500 attacks, every fault of a write, 200 updates with
# edits, other installers and clients, and what it costs; `--only NAME` runs one of these
registry *options:
    cargo build --release -p skillfold-cli
    python3 conformance/registry/run.py --skillfold target/release/skillfold --release {{options}}

# Update from two older programs and go back: nothing is lost, and each refusal is as docs/formats.md says. Builds the older ones once
upgrade *options:
    cargo build --release -p skillfold-cli
    python3 conformance/upgrade/run.py --new "${CARGO_TARGET_DIR:-target}/release/skillfold" \
        --cache "${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-ci/older" {{options}}

# Ten skills work on a project, as a new user would have them; `--uv PATH` for those with packages
project-skills *options:
    cargo build --release -p skillfold-cli
    python3 conformance/project/run.py --skillfold target/release/skillfold {{options}}

# Compare the screens of every command at 80 and 120 columns, with 68 and 3,000 skills; `--update` writes them
screens *options:
    cargo build --release -p skillfold-cli
    python3 conformance/screens/run.py --skillfold target/release/skillfold {{options}}

# Do what the README says, as a new user with an empty home
readme *options:
    cargo build --release -p skillfold-cli
    python3 conformance/readme/run.py --skillfold target/release/skillfold {{options}}

# Build the documentation as a book in dist/book, and check every link in it; needs mdBook 0.5.4
book folder="dist/book":
    python3 .ci/book.py {{folder}}

# Build the site in dist/site: the landing page, the book below it, and a report on the examples; needs mdBook 0.5.4
site folder="dist/site":
    cargo build --release -p skillfold-cli
    python3 .ci/build_site.py --skillfold "${CARGO_TARGET_DIR:-target}/release/skillfold" {{folder}}

# Run CI's checks that measure time or load ten times, beside two busy loops
timing runs="10":
    bash .ci/timing {{runs}}

# Lint the scripts, and the workflows, issue forms, formula and container that only other machines run
packaging:
    bash .ci/packaging

# Everything that CI runs; `CI_ALL=1` also the stages whose inputs have not changed
ci:
    bash .ci/run

# Checks that this commit can be released as a version, and tags it
release version:
    packaging/release.py {{version}}

# Make a release in a clone, publish it to real registries on the loopback, and install from each in a clean system; needs root
rehearse *parts:
    packaging/rehearsal/run.py {{parts}}

# Build the archive of dist/ again in another place, and compare the bytes
reproduce target="x86_64-unknown-linux-musl":
    packaging/reproduce.sh {{target}}

# What takes too long for CI: fuzzing, races, coverage, models, features, oldest compiler, semver, packages, corpus, all benchmarks
deep *stages:
    bash .ci/deep {{stages}}
