//! A reference implementation for tests: the tokenizer and tree builder of html5ever with a minimal tree.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;

use html5ever::interface::ElemName;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeBuilder, TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, LocalName, Namespace, QualName, TokenizerResult};
use vernal_model::Url;

/// The result of html5ever for a page.
pub struct Reference {
    /// Names of the opening tags in the order of the source.
    pub tags: Vec<String>,
    /// Visible text without any white space.
    pub text: String,
    pub links: BTreeSet<String>,
}

pub fn judge(source: &str, page: &Url) -> Reference {
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let recorder = Recorder { builder: TreeBuilder::new(Tree::default(), options), tags: RefCell::default() };
    let tokenizer = Tokenizer::new(recorder, Default::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(source));
    while let TokenizerResult::Script(_) | TokenizerResult::EncodingIndicator(_) = tokenizer.feed(&input) {}
    tokenizer.end();
    let tree = &tokenizer.sink.builder.sink;
    let mut judged =
        Reference { tags: tokenizer.sink.tags.borrow().clone(), text: String::new(), links: BTreeSet::new() };
    let mut base = page.clone();
    if let Some(reference) = tree.first_base() {
        base = page.join(reference.trim()).unwrap_or(base);
    }
    tree.walk(&base, &mut judged);
    judged
}

/// Records the opening tags and passes them to the tree builder, which controls the tokenizer.
struct Recorder {
    builder: TreeBuilder<usize, Tree>,
    tags: RefCell<Vec<String>>,
}

