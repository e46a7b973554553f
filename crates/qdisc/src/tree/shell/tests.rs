//! Tests of the shell: its words beside those of a real shell, what is refused, and the bounds.

use super::{Refusal, carry_out};
use proptest::prelude::*;
use std::format;
use std::process::Command;
use std::string::{String, ToString};
use std::vec::Vec;

/// Returns the commands of `tc` in `text`, with their words in brackets, and the notes.
fn read(text: &str) -> Result<(Vec<String>, Vec<String>), Refusal> {
    let mut commands = Vec::new();
    let notes = carry_out(text, &mut |words| {
        commands.push(words.iter().map(|word| format!("<{word}>")).collect::<String>());
        Ok(())
    })?;
    Ok((commands, notes))
}

/// Returns what a real shell gives `tc`, written in the same way. The function stands in for the program.
fn real(shell: &str, text: &str) -> Vec<String> {
    let script = format!("tc() {{ printf '<%s>' \"$@\"; echo; }}\n{text}\n");
    let output = Command::new(shell).args(["-c", &script]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.lines().map(ToString::to_string).collect()
}

/// Scripts whose words POSIX decides.
const SCRIPTS: &[&str] = &[
    "A=eth0 B=\"x y\"\nC='$A'\ntc add $A $B \"$B\" '$B' \"$C\" ${A}1 $A$A",
    "A=x; tc \"it's $A\" \"'$A'\" \"'\" '\"' \"a'b\"c'd\"'; tc \"'\"; B=\"'$A'\"; tc $B",
    "A=7; tc \"\" '' \"a\"'b'c\\ d \\$A \"\\$A\" \"\\a\" 'a\\b' $A\"$A\"",
    "A='  x  y  '; tc a$A\"b\" $A \"$A\" b$A; B=; tc $B \"$B\" z",
    "UP=900\ntc rate $((UP*95/100))kbit $(($UP / 7)) $(( (UP + 5) % 7 - -3 ))",
    "tc $((1+2*3)) $((7/2)) $((-7/2)) $((-7%3)) $((1<<4|3)) $((0x1f&010)) $((5>3&&2>7||0)) $((1?2:3)) $((!0)) $((~5))",
    "A=3; tc $((A==3)) $((A!=3)) $((A>=4)) $((2^7)) $(( A = A + 4 )) $A $((A+=2)) $((A<<=1)) $A",
    "tc ${X:-default} ${X-other} ${X:-a b} \"${X:-a b}\" ${X:+never} ${Y:=set} $Y ${Y:+there} ${#Y}",
    "F=eth0.100.tar; tc ${F%.*} ${F%%.*} ${F#*.} ${F##*.} ${F%none} ${F#?th}",
    "tc a && tc b; false || tc c; true || tc d; ! false && tc e; false && tc f || tc g",
    "for i in 1 2 3; do for j in a b; do [ $i = 2 ] && continue 2; tc $i$j; done; done; tc $i$j",
    "i=0; while [ $i -lt 4 ]; do i=$((i+1)); [ $i -eq 3 ] && break; tc $i; done; until [ $i -eq 5 ]; do i=$((i+1)); done; tc $i",
    "f() { tc $# \"$1\" $2 \"$@\"; shift; tc $1 \"$*\"; }\nf 'a b' 'c d' e; f x",
    "f() { local A=2; g; A=3; }; g() { tc $A; B=$A; }; A=1; f; tc $A $B",
    "f() { return $1; }; f 0 && tc a; f 1 || tc b; if f 1; then tc c; elif f 0; then tc d; else tc e; fi",
    "for w in ab a 'b c' '' x1; do case $w in a*) tc 1 $w;; b\\ c|'') tc 2 \"$w\";; [x-z][0-9]) tc 3;; *) tc 4;; esac; done",
    "A=$(echo one; echo two); tc $A \"$A\" $(echo $A) `echo x` \"$(expr 10 - 4 / 2 \\* 3)\" $(printf '%02x:%d' 31 7)",
    "f() { echo $(( $1 * 2 )); X=changed; }; X=kept; Y=$(f 21); tc $Y $X; (X=inner; tc $X); tc $X",
    "[ a = a ] && tc 1; [ a != a ] || tc 2; [ -z \"\" ] && tc 3; [ -n \"$N\" ] || tc 4; [ 3 -gt 2 -a 1 -le 1 ] && tc 5; [ ! 3 -lt 2 ] && tc 6",
    "A='x'; A=$A$A; export B=$A C=\"$A y\"; tc $B \"$C\"; unset A; tc ${A-unset}; readonly D=1; tc $D",
    "set -- a 'b c' d; tc $# $2 \"$2\"; for x; do tc \"$x\"; done; shift 2; tc $1; set -e; set --; tc $#",
    "tc a \\\n  b 'c\nd' # comment\n#tc no\ntc a#b; tc x >/dev/stdout 2>&1; tc last 2>/dev/null || true",
    "cat <<EOF >/dev/null\ntc no\nEOF\ntc yes; if true; then tc a; fi; { tc b; tc c; }; [ 1 = 2 ]; tc $?; true; tc $?",
    "A=5\nif [ \"$A\" -gt 3 ]; then\n  B=big\nelse\n  B=small\nfi\ntc $B; test $A = 5 && tc test; T=tc; $T via; N=\"tc add\"; $N x",
    "while getopts ab:c o; do case $o in a) tc a;; b) tc b $OPTARG;; c) tc c;; esac; done; tc $OPTIND",
    "set -- -ab one -c -b two rest; while getopts ab:c o; do case $o in a) tc a;; b) tc b $OPTARG;; c) tc c;; esac; done; tc $OPTIND",
    "S=1; f() { tc $S; }; S=2 f; f; eval A=9; tc $A; eval export E=; tc \"$E\" end; tc $(seq 2 4) $(command -v tc)",
    "A=a; A=\"${A}b\" B=$A; tc $A $B; P=' p q '; tc ${P}r; tc \"${A:+\"$P\"}\"; tc $((${A:+4} + 1)) {a} a=b",
];

/// Scripts of bash, which `sh` may not take.
const OF_BASH: &[&str] = &[
    "A=(1 'b c' $((2+1))); tc ${A[0]} \"${A[1]}\" ${A[@]} \"${A[@]}\" \"${A[*]}\" ${#A[@]} $A; A+=(z); tc ${A[3]} ${#A[@]}",
    "A=(x y z)\nfor ((i=0; i<${#A[@]}; i++)); do tc $i ${A[i]} ${A[$((i+1))]:-}; done\nA[1]=n; A[7]=s; tc \"${A[@]}\" ${#A[@]}",
    "for i in {1..3} x {2..0}; do tc $i; done; B=(); tc \"${B[@]}\" ${#B[@]} end; unset A; tc ${#A[@]} \"${A[@]}\"",
    "i=3; ((i++)); tc $i; let i=i*2; tc $i; ((i > 7)) && tc big; if ((i == 8)); then tc eight; fi; ((x = i + 1)); tc end $x",
    "[[ abc == a* && ! -z x ]] && tc 1; [[ a == \"a*\" ]] || tc 2; [[ 3 -lt 2 || b != c ]] && tc 3; X='a b'; [[ $X = 'a b' ]] && tc 4",
    "f() { local i; for i in \"$@\"; do tc $i; done; }; R=(10 20); f \"${R[@]}\" ${R[1]}; function g { tc g $1; }; g 1; tc $((2**10))",
];

#[test]
fn words_are_those_of_bash() {
    for script in OF_BASH {
        let (commands, _) =
            read(&format!("#!/bin/bash\n{script}")).unwrap_or_else(|why| panic!("{script}\n{why:?}"));
        assert_eq!(commands, real("bash", script), "{script}");
    }
}

#[test]
fn words_are_those_of_a_real_shell() {
    for script in SCRIPTS {
        let (commands, _) = read(script).unwrap_or_else(|why| panic!("{script}\n{why:?}"));
        // A word may have the end of a line in it.
        for shell in ["sh", "bash"] {
            assert_eq!(commands.join("\n"), real(shell, script).join("\n"), "{shell}: {script}");
        }
    }
}

/// Returns a random script of assignments, arithmetic and quotes over four variables.
fn script() -> impl Strategy<Value = Vec<String>> {
    let number = prop_oneof![
        (0..2000i64).prop_map(|number| number.to_string()),
        Just("0x1f".into()),
        Just("017".into())
    ];
    let name = prop_oneof![Just("A"), Just("B"), Just("C"), Just("D")];
    let operand = prop_oneof![
        number,
        name.clone().prop_map(String::from),
        name.clone().prop_map(|name| format!("${name}"))
    ];
    let operator = prop::sample::select(std::vec![
        "+", "-", "*", "|", "&", "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "<<1+", ">>1+", "%7*",
        "/3-", "?2:",
    ]);
    let sum = operand.prop_recursive(4, 16, 2, move |inner| {
        prop_oneof![
            (inner.clone(), operator.clone(), inner.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (prop::sample::select(std::vec!["-", "!", "~", "+"]), inner.clone())
                .prop_map(|(op, a)| format!("{op} {a}")),
            inner.prop_map(|a| format!("({a})")),
        ]
    });
    let literal = prop::sample::select(std::vec!["12", " 3 4", "x  y", "", "a#b"]);
    let line = prop_oneof![
        3 => (name.clone(), sum.clone()).prop_map(|(name, sum)| format!("{name}=$(({sum}))")),
        1 => (name.clone(), 0..99u32).prop_map(|(name, number)| format!("{name}={number}")),
        2 => (name.clone(), sum).prop_map(|(name, sum)| format!("tc {name} $(({sum})) \"${name}\" ${{{name}}}k")),
        1 => (name.clone(), literal.clone()).prop_map(|(name, text)| format!("S='{text}'; tc w ${name}$S \"$S\" $S'$S'")),
        1 => (name, literal).prop_map(|(name, text)| format!("S=\"{text}${name}\"; tc x$S ${{S#*1}} ${{S:-none}} ${{S%[0-9]}}\"e\"")),
    ];
    prop::collection::vec(line, 1..12)
}

/// The smallest integer is read as a variable's value. Its digits alone are refused: dash takes the largest integer for
/// them, bash wraps.
#[test]
fn the_smallest_integer_is_a_value() {
    let script = "A=$((1<<63)); tc w $((A + 1)) $((A < 0))";
    for shell in ["sh", "bash"] {
        assert_eq!(read(script).unwrap().0, real(shell, script), "{shell}");
    }
    let (_, why) = read("A=$((1<<63)); tc w $((- $A))").unwrap_err();
    assert!(why.contains("accepted: arithmetic of integers"), "{why}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Scripts of assignments and arithmetic give a real shell's words, or are refused because a value is no number.
    #[test]
    fn random_words_are_those_of_a_real_shell(scripts in prop::collection::vec(script(), 10)) {
        // One shell for ten scripts: each is apart in brackets, whose shell ends at an error of its own.
        let start = "A=1; B=2; C=3; D=4";
        let whole: Vec<String> = scripts.iter().map(|lines| format!("{start}\n{}\ntc end", lines.join("\n"))).collect();
        let apart: String = whole.iter().map(|script| format!("(\n{script}\n)\ntc next\n")).collect();
        let (mut wanted, mut at) = (real("sh", &apart).into_iter(), 0);
        while at < whole.len() {
            let own: Vec<String> = wanted.by_ref().take_while(|line| line != "<next>").collect();
            match read(&whole[at]) {
                Ok((commands, _)) => prop_assert_eq!(commands, own, "{}", whole[at]),
                // The smallest integer is a value, but its digits in an expression are a number too large, which the
                // shells read each in another way.
                Err((_, why)) if why.contains("9223372036854775808") => {}
                // The real shell stops, too: a script that it carries out ends with this command.
                Err((_, why)) => prop_assert_ne!(own.last().map(String::as_str), Some("<end>"), "{}\n{}", whole[at], why),
            }
            at += 1;
        }
    }
}

/// What a script does besides is skipped and counted, and what it only asks has no effect.
#[test]
fn commands_of_other_programs_are_skipped() {
    let script = "#!/bin/sh\n[ \"$(id -u)\" -eq 0 ] || exit 1\nmodprobe ifb && ip link add ifb0 type ifb\n\
        if ! command -v tc >/dev/null; then echo none; exit 1; fi\n\
        if ip link show ifb0; then echo there; else ip link set ifb0 up; fi\n\
        iptables -t mangle -A OUTPUT -j MARK --set-mark 1 2>/dev/null\nsleep 1\ntc -s qdisc show dev eth0 | grep sfq\n\
        for n in $(ls /sys/class/net); do echo $n; done\ntc qdisc add dev eth0 root sfq";
    let (commands, notes) = read(script).unwrap();
    assert_eq!(commands, ["<qdisc><add><dev><eth0><root><sfq>"]);
    assert_eq!(
        notes,
        ["skipped 9 commands that are not tc's: id, modprobe, ip, command, iptables, sleep, grep, ls"]
    );
}

/// A batch has no tc in front, and its own rules for comments, quotes and the ends of lines.
#[test]
fn a_batch_is_read() {
    let batch = "# made by a program\n\nqdisc replace dev eth0 root handle 1: \\\n  htb default 30#x\nclass show dev eth0\n\
        class add dev \"eth0\" parent 1: classid '1:30' htb rate 20mbit\r\n";
    let commands = [
        "<qdisc><replace><dev><eth0><root><handle><1:><htb><default><30>",
        "<class><add><dev><eth0><parent><1:><classid><1:30><htb><rate><20mbit>",
    ];
    assert_eq!(read(batch).unwrap().0[0], commands[0]);
    assert_eq!(read(batch).unwrap().0.last().unwrap(), commands[1]);
    let script = std::format!("R=20mbit\ntc -b - <<EOF\n{batch}EOF\ntc qdisc del dev eth0 root");
    assert_eq!(read(&script).unwrap().0.len(), 3);
}

/// What nobody can know here is refused, in one line with its number, where a command of tc depends on it.
#[test]
fn what_is_not_known_is_refused() {
    for (script, number, why) in [
        ("R=$(cat rate)\n\ntc class add rate $R", 3, "found what \"cat\" prints (line 1)"),
        ("R=`cat rate`\nS=${R}kbit\ntc class add rate $S", 3, "what \"cat\" prints"),
        ("tc class add rate $((X/0))", 1, "found $((X/0))"),
        (
            "\nif grep -q x y; then\ntc qdisc add dev e root sfq\nfi",
            2,
            "a condition on what \"grep\" answers (line 2)",
        ),
        ("tc qdisc show | grep -q x && tc qdisc del dev e root", 1, "a condition on"),
        (
            "[ -f /etc/x ] && R=1\ntc class add rate ${R}mbit",
            2,
            "found $R, which a condition decides (line 1)",
        ),
        ("while read d; do tc qdisc add dev $d root sfq; done < list", 1, "what there is to read"),
        ("#!/bin/sh\nfor i in {1..3}; do tc qdisc add dev e$i root sfq; done", 2, "found \"{1..3}\""),
        ("f() { f; }\nf", 1, "more than 32 deep"),
        ("IFS=:\ntc x", 1, "IFS"),
        ("tc -batch other.tc", 1, "found tc -batch other.tc"),
        ("if true; then\ntc x", 2, "found the end of the script; accepted: \"fi\""),
        ("tc 'x", 1, "found ' without a second one"),
        ("echo usage\nexit 1", 2, "found exit before any command of tc"),
        ("declare -A M\nM[a]=1", 1, "found declare -A"),
        ("A=(1 2)\ntc ${A[0]/1/2}", 2, "found ${A[0]/1/2} (line 2)"),
        ("eval \"tc $X; y\"", 1, "found eval"),
    ] {
        let (line, said) = read(script).unwrap_err();
        assert!(line == number && said.contains(why) && !said.contains('\n'), "{script}\n{line}: {said}");
    }
}

/// A failure of tc that the script expects is none, and is noted. Others stop the script.
#[test]
fn a_failure_that_does_not_matter_is_noted() {
    let try_all = |text: &str| {
        let mut taken = Vec::new();
        let notes = carry_out(text, &mut |words| match words[0].as_str() {
            "bad" => Err("found bad".into()),
            word => {
                taken.push(word.to_string());
                Ok(())
            }
        });
        notes.map(|notes| (taken.join(" "), notes.join("; ")))
    };
    let said = "line 1 fails, and the script goes on: found bad";
    assert_eq!(try_all("tc bad || tc other").unwrap(), ("other".into(), said.into()));
    assert_eq!(try_all("tc bad x 2>/dev/null; tc next").unwrap(), ("next".into(), said.into()));
    assert_eq!(try_all("tc good x\ntc bad x"), Err((2, "found bad".into())));
    let unset = try_all("tc good x $NONE").unwrap();
    assert_eq!(unset, ("good".into(), "$NONE (line 1) is empty, as no line before sets it".into()));
}

/// A short script can make words, copies and loops without end. Each is refused soon.
#[test]
fn what_a_script_makes_is_bounded() {
    let doubled: String = (0..40).map(|_| "A=$A$A\n").collect();
    let doubled = std::format!("A=xxxxxxxxxxxxxxxx\n{doubled}tc $A");
    let nested = |open: &str, close: &str| std::format!("tc {}1{}", open.repeat(3000), close.repeat(3000));
    for script in [
        doubled,
        "while :; do :; done".into(),
        "A=x; while :; do A=$A$A$A; A=x; done".into(),
        "f() { for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do $1 $2 $3 $4 $5 $6 $7; done; done; }\n\
         f f f f f f f f"
            .into(),
        nested("$(echo ", ")"),
        nested("${A:-", "}"),
        std::format!("tc $(({}1{}))", "(".repeat(3000), ")".repeat(3000)),
        std::format!("tc $(({}1))", "-".repeat(3000)),
        "if ".repeat(3000),
        "{ ".repeat(3000),
        std::format!("[ {} x ]", "! ".repeat(3000)),
    ] {
        let (_, why) = read(&script).unwrap_err();
        assert!(why.len() < 200 && !why.contains('\n'), "{}: {why}", &script[..40.min(script.len())]);
    }
}
