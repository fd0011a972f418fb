//! Every diagnostic code in one table: number, severity, description, hint.

use serde::{Deserialize, Serialize};

words! {
    /// Severity of a finding. An error does not mean that the skill was refused: see [`Parsed`](crate::read::Parsed).
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Severity {
        /// For information only.
        Info = "info",
        /// Works here, but may not work in other clients.
        Warning = "warning",
        /// Violates the specification, or something was refused.
        Error = "error",
    }
}

macro_rules! codes {
    ($($variant:ident $number:literal $severity:ident $description:literal, $hint:literal;)*) => {
        /// The kind of a [`Diagnostic`](crate::Diagnostic). Its number is stable across releases.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $description] #[serde(rename = $number)] $variant,)*
        }

        impl Code {
            /// All codes, sorted by number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the stable number, such as `SF007`.
            pub const fn number(self) -> &'static str {
                match self { $(Self::$variant => $number,)* }
            }

            /// Returns the default severity, which a [`Profile`](crate::read::Profile) may change.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// Returns a one-sentence description.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$variant => $description,)* }
            }

            /// Returns what the author of the file can do about it.
            pub const fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }
        }
    };
}

codes! {
    // The file as a whole.
    NoFrontmatter "SF001" Error "The file does not start with a frontmatter block",
        "Start the file with a line `---`, then `name:` and `description:`, then another line `---`";
    UnclosedFrontmatter "SF002" Error "The frontmatter block is opened and never closed",
        "Add a line `---` after the last field, before the instructions";
    FrontmatterTooLarge "SF003" Error "The frontmatter block is longer than the limit",
        "Move long text from the frontmatter into the body or a file under `references/`";
    NotUtf8 "SF004" Warning "The frontmatter has bytes that are not UTF-8",
        "Save the file as UTF-8";
    NotAMapping "SF005" Error "The frontmatter is not a mapping of fields",
        "Write one `field: value` per line between the fences";
    MissingName "SF006" Error "The required field `name` is missing or empty",
        "Add `name:` with the name of the folder";
    MissingDescription "SF007" Error "The required field `description` is missing or empty",
        "Add `description:` with what the skill does and when to use it";
    UnsafeName "SF008" Error "The name is not safe to use as an id",
        "Use lowercase letters, digits and single hyphens, at most 64";
    OtherEncoding "SF009" Error "The file is encoded as UTF-16 or UTF-32",
        "Save the file as UTF-8";

    // YAML.
    YamlSyntax "SF010" Warning "The frontmatter is not valid YAML",
        "Correct the line; other clients may drop this skill";
    YamlAlias "SF011" Error "YAML aliases are refused",
        "Write the value out, or quote it if `*` is meant as text";
    YamlAnchor "SF012" Error "YAML anchors are refused",
        "Remove the anchor, or quote the value if `&` is meant as text";
    YamlTag "SF013" Error "YAML tags are refused",
        "Remove the tag, or quote the value if `!` is meant as text";
    YamlMergeKey "SF014" Error "YAML merge keys are refused",
        "Write the merged fields out";
    YamlDuplicateKey "SF015" Error "A field is given twice; the first value is used",
        "Keep one of the two";
    YamlSecondDocument "SF016" Error "The frontmatter holds more than one YAML document",
        "Remove the line that ends or starts a document inside the frontmatter";
    YamlTooDeep "SF017" Error "The frontmatter is nested deeper than the limit",
        "Flatten the value, or move it into a file";
    YamlTooManyKeys "SF018" Error "The frontmatter has more fields than the limit",
        "Move data from the frontmatter into a file";
    YamlComplexKey "SF019" Error "A field's name is not plain text",
        "Use a word as the name of the field; quote a value that has braces";

    // Repairs: the file was read as if it had been written correctly.
    RepairedColon "SF101" Warning "A value with an unquoted `: ` was read as text",
        "Put the value in quotes";
    RepairedBlockScalar "SF102" Warning "Text on the line of a `>` or `|` was read as the value",
        "Put the text on the next line, indented, or remove the `>` or `|`";
    RepairedReserved "SF103" Warning "A value that starts with a character YAML reserves was read as text",
        "Put the value in quotes";
    RepairedTabs "SF104" Warning "Tabs in the indentation were read as spaces",
        "Indent with spaces";
    ByteOrderMark "SF105" Info "A byte-order mark at the start of the file was skipped",
        "Save the file as UTF-8 without a byte-order mark";
    CrlfLines "SF106" Info "Lines end with carriage return and line feed",
        "Save the file with Unix line ends; some clients do not find the fences";
    RepairedQuotes "SF107" Warning "A value whose quotes do not match was read as text",
        "Close the quotes, and double or escape quotes inside them";
    ControlCharacters "SF108" Warning "Control characters were removed",
        "Delete the control characters";
    RepairedFence "SF109" Warning "The closing fence is missing; the frontmatter was ended where the instructions start",
        "Add a line `---` after the last field";
    ReadAsText "SF110" Warning "A value that is not valid YAML was read as text",
        "Put the value in quotes, or correct its indentation";
    LateFence "SF111" Warning "The frontmatter does not start on the first line",
        "Move the opening `---` to the first line; other clients will not find it";
    RepairedSpace "SF112" Warning "A colon without a space after it was read as the end of the field's name",
        "Write a space after the colon";
    StrayLine "SF113" Error "A line of the frontmatter belongs to no field and was left out",
        "Indent the line under its field, or remove it";
    FieldSpelling "SF114" Warning "A field's name is misspelt and was read as the field it resembles",
        "Write the field's name as the specification does";
    RepairedIndent "SF115" Warning "A field that is indented unlike the others was read as a field, or an indented fence as a fence",
        "Start every field and fence in the first column";
    DescriptionFromBody "SF116" Warning "The skill does not describe itself; it is described by the first sentence of its instructions, or by its name",
        "Add `description:` with what the skill does and when to use it";
    LinkAsText "SF117" Warning "The file has nothing but the path of another file: a symbolic link that git checked out as text",
        "Run `git config core.symlinks true` and check the file out again, or replace it with the file that it names";

    // Fields.
    WrongType "SF201" Warning "A field has a value of the wrong type; it is kept but not used",
        "Write the value as the documentation of the field shows";
    EmptyEntry "SF202" Warning "An empty entry of a list was left out",
        "Remove the entry or fill it in";
    NotABool "SF203" Warning "A boolean field has another value; it is kept but not used",
        "Write `true` or `false`";
    VersionForm "SF204" Info "The version is not a semantic version",
        "Write three numbers with dots, such as `1.0.0`";
    ToolsetForm "SF205" Warning "A toolset is not written as `path:Name`, with a path inside the skill",
        "Write the path inside the skill, a colon, and the exported name";
    TriggerForm "SF206" Warning "A key under `triggers` is not known; it is kept but not used",
        "Use `keywords`, `verbs` or `patterns`";
    Oversize "SF207" Warning "The file is larger than an agent should load at once",
        "Split the skill, or move detail into files under `references/`";
    EngineForm "SF208" Warning "The versions of a program under `engines` cannot be read; they are kept but not checked",
        "Write comparisons such as `>=2.0` or `>=2.0, <3`";
    ScriptPath "SF209" Warning "An entry under `scripts` is not the path of a file inside the skill",
        "Write a path such as `scripts/run.py`, or a mapping with `path`";

    // The specification's rules.
    NameLength "SF301" Error "The name is longer than 64 characters; the skill has its folder's name",
        "Shorten `name`, and rename the folder with it";
    NameCharacters "SF302" Error "The name has characters other than letters, digits and hyphens",
        "Use lowercase letters, digits and single hyphens";
    NameCase "SF303" Error "The name has upper-case letters",
        "Write the name in lower case, and rename the folder with it";
    NameHyphens "SF304" Error "The name starts or ends with a hyphen, or has two in a row",
        "Use single hyphens between words";
    NameNotFolder "SF305" Error "The name differs from the folder's name",
        "Rename the folder or the skill so that both are the same";
    DescriptionLength "SF306" Error "The description is longer than 1,024 characters",
        "Shorten it; move detail into the body";
    CompatibilityLength "SF307" Error "The field `compatibility` is empty or longer than 500 characters",
        "Shorten it to the products and packages that are needed, or remove it";
    UnexpectedField "SF308" Error "A field is not in the specification",
        "Check its spelling; move it under `metadata` only if no client reads it where it is";
    MetadataForm "SF309" Error "A value under `metadata` is not a string",
        "Write the value as a quoted string";
    FieldForm "SF310" Error "A field of the specification has a value of another type",
        "Write the value as a string";

    ClientField "SF311" Error "A field is not in the specification, but clients read it where it is",
        "Leave it if you use one of these clients: moved, they would not see it; strict validators refuse it";

    // Hygiene.
    DescriptionLong "SF401" Info "The description is longer than 500 characters",
        "Some clients accept 500 characters; put the most telling words first";
    NameNotAscii "SF402" Info "The name has letters outside a to z",
        "Use a to z, 0 to 9 and hyphens, so that every client accepts the name";
    BodyEmpty "SF403" Warning "The skill has no instructions",
        "Write what the agent should do after the frontmatter";
    BodyLines "SF404" Info "The file is longer than 500 lines",
        "Move detail into files under `references/`, to be read when needed";
    BrokenLink "SF405" Warning "A link points to a file that the skill does not have",
        "Add the file, or correct the link; paths are relative to the skill's folder";
    HiddenText "SF406" Warning "The text has invisible characters",
        "Remove the invisible or direction-changing characters";
    AngleBrackets "SF407" Info "The description has angle brackets",
        "Some upload validators refuse `<` and `>` in a description";
    NameReserved "SF408" Info "The name contains a reserved word",
        "Some upload validators refuse names with `claude` or `anthropic`";
    LinkOutside "SF409" Warning "A link points outside the skill's folder",
        "Copy the file into the skill; agents cannot read outside its folder";
    BodyControls "SF410" Warning "The instructions have control characters, which a terminal may obey",
        "Delete the control characters, or write them as escapes such as `\\x1b`";
    Placeholder "SF411" Warning "Text of a template is still there",
        "Write what the skill does, when to use it, and what the agent should do";

    // Discovery.
    FolderUnreadable "SF501" Error "A folder could not be read",
        "Check that the folder exists and may be read";
    FolderName "SF502" Error "A name is not UTF-8, not printable or not portable",
        "Rename the file or folder";
    SkillFileLink "SF503" Error "`SKILL.md` is a link, which is not followed",
        "Link the whole folder, or copy the file";
    SkillFileKind "SF504" Error "`SKILL.md` or another file of a skill is not a regular file",
        "Replace it with a regular file";
    Vanished "SF505" Warning "A skill vanished while it was read",
        "Nothing to do if you removed it; otherwise run it again";
    Changing "SF506" Warning "A file kept changing while it was read, or is being written",
        "Read again when the writer is done";
    BoundReached "SF507" Warning "A search limit was reached; the rest was not searched",
        "Name a smaller folder, or raise the limit";
    SameFolder "SF508" Info "The folder is already known by another path",
        "Nothing; it is one skill";
    LinkNotFollowed "SF509" Info "A link to a folder was not followed",
        "Copy what it leads to; links to folders of skills can be allowed";
    Skipped "SF510" Info "A folder was not searched because of its name",
        "Rename the folder if skills in it should be found";
    FileName "SF511" Warning "A file is named like `SKILL.md` but for its case",
        "Rename it to `SKILL.md`";
    Loop "SF512" Warning "A link forms a loop, or points to a folder that was already searched",
        "Remove the link";
    SkillFileUnreadable "SF513" Error "`SKILL.md` could not be read",
        "Check that the file may be read";
    MoreFindings "SF514" Warning "There are more findings than are listed",
        "Fix the reported ones and run it again";
    DanglingLink "SF515" Warning "The target of a link does not exist",
        "Restore what it leads to, or remove the link";
    HardLinks "SF516" Error "A file of a skill has several hard links, which are refused by choice",
        "Replace it with a copy, or set `links` to `refuse` or `follow`";
    VersionControl "SF517" Info "Files of version control are not part of a skill",
        "Nothing has to be done; a skill that is a checkout is used without it";
    FileCut "SF518" Warning "A `SKILL.md` is too large to read whole; the rest was not checked",
        "Move detail into files under `references/`; instructions that are not read whole are not loaded";
    Unavailable "SF519" Error "A folder or a file cannot be read right now; skills that were known there stay as they were",
        "It is tried again; if it stays, check the disk, the network and the limit on open files";
    KeptAside "SF520" Warning "An edit came while its skill was being changed, and was kept in a folder of its own",
        "Copy what you need into the skill, then delete the folder";

    // The catalog.
    Shadowed "SF601" Warning "Another skill has the same name and comes first",
        "Use the qualified id, rename one of the two, or change the precedence";
    NameLeadsElsewhere "SF602" Warning "The name belongs to another skill: it is that skill's id or folder name",
        "Use the qualified id, or another name without a colon";
    AliasTaken "SF603" Info "The folder has the name of another skill",
        "Give the folder the name of its skill";
    Untrusted "SF604" Info "The skill is in a folder that is not trusted; it is given to no model",
        "Review the skill; if it is good, trust its project with `skillfold trust`";
    Disabled "SF605" Info "The skill is disabled",
        "Add it to `enable` in the settings, or take it out of `disable`";
    Held "SF606" Info "The skill is new and held until you trust it; no model gets it",
        "Review the skill, then trust it with `skillfold trust SKILL`";
    VersionMismatch "SF607" Warning "The skill needs another version of this engine or of its host",
        "Update the program or the skill; the setting `version_mismatch` says whether models get it all the same";

    // Settings.
    UnknownSetting "SF701" Warning "A setting is not known",
        "Correct its name, or remove it";
    SettingForm "SF702" Error "A setting has a value that it cannot have",
        "Write the value as the documentation of the setting shows";
    SettingNotAllowed "SF703" Error "A project's settings file has a setting that only the user may make",
        "Make the setting in your own file";
    SettingsUnreadable "SF704" Error "A settings file could not be read",
        "Correct the file; none of it is used";
    RootMissing "SF705" Warning "A root in the settings does not exist or cannot be read",
        "Create the folder, or correct the path";
    PatternMatchesNothing "SF706" Warning "A setting enables or disables a skill that does not exist",
        "Correct the name, or remove it";
    TrustUnreadable "SF707" Warning "The list of trusted folders or of trusted skills, or an entry of it, is not valid",
        "Correct the list, or remove the entry and trust it again; an invalid entry trusts nothing";
    TrustedFolderReplaced "SF708" Warning "A trusted folder was replaced by another one",
        "Review its skills, then trust it again with `skillfold trust`";
    TrustListUnsafe "SF709" Warning "The list of trusted folders or of trusted skills, or the user's settings, belong to another user or are writable by others; they trust nothing",
        "Make the folder and the file yours alone with `chown` and `chmod go-w`; then check its content";
    HomeLookedUp "SF710" Info "`HOME` is not set, and the home that the system knows for the user is used",
        "Set `HOME`, or set `SKILLFOLD_NO_HOME_LOOKUP` to `1` to go without a home";
    PinnedContentChanged "SF711" Warning "A folder was trusted with the skills that it had, and has others now; it is not trusted",
        "Review its skills, then trust it again with `skillfold trust`";
    TemplateMarks "SF720" Warning "The prompt of an agent has marks of a template, which are not filled in",
        "Write the prompt as plain text, or fill it in yourself and pass it with `--prompt`";

    // Triggers.
    TriggerPattern "SF751" Warning "A pattern under `triggers` cannot be used",
        "Correct the regular expression; look-around and back-references are not supported";
    TriggerCommon "SF752" Info "A trigger is a common word; the hook only suggests the skill by it",
        "Use a phrase that only requests for this skill have, such as `merge pdf files` instead of `merge`";

    // Loading.
    ChangedSince "SF801" Info "The file changed since the last scan and was read again",
        "Refresh, so that listings show the new text";
    BodyNotUtf8 "SF802" Warning "The instructions have bytes that are not UTF-8; each was read as U+FFFD",
        "Save the file as UTF-8";
    RequiredMissing "SF803" Warning "A required skill does not exist or may not be used",
        "Install or enable it, or correct the id under `requires`";
    RequiredCycle "SF804" Warning "Skills require each other in a circle",
        "Remove one of the requirements";
    EnvelopeTags "SF805" Warning "The instructions have tags of the envelope that they are given in, which were made harmless",
        "Review the skill: it may try to speak for the host; write `&lt;` for `<` if the tags are meant as text";
    BaseDirNotUtf8 "SF806" Warning "The path of the skill's folder is not UTF-8, and is not given to the model",
        "Rename the folder";
    RequiredForm "SF807" Warning "An entry under `requires` is not written as an id, and is not named to the model",
        "Write the ids of skills: letters, digits and hyphens";

    // Evaluation.
    EvaluationForm "SF851" Error "A file of trigger queries, or an entry of it, cannot be used",
        "Write JSON: a list of objects with `query` and `should_trigger`";
    NoTriggerQueries "SF852" Info "A file of evaluations has entries that are not trigger queries",
        "Add `should_trigger` to the entries that should be tested";
    TooManyQueries "SF853" Warning "A skill has more trigger queries than are run",
        "Keep those that tell most; about 20 are usual";
    EvaluationUnread "SF854" Error "A file of trigger queries could not be read",
        "Put the file itself into the skill, as text in UTF-8 of at most 1 MiB";
}

impl Code {
    /// Returns whether the finding may point to an attack: hidden text, terminal escapes, forged envelope tags, or a
    /// link out of the skill. When findings are capped, these are kept first.
    pub const fn is_about_safety(self) -> bool {
        matches!(
            self,
            Self::UnsafeName
                | Self::ControlCharacters
                | Self::HiddenText
                | Self::LinkOutside
                | Self::BodyControls
                | Self::EnvelopeTags
        )
    }
}

display!(Code, |it| it.number());

#[cfg(test)]
mod tests {
    use super::Code;
    use std::collections::HashSet;

    #[test]
    fn numbers_are_unique_and_in_order() {
        let numbers: Vec<_> = Code::ALL.iter().map(|code| code.number()).collect();
        assert!(numbers.is_sorted());
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), numbers.len());
    }

    #[test]
    fn every_message_is_a_sentence_without_a_final_period() {
        for code in Code::ALL {
            for text in [code.description(), code.hint()] {
                assert!(!text.ends_with('.'), "{code}: {text}");
                assert!(
                    text.starts_with(|c: char| c.is_uppercase() || c == '`'),
                    "{code}: {text}"
                );
            }
        }
    }
}
