//! Macros for what would be written the same way in many modules.

/// Adds a method for each field. Other crates cannot build a `#[non_exhaustive]` struct from its fields; they start from
/// its default and change what they need.
macro_rules! setters {
    ($type:ident $(<$life:lifetime>)? { $($setter:ident($field:ident: $value:ty),)* }) => {
        impl$(<$life>)? $type$(<$life>)? {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $setter(mut self, $field: $value) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

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

/// Implements `Display` with a text.
macro_rules! display {
    ($type:ty, |$value:ident| $text:expr) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $value = self;
                formatter.write_str($text)
            }
        }
    };
}

/// Implements `Debug` with the fields that tell most.
macro_rules! debug {
    ($type:ty, $name:literal, |$value:ident| $($field:literal: $shown:expr),*) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $value = self;
                let mut formatter = formatter.debug_struct($name);
                $(formatter.field($field, &$shown);)*
                formatter.finish_non_exhaustive()
            }
        }
    };
}
