//! Measures a component's functions before they are compiled.

/// The start of a component; a module's differs in the last four bytes.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// Bytes before the first section.
const HEADER: usize = 8;

/// Component sections that hold a module or a component.
const NESTED: [u8; 2] = [1, 4];

/// The module section that holds its functions.
const CODE: u8 = 10;

/// Returns the size of the largest function in any of a component's modules. Stops at what it cannot parse, which the
/// compiler refuses.
pub(super) fn largest_function(component: &[u8]) -> usize {
    let mut largest = 0;
    let mut waiting = vec![component];
    while let Some(bytes) = waiting.pop() {
        let is_component = bytes.starts_with(COMPONENT);
        let mut sections = Reader(bytes.get(HEADER..).unwrap_or_default());
        while let Some((id, content)) = sections.section() {
            if is_component && NESTED.contains(&id) {
                waiting.push(content);
            } else if !is_component && id == CODE {
                let mut functions = Reader(content);
                functions.number();
                while let Some(function) = functions.sized() {
                    largest = largest.max(function.len());
                }
            }
        }
    }
    largest
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn section(&mut self) -> Option<(u8, &'a [u8])> {
        let (id, rest) = self.0.split_first()?;
        self.0 = rest;
        Some((*id, self.sized()?))
    }

    /// Reads a number, then that many bytes.
    fn sized(&mut self) -> Option<&'a [u8]> {
        let size = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Reads a number of at most 32 bits, seven per byte (LEB128).
    fn number(&mut self) -> Option<u32> {
        let mut number = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}
