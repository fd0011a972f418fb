//! Methods that set one field of a struct that may grow.

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
