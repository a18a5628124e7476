// Which methods an extension host may call on the workbench, and the workbench on a host, read out of
// a published build: actor by actor, with the actors' numbers on the wire.
//
//   node extract.mjs VSCODE_FOLDER      prints { actors: [{number, name, side, methods}] }
//
// The minified bundles keep three things that this relies on, each checked: the two tables of proxy
// identifiers in their order (an actor's number is its place), the decorator that registers a class
// for an actor, and method names that begin with "$".
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseExpressionAt } from "acorn";

const NAME = "[A-Za-z_$][\\w$]*";

/** The expression that begins at `at`, without what a comma adds to it. */
function expressionAt(source, at) {
  const node = parseExpressionAt(source, at, { ecmaVersion: "latest" });
  return node.type === "SequenceExpression" ? node.expressions[0] : node;
}

/** The actor table that starts with the given entry: [[key, name], …] in wire order. */
function table(source, first) {
  const start = new RegExp(`(${NAME})=\\{${first}:(${NAME})\\("`).exec(source);
  if (!start) throw new Error(`no table of proxy identifiers that starts with ${first}`);
  const node = expressionAt(source, start.index + start[1].length + 1);
  const entries = node.properties.map((property) => [property.key.name, property.value.arguments[0].value]);
  return { variable: start[1], entries };
}

/** Own and inherited "$" methods of the class expression that is assigned to `name` before `at`. */
function methodsOf(source, name, at, seen = new Set()) {
  if (seen.has(name)) return [];
  seen.add(name);
  const assigned = Math.max(
    source.lastIndexOf(`${name}=class`, at),
    source.lastIndexOf(`class ${name} `, at),
    source.lastIndexOf(`class ${name}{`, at),
  );
  if (assigned < 0) return [];
  const begin = source.indexOf("class", assigned);
  const node = expressionAt(source, begin);
  const own = node.body.body
    .map((member) => member.key?.name)
    .filter((key) => typeof key === "string" && key.startsWith("$"));
  const inherited = node.superClass?.type === "Identifier" ? methodsOf(source, node.superClass.name, begin, seen) : [];
  return [...own, ...inherited];
}

/** @param {string} folder code-server's lib/vscode */
export function extract(folder) {
  const workbench = fs.readFileSync(path.join(folder, "out/vs/code/browser/workbench/workbench.js"), "utf8");
  const host = fs.readFileSync(path.join(folder, "out/vs/workbench/api/node/extensionHostProcess.js"), "utf8");
  const main = table(workbench, "MainThreadAuthentication");
  const ext = table(workbench, "ExtHostCodeMapper");
  const actors = [...main.entries.map((e) => ["main", ...e]), ...ext.entries.map((e) => ["host", ...e])].map(
    ([side, key, name], index) => ({ number: index + 1, side, key, name, methods: /** @type {string[]} */ ([]) }),
  );
  const byKey = new Map(actors.map((actor) => [actor.key, actor]));

  // Registered by decorator: C=I([Ro(ao.MainThreadX), …],C)
  const decorated = new RegExp(`(${NAME})=${NAME}\\(\\[${NAME}\\(${main.variable.replaceAll("$", "\\$")}\\.(MainThread\\w+)\\)`, "g");
  for (const match of workbench.matchAll(decorated))
    byKey.get(match[2])?.methods.push(...methodsOf(workbench, match[1], match.index));
  // Registered in a constructor: V=…new C(…) or V=…createInstance(C,…), then rpc.set(ao.MainThreadX,V)
  const set = new RegExp(`\\.set\\(${main.variable.replaceAll("$", "\\$")}\\.(MainThread\\w+),((?:this\\.)?${NAME})\\)`, "g");
  for (const match of workbench.matchAll(set)) {
    const before = workbench.slice(Math.max(0, match.index - 1500), match.index);
    const assigned = before.lastIndexOf(`${match[2]}=`);
    const made = new RegExp(`^[^;]*?(?:new |createInstance\\()(${NAME})`).exec(before.slice(assigned));
    if (assigned >= 0 && made) byKey.get(match[1])?.methods.push(...methodsOf(workbench, made[1], match.index));
  }
  // Of what the workbench calls on a host only the name is found, not the actor: what the host's bundle
  // defines and the workbench names, calling it or handing it on. Some are the workbench's own methods,
  // which the host calls in the same words; one more rule does no harm. Minified names are shorter.
  const defined = new Set([...host.matchAll(/[;{}](?:async )?(\$[A-Za-z]\w{2,})\(/g)].map((m) => m[1]));
  const named = new Set([...workbench.matchAll(/\.(\$[A-Za-z]\w{2,})\b/g)].map((m) => m[1]));
  const incoming = [...named].filter((name) => defined.has(name)).sort();
  for (const actor of actors) actor.methods = [...new Set(actor.methods)].sort();
  return { actors, incoming };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(JSON.stringify(extract(process.argv[2]), null, 1));
}
