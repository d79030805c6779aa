//! The named fields of a record or an HTTP message, in order, as written, with repeats.

/// All names and values in one text, with the end of each: a head of twenty lines would otherwise be forty strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Name, value, name, value, with nothing between them.
    text: String,
    /// For each field where its name and its value end.
    ends: Vec<(usize, usize)>,
}

/// An estimate of the bytes per field, so that the list seldom grows.
const USUAL_FIELDS: usize = 16;

impl Fields {
    /// With capacity for a head of so many bytes.
    pub(super) fn with_capacity(head_bytes: usize) -> Self {
        Fields { text: String::with_capacity(head_bytes), ends: Vec::with_capacity(USUAL_FIELDS) }
    }

    pub(super) fn push(&mut self, name: &str, value: &str) {
        self.text.push_str(name);
        let name_end = self.text.len();
        self.text.push_str(value);
        self.ends.push((name_end, self.text.len()));
    }

    /// Continues the last value after a space. False if there is no field.
    pub(super) fn go_on(&mut self, more: &str) -> bool {
        let Some((_, end)) = self.ends.last_mut() else { return false };
        self.text.push(' ');
        self.text.push_str(more);
        *end = self.text.len();
        true
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut start = 0;
        self.ends.iter().map(move |&(name_end, end)| {
            let field = (&self.text[start..name_end], &self.text[name_end..end]);
            start = end;
            field
        })
    }

    /// The value of the first field of this name, whatever its case.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_come_back_as_they_were_put_in(
            fields in prop::collection::vec(("\\PC{0,5}", "\\PC{0,8}", prop::option::of("\\PC{0,4}")), 0..40)
        ) {
            let mut kept = Fields::default();
            let mut expected: Vec<(String, String)> = Vec::new();
            prop_assert!(!kept.go_on("nothing to go on with"));
            for (name, value, more) in fields {
                kept.push(&name, &value);
                expected.push((name, value));
                if let (Some(more), Some((_, value))) = (more, expected.last_mut()) {
                    prop_assert!(kept.go_on(&more));
                    *value = format!("{value} {more}");
                }
            }
            prop_assert_eq!((kept.len(), kept.is_empty()), (expected.len(), expected.is_empty()));
            for (name, _) in &expected {
                let first = expected.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| &value[..]);
                prop_assert_eq!(kept.first(name), first);
            }
            prop_assert!(kept.iter().eq(expected.iter().map(|(name, value)| (&name[..], &value[..]))));
        }
    }
}
