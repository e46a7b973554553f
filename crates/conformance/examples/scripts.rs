//! Carries out scripts of `tc` commands on the model of a device: `tools/tc/compare.py` puts what comes of them beside
//! what comes of them on Linux. Standard input is a JSON list of scripts, each a list of commands without `tc` in front.

use goodqueue_qdisc::tree::tried;
use std::io::Read as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let scripts: Vec<Vec<String>> = serde_json::from_str(&text)?;
    for script in scripts {
        let tried = tried(script.iter().map(String::as_str));
        println!("{}", serde_json::json!({"said": tried.said, "state": tried.state, "limit": tried.limit}));
    }
    Ok(())
}
