// What the commands of a published workbench reach: for each command what its handler, and what that calls, has of the
// services that write, run, send or answer, with the words that are given to them where these can be told.
//
//   node reach.mjs [VSCODE_FOLDER]      prints { commands: {id: [reach…]}, computed: […], contexts: […] }
//
// What cannot be followed (a method of a value that nobody can tell the class of) is found by the method's name alone.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Bundle, children, isClass, isFunction, keyOf } from "./bundle.mjs";
import { Follower } from "./follower.mjs";

/** @typedef {import("./bundle.mjs").Node} Node */

/** @typedef {{ id: Node, owner: Node, handlers: Node[], calls: { made: Node, call: Node }[], node: Node }} Registration */

/** The commands of a bundle: what each one's handler is. */
class Commands {
  /** @type {Map<string, Set<Node>>} by id; "*" in one stands for what cannot be told */
  found = new Map();
  /** @type {Set<string>} registrations whose command nobody can tell anything of */
  computed = new Set();
  /** @type {Map<string, string>} other names of commands */
  aliases = new Map();
  /** @type {Registration[]} */
  #waiting = [];

  /** @param {Bundle} bundle */
  constructor(bundle) {
    this.bundle = bundle;
    this.roots = new Set(bundle.classes.filter((each) => {
      const text = bundle.source.slice(each.start, each.end);
      return !each.superClass && (/^class(?: \w+)?\{constructor\((\w+)\)\{this\.desc=\1\}\}$/.test(text) || (bundle.method(each, "register") && /registerCommand\(/.test(text) && text.includes("this.id=")));
    }));
    for (const one of bundle.classes) this.#ofClass(one);
    for (const call of bundle.calls) this.#ofCall(call);
    this.#called = this.#callers();
    for (let one = this.#waiting.pop(); one; one = this.#waiting.pop()) this.#made(one);
  }

  /** Whether a class is one that commands are made of: an action's, or an editor's command's. */
  isCommand(/** @type {Node} */ one) {
    return this.bundle.line(one).some((each) => this.roots.has(each));
  }

  #methods(/** @type {Node} */ one) {
    return this.bundle.line(one).filter((each) => !this.roots.has(each)).flatMap((each) => each.body.body.flatMap((/** @type {Node} */ member) => (member.kind !== "constructor" && isFunction(member.value) ? [member.value] : [])));
  }

  /** The functions among what a registration is given. */
  #handlers(/** @type {Node[]} */ given, /** @type {Node} */ owner) {
    /** @type {Node[]} */
    const found = [];
    for (const one of given) {
      if (isFunction(one)) found.push(one);
      else if (one.type === "Identifier") {
        const { value } = this.bundle.named(one.name, owner);
        if (isFunction(value)) found.push(value);
        else if (value?.type === "ObjectExpression") found.push(...this.#handlers([value], owner));
      } else if (one.type === "ObjectExpression")
        found.push(...this.#handlers(one.properties.flatMap((/** @type {Node} */ each) => (each.type === "Property" && /^(?:handler|run\w*|implementation|callback)$/.test(String(keyOf(each))) ? [each.value] : each.type === "SpreadElement" ? [each.argument] : [])), owner));
      else if (one.type === "MemberExpression" || one.type === "CallExpression") found.push(one);
    }
    return found;
  }

  /** Where the id stands in what a registration is given: itself, or in an object. */
  #idIn(/** @type {Node} */ given, /** @type {Node} */ owner) {
    if (given?.type === "Identifier") {
      const { value } = this.bundle.named(given.name, owner);
      if (value?.type === "ObjectExpression" || (value?.type === "Identifier" && value.name !== given.name)) return this.#idIn(value, owner);
      return given;
    }
    if (given?.type === "CallExpression") return this.#idIn(given.arguments.find((/** @type {Node} */ each) => each.type === "ObjectExpression"), owner);
    if (given?.type !== "ObjectExpression") return given;
    const id = given.properties.find((/** @type {Node} */ one) => keyOf(one) === "id");
    return id?.value ?? given.properties.findLast((/** @type {Node} */ one) => one.type === "SpreadElement")?.argument;
  }

  /** @param {Registration} one */
  #made({ id, owner, handlers, calls, node }) {
    const { bundle } = this;
    if (!id) return;
    if (id.type === "ConditionalExpression") {
      for (const each of [id.consequent, id.alternate]) this.#made({ id: each, owner, handlers, calls, node });
      return;
    }
    const text = bundle.text(id, owner, { calls }) ?? this.#idOfGiven(id, owner, calls);
    if (text !== undefined) {
      this.#add(text, handlers);
      return;
    }
    const made = this.#parameterOf(id, owner, calls);
    if (made && this.#called === undefined) this.#waiting.push({ id, owner, handlers, calls, node });
    else if (made && calls.length < 4) {
      const callers = this.#called?.get(made) ?? [];
      for (const call of callers) this.#made({ id, owner, handlers: [...handlers, ...this.#handlers(call.arguments, call.up)], calls: [...calls, { made, call }], node: call });
      if (callers.length > 0) return;
      this.#loosely({ id, owner, handlers, calls, node });
    } else this.#loosely({ id, owner, handlers, calls, node });
  }

  /** What the whole of a parameter is, is an object with the id. */
  #idOfGiven(/** @type {Node} */ id, /** @type {Node} */ owner, /** @type {Registration["calls"]} */ calls, depth = 0) {
    if (id.type !== "Identifier" || depth > 6) return undefined;
    const given = this.bundle.given(id, owner, { calls });
    if (!given) return undefined;
    const inside = this.#idIn(given.value, given.at);
    return inside && inside !== given.value ? (this.bundle.text(inside, given.at, { calls }) ?? this.#idOfGiven(inside, given.at, calls, depth + 1)) : given.value.type === "Identifier" ? this.#idOfGiven(given.value, given.at, calls, depth + 1) : undefined;
  }

  /** @param {Registration} one */
  #loosely({ id, owner, handlers, calls, node }) {
    const text = this.bundle.text(id, owner, { calls, loosely: true });
    if (text !== undefined && text.replaceAll("*", "").length >= 4) this.#add(text, handlers);
    else this.computed.add(this.bundle.source.slice(node.start, node.end).slice(0, 120));
  }

