import { render } from "preact";
import { startClock } from "./playing.ts";
import { followAddress, startRuns } from "./state.ts";
import "./style.css";
import { App } from "./view/app.tsx";
import { fetchMine } from "./view/opening.tsx";

const isBare = !followAddress();
startRuns();
startClock();
void fetchMine(isBare);
const root = document.getElementById("app");
if (root) render(<App />, root);
