# The benches of the gate, for .ci/run and .ci/timing. Limits allow for a debug build on a noisy machine; .ci/deep judges
# release builds by the goals.
timed_benches() {
    measured bench match --skills 1000 --at-most 25
    measured bench catalog --skills 20000 --refreshes 20 --at-most 10
    measured bench sessions --sessions 200 --turns 20 --swaps 20
    measured bench futures --skills 2000 --calls 300 --runs 3
    # 7 on a quiet machine, 9 beside another build, up to 16 beside several: the sandbox makes more system calls than `sh`.
    measured bench run --runs 31 --at-most 18
    measured bench mcp --clients 50 --seconds 3 --at-least 0.15 --skillfold "$skillfold"
    if has_data "$corpus" "benches over the corpus"; then
        # The ratio is 5.2 on a quiet machine, and 5.8 beside other builds: the kernel part slows down less.
        measured bench discover --skills 3000 --corpus "$corpus" --runs 7 --at-most 6.2 --refresh-at-most 1.3 --start-at-most 2.5
        measured bench load --skills 1000 --corpus "$corpus" --at-most 2.5 --checked-at-most 2.0
    fi
}
