//! See STYLE: room `document`.
