// Which methods an extension host may call on the workbench, and the workbench on a host, read out of
// a published build: actor by actor, with the actors' numbers on the wire, and how many arguments they take.
//
//   node extract.mjs VSCODE_FOLDER      prints { actors: [{number, name, side, methods, parameters}], incoming, given }
//
// The minified bundles keep three things that this relies on, each checked: the two tables of proxy
// identifiers in their order (an actor's number is its place), the decorator that registers a class
// for an actor, and method names that begin with "$".
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseExpressionAt } from "acorn";
import { find } from "../workbench/shapes.mjs";

const NAME = "[A-Za-z_$][\\w$]*";

/** The expression that begins at `at`, without what a comma adds to it. */
function expressionAt(source, at) {
  // From there on: acorn counts the lines before it.
  const node = parseExpressionAt(source.slice(at), 0, { ecmaVersion: "latest" });
  return node.type === "SequenceExpression" ? node.expressions[0] : node;
}

/** The actor table that starts with the given entry: [[key, name], …] in wire order. */
function table(source, first) {
  const [start] = find(source, new RegExp(`(${NAME})=\\{${first}:(${NAME})\\("`, "g"));
  if (!start) throw new Error(`no table of proxy identifiers that starts with ${first}`);
  const node = expressionAt(source, start.index + start[1].length + 1);
  const entries = node.properties.map((property) => [property.key.name, property.value.arguments[0].value]);
  return { variable: start[1], entries };
}

/**
 * How many there are: "2+" where there may be more than two.
 * @param {{type: string}[]} list parameters, or arguments of a call
 */
function count(list) {
  const more = list.findIndex(({ type }) => type === "RestElement" || type === "SpreadElement");
  return more < 0 ? list.length : `${more}+`;
}

/**
 * Where classes are: "X=class", "class X ", "class X{".
 * @param {string} source
 * @returns {Map<string, number[]>} name → where "class" stands, in order
 */
function classesOf(source) {
  const found = new Map();
  for (let at = source.indexOf("class"); at >= 0; at = source.indexOf("class", at + 5)) {
    const [, before] = /([\w$]+)=$/.exec(source.slice(Math.max(0, at - 100), at)) ?? [];
    const [, after] = /^class ([\w$]+)[ {]/.exec(source.slice(at, at + 100)) ?? [];
    for (const name of [before, after]) if (name !== undefined) found.set(name, [...(found.get(name) ?? []), at]);
  }
  return found;
}

/** Own and inherited "$" methods of the class that has the name at `at`: their functions by name. */
function methodsOf(source, classes, name, at, seen = new Set()) {
  if (seen.has(name)) return [];
  seen.add(name);
  const begin = classes.get(name)?.findLast((one) => one <= at);
  if (begin === undefined) return [];
  const node = expressionAt(source, begin);
  const own = node.body.body.filter(({ key }) => key?.name?.startsWith("$")).map(({ key, value }) => [key.name, value]);
  const inherited = node.superClass?.type === "Identifier" ? methodsOf(source, classes, node.superClass.name, begin, seen) : [];
  return [...own, ...inherited];
}

/**
 * With how many arguments each of these methods is called, wherever that is.
 * @param {string} source
 * @param {Set<string>} names
 */
function given(source, names) {
  /** @type {Record<string, (number | string)[]>} */
  const counts = {};
  for (const { 1: name, index } of source.matchAll(/\.(\$[A-Za-z]\w{2,})\(/g)) {
    if (!names.has(name)) continue;
    // The name and what follows it parse as an expression; the call is what that begins with.
    let node = parseExpressionAt(source.slice(index + 1), 0, { ecmaVersion: "latest", allowAwaitOutsideFunction: true, allowSuperOutsideMethod: true });
    while (node && !(node.type === "CallExpression" && node.callee.type === "Identifier"))
      node = node.expressions?.[0] ?? node.left ?? node.test ?? node.callee ?? node.object ?? node.tag;
    if (!node) throw new Error(`a call of ${name} that cannot be read`);
    const known = (counts[name] ??= []);
    if (!known.includes(count(node.arguments))) known.push(count(node.arguments));
  }
  return counts;
}

/** @param {string} folder code-server's lib/vscode */
export function extract(folder) {
  const workbench = fs.readFileSync(path.join(folder, "out/vs/code/browser/workbench/workbench.js"), "utf8");
  const host = fs.readFileSync(path.join(folder, "out/vs/workbench/api/node/extensionHostProcess.js"), "utf8");
  const classes = classesOf(workbench);
  const main = table(workbench, "MainThreadAuthentication");
  const ext = table(workbench, "ExtHostCodeMapper");
  const actors = [...main.entries.map((e) => ["main", ...e]), ...ext.entries.map((e) => ["host", ...e])].map(
    ([side, key, name], index) => ({ number: index + 1, side, key, name, methods: /** @type {string[]} */ ([]), parameters: /** @type {Record<string, number | string>} */ ({}) }),
  );
  /** @type {Map<string, Map<string, any>>} the functions of each actor of the workbench */
  const functions = new Map(main.entries.map(([key]) => [key, new Map()]));
  const add = (key, found) => {
    // What a class has itself goes before what it inherits.
    for (const [name, value] of found) if (functions.get(key)?.has(name) === false) functions.get(key)?.set(name, value);
  };

  // Registered by decorator: C=I([Ro(ao.MainThreadX), …],C)
  const decorated = new RegExp(`(${NAME})=${NAME}\\(\\[${NAME}\\(${main.variable.replaceAll("$", "\\$")}\\.(MainThread\\w+)\\)`, "g");
  for (const match of find(workbench, decorated))
    add(match[2], methodsOf(workbench, classes, match[1], match.index));
  // Registered in a constructor: V=…new C(…) or V=…createInstance(C,…), then rpc.set(ao.MainThreadX,V)
  const set = new RegExp(`\\.set\\(${main.variable.replaceAll("$", "\\$")}\\.(MainThread\\w+),((?:this\\.)?${NAME})\\)`, "g");
  for (const match of find(workbench, set)) {
    const before = workbench.slice(Math.max(0, match.index - 1500), match.index);
    const assigned = before.lastIndexOf(`${match[2]}=`);
    const made = new RegExp(`^[^;]*?(?:new |createInstance\\()(${NAME})`).exec(before.slice(assigned));
    if (assigned >= 0 && made) add(match[1], methodsOf(workbench, classes, made[1], match.index));
  }
  // Of what the workbench calls on a host only the name is found, not the actor: what the host's bundle
  // defines and the workbench names, calling it or handing it on. Some are the workbench's own methods,
  // which the host calls in the same words; one more rule does no harm. Minified names are shorter.
  const defined = new Set([...host.matchAll(/[;{}](?:async )?(\$[A-Za-z]\w{2,})\(/g)].map((m) => m[1]));
  const named = new Set([...workbench.matchAll(/\.(\$[A-Za-z]\w{2,})\b/g)].map((m) => m[1]));
  const incoming = [...named].filter((name) => defined.has(name)).sort();
  for (const actor of actors) {
    const found = functions.get(actor.key) ?? new Map();
    actor.methods = [...found.keys()].sort();
    actor.parameters = Object.fromEntries(actor.methods.map((method) => [method, count(found.get(method)?.params ?? [])]));
  }
  return { actors, incoming, given: given(workbench, defined), functions };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { actors, incoming, given } = extract(process.argv[2]);
  console.log(JSON.stringify({ actors, incoming, given }, null, 1));
}
