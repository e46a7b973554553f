//! `goodqueue-web-bindgen MODULE.wasm FOLDER` writes the module, its JavaScript and its types to FOLDER.

use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = arguments.as_slice() else {
        eprintln!("goodqueue-web-bindgen: found {} arguments; accepted: MODULE.wasm FOLDER", arguments.len());
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    // The names of functions are a third of the module, and the page does not need them.
    bindgen.input_path(module).typescript(true).remove_name_section(true).remove_producers_section(true);
    let written = bindgen.web(true).and_then(|bindgen| bindgen.generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("goodqueue-web-bindgen: {module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
