//! Title, author and dates: the property set `SummaryInformation`.

use encoding_rs::{Encoding, WINDOWS_1252};

use super::bytes::{u16_at, u32_at};
use crate::draft::Facts;

/// Longer values are cut.
const VALUE_BYTES_MAX: usize = 2_000;

/// Properties of one set that are looked at.
const PROPERTIES_MAX: u32 = 200;

/// 100 ns between 1601 and 1970.
const TICKS_BEFORE_1970: u64 = 116_444_736_000_000_000;

pub fn facts_of(stream: &[u8]) -> Facts {
    read(stream).unwrap_or_default()
}

fn read(stream: &[u8]) -> Option<Facts> {
    let set = stream.get(u32_at(stream, 44)? as usize..)?;
    let count = u32_at(set, 4)?.min(PROPERTIES_MAX) as usize;
    let mut properties = Vec::with_capacity(count);
    for number in 0..count {
        let (id, place) = (u32_at(set, 8 + 8 * number)?, u32_at(set, 12 + 8 * number)?);
        properties.push((id, set.get(place as usize..)?));
    }
    let find = |wanted: u32| properties.iter().find(|(id, _)| *id == wanted).map(|(_, value)| *value);
    let code_page = find(1).and_then(|value| u16_at(value, 4)).unwrap_or(1252);
    let encoding = encoding_of(code_page);
    let text = |id: u32| find(id).and_then(|value| text_of(value, encoding)).unwrap_or_default();
    let date = |id: u32| find(id).and_then(date_of).unwrap_or_default();
    Some(Facts { title: text(2), author: text(4), created: date(12), modified: date(13), ..Facts::default() })
}

fn encoding_of(code_page: u16) -> &'static Encoding {
    let label = match code_page {
        65001 => "utf-8".to_owned(),
        932 => "shift_jis".into(),
        936 => "gbk".into(),
        949 => "euc-kr".into(),
        950 => "big5".into(),
        10000 => "macintosh".into(),
        number => format!("windows-{number}"),
    };
    Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252)
}

fn text_of(value: &[u8], encoding: &'static Encoding) -> Option<String> {
    let length = u32_at(value, 4)? as usize;
    let text = match u32_at(value, 0)? & 0xffff {
        30 => {
            let bytes = value.get(8..)?;
            let bytes = &bytes[..length.min(bytes.len()).min(VALUE_BYTES_MAX)];
            encoding.decode_without_bom_handling(bytes).0.into_owned()
        }
        31 => {
            let bytes = value.get(8..)?;
            let bytes = &bytes[..length.saturating_mul(2).min(bytes.len()).min(VALUE_BYTES_MAX)];
            encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0.into_owned()
        }
        _ => return None,
    };
    Some(text.chars().take_while(|letter| *letter != '\0').collect::<String>().trim().to_owned())
}

fn date_of(value: &[u8]) -> Option<String> {
    if u32_at(value, 0)? & 0xffff != 64 {
        return None;
    }
    let ticks = u64::from(u32_at(value, 4)?) | u64::from(u32_at(value, 8)?) << 32;
    let since = ticks.checked_sub(TICKS_BEFORE_1970)?;
    let moment = jiff::Timestamp::from_second(i64::try_from(since / 10_000_000).ok()?).ok()?;
    Some(moment.to_string())
}
