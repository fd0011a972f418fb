//! The obvious baseline: `SQLite` full-text search.

use std::error::Error;

use rusqlite::Connection;

use crate::search::method::{Hit, Method};
use crate::search::pool::Pool;

/// Maximum number of words to search for per request.
const WORDS: usize = 40;

/// Stop words.
const STOP: [&str; 64] = [
    "a", "about", "an", "and", "are", "as", "at", "be", "but", "by", "can", "could", "do", "for",
    "from", "has", "have", "help", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my",
    "need", "not", "of", "on", "or", "our", "please", "should", "so", "than", "that", "the",
    "their", "them", "then", "there", "they", "this", "to", "us", "use", "using", "want", "was",
    "we", "were", "what", "when", "which", "will", "with", "would", "you", "your", "am", "been",
];

const TABLE: &str = "create virtual table skills using \
    fts5(name, description, tags, body, tokenize = 'porter unicode61')";
const INSERT: &str =
    "insert into skills (rowid, name, description, tags, body) values (?1, ?2, ?3, ?4, ?5)";
const SEARCH: &str = "select rowid, -bm25(skills, 5.0, 3.0, 3.0, 1.0) as score from skills \
    where skills match ?1 order by score desc limit ?2";

struct Fts5 {
    database: Connection,
    bytes: u64,
}

/// Puts all skills into an in-memory database: Porter stems, and `bm25` with weights 5 for the name, 3 for the
/// description, 3 for tags and triggers and 1 for the body. The database also stores the text, as FTS5 does by default.
pub(crate) fn make(pool: &Pool) -> Result<Box<dyn Method>, Box<dyn Error>> {
    let mut database = Connection::open_in_memory()?;
    database.execute_batch(TABLE)?;
    let transaction = database.transaction()?;
    {
        let mut insert = transaction.prepare(INSERT)?;
        for (place, skill) in (0_i64..).zip(&pool.skills) {
            let tags = format!("{} {}", skill.tags, skill.triggers.join(", "));
            let fields = (place, &skill.name, &skill.description, tags, &skill.body);
            insert.execute(fields)?;
        }
    }
    transaction.commit()?;
    let sizes = "select page_count * page_size from pragma_page_count, pragma_page_size";
    let bytes: i64 = database.query_row(sizes, (), |row| row.get(0))?;
    let bytes = u64::try_from(bytes)?;
    Ok(Box::new(Fts5 { database, bytes }))
}

impl Method for Fts5 {
    fn search(&self, request: &str, count: usize) -> Result<Vec<Hit>, Box<dyn Error>> {
        let words = words(request);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let mut search = self.database.prepare(SEARCH)?;
        let any = format!("\"{}\"", words.join("\" OR \""));
        let rows = search.query_map((any, i64::try_from(count)?), |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?))
        })?;
        rows.map(|row| {
            let (place, score) = row?;
            Ok(Hit {
                place: usize::try_from(place)?,
                score,
            })
        })
        .collect()
    }

    fn index_bytes(&self) -> Option<u64> {
        Some(self.bytes)
    }
}

/// Returns a request's first distinct words: at least two characters long, without stop words.
fn words(request: &str) -> Vec<String> {
    let request = request.to_lowercase();
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let mut words: Vec<String> = Vec::new();
    for word in request.split(|character| !is_part(character)) {
        let is_said = word.chars().nth(1).is_some() && !STOP.contains(&word);
        if is_said && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
        if words.len() == WORDS {
            break;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{WORDS, words};

    #[test]
    fn query_words_are_unique_and_not_stop_words() {
        let found = words("Please merge the PDFs, and merge \"b\" OR NEAR(x) into one!");
        assert_eq!(found, ["merge", "pdfs", "near", "one"]);
        let many: Vec<String> = (0..100).map(|number| format!("word{number}")).collect();
        let many = many.join(" ");
        assert_eq!(words(&many).len(), WORDS);
    }
}
