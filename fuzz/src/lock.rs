//! Any text as a lock, a manifest, a policy and a source: what is read is written and read again as the same.

use skillfold_registry::{Address, Lockfile, SourcePolicy, WantedSkills};

pub(crate) fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(lock) = Lockfile::parse("skills.lock", &text) {
        let again = Lockfile::parse("skills.lock", &lock.to_text());
        assert_eq!(again.expect("our own text"), lock, "a lock reads as it was");
        for skill in lock.iter() {
            if let Ok(address) = skill.address() {
                check_address(&address);
            }
        }
    }
    if let Ok(wanted) = WantedSkills::parse("skills.toml", &text) {
        let mut other = WantedSkills::default();
        for (name, skill) in wanted.iter() {
            other.insert(name.clone(), skill.clone());
        }
        let again = WantedSkills::parse("skills.toml", &other.to_text()).expect("our own text");
        assert!(again.iter().eq(wanted.iter()), "a manifest reads as it was");
    }
    if let Ok(policy) = SourcePolicy::parse("policy.toml", &text) {
        drop(policy.rules());
    }
    for line in text.lines() {
        if let Ok(address) = Address::parse(line) {
            check_address(&address);
        }
    }
}

fn check_address(address: &Address) {
    let again = Address::with_version(address.source(), address.version());
    let again = again.expect("the lock has a source like this");
    assert_eq!(again.location(), address.location(), "one place");
    assert_eq!(again.folder(), address.folder(), "one folder");
    assert!(
        !address.location().starts_with('-'),
        "no option of a program"
    );
    assert!(
        !address.location().contains(char::is_control),
        "no control character is given to a program"
    );
}
