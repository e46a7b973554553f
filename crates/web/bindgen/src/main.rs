//! `goodqueue-web-bindgen MODULE.wasm FOLDER`: writes the module, its JavaScript and its types to FOLDER.

use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = arguments.as_slice() else {
        eprintln!("goodqueue-web-bindgen: found {} arguments; accepted: MODULE.wasm FOLDER", arguments.len());
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let written = bindgen.input_path(module).web(true).and_then(|bindgen| bindgen.typescript(true).generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("goodqueue-web-bindgen: {module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
