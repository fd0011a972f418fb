//! The sandbox layers, and which of them a system has.

use std::fmt;

/// A sandbox layer. Each one holds by itself, so a flaw in one does not open the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Layer {
    /// Linux namespaces: a private file system, process tree and network.
    Namespaces,
    /// Landlock: the kernel refuses files, TCP and signals outside what was granted.
    Landlock,
    /// A seccomp filter: the kernel refuses system calls that scripts do not need.
    Seccomp,
    /// Per-process limits: memory, processes, open files, file sizes, CPU time.
    ResourceLimits,
    /// A control group: limits for all processes together. Used where available, never required.
    ControlGroup,
    /// Seatbelt on macOS: the kernel refuses files, the network and other processes outside what was granted.
    Seatbelt,
}

impl Layer {
    /// All layers.
    pub const ALL: [Self; 6] = [
        Self::Namespaces,
        Self::Landlock,
        Self::Seccomp,
        Self::ResourceLimits,
        Self::ControlGroup,
        Self::Seatbelt,
    ];

    /// Returns the layer's name in settings and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::ResourceLimits => "resource_limits",
            Self::ControlGroup => "control_group",
            Self::Seatbelt => "seatbelt",
        }
    }

    /// Returns the layer with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.as_str() == name)
    }

    /// Returns whether a run is refused without the layer, unless the host [accepts](Accept) that.
    pub const fn is_required(self) -> bool {
        !matches!(self, Self::ControlGroup)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A layer's state on this system.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerState {
    /// The layer.
    pub layer: Layer,
    /// Why it is missing; `None` if it is available.
    pub missing: Option<Box<str>>,
    /// What the user can do about it, if that is known.
    pub remedy: Option<Box<str>>,
}

/// The layers of a sandbox, and which of them this system has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxReport {
    /// The sandbox's name.
    pub sandbox: Box<str>,
    /// Its layers.
    pub layers: Vec<LayerState>,
}

impl SandboxReport {
    /// Creates the report of a sandbox with these layers, all of which are there.
    pub fn new(sandbox: &str, layers: impl IntoIterator<Item = Layer>) -> Self {
        let state = |layer| LayerState {
            layer,
            missing: None,
            remedy: None,
        };
        Self {
            sandbox: sandbox.into(),
            layers: layers.into_iter().map(state).collect(),
        }
    }

    /// Says that a layer is missing, and why.
    #[must_use]
    pub fn without(mut self, layer: Layer, why: &str) -> Self {
        for state in &mut self.layers {
            if state.layer == layer {
                state.missing = Some(why.into());
            }
        }
        self
    }

    /// Says what makes a missing layer available.
    #[must_use]
    pub fn with_remedy(mut self, layer: Layer, remedy: &str) -> Self {
        for state in &mut self.layers {
            if state.layer == layer {
                state.remedy = Some(remedy.into());
            }
        }
        self
    }

    /// Returns whether the system has a layer.
    pub fn has(&self, layer: Layer) -> bool {
        self.layers
            .iter()
            .any(|state| state.layer == layer && state.missing.is_none())
    }

    /// Returns whether the system has every required layer.
    pub fn is_complete(&self) -> bool {
        self.refusal(&Accept::default()).is_none()
    }

    /// Returns the first required layer that is missing and not accepted as missing.
    pub(crate) fn refusal(&self, accept: &Accept) -> Option<&LayerState> {
        self.layers.iter().find(|state| {
            state.missing.is_some()
                && state.layer.is_required()
                && !accept.layers.contains(&state.layer)
        })
    }
}

/// The layers that the host allows to be missing. None by default: a run is refused if a layer is missing.
///
/// An accepted layer is still used if the system has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accept {
    layers: Vec<Layer>,
}

impl Accept {
    /// Allows a layer to be missing.
    #[must_use]
    pub fn missing(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// Returns whether the layer may be missing.
    pub fn accepts(&self, layer: Layer) -> bool {
        self.layers.contains(&layer)
    }
}
