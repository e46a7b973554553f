// Copies text to the clipboard, and saves files.

import { useState } from "preact/hooks";
import { trouble } from "../state.ts";

export function CopyButton({ name, text }: { name: string; text: () => string }) {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch {
      trouble.value = "the browser does not let this page write to the clipboard; accepted: the button As TOML, which saves a file";
    }
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {isDone ? "Copied" : name}
    </button>
  );
}

export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
