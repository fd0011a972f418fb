//! Tests that need a sandbox, where the system refuses it.

/// Leaves out the test that it is in where the system refuses the sandbox: prints why, and returns. Takes the report of the sandbox.
///
/// With the variable `SANDBOX=required`, no test is left out.
#[macro_export]
macro_rules! needs_sandbox {
    ($report:expr) => {{
        let report = $report;
        let mut required = report
            .layers
            .iter()
            .filter(|state| state.layer.is_required());
        if $crate::is_left_out(required.find_map(|state| state.missing.as_deref())) {
            return;
        }
    }};
}

/// Returns whether a test is left out for what is missing, and prints that it is.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "who runs the tests says so by a variable, and reads what was left out"
)]
pub fn is_left_out(missing: Option<&str>) -> bool {
    let is_required = std::env::var_os("SANDBOX").is_some_and(|value| value == "required");
    match missing {
        Some(why) if !is_required => {
            println!("left out: this system refuses the sandbox: {why}");
            true
        }
        _ => false,
    }
}
