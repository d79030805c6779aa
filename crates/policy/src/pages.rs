//! Pages by their keys in plain arrays: numbers are dense within a partition, so that a look-up is an index.

use vernal_model::PageKey;

#[derive(Clone, Debug)]
pub(crate) struct Pages<T> {
    partitions: Vec<Vec<Option<T>>>,
    len: usize,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Pages { partitions: Vec::new(), len: 0 }
    }
}

impl<T> Pages<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn find(&self, page: PageKey) -> Option<&T> {
        self.partitions.get(usize::from(page.partition.0))?.get(page.number as usize)?.as_ref()
    }

    pub fn find_mut(&mut self, page: PageKey) -> Option<&mut T> {
        self.partitions.get_mut(usize::from(page.partition.0))?.get_mut(page.number as usize)?.as_mut()
    }

    pub fn insert(&mut self, page: PageKey, value: T) -> Option<T> {
        let (partition, number) = (usize::from(page.partition.0), page.number as usize);
        if self.partitions.len() <= partition {
            self.partitions.resize_with(partition + 1, Vec::new);
        }
        let pages = &mut self.partitions[partition];
        if pages.len() <= number {
            pages.resize_with(number + 1, || None);
        }
        let before = pages[number].replace(value);
        self.len += usize::from(before.is_none());
        before
    }

    pub fn remove(&mut self, page: PageKey) -> Option<T> {
        let slot = self.partitions.get_mut(usize::from(page.partition.0))?.get_mut(page.number as usize)?;
        let before = slot.take();
        self.len -= usize::from(before.is_some());
        before
    }

    /// Every page, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (PageKey, &T)> {
        self.partitions.iter().enumerate().flat_map(|(partition, pages)| {
            let key = move |number: usize| PageKey::new(vernal_model::Partition(partition as u8), number as u32);
            pages.iter().enumerate().filter_map(move |(number, value)| Some((key(number), value.as_ref()?)))
        })
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (PageKey, &mut T)> {
        self.partitions.iter_mut().enumerate().flat_map(|(partition, pages)| {
            let key = move |number: usize| PageKey::new(vernal_model::Partition(partition as u8), number as u32);
            pages.iter_mut().enumerate().filter_map(move |(number, value)| Some((key(number), value.as_mut()?)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vernal_model::Partition;

    #[test]
    fn a_page_is_counted_once_and_found_by_its_key_alone() {
        let key = |partition, number| PageKey::new(Partition(partition), number);
        let mut pages = Pages::default();
        assert_eq!(pages.insert(key(3, 7), 'a'), None);
        assert_eq!(pages.insert(key(0, 2), 'b'), None);
        assert_eq!(pages.insert(key(3, 7), 'c'), Some('a'));
        assert_eq!((pages.len(), pages.find(key(3, 7)), pages.find(key(7, 3))), (2, Some(&'c'), None));
        assert_eq!(pages.iter().map(|(_, &value)| value).collect::<String>(), "bc");
        assert_eq!((pages.remove(key(3, 7)), pages.remove(key(3, 7)), pages.len()), (Some('c'), None, 1));
    }
}
