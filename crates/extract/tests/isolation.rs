//! A child reads files and can do nothing else. This test is its own child: it starts itself again, so it has a `main` of its own.

use std::ffi::OsString;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use vernal_extract::{Fault, FileKind, Limits, Pool, confine, serve};

const LAWS: [(&str, fn()); 6] = [
    ("a_child_reads_one_file_after_the_other", a_child_reads_one_file_after_the_other),
    ("a_child_has_no_files_no_network_and_no_other_programs", a_child_has_no_files_no_network_and_no_other_programs),
    ("a_bomb_costs_its_child_and_nothing_else", a_bomb_costs_its_child_and_nothing_else),
    ("a_child_that_hangs_is_killed_in_time", a_child_that_hangs_is_killed_in_time),
    ("a_child_that_ends_at_once_is_a_fault", a_child_that_ends_at_once_is_a_fault),
    ("a_child_has_no_environment", a_child_has_no_environment),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("child") => return if serve(&limits()).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE },
        Some("try") => return try_everything(&arguments[2]),
        Some("hang") => hang(),
        Some("end") => return ExitCode::FAILURE,
        _ => {}
    }
    for (name, law) in LAWS {
        println!("test {name} ...");
        law();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn limits() -> Limits {
    Limits { time: Duration::from_secs(30), ..Limits::default() }
}

fn pool(verb: &str, limits: Limits) -> Pool {
    let program: PathBuf = std::env::current_exe().expect("a test has a program");
    Pool::new(program, vec![OsString::from(verb)], 2, limits)
}

fn a_child_reads_one_file_after_the_other() {
    let pool = pool("child", limits());
    for _ in 0..3 {
        let html = pool.read(FileKind::Rtf, b"{\\rtf1 some words\\par}").expect("it is read");
        assert!(html.contains("<p>some words</p>"), "{html}");
    }
    assert!(matches!(pool.read(FileKind::Pdf, b"no PDF"), Err(Fault::Broken(_))));
    let counts = pool.counts();
    assert_eq!((counts.children_started, counts.files_read, counts.files_failed, counts.children_lost), (1, 3, 1, 0));
}

fn a_child_has_no_files_no_network_and_no_other_programs() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let address = listener.local_addr().expect("it is bound").to_string();
    let program = std::env::current_exe().expect("a test has a program");
    let output = Command::new(program).args(["try", &address]).output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "what a child could do: {told}");
    assert!(told.contains("tried 7"), "{told}");
}

/// The child's side: confines itself, tries what it must not be able to do, and says what went well.
fn try_everything(address: &str) -> ExitCode {
    let there = std::env::temp_dir().join("vernal-isolation-test");
    let confinement = match confine(&limits()) {
        Ok(confinement) => confinement,
        Err(error) => {
            println!("not confined: {error}");
            return ExitCode::FAILURE;
        }
    };
    if confinement.missing().is_some() {
        println!("tried 7: this kernel cannot confine more: {confinement:?}");
        return ExitCode::SUCCESS;
    }
    let went_well = [
        ("read /etc/passwd", std::fs::read("/etc/passwd").is_ok()),
        ("read /proc/self/environ", std::fs::read("/proc/self/environ").is_ok()),
        ("write a file", std::fs::write(there, b"x").is_ok()),
        ("list a folder", std::fs::read_dir("/").is_ok()),
        ("connect", TcpStream::connect(address).is_ok()),
        ("open a socket", UdpSocket::bind("127.0.0.1:0").is_ok()),
        ("start a program", Command::new("/bin/true").status().is_ok()),
    ];
    println!("tried {}", went_well.len());
    for (what, is_possible) in went_well {
        if is_possible {
            println!("possible: {what}");
        }
    }
    if went_well.iter().any(|(_, is_possible)| *is_possible) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn a_bomb_costs_its_child_and_nothing_else() {
    let pool = pool("child", limits());
    let fault = pool.read(FileKind::Pdf, &bomb(1 << 30));
    assert!(fault.is_err(), "it was read");
    let html = pool.read(FileKind::Rtf, b"{\\rtf1 still there\\par}").expect("another child reads the next file");
    assert!(html.contains("still there"));
}

/// A PDF file whose page unpacks to so many bytes.
fn bomb(bytes: u64) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..bytes >> 20 {
        packed.write_all(&zeros).expect("memory takes it");
    }
    let packed = packed.finish().expect("memory takes it");
    let mut file =
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
        3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R>>endobj\n"
            .to_vec();
    file.extend(format!("4 0 obj<</Length {}/Filter/FlateDecode>>stream\n", packed.len()).bytes());
    file.extend(packed);
    file.extend(b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n");
    file
}

fn hang() -> ! {
    let confinement = confine(&limits()).expect("it is confined");
    let mut output = std::io::stdout();
    output.write_all(&[confinement.byte()]).and_then(|()| output.flush()).expect("its parent listens");
    loop {
        std::hint::spin_loop();
    }
}

fn a_child_that_hangs_is_killed_in_time() {
    let pool = pool("hang", Limits { time: Duration::from_millis(300), ..limits() });
    assert_eq!(pool.read(FileKind::Pdf, b"%PDF-"), Err(Fault::TookTooLong { seconds: 1 }));
    assert_eq!(pool.counts().children_lost, 1);
    let mine = format!("{}", std::process::id());
    assert!(children_of(&mine).is_empty(), "a child is left behind");
}

/// The processes of which this one is the parent.
fn children_of(parent: &str) -> Vec<String> {
    let read = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    read.split_whitespace().map(str::to_owned).collect()
}

fn a_child_that_ends_at_once_is_a_fault() {
    let pool = pool("end", limits());
    assert!(matches!(pool.read(FileKind::Pdf, b"%PDF-"), Err(Fault::NoProcess(_))));
}

fn a_child_has_no_environment() {
    let pool = pool("child", limits());
    pool.read(FileKind::Rtf, b"{\\rtf1 a}").expect("it is read");
    let children = children_of(&std::process::id().to_string());
    assert_eq!(children.len(), 1);
    let environment = std::fs::read(format!("/proc/{}/environ", children[0])).unwrap_or_default();
    assert!(environment.is_empty(), "{}", String::from_utf8_lossy(&environment));
}
