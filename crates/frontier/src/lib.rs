//! See STYLE: room `frontier`.
