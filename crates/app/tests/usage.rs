//! What the command line says when it is asked wrongly, and what it takes from where.

mod common;

use std::io::Read;
use std::process::Stdio;

use common::{json_lines, refused, told, vernal};

#[test]
fn help_lists_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let help = told(vernal(&dir.path().join("data")).arg("--help"));
    let verbs = [
        "run",
        "demo",
        "seeds",
        "pause",
        "resume",
        "block",
        "status",
        "sites",
        "pages",
        "page",
        "history",
        "diff",
        "blame",
        "compare",
        "noise",
        "cat",
        "links",
        "check",
        "why",
        "changes",
        "export",
        "verify",
        "compact",
        "config",
        "completions",
    ];
    for verb in verbs {
        assert!(help.lines().any(|line| line.trim_start().starts_with(&format!("{verb} "))), "{verb}");
    }
}

#[test]
fn wrong_usage_exits_2_and_names_the_nearest() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let cases: [(&[&str], &str); 15] = [
        (&["run", "--budjet", "1/day", "http://a.example/"], "--budget"),
        (&["stauts"], "status"),
        (&["run"], "no seed was given"),
        (&["run", "--policy", "nonsense"], "is no policy"),
        (&["run", "http://127.0.0.1:9/"], "give --allow-private"),
        (&["seeds", "add", "http://[::1]:9/"], "give --allow-private"),
        (&["run", "--allow-private", "http://169.254.169.254/"], "never visited"),
        (&["run", "127.0.0.1:8500/"], "did you mean http://127.0.0.1:8500/?"),
        (&["run", "no url"], "is not a URL"),
        (&["run", "example.org"], "did you mean https://example.org?"),
        (&["run", "--budget", "5000", "http://a.example/"], "is not a budget"),
        (&["run", "--policy", "round-robbin", "http://a.example/"], "round-robin"),
        (&["run", "--listen", "0.0.0.0:0", "http://a.example/"], "needs a token"),
        (&["run", "--order", "sideways", "http://a.example/"], "is no visit order"),
        (&["run", "--include", "(", "http://a.example/"], "("),
    ];
    for (arguments, expected) in cases {
        let (code, complaint) = refused(vernal(&data).args(arguments));
        assert_eq!(code, 2, "{arguments:?}: {complaint}");
        assert!(complaint.contains(expected), "{arguments:?}: {complaint}");
    }
    assert!(!data.exists(), "wrong usage writes nothing");
}

#[test]
fn a_large_crawl_without_identity_exits_2() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let many: Vec<String> = (0..11).map(|n| format!("http://s{n}.example/")).collect();
    let (code, complaint) = refused(vernal(&data).arg("run").args(&many));
    assert_eq!((code, complaint.contains("--contact")), (2, true), "{complaint}");
    let (code, complaint) = refused(vernal(&data).args(["run", "--budget", "20000/day", "http://a.example/"]));
    assert_eq!((code, complaint.contains("--contact")), (2, true), "{complaint}");
    let dry = told(vernal(&data).args(["run", "--dry-run", "--contact", "ops@example.org"]).args(&many));
    assert!(!dry.contains("would warn"));
}

#[test]
fn flag_wins_over_environment_over_file_over_default() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("vernal.toml"), "delay = '3s'\nbudget = '3/day'\nmax_pages = 3\n").unwrap();
    let mut command = vernal(&dir.path().join("data"));
    command.args(["config", "--json", "--delay", "1s"]).env("VERNAL_DELAY", "2s").env("VERNAL_BUDGET", "2/day");
    let rows = json_lines(&told(&mut command));
    let row = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        (row["value"].as_str().unwrap().to_owned(), row["source"].as_str().unwrap().to_owned())
    };
    assert_eq!(row("delay"), ("1s".into(), "flag".into()));
    assert_eq!(row("budget"), ("2/day".into(), "environment".into()));
    assert_eq!(row("max_pages"), ("3".into(), "vernal.toml".into()));
    assert_eq!(row("scope"), ("site".into(), "default".into()));
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_name() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("vernal.toml"), "budjet = '3/day'\n").unwrap();
    let (code, complaint) = refused(vernal(&dir.path().join("data")).arg("config"));
    assert_eq!(code, 2);
    assert_eq!(complaint.trim(), "vernal: vernal.toml: unknown key `budjet`; did you mean `budget`?");
}

