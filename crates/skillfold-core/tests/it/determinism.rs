//! What is told depends on the skills alone: not on the order of a file system, and not on hashing.

use proptest::prelude::*;
use skillfold_core::disclose::Style;
use skillfold_core::{
    Catalog, CatalogOptions, ContextLifetime, FsSource, LoadOptions, Loader, Matcher, Policy, Root,
    Scope, SessionState,
};
use skillfold_testkit::{far_future, write};

const SKILLS: usize = 9;

/// Makes folders in some order and some other in another root, and returns all that a model is told.
fn told(order: &[usize], style: Style) -> String {
    let folder = tempfile::tempdir().unwrap();
    for number in order {
        let of = ["a", "b", "c"][number % 3];
        // Names are those of several roots, so that some are shadowed.
        let path = format!("{of}/folder-{number}/SKILL.md");
        let name = format!("skill-{}", number / 2);
        let text = format!(
            "---\nname: {name}\ndescription: Number {number} does many things\ntriggers: [both, word{number}]\n---\nDo {number}.\n"
        );
        write(folder.path(), &[(path, text)]);
    }
    let roots = [
        ("a", Scope::User),
        ("b", Scope::Project),
        ("c", Scope::Bundled),
    ];
    let roots = roots.map(|(of, scope)| {
        let source = FsSource::open(folder.path().join(of)).unwrap();
        Root::new(scope, of, source)
    });
    let catalog = Catalog::discover(roots.into(), CatalogOptions::default(), far_future());
    let policy = Policy::default().with_style(style);
    let (matcher, loader) = (
        Matcher::new(&catalog),
        Loader::new(LoadOptions::default(), far_future),
    );
    let mut session = SessionState::new(ContextLifetime::Transient);
    let mut all = session.listing(&catalog, &policy).text;
    for message in ["both", "word3 and word1", "what can you do?", "nothing"] {
        let turn = session.turn(&matcher, &loader, &policy, message);
        all += &format!("-- {message}\n{:?}\n", turn.text);
        for decision in turn.decisions {
            all += &format!("{} {}\n", decision.id, decision.outcome.as_str());
        }
    }
    let root = folder.path().to_string_lossy().into_owned();
    all.replace(&root, "ROOT")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn output_does_not_depend_on_directory_order_or_hashing(
        order in Just((0..SKILLS).collect::<Vec<_>>()).prop_shuffle(),
        style in prop::sample::select(Style::ALL.to_vec()),
    ) {
        let sorted: Vec<usize> = (0..SKILLS).collect();
        prop_assert_eq!(told(&order, style), told(&sorted, style));
    }
}
