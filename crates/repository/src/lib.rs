//! See STYLE: room `repository`.
