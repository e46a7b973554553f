//! The WebAssembly binding: it converts, and never decides. Structured data crosses as JSON text, as in the Python
//! binding. Packets are the exception, because there are many: they cross as rows of numbers (see `look`).
//!
//! A refused scenario is thrown as JSON text: `{"key": …, "message": …}`.

#[cfg(target_arch = "wasm32")]
pub mod binding;
#[cfg(any(target_arch = "wasm32", test))]
pub mod look;
