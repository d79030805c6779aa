//! A part of a file, read like a file of its own. Several sections of one file do not disturb one another.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Section {
    file: Arc<File>,
    start: u64,
    length: u64,
    place: u64,
}

impl Section {
    pub fn new(file: Arc<File>, start: u64, length: u64) -> Section {
        Section { file, start, length, place: 0 }
    }

    pub fn whole(file: File) -> io::Result<Section> {
        let length = file.metadata()?.len();
        Ok(Section::new(Arc::new(file), 0, length))
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    /// What is left from a place on; nothing beyond the end.
    pub fn from(&self, offset: u64) -> Section {
        let offset = offset.min(self.length);
        Section::new(Arc::clone(&self.file), self.start.saturating_add(offset), self.length - offset)
    }

    /// So many bytes from a place on, as far as there are any.
    pub fn part(&self, offset: u64, length: u64) -> Section {
        let rest = self.from(offset);
        Section { length: length.min(rest.length), ..rest }
    }
}

impl Read for Section {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.length.saturating_sub(self.place);
        let wanted = into.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.file.read_at(&mut into[..wanted], self.start + self.place)?;
        self.place += read as u64;
        Ok(read)
    }
}

impl Seek for Section {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.place.checked_add_signed(by),
        };
        self.place = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.place)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_section_never_leaves_its_part_of_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let whole = Section::whole(file).unwrap();
        let read = |mut section: Section| std::io::read_to_string(&mut section).unwrap();
        assert_eq!(read(whole.part(2, 5)), "23456");
        assert_eq!(read(whole.part(2, 5).from(3)), "56");
        assert_eq!(read(whole.part(8, u64::MAX)), "89");
        assert_eq!(read(whole.from(u64::MAX)), "");
        let mut part = whole.part(2, 5);
        assert_eq!(part.seek(SeekFrom::End(-1)).unwrap(), 4);
        assert_eq!(std::io::read_to_string(&mut part).unwrap(), "6");
        assert!(part.seek(SeekFrom::Current(-99)).is_err());
    }
}
