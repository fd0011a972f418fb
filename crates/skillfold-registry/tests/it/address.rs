//! Addresses with a version or a digest beside them.

use skillfold_registry::{Address, WantedSkill};

#[test]
fn digest_of_an_archive_is_kept_in_its_source() {
    let digest = format!("sha256:{}", "0a".repeat(32));
    let address = Address::parse(&format!("https://example.com/x.zip#{digest}")).unwrap();
    assert_eq!(address.location(), "https://example.com/x.zip");
    let wanted = WantedSkill::new(&address, Vec::new());
    assert_eq!(wanted.source, format!("https://example.com/x.zip#{digest}"));
    assert_eq!(wanted.address().unwrap(), address);
}

#[test]
fn folder_or_archive_with_a_version_is_refused() {
    for source in ["./skills", "https://example.com/x.zip"] {
        let error = Address::with_version(source, Some("v1")).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("A folder or an archive has no versions")
        );
        assert!(Address::with_version(source, None).is_ok());
    }
}
