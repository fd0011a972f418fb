//! What programs may share between threads; the compiler checks it.

use skillfold_core::catalog::SkillHandle;
use skillfold_core::disclose::Turn;
use skillfold_core::load::LoadedText;
use skillfold_core::search::SearchIndex;
use skillfold_core::{
    Agent, Catalog, Diagnostic, Entry, Error, FsSource, Instructions, Loader, Manifest, Matcher,
    MemorySource, Policy, Root, SessionState,
};

const fn is_shared<T: Send + Sync>() {}

const _: () = {
    is_shared::<Agent>();
    is_shared::<Catalog>();
    is_shared::<Diagnostic>();
    is_shared::<Entry<'static>>();
    is_shared::<Error>();
    is_shared::<FsSource>();
    is_shared::<Instructions>();
    is_shared::<LoadedText>();
    is_shared::<Loader>();
    is_shared::<Manifest>();
    is_shared::<Matcher>();
    is_shared::<MemorySource>();
    is_shared::<Policy>();
    is_shared::<Root>();
    is_shared::<SearchIndex>();
    is_shared::<SessionState>();
    is_shared::<SkillHandle>();
    is_shared::<Turn>();
};
