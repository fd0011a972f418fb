//! Enums whose variants have a word.

/// Declares an enum with a word for each variant: the one in settings, commands and JSON.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $type:ident { $($(#[$meta:meta])* $variant:ident = $word:literal,)* }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        $visibility enum $type {
            $($(#[$meta])* $variant,)*
        }

        impl $type {
            /// All of them, in the order of their declaration.
            $visibility const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];

            /// Returns its word in settings, commands and JSON.
            $visibility const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}
