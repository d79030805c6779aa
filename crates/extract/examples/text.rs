fn main() {
    for name in std::env::args().skip(1) {
        let bytes = std::fs::read(&name).unwrap();
        let Some(kind) = vernal_extract::kind_of(&bytes, None, &name) else {
            eprintln!("{name}: unknown");
            continue;
        };
        match vernal_extract::read_file(kind, &bytes) {
            Ok(html) => print!("{html}"),
            Err(error) => eprintln!("{name}: {error}"),
        }
    }
}
