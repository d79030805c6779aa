//! The fields of Word, as far as they are links: `HYPERLINK "https://…"`.

/// Fields within fields, at most so deep.
const DEPTH_MAX: usize = 64;

/// A longer instruction is no link.
const INSTRUCTION_BYTES_MAX: usize = 8_192;

/// The open fields, from the outermost.
#[derive(Default)]
pub struct Fields {
    open: Vec<Field>,
    beyond: usize,
}

#[derive(Default)]
struct Field {
    instruction: String,
    link: Option<String>,
    /// Whether its instruction is over, so that what follows is shown.
    shows: bool,
}

impl Fields {
    pub fn begin(&mut self) {
        if self.open.len() >= DEPTH_MAX {
            self.beyond += 1;
        } else {
            self.open.push(Field::default());
        }
    }

    pub fn instruct(&mut self, text: &str) {
        if let Some(field) = self.open.last_mut()
            && !field.shows
            && field.instruction.len() < INSTRUCTION_BYTES_MAX
        {
            field.instruction.push_str(text);
        }
    }

    pub fn separate(&mut self) {
        if let Some(field) = self.open.last_mut()
            && self.beyond == 0
        {
            field.shows = true;
            field.link = link_of_instruction(&field.instruction);
        }
    }

    pub fn end(&mut self) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else {
            self.open.pop();
        }
    }

    /// Whether text here belongs to an instruction and is not shown.
    pub fn is_instruction(&self) -> bool {
        self.open.iter().any(|field| !field.shows)
    }

    pub fn link(&self) -> Option<&str> {
        self.open.iter().rev().find_map(|field| field.link.as_deref())
    }
}

/// The address of a HYPERLINK field.
pub fn link_of_instruction(instruction: &str) -> Option<String> {
    let rest = instruction.trim_start();
    let start = rest.get(..9)?;
    if !start.eq_ignore_ascii_case("hyperlink") {
        return None;
    }
    let mut rest = rest[9..].trim_start();
    // A switch before the address: a place in this file, or a frame.
    while let Some(switch) = rest.strip_prefix('\\') {
        if switch.starts_with(['l', 'L']) {
            return None;
        }
        rest = switch.get(1..).unwrap_or_default().trim_start();
    }
    let target = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => rest.split_whitespace().next().unwrap_or_default(),
    };
    let target = target.trim();
    (!target.is_empty() && !target.starts_with('\\')).then(|| target.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_link_is_read_from_its_field() {
        for (instruction, expected) in [
            (" HYPERLINK \"https://a.example/b c\" \\o \"tip\" ", Some("https://a.example/b c")),
            ("hyperlink https://a.example", Some("https://a.example")),
            (" HYPERLINK \\l \"mark\"", None),
            (" HYPERLINK \\n \"https://a.example\"", Some("https://a.example")),
            (" PAGE ", None),
            ("HYPERLINK", None),
        ] {
            assert_eq!(link_of_instruction(instruction).as_deref(), expected, "{instruction}");
        }
    }

    #[test]
    fn fields_nest() {
        let mut fields = Fields::default();
        fields.begin();
        fields.instruct("HYPERLINK \"https://a.example\"");
        assert!(fields.is_instruction());
        fields.separate();
        fields.begin();
        fields.instruct("PAGE");
        fields.separate();
        assert_eq!((fields.is_instruction(), fields.link()), (false, Some("https://a.example")));
        fields.end();
        fields.end();
        fields.end();
        assert_eq!(fields.link(), None);
    }
}
