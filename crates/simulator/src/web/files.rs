//! Bodies that are no HTML: PDF, PNG, Atom, JSON, and the assets that pages name.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use vernal_model::{Chance, Moment, Span};

use super::class::Class;
use super::plan::{PageNumber, Web};
use super::settings::WebSettings;
use super::words;
use super::words::Language;

/// What a gzip bomb becomes when it is unpacked.
const BOMB_BYTES: usize = 64 << 20;

const STYLE: &str = "body { color: #222; background: #fff }\nnav li { display: inline-block }\n";
const SCRIPT: &str = "document.addEventListener('DOMContentLoaded', () => { console.log('ready'); });\n";

/// The style sheet or the script of a site. Each build has other bytes.
pub(super) fn asset(settings: &WebSettings, path: &str, now: Moment) -> (&'static str, String) {
    let build = now.since(settings.origin).secs_f64() / 3_600.0 / settings.assets_hours.max(1) as f64;
    let build = if settings.assets_hours == 0 { 0 } else { build as u64 };
    match (path.starts_with("/style"), build) {
        (true, 0) => ("text/css", STYLE.to_owned()),
        (false, 0) => ("text/javascript", SCRIPT.to_owned()),
        (true, _) => ("text/css", format!("{STYLE}h1 {{ margin-left: {build}px }}\n")),
        (false, _) => ("text/javascript", format!("{SCRIPT}const build = {build};\n")),
    }
}

impl Web {
    pub(super) fn file(&self, number: PageNumber, version: u32) -> (&'static str, Vec<u8>) {
        let page = &self.plan.pages[number.index()];
        let chance = page.chance.stream("file").numbered(u64::from(version));
        match page.class {
            Class::Pdf => ("application/pdf", pdf(chance, version)),
            Class::Image => ("image/png", png(chance)),
            Class::Feed => ("application/atom+xml", self.feed(number, version).into_bytes()),
            _ => ("application/json", json(chance, version).into_bytes()),
        }
    }

    /// Ten entries of which a change puts a new one on top.
    fn feed(&self, number: PageNumber, version: u32) -> String {
        let page = &self.plan.pages[number.index()];
        let url = self.url(number);
        let mut out =
            String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n");
        let _ = write!(out, "<title>{}</title>\n<id>{url}</id>\n", self.title(number));
        let links = self.links(number);
        for entry in (version..version + 10).rev() {
            let mut chance = page.chance.stream("entry").numbered(u64::from(entry));
            let link = links[entry as usize % links.len()];
            let title = words::title(Language::English, &mut chance);
            let _ = writeln!(
                out,
                "<entry><id>{url}#{entry}</id><title>{title}</title><link href=\"{}\"/><summary>",
                self.url(link)
            );
            words::push_paragraph(&mut out, Language::English, &mut chance);
            out.push_str("</summary></entry>\n");
        }
        out.push_str("</feed>\n");
        out
    }

    /// The Moment of the last real change; before the first one, some day before the origin.
    pub fn modified(&self, number: PageNumber, now: Moment) -> Moment {
        let original = self.original(number);
        self.plan.drift.last(original, now).unwrap_or_else(|| {
            let page = &self.plan.pages[original.index()];
            self.plan.settings.origin - Span::from_secs(page.chance.stream("born").below(400 * 86_400))
        })
    }
}

/// The smallest PDF that readers accept: one page, one font, one stream of text.
fn pdf(mut chance: Chance, version: u32) -> Vec<u8> {
    let mut text = format!("BT /F1 12 Tf 50 750 Td 14 TL (Edition {version}) Tj T*\n");
    for _ in 0..12 {
        let mut line = String::new();
        words::push_sentence(&mut line, Language::English, &mut chance);
        let _ = writeln!(text, "({}) Tj T*", line.trim_end());
    }
    text.push_str("ET\n");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{text}endstream", text.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut out = String::from("%PDF-1.4\n");
    let mut offsets = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        let _ = write!(out, "{} 0 obj\n{object}\nendobj\n", index + 1);
    }
    let table = out.len();
    let _ = write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(out, "{offset:010} 00000 n ");
    }
    let _ = write!(out, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1);
    out.into_bytes()
}

/// Eight by eight pixels of random colour.
fn png(mut chance: Chance) -> Vec<u8> {
    let mut rows = Vec::new();
    for _ in 0..8 {
        // Each row begins with its filter, which is none.
        rows.extend([0]);
        for _ in 0..3 {
            rows.extend(chance.bits().to_le_bytes());
        }
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&rows).expect("a vector takes every byte");
    let packed = packed.finish().expect("a vector takes every byte");
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    push_png_part(&mut out, b"IHDR", &[0, 0, 0, 8, 0, 0, 0, 8, 8, 2, 0, 0, 0]);
    push_png_part(&mut out, b"IDAT", &packed);
    push_png_part(&mut out, b"IEND", &[]);
    out
}

fn push_png_part(out: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    let mut sum = flate2::Crc::new();
    sum.update(name);
    sum.update(data);
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(name);
    out.extend(data);
    out.extend(sum.sum().to_be_bytes());
}

fn json(mut chance: Chance, version: u32) -> String {
    let mut out = format!("{{\"edition\":{version},\"items\":[");
    for index in 0..8 {
        let comma = if index == 0 { "" } else { "," };
        let title = words::title(Language::English, &mut chance);
        let _ = write!(out, "{comma}{{\"title\":\"{title}\",\"amount\":{}}}", chance.below(100_000));
    }
    out.push_str("]}\n");
    out
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::new(6));
    packed.write_all(bytes).expect("a vector takes every byte");
    packed.finish().expect("a vector takes every byte")
}

pub(super) fn bomb() -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![b'0'; 1 << 20];
    for _ in 0..BOMB_BYTES / zeros.len() {
        packed.write_all(&zeros).expect("a vector takes every byte");
    }
    packed.finish().expect("a vector takes every byte")
}
