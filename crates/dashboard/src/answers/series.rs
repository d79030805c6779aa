//! `GET /api/v1/series`

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Series {
    pub from: String,
    pub until: String,
    pub step_s: f64,
    pub names: Vec<String>,
    pub rows: Vec<(String, Vec<Option<f64>>)>,
}

impl Series {
    /// The values of one name with their times in seconds; what was not kept is `None`.
    pub fn column(&self, name: &str) -> Vec<(f64, Option<f64>)> {
        let Some(place) = self.names.iter().position(|own| own == name) else { return Vec::new() };
        let value = |(begins, values): &(String, Vec<Option<f64>>)| {
            Some((crate::times::second_of(begins)?, values.get(place).copied().flatten()))
        };
        self.rows.iter().filter_map(value).collect()
    }

    pub fn sum(&self, name: &str) -> f64 {
        self.column(name).iter().filter_map(|(_, value)| *value).sum()
    }
}
