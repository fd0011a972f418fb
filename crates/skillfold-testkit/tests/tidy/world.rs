//! The core reads what it is given and touches nothing else.

use crate::report::{Finding, Offenders};
use crate::source::{bare, line_at, product, product_of, words};
use crate::tree::{File, file, files};
use crate::use_tree::paths_from;

const CORE: &str = "crates/skillfold-core/src/";

/// Standard library modules that access the outside world.
const WORLD: [&str; 5] = ["fs", "env", "process", "net", "thread"];

/// Calls that access the clock or the terminal.
const CALLS: [&str; 7] = [
    "SystemTime::now",
    "Instant::now",
    "println!",
    "eprintln!",
    "print!",
    "eprint!",
    "dbg!",
];

/// Files that own a part of the outside world, with the part.
const OWNERS: [(&str, &str); 2] = [
    ("crates/skillfold-core/src/source/fs/portable.rs", "fs"),
    ("crates/skillfold-core/src/source/fs/real_path.rs", "fs"),
];

/// What opens a connection, or accepts one.
const SOCKETS: [&str; 7] = [
    "TcpStream",
    "TcpSocket",
    "TcpListener",
    "UdpSocket",
    "UnixStream",
    "UnixDatagram",
    "ToSocketAddrs",
];

/// Files and folders that use the network, and what for. Everything else goes through one of them.
const NETWORK: [(&str, &str); 6] = [
    (
        "crates/skillfold-registry/src/http.rs",
        "skills from sources",
    ),
    (
        "crates/skillfold-http/src/fetch.rs",
        "the keys of the identity provider",
    ),
    ("crates/skillfold-mcp/src/http/", "clients of the server"),
    (
        "crates/skillfold-run/src/network/",
        "the proxy of a run with hosts",
    ),
    (
        "crates/skillfold-run/src/linux/",
        "how a run reaches that proxy",
    ),
    ("crates/skillfold-testkit/", "tests"),
];

/// Where unsafe code is allowed: the counting allocator and the sandbox.
const UNSAFE: [&str; 2] = ["bench/src/allocator.rs", "crates/skillfold-run/"];

#[test]
fn core_does_no_io_and_reads_no_clock_or_environment() {
    let mut offenders = Offenders::default();
    for file in core_files() {
        let owned = OWNERS
            .iter()
            .find(|(path, _)| *path == file.path)
            .map(|(_, part)| *part);
        offenders.add(&file.path, touches(&product(file), owned));
    }
    offenders.expect_none(
        "Take the value as a parameter, or go through `Source`; the frontends touch the world",
    );
}

#[test]
fn core_forbids_unsafe() {
    let mut offenders = Offenders::default();
    let lib = file("crates/skillfold-core/src/lib.rs").expect("the core has a root");
    offenders.add(&lib.path, missing_forbid(&lib.text));
    for file in files().iter().filter(|file| file.is_rust()) {
        if !UNSAFE.iter().any(|allowed| file.path.starts_with(allowed)) {
            offenders.add(&file.path, unsafe_code(&file.text));
        }
    }
    offenders.expect_none(
        "Write it without unsafe code, or move it to skillfold-run with a `// SAFETY:` comment",
    );
}

#[test]
fn network_is_used_in_named_files_alone() {
    let mut offenders = Offenders::default();
    let shipped = files().iter().filter(|file| file.is_rust());
    let shipped = shipped.filter(|file| {
        ["crates/", "bindings/"]
            .iter()
            .any(|root| file.path.starts_with(root))
    });
    for file in shipped.filter(|file| file.path.contains("/src/")) {
        let is_named = NETWORK
            .iter()
            .any(|(place, _)| file.path.starts_with(place));
        if !is_named {
            offenders.add(&file.path, sockets(&product(file)));
        }
    }
    offenders.expect_none("Go through a file that uses the network already, or name this one and what it is for in `NETWORK`");
}

fn core_files() -> impl Iterator<Item = &'static File> {
    files()
        .iter()
        .filter(|file| file.is_rust() && file.path.starts_with(CORE))
}