impl TokenSink for Recorder {
    type Handle = usize;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<usize> {
        if let Token::TagToken(tag) = &token
            && tag.kind == TagKind::StartTag
        {
            self.tags.borrow_mut().push(tag.name.to_string());
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

struct Node {
    parent: Option<usize>,
    children: Vec<usize>,
    kind: NodeKind,
}

enum NodeKind {
    Element { name: QualName, attributes: Vec<Attribute>, integration: bool, contents: Option<usize> },
    Text(String),
    Other,
}

struct Tree(RefCell<Vec<Node>>);

impl Default for Tree {
    fn default() -> Self {
        Tree(RefCell::new(vec![Node { parent: None, children: Vec::new(), kind: NodeKind::Other }]))
    }
}

impl Tree {
    fn make(&self, kind: NodeKind) -> usize {
        let mut nodes = self.0.borrow_mut();
        nodes.push(Node { parent: None, children: Vec::new(), kind });
        nodes.len() - 1
    }

    fn insert(&self, parent: usize, place: usize, child: NodeOrText<usize>) {
        let child = match child {
            NodeOrText::AppendNode(node) => {
                self.remove_from_parent(&node);
                node
            }
            NodeOrText::AppendText(text) => self.make(NodeKind::Text(text.to_string())),
        };
        let mut nodes = self.0.borrow_mut();
        let place = place.min(nodes[parent].children.len());
        nodes[parent].children.insert(place, child);
        nodes[child].parent = Some(parent);
    }

    fn first_base(&self) -> Option<String> {
        let nodes = self.0.borrow();
        nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Element { name, attributes, .. } if &*name.local == "base" => value(attributes, "href"),
            _ => None,
        })
    }

    /// The whole tree in order, without recursion: pages may be deep.
    fn walk(&self, base: &Url, judged: &mut Reference) {
        let nodes = self.0.borrow();
        let mut waiting = vec![(0, true)];
        while let Some((index, mut visible)) = waiting.pop() {
            let node = &nodes[index];
            match &node.kind {
                NodeKind::Text(text) if visible => {
                    judged.text.extend(text.chars().filter(|letter| !letter.is_whitespace() && *letter != '\0'));
                }
                NodeKind::Element { name, attributes, .. } => {
                    let hidden = ["script", "style", "noscript"];
                    visible &= !hidden.contains(&&*name.local);
                    for reference in references(&name.local, attributes) {
                        if let Some(target) = target(base, &reference) {
                            judged.links.insert(target);
                        }
                    }
                }
                _ => {}
            }
            waiting.extend(node.children.iter().rev().map(|&child| (child, visible)));
        }
    }
}

fn value(attributes: &[Attribute], name: &str) -> Option<String> {
    let local = |attribute: &Attribute| match &attribute.name.prefix {
        Some(prefix) => format!("{prefix}:{}", attribute.name.local),
        None => attribute.name.local.to_string(),
    };
    attributes.iter().find(|attribute| local(attribute) == name).map(|attribute| attribute.value.to_string())
}

/// The references of one element, by the same list of kinds in separate code.
fn references(name: &str, attributes: &[Attribute]) -> Vec<String> {
    let of = |names: &[&str]| names.iter().filter_map(|name| value(attributes, name)).collect::<Vec<_>>();
    match name {
        "a" => of(&["href"]).into_iter().chain(of(&["xlink:href"])).take(1).collect(),
        "area" => of(&["href"]),
        "img" => of(&["src"]).into_iter().chain(candidates(attributes)).collect(),
        "image" => of(&["href"]).into_iter().chain(of(&["xlink:href"])).take(1).collect(),
        "script" | "iframe" | "frame" | "audio" | "embed" => of(&["src"]),
        "video" => of(&["src", "poster"]),
        "source" => of(&["src"]).into_iter().chain(candidates(attributes)).collect(),
        "object" => of(&["data"]),
        "input" if value(attributes, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) => of(&["src"]),
        "link" => {
            let rel = value(attributes, "rel").unwrap_or_default().to_ascii_lowercase();
            let known = ["stylesheet", "canonical", "alternate", "icon", "apple-touch-icon", "next", "prev"];
            if rel.split_ascii_whitespace().any(|word| known.contains(&word)) { of(&["href"]) } else { Vec::new() }
        }
        "meta" if value(attributes, "http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh")) => {
            let content = value(attributes, "content").unwrap_or_default();
            let lower = content.to_ascii_lowercase();
            let found = lower.find("url=").map(|place| content[place + 4..].trim_matches(['\'', '"', ' ']).to_owned());
            found.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn candidates(attributes: &[Attribute]) -> Vec<String> {
    let set = value(attributes, "srcset").unwrap_or_default();
    let mut found = Vec::new();
    let mut expects_url = true;
    for word in set.split_ascii_whitespace() {
        if expects_url {
            found.push(word.trim_matches(',').to_owned());
        }
        expects_url = word.ends_with(',');
    }
    found
}

fn target(base: &Url, reference: &str) -> Option<String> {
    let reference = reference.trim_matches(|letter: char| letter.is_ascii_whitespace());
    if reference.is_empty() || reference.starts_with('#') {
        return None;
    }
    base.join(reference).ok().map(|url| url.to_string())
}

#[derive(Debug)]
struct Name(QualName);

impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl TreeSink for Tree {
    type Handle = usize;
    type Output = Self;
    type ElemName<'a> = Name;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> usize {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a usize) -> Name {
        match &self.0.borrow()[*target].kind {
            NodeKind::Element { name, .. } => Name(name.clone()),
            _ => panic!("only elements have names"),
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> usize {
        let contents = flags.template.then(|| self.make(NodeKind::Other));
        let integration = flags.mathml_annotation_xml_integration_point;
        self.make(NodeKind::Element { name, attributes, integration, contents })
    }

    fn create_comment(&self, _text: StrTendril) -> usize {
        self.make(NodeKind::Other)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> usize {
        self.make(NodeKind::Other)
    }

    fn append(&self, parent: &usize, child: NodeOrText<usize>) {
        self.insert(*parent, usize::MAX, child);
    }

    fn append_based_on_parent_node(&self, element: &usize, previous: &usize, child: NodeOrText<usize>) {
        if self.0.borrow()[*element].parent.is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _name: StrTendril, _public: StrTendril, _system: StrTendril) {}

    fn get_template_contents(&self, target: &usize) -> usize {
        match self.0.borrow()[*target].kind {
            NodeKind::Element { contents: Some(contents), .. } => contents,
            _ => panic!("only templates have contents"),
        }
    }

    fn same_node(&self, x: &usize, y: &usize) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &usize, child: NodeOrText<usize>) {
        if let NodeOrText::AppendNode(node) = &child {
            self.remove_from_parent(node);
        }
        let found = {
            let nodes = self.0.borrow();
            let parent = nodes[*sibling].parent.expect("a sibling has a parent");
            let place = nodes[parent].children.iter().position(|child| child == sibling);
            (parent, place.expect("a child is among its parent's children"))
        };
        self.insert(found.0, found.1, child);
    }

    fn add_attrs_if_missing(&self, target: &usize, missing: Vec<Attribute>) {
        if let NodeKind::Element { attributes, .. } = &mut self.0.borrow_mut()[*target].kind {
            for attribute in missing {
                if attributes.iter().all(|known| known.name != attribute.name) {
                    attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &usize) {
        let mut nodes = self.0.borrow_mut();
        if let Some(parent) = nodes[*target].parent.take() {
            nodes[parent].children.retain(|child| child != target);
        }
    }

    fn reparent_children(&self, node: &usize, new_parent: &usize) {
        let mut nodes = self.0.borrow_mut();
        let children = std::mem::take(&mut nodes[*node].children);
        for &child in &children {
            nodes[child].parent = Some(*new_parent);
        }
        nodes[*new_parent].children.extend(children);
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &usize) -> bool {
        matches!(self.0.borrow()[*handle].kind, NodeKind::Element { integration: true, .. })
    }
}
