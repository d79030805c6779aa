//! Lines sorted within bounded memory: sorted runs go to unnamed temporary files and are merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};

const RUN_BYTES: usize = 64 << 20; // lines held in memory before a run is written

pub(super) struct LineSorter {
    lines: Vec<String>,
    bytes: usize,
    run_bytes: usize,
    runs: Vec<File>,
}

impl LineSorter {
    pub(super) fn new() -> Self {
        Self::with_run_bytes(RUN_BYTES)
    }

    fn with_run_bytes(run_bytes: usize) -> Self {
        LineSorter { lines: Vec::new(), bytes: 0, run_bytes, runs: Vec::new() }
    }

    /// Takes a line without its end.
    pub(super) fn push(&mut self, line: String) -> io::Result<()> {
        self.bytes += line.len() + size_of::<String>();
        self.lines.push(line);
        if self.bytes >= self.run_bytes { self.spill() } else { Ok(()) }
    }

    /// Writes all lines in byte order, equal ones once.
    pub(super) fn finish(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.lines.sort_unstable();
        let mut sources: Vec<Box<dyn Iterator<Item = io::Result<String>>>> = Vec::new();
        sources.push(Box::new(self.lines.into_iter().map(Ok)));
        for run in self.runs {
            sources.push(Box::new(BufReader::new(run).lines()));
        }
        let mut heads = BinaryHeap::new();
        for (number, source) in sources.iter_mut().enumerate() {
            if let Some(line) = source.next() {
                heads.push(Reverse((line?, number)));
            }
        }
        let mut last: Option<String> = None;
        while let Some(Reverse((line, number))) = heads.pop() {
            if let Some(next) = sources[number].next() {
                heads.push(Reverse((next?, number)));
            }
            if last.as_ref() != Some(&line) {
                out.write_all(line.as_bytes())?;
                out.write_all(b"\n")?;
            }
            last = Some(line);
        }
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        self.lines.sort_unstable();
        let mut run = BufWriter::new(tempfile::tempfile()?);
        for line in self.lines.drain(..) {
            run.write_all(line.as_bytes())?;
            run.write_all(b"\n")?;
        }
        let mut file = run.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        self.runs.push(file);
        self.bytes = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::Chance;

    use super::*;

    #[test]
    fn runs_merge_to_the_same_order_as_sorting_at_once() {
        let mut chance = Chance::new(5);
        let mut lines: Vec<String> = (0..2_000).map(|_| format!("{:x}", chance.below(1_500))).collect();
        let mut sorter = LineSorter::with_run_bytes(4_000);
        for line in &lines {
            sorter.push(line.clone()).unwrap();
        }
        assert!(sorter.runs.len() > 5);
        let mut out = Vec::new();
        sorter.finish(&mut out).unwrap();
        lines.sort();
        lines.dedup();
        assert_eq!(String::from_utf8(out).unwrap(), lines.join("\n") + "\n");
    }
}
