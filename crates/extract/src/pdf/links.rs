//! The links of a page: its link annotations with an address.

use hayro_interpret::TransformExt;
use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Rect, String as PdfString};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::kurbo::Point;

/// Further annotations of a page are not looked at.
const ANNOTATIONS_MAX: usize = 5_000;

/// The place of a link on the page, and its address by number.
pub struct LinkPlace {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
    pub target: String,
}

impl LinkPlace {
    fn holds(&self, x: f32, y: f32) -> bool {
        (self.left - 1.0..=self.right + 1.0).contains(&x) && (self.top - 1.0..=self.bottom + 1.0).contains(&y)
    }
}

pub fn links_of(page: &Page<'_>) -> Vec<LinkPlace> {
    let Some(annotations) = page.raw().get::<Array<'_>>("Annots") else { return Vec::new() };
    let transform = page.initial_transform(true).to_kurbo();
    let mut links = Vec::new();
    for annotation in annotations.iter::<Dict<'_>>().take(ANNOTATIONS_MAX) {
        let is_link = annotation.get::<Name<'_>>("Subtype").is_some_and(|kind| kind.as_str() == "Link");
        let (Some(rect), true) = (annotation.get::<Rect>("Rect"), is_link) else { continue };
        let Some(target) = target_of(&annotation) else { continue };
        let (one, other) = (transform * Point::new(rect.x0, rect.y0), transform * Point::new(rect.x1, rect.y1));
        links.push(LinkPlace {
            left: one.x.min(other.x) as f32,
            top: one.y.min(other.y) as f32,
            right: one.x.max(other.x) as f32,
            bottom: one.y.max(other.y) as f32,
            target,
        });
    }
    links
}

/// The link at a place. The last one drawn lies on top.
pub fn link_at(links: &[LinkPlace], x: f32, y: f32) -> Option<u32> {
    links.iter().rposition(|link| link.holds(x, y)).map(|place| place as u32)
}

fn target_of(annotation: &Dict<'_>) -> Option<String> {
    let action = annotation.get::<Dict<'_>>("A")?;
    let kind = action.get::<Name<'_>>("S")?;
    match kind.as_str() {
        "URI" => {
            let target = action.get::<PdfString<'_>>("URI")?;
            let target = String::from_utf8_lossy(target.as_bytes()).trim().to_owned();
            (!target.is_empty()).then_some(target)
        }
        // A place in another file.
        "GoToR" => {
            let file = action.get::<PdfString<'_>>("F");
            let file = file.or_else(|| action.get::<Dict<'_>>("F")?.get::<PdfString<'_>>("F"))?;
            let name = super::text_string::text_of(file.as_bytes());
            (!name.is_empty() && !name.starts_with('/')).then_some(name)
        }
        _ => None,
    }
}
