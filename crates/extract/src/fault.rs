//! Why a file could not be read.

/// The reasons, in words that follow "text could not be taken: ".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("{0}")]
    Broken(String),
    #[error("it is locked by a password")]
    Locked,
    #[error("{what} is beyond {limit}")]
    TooLarge { what: &'static str, limit: String },
    #[error("its reader has not the room it asks for or fell over")]
    Crashed,
    #[error("reading it took longer than {seconds} s")]
    TookTooLong { seconds: u64 },
    #[error("the reading process could not be started: {0}")]
    NoProcess(String),
}

impl Fault {
    pub fn broken(why: impl std::fmt::Display) -> Fault {
        let mut why = why.to_string();
        if let Some((end, _)) = why.char_indices().nth(200) {
            why.truncate(end);
        }
        Fault::Broken(why.replace(|letter: char| letter.is_control(), " "))
    }
}
