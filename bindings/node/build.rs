//! Tells the linker that Node has the functions that the library calls.

fn main() {
    napi_build::setup();
}
