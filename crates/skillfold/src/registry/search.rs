//! Searches the skills of a source before they are added.

use skillfold_core::search::{SearchCoverage, SearchIndex};
use skillfold_core::{Catalog, CatalogOptions, Error, MemorySource, Root, Scope};

use super::{Address, Registry, SourceContents};
use crate::environment;

impl Registry<'_> {
    /// Returns the `limit` skills of a source that answer a request best, by their names and descriptions.
    ///
    /// # Errors
    ///
    /// Those of [`skills_in`](Self::skills_in).
    pub fn search(
        &self,
        address: &Address,
        request: &str,
        limit: usize,
    ) -> Result<SourceContents, Error> {
        let mut contents = self.skills_in(address)?;
        let files = contents.skills.iter().zip(0_usize..).map(|(it, number)| {
            // A JSON string is a YAML string.
            let description = serde_json::Value::from(it.skill.description.as_str());
            let text = format!(
                "---\nname: skill-{number}\ndescription: {description}\n---\n{}\n",
                it.skill.name
            );
            (format!("skill-{number}/SKILL.md"), text)
        });
        let root = Root::new(Scope::Bundled, "source", MemorySource::new(files));
        let catalog = Catalog::discover(vec![root], CatalogOptions::default(), environment::now());
        let index = SearchIndex::new(&catalog, SearchCoverage::Bodies);
        let found = index.search(&index.query(request), limit, |_| true);
        let numbers = found.hits.iter().filter_map(|hit| {
            let number = hit.entry.id().strip_prefix("skill-")?;
            number.parse::<usize>().ok()
        });
        contents.skills = numbers
            .filter_map(|number| contents.skills.get(number).cloned())
            .collect();
        Ok(contents)
    }
}
