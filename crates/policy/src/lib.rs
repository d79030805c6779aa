//! See STYLE: room `policy`.
