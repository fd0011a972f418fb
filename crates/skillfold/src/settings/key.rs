//! The table of all settings, which declares [`KEYS`], [`Settings`] and [`Layer`].

use std::path::PathBuf;

use skillfold_core::catalog::{MismatchPolicy, Precedence};
use skillfold_core::disclose::{Breadcrumb, Fallback, LogDetail, Mode, Style};
use skillfold_core::load::{Dialect, Freshness, Strictness};
use skillfold_core::read::Profile;
use skillfold_core::source::{HiddenPolicy, LinkPolicy};
use skillfold_core::{Limits, LoadOptions, Policy};

use crate::settings::agent::ConfiguredAgent;
use crate::settings::approval_requires::ApprovalRequires;
use crate::settings::findings::LayerFindings;
use crate::settings::hook_mode::HookMode;
use crate::settings::identity::ConfiguredIdentity;
use crate::settings::listing_budget::ListingBudget;
use crate::settings::matching::Matching;
use crate::settings::new_skills::NewSkills;
use crate::settings::root::ConfiguredRoot;
use crate::settings::scalar::Scalar;
use crate::settings::setting::{EnablementPattern, Origin, Setting, SettingFinding};
use crate::settings::value::{RawValue, ValueContext, ValueForm};

/// A setting and its description.
#[derive(Debug)]
#[non_exhaustive]
pub struct Key {
    /// Its name in a settings file. The variable is `SKILLFOLD_` and the name in upper case.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub description: &'static str,
    /// The values that it accepts.
    pub accepts: &'static str,
    #[cfg_attr(
        not(feature = "store"),
        expect(dead_code, reason = "only used to write settings")
    )]
    pub(super) form: ValueForm,
    pub(super) set_by: SetBy,
    pub(super) kind: KeyKind,
}

/// Who may set a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetBy {
    /// The user, and a project for its own skills.
    Project,
    /// The user alone: the setting decides about trust, or also affects the user's own skills.
    User,
}

/// Whether a setting has a single value, or which list it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyKind {
    Scalar {
        /// Reads the value into a layer.
        apply: fn(&mut Layer, RawValue<'_>, &ValueContext<'_>) -> Result<(), String>,
        /// Returns the value as text, with its origin.
        explain: fn(&Settings) -> (String, Origin),
    },
    Roots,
    Enable,
    Disable,
    Pinned,
    Trusted,
    Agents,
    Identities,
}

impl Key {
    /// Returns whether a project may set it for its own skills.
    pub fn is_for_projects(&self) -> bool {
        self.set_by == SetBy::Project
    }

    pub(super) fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }
}

/// Declares the settings in the order of the documentation, each with who may set it, the form of its value in a file,
/// its description, and the values that it accepts. A single value has its type and its default; a list has its kind.
macro_rules! settings {
    ($(
        $name:ident $(: $type:ty = $default:expr)? $(=> $list:ident)?;
        $set_by:ident, $form:ident, $description:literal, $accepts:literal;
    )*) => {
        /// All settings, in the order of the documentation.
        pub const KEYS: &[Key] = &[$(Key {
            name: stringify!($name),
            description: $description,
            accepts: $accepts,
            form: ValueForm::$form,
            set_by: SetBy::$set_by,
            kind: $(KeyKind::Scalar {
                apply: |layer, value, context| {
                    let value = <$type>::read(value, ValueForm::$form, context)?;
                    layer.$name = Some(context.setting(value));
                    Ok(())
                },
                explain: |settings| {
                    let Setting { value, origin } = &settings.$name;
                    (value.show(ValueForm::$form), origin.clone())
                },
            })? $(KeyKind::$list)?,
        },)*];

        /// The merged settings of all layers, each with its origin.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Settings {
            $($(
                #[doc = concat!($description, ": ", $accepts, ".")]
                pub $name: Setting<$type>,
            )?)*
            /// Roots in addition to the default ones, those of the last layer first.
            pub roots: Vec<Setting<ConfiguredRoot>>,
            /// Patterns that turn skills on or off, in layer order.
            pub enablement: Vec<Setting<EnablementPattern>>,
            /// Skills to list first, in order.
            pub pinned: Vec<Setting<String>>,
            /// Folders whose projects are trusted.
            pub trusted: Vec<Setting<PathBuf>>,
            /// Agents, in file order.
            pub agents: Vec<ConfiguredAgent>,
            /// Who may use a server, in file order.
            pub identities: Vec<ConfiguredIdentity>,
            /// Problems with the settings.
            pub findings: Vec<SettingFinding>,
        }

        impl Default for Settings {
            fn default() -> Self {
                Self {
                    $($($name: Setting::default($default),)?)*
                    roots: Vec::new(),
                    enablement: Vec::new(),
                    pinned: Vec::new(),
                    trusted: Vec::new(),
                    agents: Vec::new(),
                    identities: Vec::new(),
                    findings: Vec::new(),
                }
            }
        }

        /// The settings of one layer.
        #[derive(Debug, Default)]
        pub(crate) struct Layer {
            $($(pub(super) $name: Option<Setting<$type>>,)?)*
            pub(super) roots: Vec<Setting<ConfiguredRoot>>,
            pub(super) enablement: Vec<Setting<EnablementPattern>>,
            pub(super) pinned: Vec<Setting<String>>,
            pub(super) trusted: Vec<Setting<PathBuf>>,
            pub(super) agents: Vec<ConfiguredAgent>,
            pub(super) identities: Vec<ConfiguredIdentity>,
            pub(super) findings: LayerFindings,
        }

        impl Settings {
            /// Applies a layer on top of the previous ones: single values are replaced, lists are extended.
            pub(super) fn apply_layer(&mut self, layer: Layer) {
                $($(
                    let new: Option<Setting<$type>> = layer.$name;
                    if let Some(new) = new {
                        self.$name = new;
                    }
                )?)*
                self.roots.splice(..0, layer.roots);
                self.trusted.extend(layer.trusted);
                self.enablement.extend(layer.enablement);
                self.pinned.splice(..0, layer.pinned);
                self.agents.extend(layer.agents);
                self.identities.extend(layer.identities);
                self.findings.extend(layer.findings.finish());
            }
        }
    };
}