  #add(/** @type {string} */ id, /** @type {Node[]} */ handlers) {
    if (!/^[\w.:/*~ -]+$/.test(id)) return;
    const into = this.found.get(id) ?? new Set();
    for (const one of handlers) if (one) into.add(one);
    this.found.set(id, into);
  }

  /** The function of which a parameter says what the id is. */
  #parameterOf(/** @type {Node} */ id, /** @type {Node} */ owner, /** @type {Registration["calls"]} */ calls) {
    /** @type {Node | undefined} */
    let found;
    const look = (/** @type {Node} */ node, /** @type {Node} */ at, depth = 0) => {
      if (found || !node || depth > 8) return;
      if (node.type === "Identifier") {
        const made = this.bundle.ownerOf(node.name, at);
        if (!isFunction(made)) return;
        if (made.params.some((/** @type {Node} */ one) => (one.left ?? one).name === node.name)) {
          const called = calls.find((one) => one.made === made);
          if (!called) found = made;
          else {
            const given = this.bundle.given(node, at, { calls });
            if (given) look(this.#idIn(given.value, given.at) ?? given.value, given.at, depth + 1);
          }
        } else {
          const value = made.names.get(node.name);
          if (value && value !== node && !isFunction(value) && !isClass(value)) look(value, made, depth + 1);
        }
      } else if (node.type === "MemberExpression") look(node.object, at, depth + 1);
      else if (node.type === "TemplateLiteral" || node.type === "BinaryExpression") children(node, (child) => look(child, at, depth + 1));
    };
    look(id, owner);
    return found;
  }

  /** @type {Map<Node, Node[]> | undefined} the calls of each function that is known by a name */
  #called;
  #callers() {
    const { bundle } = this;
    /** @type {Map<Node, Node[]>} */
    const found = new Map();
    /** @type {Map<string, Node[]>} */
    const methods = new Map();
    for (const one of bundle.classes)
      for (const member of one.body.body) if (isFunction(member.value) && member.kind === "method" && keyOf(member)) methods.set(keyOf(member), [...(methods.get(keyOf(member)) ?? []), member.value]);
    const add = (/** @type {Node} */ made, /** @type {Node} */ call) => found.set(made, [...(found.get(made) ?? []), call]);
    for (const call of bundle.calls) {
      const { callee, up, type } = call;
      if (callee.type === "Identifier") {
        const { value } = bundle.named(callee.name, up);
        if (type === "NewExpression" && isClass(value)) {
          const made = bundle.constructorOf(value)?.made;
          if (made) add(made, call);
        } else if (isFunction(value)) add(value, call);
      } else if (callee.type === "Super") {
        const holder = up.inClass ?? up.holder;
        const above = isClass(holder) && bundle.parent(holder);
        const made = above && bundle.constructorOf(above)?.made;
        if (made) add(made, call);
      } else if (isFunction(callee)) add(callee, call);
      else if (callee.type === "MemberExpression" && !callee.computed && /^(?:register|add|create|append)/.test(callee.property.name ?? "")) for (const made of methods.get(callee.property.name)?.slice(0, 20) ?? []) add(made, call);
    }
    return found;
  }

  /** class extends Action2 { constructor() { super({ id: "…" }) } } */
  #ofClass(/** @type {Node} */ one) {
    if (!this.isCommand(one) || this.roots.has(one)) return;
    const made = one.body.body.find((/** @type {Node} */ member) => member.kind === "constructor")?.value;
    if (!made) return;
    const look = (/** @type {Node} */ node) => {
      if (node.type === "CallExpression" && node.callee.type === "Super") {
        const objects = node.arguments.filter((/** @type {Node} */ each) => each.type === "ObjectExpression");
        const given = objects.find((/** @type {Node} */ each) => each.properties.some((/** @type {Node} */ one) => keyOf(one) === "id")) ?? objects[0] ?? node.arguments[0];
        if (given) this.#made({ id: this.#idIn(given, made), owner: made, handlers: [...this.#methods(one), ...this.#handlers([given], made)], calls: [], node });
      } else if (!isClass(node)) children(node, look);
    };
    look(made.body);
  }

