//! Checks that the header, the static library and a C compiler agree: `example.c` is compiled and run.
//!
//! `GOODQUEUE_CFLAGS="-fsanitize=address,undefined"` runs the example under the sanitizers. The words of
//! `GOODQUEUE_RUN`, such as `valgrind`, are put before the command.
#![allow(clippy::unwrap_used)] // clippy.toml's exemption covers test functions, not their helpers

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Compiles `NAME.c`. Warnings are errors, so that the headers stand up to strict users.
fn compiled(name: &str) -> PathBuf {
    // This test is target/debug/deps/c_api-…. Cargo built the library for it into target/debug/deps, too.
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = deps.join(format!("goodqueue-{name}-{}", std::process::id()));
    let flags = std::env::var("GOODQUEUE_CFLAGS").unwrap_or_default();
    let output = Command::new("cc")
        .args(["-std=c99", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .args(flags.split_whitespace())
        .arg("-I")
        .arg(crate_dir.join("include"))
        .arg(crate_dir.join(format!("tests/{name}.c")))
        .arg(deps.join("libgoodqueue_capi.a"))
        .args(if cfg!(target_os = "linux") { &["-lpthread", "-ldl", "-lm"][..] } else { &[] })
        .arg("-o")
        .arg(&program)
        .output();
    let output = output.unwrap_or_else(|error| {
        panic!("no C compiler: `cc` cannot be started ({error}); cargo's linker is the same, Debian has it in gcc")
    });
    assert!(output.status.success(), "cc: {}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Runs the example of disciplines, which is compiled once.
fn run(words: &[&str]) -> Output {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    run_program(PROGRAM.get_or_init(|| compiled("example")), words)
}

fn run_program(program: &Path, words: &[&str]) -> Output {
    let before = std::env::var("GOODQUEUE_RUN").unwrap_or_default();
    let mut command: Vec<&str> = before.split_whitespace().collect();
    command.push(program.to_str().unwrap());
    command.extend(words);
    Command::new(command[0]).args(&command[1..]).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_discipline_conserves_packets_when_driven_from_c() {
    for spec in goodqueue_qdisc::registry::ALL {
        let output = run(&[spec.name]);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{}: {out}{err}", spec.name);
        assert!(out.contains("offered 2000 = delivered"), "{}: {out}", spec.name);
    }
}

#[test]
fn codel_drops_and_marks_for_its_target() {
    let out = text(&run(&["codel target 5ms ecn"]).stdout);
    assert!(out.contains(", target\n") && out.contains("first mark: packet"), "{out}");
    assert!(out.contains("first drop: packet"), "{out}");
}

/// Users of C read the same message as users of Python and of the command line.
#[test]
fn a_refusal_is_the_registry_s_own_line() {
    for line in
        ["codel target 5parsec", "codel target 20min", "codel targte 5ms", "codle", "red probability 2"]
    {
        let output = run(&[line]);
        let error = goodqueue_qdisc::registry::parse_line(line).unwrap_err();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert_eq!(text(&output.stdout), format!("refused: {error}\n"));
    }
}

/// Guards against a mistake in C that corrupts memory.
#[test]
#[cfg(unix)]
fn misuse_ends_the_program_with_a_line() {
    use std::os::unix::process::ExitStatusExt;
    for (misuse, says) in [
        ("null", "goodqueue_enqueue: the packet is NULL"),
        ("bytes", "goodqueue_enqueue_ip: the bytes are NULL"),
        ("callback", "goodqueue_backlog: called from inside a callback of the same discipline"),
    ] {
        let output = run(&["pfifo limit 10", misuse]);
        let err = text(&output.stderr);
        assert!(err.contains(says), "{misuse}: {err}");
        // A sanitizer or valgrind reports the abort in its own way.
        let sanitized = std::env::var("GOODQUEUE_CFLAGS").is_ok() || std::env::var("GOODQUEUE_RUN").is_ok();
        assert!(sanitized || output.status.signal() == Some(6), "{misuse}: {:?}", output.status);
        assert!(!output.status.success());
    }
}

/// Two endpoints in C across a path. Guards against numbers that differ between the header and the library, and against
/// a mistake that does anything but tell.
#[test]
fn endpoints_in_c_talk_across_a_path() {
    let program = compiled("transport");
    let [first, second] = [0, 1].map(|_| text(&run_program(&program, &[]).stdout));
    assert_eq!(first, second, "the same calls give the same bytes");
    let lines: Vec<&str> = first.lines().collect();
    assert_eq!(lines[0], "late: time: found 1ns; accepted: 2s, the time of the path, or later");
    let numbers: Vec<f64> = lines[1].split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    let [sent, delivered, lost, under_way, marked, mbps] = numbers[..] else { panic!("{first}") };
    assert!(sent == delivered + lost + under_way && marked > 0.0 && mbps > 1.0, "{first}");
    assert!(lines[2].starts_with(r#"{"schema":1,"engine":"sim""#) && lines[2].contains("mine/0"), "{first}");
    let refused = run_program(&program, &["{}"]);
    assert_eq!(text(&refused.stdout), "refused: duration: missing; accepted: a time such as \"60s\"\n");
    assert_eq!(refused.status.code(), Some(2));
}

/// Guards against a call, or an order of calls, that breaks memory, a count, or a thread whose stack is small.
#[test]
#[cfg(target_os = "linux")]
fn random_calls_from_c_keep_every_count() {
    let program = compiled("random");
    let lines = goodqueue_qdisc::registry::ALL.iter().map(|spec| spec.name).filter(|name| *name != "netem");
    let trees = [
        "netem delay 3ms 1ms loss 3% limit 90",
        "tc qdisc add dev e root handle 1: htb default 2; tc class add dev e parent 1: classid 1:2 htb rate 5mbit",
        "tc qdisc add dev e root handle 1: prio; tc qdisc add dev e parent 1:2 handle 2: sfq",
    ];
    let lines: Vec<&str> = lines.chain(trees).collect();
    for seed in ["1", "2", "3"] {
        let output = run_program(&program, &[&[seed, "300"][..], &lines[..]].concat());
        assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    }
}