#[test]
fn bad_lines_of_a_seeds_file_are_named_and_the_rest_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let (data, file) = (dir.path().join("data"), dir.path().join("seeds.txt"));
    std::fs::write(&file, "http://127.0.0.1:9/\nnot a url\nhttp://127.0.0.1:9/b\n").unwrap();
    let mut command = vernal(&data);
    let output = common::output(command.args(["seeds", "add", "--json", "--allow-private", "--seeds"]).arg(&file));
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaint}");
    assert!(complaint.contains("line 2"), "{complaint}");
    assert_eq!(json_lines(&String::from_utf8_lossy(&output.stdout))[0]["new"], 2);
    std::fs::write(&file, "nothing\ngood\n").unwrap();
    let (code, complaint) = refused(vernal(&data).args(["seeds", "add", "--seeds"]).arg(&file));
    assert_eq!(code, 1, "{complaint}");
    assert!(complaint.contains("holds no seed"));
    let (code, _) = refused(vernal(&data).args(["seeds", "add"]));
    assert_eq!(code, 2);
}

#[test]
fn among_other_seeds_a_shut_one_is_told_and_the_rest_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let output =
        common::output(vernal(&data).args(["seeds", "add", "--json", "http://127.0.0.1:9/", "http://a.test/"]));
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && complaint.contains("127.0.0.1"), "{complaint}");
    assert_eq!(json_lines(&String::from_utf8_lossy(&output.stdout))[0]["new"], 1);
    let (code, complaint) = refused(vernal(&data).args(["seeds", "add", "http://10.0.0.1/"]));
    assert_eq!((code, complaint.contains("--allow-private")), (2, true), "{complaint}");
}

#[test]
fn a_mistyped_variable_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (code, complaint) = refused(vernal(&dir.path().join("data")).arg("config").env("VERNAL_BUDJET", "1/day"));
    assert_eq!((code, complaint.contains("did you mean VERNAL_BUDGET?")), (2, true), "{complaint}");
}

#[test]
fn no_repository_is_made_among_other_files() {
    let dir = tempfile::tempdir().unwrap();
    let (full, file) = (dir.path().join("full"), dir.path().join("file"));
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("thesis.txt"), "mine").unwrap();
    std::fs::write(&file, "mine").unwrap();
    for (data, expected) in [(&full, "is not empty"), (&file, "is no folder")] {
        for verb in ["run", "seeds"] {
            let arguments: &[&str] = if verb == "run" { &["run"] } else { &["seeds", "add"] };
            let (code, complaint) = refused(vernal(data).args(arguments).arg("http://a.example/"));
            assert_eq!((code, complaint.lines().count()), (1, 1), "{complaint}");
            assert!(complaint.contains(expected), "{complaint}");
        }
    }
    assert_eq!(std::fs::read_dir(&full).unwrap().count(), 1);
}

#[test]
fn a_dry_run_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let said = told(vernal(&data).args(["run", "--dry-run", "--json", "http://a.example/"]));
    let said = &json_lines(&said)[0];
    assert_eq!(said["seeds"][0], "http://a.example/");
    assert_eq!(said["settings"]["budget"], "20%/day");
    assert!(!data.exists());
}

#[test]
fn a_folder_without_a_repository_is_a_clear_failure() {
    let dir = tempfile::tempdir().unwrap();
    for verb in ["status", "sites", "pages", "verify"] {
        let (code, complaint) = refused(vernal(&dir.path().join("data")).arg(verb));
        assert_eq!((code, complaint.lines().count()), (1, 1), "{verb}: {complaint}");
        assert!(complaint.starts_with("vernal: ") && complaint.contains("holds no repository"), "{complaint}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = vernal(&dir.path().join("data"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut complaint = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(complaint, "");
}
