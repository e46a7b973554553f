//! The reader of shell scripts and of `tc -batch`: any text, or pieces of scripts in any order. A script is refused in
//! one line, or gives a tree that reads back its own commands. It ends, whatever it loops over, calls or doubles.
#![no_main]

use arbitrary::Arbitrary;
use goodqueue_qdisc::registry::parse_tree;
use libfuzzer_sys::fuzz_target;

/// Pieces of scripts. A line of a script is a few of them.
const PIECES: &[&str] = &[
    "tc qdisc add dev e root handle 1: htb default 2\n",
    "tc class add dev e parent 1: classid 1:$A htb rate $((B*95/100))kbit\n",
    "tc qdisc del dev e root 2>/dev/null || true\n",
    "A=2; B=900\n",
    "A=$((A+1))\n",
    "B=\"$B$A\"\n",
    "C=$(cat x)\n",
    "set -- a \"b c\" $A\n",
    "f() {\n",
    "}\n",
    "f $A \"$@\"\n",
    "for i in 1 2 $A; do\n",
    "done\n",
    "if [ \"$A\" -gt 2 ]; then\n",
    "elif grep -q x y\n then\n",
    "else\n",
    "fi\n",
    "case $A in 2*|[a-z]) ",
    ";; *) ",
    "esac\n",
    "[ -z \"$C\" ] && ",
    " || ",
    " | ",
    "; ",
    "( ",
    " )",
    "$(",
    "`",
    "\"",
    "'",
    "\\\n",
    "${A:-",
    "${A%%",
    "}",
    "$((",
    "))",
    "[[ $A == a* && ! -n $B ]]",
    "<<E\n",
    "E\n",
    "local A=$1\n",
    "return 1\n",
    "shift; eval A=$A\n",
    "while getopts ab: o; do\n",
    "qdisc replace dev e root sfq\n",
    "tc qdisc replace dev e root handle 1: hfsc\n",
    "tc qdisc replace dev e root handle 1: drr\n",
    "tc class replace dev e parent 1: classid 1:1 htb rate 1mbit\n",
    "tc class change dev e classid 1:1 hfsc rt rate 1mbit\n",
    "tc class add dev e parent 1: drr\n",
    "tc filter replace dev e parent 1: prio 1 handle 800::800 u32 match u32 0 0 flowid 1:1\n",
    "tc filter replace dev e parent 1: prio 2 handle 800::800 u32 flowid 1:2\n",
    "tc filter replace dev e parent 1: prio 3 handle 1 flow hash keys src,nfct-dst divisor 8\n",
];

#[derive(Arbitrary, Debug)]
enum Case<'a> {
    Raw(&'a str),
    Pieces(Vec<u8>),
}

fuzz_target!(|case: Case| {
    let text = match case {
        Case::Raw(text) => text.to_string(),
        Case::Pieces(which) => which.iter().map(|which| PIECES[usize::from(*which) % PIECES.len()]).collect(),
    };
    match parse_tree(&text) {
        Ok(args) => {
            let printed = args.to_string();
            let again = parse_tree(&printed).unwrap_or_else(|error| panic!("{text:?} prints {printed:?}: {error}"));
            assert_eq!(again.to_string(), printed, "of {text:?}");
        }
        Err(error) => assert!(!error.0.is_empty() && !error.0.contains('\n'), "{text:?}: {error}"),
    }
});
