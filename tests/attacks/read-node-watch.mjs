// Watches a folder outside: the names of what others make there are its content.
// class: Node: watch
// plain: leak
// journal: read {OUTSIDE}/watched*
import fs from "node:fs";

const facts = Object.fromEntries(process.argv.slice(2).map((f) => [f.slice(0, f.indexOf("=")), f.slice(f.indexOf("=") + 1)]));
console.log("tried");
const end = () => process.exit();
setTimeout(end, 1500);
for (const place of [facts.OUTSIDE + "/watched", facts.OUTSIDE + "/watched/."]) {
  try {
    fs.watch(place, (event, name) => console.log(event, name)).on("error", (error) => console.log("refused:", error.code));
  } catch (error) {
    console.log("refused:", error.code);
  }
}