  #ofCall(/** @type {Node} */ call) {
    const { callee, arguments: args, up, type } = call;
    if (type === "NewExpression") {
      const [given] = args;
      if (given?.type !== "ObjectExpression" || callee.type !== "Identifier") return;
      const { value } = this.bundle.named(callee.name, up);
      const bound = value?.type === "CallExpression" && value.callee.property?.name === "bindToContribution";
      const own = isClass(value) && this.isCommand(value) && !value.body.body.some((/** @type {Node} */ member) => member.kind === "constructor" && /super\((?:[^()]*,)?\{/.test(this.bundle.source.slice(member.start, member.end)));
      if (!bound && !own) return;
      this.#made({ id: this.#idIn(given, up), owner: up, handlers: [...(bound ? [value.arguments[0]] : this.#methods(value)), ...this.#handlers([given], up)], calls: [], node: call });
      return;
    }
    const name = callee.type === "MemberExpression" && !callee.computed ? callee.property.name : undefined;
    if (name === "registerCommand" || name === "registerCommandAndKeybindingRule") this.#made({ id: this.#idIn(args[0], up), owner: up, handlers: this.#handlers(args, up), calls: [], node: call });
    else if (name === "registerCommandAlias") {
      this.#made({ id: args[0], owner: up, handlers: [call], calls: [], node: call });
      this.aliases.set(this.bundle.text(args[0], up) ?? "", this.bundle.text(args[1], up) ?? "");
    } else if (name === "addImplementation" && callee.object.type === "Identifier") {
      const { value, at } = this.bundle.named(callee.object.name, up);
      const made = value?.type === "CallExpression" ? value.arguments.find((/** @type {Node} */ one) => one.type === "NewExpression") : value;
      const id = this.#idIn(made?.arguments?.[0], at);
      if (id) this.#made({ id, owner: at, handlers: this.#handlers(args, up), calls: [], node: call });
    }
  }
}

/** Conditions are made by these methods of one class, whose first word is a key, or by reading a text. */
const CONDITIONS = /^(?:has|equals|notEquals|not|regex|in|notIn|greater|greaterEquals|smaller|smallerEquals)$/;

/**
 * The keys of the contexts that the workbench sets or reads: new RawContextKey("…"), createKey("…"), setContext("…"), conditions.
 * "*" stands for what cannot be told.
 */
function contextsOf(/** @type {Bundle} */ bundle) {
  const keys = new Set();
  const classes = [...bundle.globals].filter(([, value]) => isClass(value));
  const raw = new Set(classes.filter(([, value]) => bundle.method(value, "bindTo") && bundle.method(value, "toNegated")).map(([name]) => name));
  const conditions = new Set(classes.filter(([, value]) => ["has", "equals", "regex", "deserialize"].every((name) => bundle.statics(value).has(name))).map(([name]) => name));
  for (const { type, callee, arguments: args, up } of bundle.calls) {
    const name = callee.type === "MemberExpression" && !callee.computed ? callee.property.name : "";
    const made = type === "NewExpression" && callee.type === "Identifier" && raw.has(callee.name);
    const set = type === "CallExpression" && (name === "createKey" || name === "setContext");
    const reads = type === "CallExpression" && callee.object?.type === "Identifier" && conditions.has(callee.object.name);
    const run = type === "CallExpression" && name === "executeCommand" && bundle.text(args[0], up)?.endsWith("etContext");
    const key = made || set || (reads && CONDITIONS.test(name)) ? bundle.text(args[0], up, { loosely: true }) : run ? bundle.text(args[1], up, { loosely: true }) : undefined;
    // Of what a view or a container is called the broker knows which are the host's own.
    if (key && !key.startsWith("*") && key.replaceAll("*", "").length >= 3) keys.add(key);
    if (reads && name === "deserialize") for (const word of bundle.text(args[0], up)?.match(/[\w.:/-]{3,}/g) ?? []) keys.add(word);
  }
  return [...keys].sort();
}

/**
 * Where the workbench runs a command that somebody offers with something (a quick fix, a completion, a lens): the names of the
 * methods that do, once for each place. A class of its own, or a function without a name, is "run".
 */
function offeredIn(/** @type {Bundle} */ bundle) {
  const nameOf = (/** @type {Node} */ made) => {
    for (let at = made; at && at.type !== "Program"; at = at.up) {
      const holder = at.inClass ?? at.holder;
      const member = isClass(holder) && holder.body.body.find((/** @type {Node} */ one) => one.value === at);
      if (member) return String(keyOf(member));
    }
    return "run";
  };
  const isIn = (/** @type {Node} */ node, /** @type {string} */ word) => node?.type === "MemberExpression" && !node.computed && node.property.name === word;
  const offered = bundle.calls.filter(({ callee, arguments: [id, ...rest] }) =>
    isIn(callee, "executeCommand") && isIn(id, "id") && id.object.type !== "ThisExpression" && rest.some((/** @type {Node} */ one) => one.type === "SpreadElement"));
  return offered.map(({ up }) => nameOf(up)).sort();
}

/** @param {string} source the workbench, as published */
export function reachOf(source) {
  const bundle = new Bundle(source);
  const { found, computed, aliases } = new Commands(bundle);
  const follower = new Follower(bundle);
  const followed = new Map([...found].map(([id, handlers]) => [id, handlers.size === 0 ? ["unknown"] : follower.follow([...handlers])]));
  // By another name a command reaches what it reaches.
  for (const [alias, id] of aliases) if (followed.has(alias)) followed.set(alias, followed.get(id) ?? ["unknown"]);
  const commands = Object.fromEntries([...followed].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { commands, computed: [...computed].sort(), contexts: contextsOf(bundle), offered: offeredIn(bundle) };
}

export const workbenchOf = (/** @type {string} */ folder) => fs.readFileSync(path.join(folder, "out/vs/code/browser/workbench/workbench.js"), "utf8");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const here = path.dirname(fileURLToPath(import.meta.url));
  console.log(JSON.stringify(reachOf(workbenchOf(process.argv[2] ?? path.join(here, "../node_modules/code-server/lib/vscode"))), null, 1));
}
