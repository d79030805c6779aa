//! See STYLE: room `fetch`.