/// Finds accesses to the outside world, except the part that the file owns.
fn touches(code: &str, owned: Option<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, path) in paths_from("std", code) {
        let module = path.split("::").next().unwrap_or_default();
        if WORLD.contains(&module) && owned != Some(module) {
            findings.push(Finding::new(
                line,
                format!("Core touches the world: `std::{module}`"),
            ));
        }
    }
    for call in CALLS {
        findings.extend(words(code, call).map(|position| {
            Finding::new(
                line_at(code, position),
                format!("Core touches the world: `{call}`"),
            )
        }));
    }
    findings
}

/// Finds what opens or accepts connections.
fn sockets(code: &str) -> Vec<Finding> {
    // Its types of addresses open nothing.
    let requests = paths_from("ureq", code).into_iter();
    let requests = requests.filter(|(_, path)| !path.starts_with("http::"));
    let requests = requests.map(|(line, path)| (line, format!("ureq::{path}")));
    let sockets = SOCKETS.iter().flat_map(|socket| {
        let places = words(code, socket);
        places.map(move |position| (line_at(code, position), (*socket).to_owned()))
    });
    let found = requests.chain(sockets);
    found
        .map(|(line, what)| Finding::new(line, format!("Uses the network: `{what}`")))
        .collect()
}

fn missing_forbid(text: &str) -> Option<Finding> {
    let says = product_of(text)
        .lines()
        .any(|line| line == "#![forbid(unsafe_code)]");
    (!says).then(|| Finding::new(1, "Line is missing: `#![forbid(unsafe_code)]`"))
}

fn unsafe_code(text: &str) -> Vec<Finding> {
    let code = bare(text);
    words(&code, "unsafe")
        .filter(|position| {
            let after = code[position + "unsafe".len()..].trim_start();
            ["{", "impl", "fn", "trait", "extern", "("]
                .iter()
                .any(|start| after.starts_with(start))
        })
        .map(|position| Finding::new(line_at(&code, position), "Unsafe code stands here"))
        .collect()
}

#[test]
fn ambient_access_in_core_is_found() {
    let code = "use std::fs;\nuse std::{env::var, fmt};\nlet now = SystemTime::now();\neprint!();\nstd::process::exit(1);\n\
                use std::os::unix::fs::MetadataExt;\nlet root = env!();\nuse rustix::fs::openat;\n";
    let found: Vec<_> = touches(&product_of(code), None)
        .into_iter()
        .map(|finding| finding.what)
        .collect();
    let expected = [
        "std::fs",
        "std::env",
        "std::process",
        "SystemTime::now",
        "eprint!",
    ];
    assert_eq!(
        found,
        expected.map(|touch| format!("Core touches the world: `{touch}`"))
    );
}

#[test]
fn exempt_file_may_use_one_kind_of_access() {
    let found = touches("std::fs::read();\nstd::env::var();\n", Some("fs"));
    assert_eq!(
        found,
        [Finding::new(2, "Core touches the world: `std::env`")]
    );
}

#[test]
fn core_that_allows_unsafe_is_found() {
    assert!(missing_forbid("//! Lesson with `#![forbid(unsafe_code)]`\nmod a;\n").is_some());
    assert!(missing_forbid("//! Lesson\n#![forbid(unsafe_code)]\nmod a;\n").is_none());
}

#[test]
fn unsafe_code_is_found() {
    let text = "// unsafe { }\nunsafe impl Send for A {}\nlet a = unsafe\n{ b };\n#![forbid(unsafe_code)]\n\"unsafe fn\"\n";
    let lines: Vec<_> = unsafe_code(text)
        .into_iter()
        .map(|finding| finding.line)
        .collect();
    assert_eq!(lines, [2, 3]);
}

#[test]
fn use_of_the_network_is_found() {
    let code = "use std::net::{IpAddr, TcpStream};\nuse ureq::{Agent, http::Uri};\nlet name = \"UdpSocket\";\n";
    let found: Vec<_> = sockets(&product_of(code))
        .into_iter()
        .map(|finding| finding.what)
        .collect();
    let expected = ["ureq::Agent", "TcpStream"];
    assert_eq!(
        found,
        expected.map(|socket| format!("Uses the network: `{socket}`"))
    );
}
