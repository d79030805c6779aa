//! Prints the HTML that files become, read here and now: `cargo run -p vernal-extract --example text FILE…`

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for name in std::env::args().skip(1) {
        if let Err(why) = show(&name) {
            eprintln!("{name}: {why}");
            code = ExitCode::FAILURE;
        }
    }
    code
}

fn show(name: &str) -> Result<(), String> {
    let bytes = std::fs::read(name).map_err(|error| error.to_string())?;
    let kind = vernal_extract::kind_of(&bytes, None, name).ok_or("no kind of file that is read here")?;
    print!("{}", vernal_extract::read_file(kind, &bytes).map_err(|fault| fault.to_string())?);
    Ok(())
}
