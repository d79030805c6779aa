//! See STYLE: room `crawler`.
