//! See STYLE: room `simulator`.
