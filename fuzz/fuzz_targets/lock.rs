#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skillfold_fuzz::run("lock", bytes));
