//! Conditions over the change feed, and an outbox that loses nothing: webhooks, mail, commands, digests.
//!
//! The room reads acknowledged events only and follows the journal at its own pace. The ring never waits for it.
