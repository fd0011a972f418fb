//! Counts allocated bytes, to measure memory exactly instead of by resident size.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static COUNTS: AtomicBool = AtomicBool::new(false);
static HELD: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

fn count(bytes: usize, sign: isize) {
    if COUNTS.load(Ordering::Relaxed) {
        let change = sign * bytes.cast_signed();
        let held = HELD.fetch_add(change, Ordering::Relaxed) + change;
        PEAK.fetch_max(held, Ordering::Relaxed);
    }
}

// SAFETY: every call is forwarded unchanged to the system allocator; counting does not touch the caller's memory.
#[expect(
    unsafe_code,
    reason = "an allocator cannot be written without; this binary is not published"
)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller's guarantee about the layout is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the caller's guarantees about pointer and layout are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), -1);
        count(size, 1);
        // SAFETY: the caller's guarantees about pointer, layout and size are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Returns the result of `make` and the number of bytes it holds.
pub(crate) fn held_by<T>(make: impl FnOnce() -> T) -> (T, isize) {
    HELD.store(0, Ordering::Relaxed);
    PEAK.store(0, Ordering::Relaxed);
    COUNTS.store(true, Ordering::Relaxed);
    let value = make();
    COUNTS.store(false, Ordering::Relaxed);
    (value, HELD.load(Ordering::Relaxed))
}

/// Returns the peak number of bytes held during the last [`held_by`].
pub(crate) fn peak() -> isize {
    PEAK.load(Ordering::Relaxed)
}

/// Returns the number of bytes held so far, inside [`held_by`].
pub(crate) fn held() -> isize {
    HELD.load(Ordering::Relaxed)
}
