//! Encodes values with postcard into a buffer of the caller.

use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// Appends `value` to `buffer`. After an error the buffer may end with a part of it.
pub(crate) fn append<T: Serialize + ?Sized>(buffer: &mut Vec<u8>, value: &T) -> postcard::Result<()> {
    postcard::serialize_with_flavor(value, Appending(buffer))
}

/// A postcard flavour that appends whole slices. The one of postcard appends byte by byte.
struct Appending<'a>(&'a mut Vec<u8>);

impl Flavor for Appending<'_> {
    type Output = ();

    #[inline(always)]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        // Most slices are numbers of a few bytes, for which a call would cost more than copying them.
        match *bytes {
            [one] => self.0.push(one),
            [one, two] => self.0.extend([one, two]),
            [one, two, three] => self.0.extend([one, two, three]),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    #[inline(always)]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
