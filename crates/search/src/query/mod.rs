//! What a person typed becomes an expression.
//!
//! ```text
//! either  = every ("OR" every)*
//! every   = one (["AND"] one)*              words that stand side by side must all be there
//! one     = ("NOT" | "-") one | "(" either ")" | [field ":"] (word | word "*" | '"' words '"')
//! ```
//!
//! A fault names its place. The library's own grammar was not taken: it accepts almost everything, cannot say where a fault
//! lies, and knows nothing of pages, tags and times.

pub mod expression;
pub mod fault;
pub mod parse;
mod tokens;