settings! {
    precedence: Precedence = Precedence::default();
        User, Word, "Which scope wins a name",
        "a client (`default`, `claude-code`, ...) or scopes in their order";
    roots => Roots;
        Project, Roots, "More folders of skills, beside the defaults",
        "paths, `scope=path`, `plugin=path`, or tables of `path`, `scope` and `plugin`";
    default_roots: bool = true;
        User, Boolean, "Whether the default folders are searched", "`true` or `false`";
    enable => Enable;
        User, Words, "Skills to enable", "ids, names or aliases of skills, `scope:*`, `plugin:*` or `*`";
    disable => Disable;
        Project, Words, "Skills to disable", "ids, names or aliases of skills, `scope:*`, `plugin:*` or `*`";
    pinned => Pinned;
        User, Words, "Skills to list first if not all fit", "ids, names or aliases of skills";
    trusted => Trusted;
        User, Paths, "Folders whose projects are trusted", "paths";
    trust_project: bool = false;
        User, Boolean, "Whether every project is trusted", "`true` or `false`";
    new_skills: NewSkills = NewSkills::default();
        User, Word, "Whether models get new skills at once (`show`) or only once you trust them (`hold`)", "`show` or `hold`";
    version_mismatch: MismatchPolicy = MismatchPolicy::default();
        User, Word, "What to do with skills that need another version of Skillfold or the host", "`warn` or `hide`";
    links: LinkPolicy = LinkPolicy::default();
        User, Word, "How links to skill folders, and hard links, are treated", "`follow`, `refuse` or `strict`";
    hidden: HiddenPolicy = HiddenPolicy::default();
        User, Word, "How hidden folders are treated", "`skip` or `search`";
    max_depth: usize = Limits::default().walk_depth;
        User, Number, "Maximum depth of a skill below its root", "a whole number";
    profile: Profile = Profile::default();
        User, Word, "How strict `check` is", "`lenient` or `spec`";
    arguments: Dialect = LoadOptions::default().dialect;
        User, Word, "Which argument placeholders instructions may use", "`plain`, `claude-code` or `goose`";
    strict: bool = LoadOptions::default().strictness == Strictness::Strict;
        User, Boolean, "Whether loading refuses a skill that needed repair", "`true` or `false`";
    freshness: Freshness = LoadOptions::default().freshness;
        User, Word, "How changes to a loaded file are detected", "`checked` or `snapshot`";
    cache_entries: usize = LoadOptions::default().cache_entries;
        User, Number, "Maximum number of cached instructions", "a whole number";
    cache_bytes: usize = LoadOptions::default().cache_bytes;
        User, Number, "Maximum bytes of cached instructions", "a whole number";
    disclosure: Mode = Policy::default().mode;
        User, Word, "How skills are disclosed to a model", "`catalog`, `triggered` or `hybrid`";
    style: Style = Policy::default().style;
        User, Word, "The format of listings", "`lines`, `xml-rules`, `xml`, `markdown`, `tiers` or `bullets`";
    listing: ListingBudget = ListingBudget::Auto;
        User, Word, "How long a listing may be",
        "`auto` for what the client allows, `2000 characters`, `1400 tokens` or `2% of 200000`";
    matching: Matching = Matching::default();
        User, Word, "How requests are matched", "`keyword`, `hybrid` or `semantic`";
    model: Option<PathBuf> = None;
        User, Word, "The folder of an embedding model", "a path";
    max_per_request: usize = Policy::default().max_skills;
        User, Number, "Maximum skills loaded for one request", "a whole number";
    breadcrumb: Breadcrumb = Policy::default().breadcrumb;
        User, Word, "Whether the model is told the number of skills when nothing matches", "`on` or `off`";
    fallback: Fallback = Policy::default().fallback;
        User, Word, "What the model is told when nothing matches", "`none`, `show_all` or `ask_user`";
    hook: HookMode = HookMode::default();
        User, Word, "What a client's hook adds to a prompt", "`inject`, `suggest` or `off`";
    hook_inject_from: usize = 60;
        User, Number, "Probability, in percent, from which a hook adds a skill's instructions", "a whole number";
    hook_suggest_from: usize = 25;
        User, Number, "Probability, in percent, from which a hook suggests a skill", "a whole number";
    hook_learn: bool = true;
        User, Boolean, "Whether hooks suggest skills that you do not use less often, and those that you start yourself more often", "`true` or `false`";
    hook_log: bool = true;
        User, Boolean, "Whether hooks append what they did to a log in the state folder", "`true` or `false`";
    log_content: bool = Policy::default().log_detail == LogDetail::Content;
        User, Boolean, "Whether logs include requests and the text given to models", "`true` or `false`";
    watch: bool = true;
        User, Word, "Whether file changes are watched with system notifications", "`on` or `off`";
    poll_seconds: usize = 5;
        User, Number, "Seconds between scans where notifications are not available", "a whole number; 0 for never";
    index: bool = true;
        User, Word, "Whether metadata of many skills is cached on disk for the next start", "`on` or `off`";
    proposals: bool = false;
        User, Word, "Whether models have tools to propose changes to skills", "`on` or `off`";
    approval_requires: ApprovalRequires = ApprovalRequires::default();
        User, Word, "What approving a change requires", "`terminal` or `passphrase`";
    kept_versions: usize = 50;
        User, Number, "How many versions of a skill are kept", "a whole number, at least 1";
    notify_command: String = String::new();
        User, Word, "A command to run when a change is proposed, with the proposal on stdin",
        "a command with its arguments";
    scripts: bool = false;
        User, Word, "Whether models may run the scripts and tools of skills that you allowed", "`on` or `off`";
    sandbox_without: String = String::new();
        User, Word, "Sandbox layers that may be missing when a script runs",
        "names of layers, separated by commas; `skillfold run --sandbox` lists them";
    script_seconds: usize = 60;
        User, Number, "Maximum seconds that a script or a tool call of a skill may take", "a whole number, at least 1";
    script_memory_mb: usize = 1024;
        User, Number, "Maximum memory of a script, in MiB", "a whole number, at least 1";
    script_output_kb: usize = 1024;
        User, Number, "Maximum output of a script, in KiB", "a whole number, at least 1";
    script_processes: usize = 128;
        User, Number, "Maximum processes and threads of a script", "a whole number, at least 1";
    server_url: String = String::new();
        User, Word, "The address that clients use for a server over HTTP; tokens of the identity provider have to be for it",
        "an address, such as `https://skills.example.com/mcp`";
    server_issuer: String = String::new();
        User, Word, "The identity provider whose tokens a server accepts", "an address, such as `https://id.example.com`";
    server_audience: String = String::new();
        User, Word, "What tokens of the identity provider name as their audience, if not `server_url`", "a text";
    server_scopes: bool = true;
        User, Boolean, "Whether a token of the identity provider needs the scopes of what it is used for", "`true` or `false`";
    server_tokens: Option<PathBuf> = None;
        User, Word, "The file of named tokens that a server accepts", "a path";
    identities => Identities;
        User, Tables, "Who may use a server over HTTP, and the skills and limits of each",
        "tables `[identities.NAME]` of `subjects`, `groups`, `scopes`, `tokens`, `agent`, `sessions` and `requests_per_minute`, in the user's file";
    agents => Agents;
        User, Tables, "Agents, and the skills each uses and may see",
        "tables `[agents.ID]` of `uses_skills` and `sees`, in the user's file";
}
