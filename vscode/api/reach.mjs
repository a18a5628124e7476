// What the commands of a published workbench reach: for each command what its handler, and what that calls, has of the
// services that write, run, send or answer, with the words that are given to them where these can be told.
//
//   node reach.mjs [VSCODE_FOLDER]      prints { commands: {id: [reach…]}, computed: […], contexts: […] }
//
// Minified, a bundle keeps what this relies on: the names of methods and services, decorators that say which service a
// constructor's parameter is, and classes, functions and texts by names that are unique in the bundle. What cannot be followed
// (a method of a value that nobody can tell the class of) is found by the method's name alone, wherever it is one of SINKS.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "acorn";

/** Methods that are a reach whoever they are called on: [method, what it is called]. */
const SINKS = new Set([
  "updateValue", "updateSetting", "writeText", "readText", "writeFindText", "readFindText", "writeResources", "readResources", "readImage", "execCommand", "writeFile", "createFile", "createFolder",
  "cloneFile", "saveAll", "saveAs", "revertAll", "executeCommand", "setContext", "sendText", "runCommand", "runRecipe", "createTerminal", "launch",
  "executeEdits", "pushEditOperations", "applyEdits", "executeCommands", "triggerDownload", "openExternal", "setTrust", "setWorkspaceTrust", "setUrisTrust", "installVSIX", "setLogLevel",
  "setSecret", "deleteSecret", "removeSession", "createSession", "runTests", "runResolvedTests", "executeNotebookCells", "executeCell", "sendRequest", "acceptInput", "invokeTool",
  "undo", "redo", "paste", "trigger", "insertText", "insert", "apply", "handleUndo",
]);

/** Services whose every method is a reach, but for those that only tell or show something; "*" stands for a part of a word. */
const REACHING = [
  "*[aA]uthentication*", "*[bB]ulkEdit*", "*[cC]lipboard*", "*[cC]onfiguration*Service", "*[dD]ebug*", "*[dD]ialog*", "*[eE]ditSession*", "*[eE]xtension*", "*[fF]ile*", "*[hH]ost*", "*[iI]ssue*", "*[kK]ernel*",
  "*[lL]anguageModel*", "*[mM]cp*", "*[nN]otification*", "*[oO]pener*", "*[pP]rofile*", "*[pP]refer*", "*[qQ]uickInput*", "*[rR]emote*", "*[sS]ecret*", "*[sS]ecretStorage*", "*[sS]ync*", "*[tT]ask*", "*[tT]erminal*",
  "*[tT]est*Service", "*[tT]rust*", "*[tT]unnel*", "*[uU]pdate*", "*[uU]rl*", "*[wW]orkspaceEditing*", "*[wW]orkspaces*", "chat*", "commandService", "*[eE]xecution*", "*[jJ]SONEditing*", "*[wW]orkingCopy*", "*[lL]oggerService",
  "*[kK]eybindingEditing*", "*[sS]peech*", "*[uU]ndoRedo*", "*[eE]ncryption*", "*[sS]hare*", "*[dD]ownload*", "*[aA]gent*", "*[rR]equest*", "*[lL]ifecycle*", "*[mM]etered*", "*[pP]lugin*", "*[tT]elemetry*", "*[sS]cm*", "*[cC]omment*",
];
const REACHES = new RegExp(`^(?:${REACHING.map((one) => one.replaceAll("*", ".*")).join("|")})$`);
/** Methods that tell something, or show a part of the window, and change nothing. */
const TELLS = /^(?:get|is|has|can|find|resolve|inspect|on[A-Z]|as[A-Z]|to[A-Z]|look|list|exists|stat$|info|warn|error|prompt|confirm|notify|status|pick|input|createQuickPick|createInputBox|show|hide|focus|reveal|count|parse|compute|extUri|register|dispose|activateByEvent|createKey|createQuick|publicLog|hint[A-Z]|read$|readFile|watch|match|contains|canHandle|provider|when|publicLog)/;
/** What tells by its name, and does more. */
const ACTS = /^(?:findText$|getOrCreate|showSaveDialog|showOpenDialog|resolveConfiguration$)/;

const MAX_DEPTH = 12;
const MAX_VISITED = 900;

/** @typedef {any} Node */
const isFunction = (/** @type {Node} */ n) => n?.type === "FunctionExpression" || n?.type === "ArrowFunctionExpression" || n?.type === "FunctionDeclaration";
const isClass = (/** @type {Node} */ n) => n?.type === "ClassExpression" || n?.type === "ClassDeclaration";
const keyOf = (/** @type {Node} */ n) => (n.computed ? undefined : (n.key?.name ?? n.key?.value));

/** Members that are added to the nodes below. */
const OURS = new Set(["up", "holder", "inClass", "names", "given", "statics", "fields"]);

/** Each child of a node. @param {Node} node @param {(child: Node) => void} take */
function children(node, take) {
  for (const key in node) {
    const value = node[key];
    if (!value || typeof value !== "object" || OURS.has(key)) continue;
    if (Array.isArray(value)) {
      for (const one of value) if (one && typeof one.type === "string") take(one);
    } else if (typeof value.type === "string") take(value);
  }
}

/** A bundle's names, and who is whose. */
class Bundle {
  /** @type {Map<string, Node>} what a name of the bundle stands for */
  globals = new Map();
  /** @type {Map<string, Map<string, Node>>} what is assigned to members of such */
  members = new Map();
  /** @type {Map<string, string>} services by the names of their decorators */
  services = new Map();
  /** @type {Map<string, Node[]>} classes that are such a service */
  serving = new Map();
  /** @type {Map<Node, string[]>} services of a class's parameters */
  parameters = new Map();
  /** @type {Node[]} */
  classes = [];
  /** @type {Node[]} */
  calls = [];

  /** @param {string} source */
  constructor(source) {
    this.source = source;
    this.program = parse(source, { ecmaVersion: "latest", sourceType: "module" });
    this.scope(this.program);
    this.index();
  }

  /** Who declares which names, and where each function and class stands. @param {Node} program */
  scope(program) {
    const declare = (/** @type {Node} */ owner, /** @type {Node} */ pattern, /** @type {Node} */ value) => {
      if (pattern.type === "Identifier") {
        if (owner.type === "Program") this.globals.set(pattern.name, value ?? this.globals.get(pattern.name));
        else owner.names.set(pattern.name, value);
      } else if (pattern.type === "AssignmentPattern") declare(owner, pattern.left, value);
      else if (pattern.type === "ObjectPattern") for (const one of pattern.properties) declare(owner, one.value ?? one.argument, undefined);
      else if (pattern.type === "ArrayPattern") {
        for (const one of pattern.elements) if (one) declare(owner, one, undefined);
      } else if (pattern.type === "RestElement") declare(owner, pattern.argument, undefined);
    };
    const walk = (/** @type {Node} */ node, /** @type {Node} */ owner, /** @type {Node} */ holder) => {
      if (node.type === "VariableDeclarator") declare(owner, node.id, node.init);
      else if (node.type === "CatchClause" && node.param) declare(owner, node.param, undefined);
      else if (node.type === "CallExpression" || node.type === "NewExpression") {
        node.up = owner;
        this.calls.push(node);
      } else if (node.type === "AssignmentExpression") {
        node.up = owner;
        this.assigned(node, owner);
      }
      if (isFunction(node) || isClass(node)) {
        if (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") declare(owner, node.id, node);
        node.up = owner;
        node.holder = holder;
        node.names = new Map();
        if (node.id && node.type.endsWith("Expression")) node.names.set(node.id.name, node);
        for (const one of node.params ?? []) declare(node, one, undefined);
        if (isClass(node)) {
          this.classes.push(node);
          children(node, (child) => walk(child, node, node));
          return;
        }
        children(node, (child) => walk(child, node, node.type === "ArrowFunctionExpression" ? holder : (node.inClass ?? holder)));
        return;
      }
      if ((node.type === "MethodDefinition" || node.type === "PropertyDefinition") && isFunction(node.value)) node.value.inClass = holder;
      children(node, (child) => walk(child, owner, holder));
    };
    program.names = this.globals;
    walk(program, program, undefined);
  }

  /** @param {Node} node */
  assigned({ left, right }, owner) {
    if (left.type === "Identifier" && owner.type === "Program" && (isClass(right) || isFunction(right))) this.globals.set(left.name, right);
    if (left.type === "Identifier" && owner.type !== "Program") {
      const at = this.ownerOf(left.name, owner);
      if (at && at.names.get(left.name) === undefined) at.names.set(left.name, right);
    }
    if (left.type !== "MemberExpression" || left.computed || left.object.type !== "Identifier") return;
    const name = left.object.name;
    const at = this.ownerOf(name, owner);
    // (i=>{i.read=…})(X||={}): members of X. Found by the call, later.
    const into = at ? (at.given ??= new Map()) : this.members.get(name) ?? this.members.set(name, new Map()).get(name);
    if (!into.has(left.property.name)) into.set(left.property.name, right);
  }

  /** The function that declares the name; none where the bundle does. */
  ownerOf(/** @type {string} */ name, /** @type {Node} */ owner) {
    for (let at = owner; at && at.type !== "Program"; at = at.up) if (at.names.has(name)) return at;
    return undefined;
  }

  index() {
    for (const [name, value] of this.globals) {
      const [given] = value?.type === "CallExpression" && value.callee.type === "Identifier" ? value.arguments : [];
      if (value?.arguments?.length === 1 && given?.type === "Literal" && typeof given.value === "string" && this.isDecorator(value.callee.name)) this.services.set(name, given.value);
    }
    for (const call of this.calls) {
      const { callee, arguments: args, up } = call;
      // (i=>{…})(X||(X={}))
      if (isFunction(callee) && callee.given && args[0]) {
        const target = args[0].type === "Identifier" ? args[0] : (args[0].left ?? args[0]);
        if (target.type === "Identifier" && !this.ownerOf(target.name, up)) {
          const into = this.members.get(target.name) ?? new Map();
          for (const [key, value] of callee.given) if (!into.has(key)) into.set(key, value);
          this.members.set(target.name, into);
        }
      }
      if (callee.type !== "Identifier" || up.type !== "Program") continue;
      // be(IService, Class, 1)
      if (args.length >= 2 && args[0].type === "Identifier" && this.services.has(args[0].name)) {
        const found = args[1].type === "Identifier" ? this.globals.get(args[1].name) : isClass(args[1]) ? args[1] : undefined;
        if (isClass(found)) this.serves(this.services.get(args[0].name), found);
      }
      // C=I([m(0,IService)],C)
      if (args.length === 2 && args[0].type === "ArrayExpression" && args[1].type === "Identifier" && isClass(this.globals.get(args[1].name))) {
        const named = [];
        for (const one of args[0].elements)
          if (one?.type === "CallExpression" && one.arguments.length === 2 && one.arguments[0].type === "Literal" && one.arguments[1].type === "Identifier" && this.services.has(one.arguments[1].name))
            named[one.arguments[0].value] = this.services.get(one.arguments[1].name);
        if (named.length > 0) this.parameters.set(this.globals.get(args[1].name), named);
      }
    }
  }

  #decorator = /** @type {string | undefined} */ (undefined);
  isDecorator(/** @type {string} */ name) {
    this.#decorator ??= [...this.globals].find(([, value]) => isFunction(value) && /@IServiceName-decorator can only/.test(this.source.slice(value.start, value.end)) && value.end - value.start < 400)?.[0];
    return name === this.#decorator;
  }

  serves(/** @type {string} */ service, /** @type {Node} */ one) {
    const all = this.serving.get(service) ?? [];
    if (!all.includes(one)) this.serving.set(service, [...all, one]);
  }

  /** What a name stands for where it is used. */
  named(/** @type {string} */ name, /** @type {Node} */ owner) {
    const at = this.ownerOf(name, owner);
    return at ? { value: at.names.get(name), at } : { value: this.globals.get(name), at: this.program };
  }

  /**
   * A text, where it can be told; with "*" for what cannot where `env` says so.
   * @param {Node} node
   * @param {Node} owner
   * @param {{ calls?: { made: Node, call: Node }[], loosely?: boolean }} [env] with which words the functions around are called
   * @returns {string | undefined}
   */
  text(node, owner, env = {}, depth = 0) {
    if (!node || depth > 10) return undefined;
    const within = (/** @type {Node} */ one, /** @type {Node} */ at) => this.text(one, at, env, depth + 1);
    if (node.type === "Literal") return typeof node.value === "string" ? node.value : typeof node.value === "number" && depth > 0 ? String(node.value) : undefined;
    if (node.type === "TemplateLiteral") {
      const parts = node.quasis.map((one, i) => one.value.cooked + (i < node.expressions.length ? (within(node.expressions[i], owner) ?? (env.loosely ? "*" : "\u0000")) : ""));
      const whole = parts.join("");
      return whole.includes("\u0000") ? undefined : whole;
    }
    if (node.type === "BinaryExpression" && node.operator === "+") {
      const [left, right] = [within(node.left, owner), within(node.right, owner)];
      if (env.loosely && (left ?? right) !== undefined) return (left ?? "*") + (right ?? "*");
      return left === undefined || right === undefined ? undefined : left + right;
    }
    if (node.type === "AssignmentExpression") return within(node.right, owner);
    if (node.type === "Identifier" || (node.type === "MemberExpression" && !node.computed && node.object.type === "Identifier")) {
      const given = this.given(node.type === "Identifier" ? node : node.object, owner, env);
      if (given && node.type === "Identifier") return within(given.value, given.at);
      if (given) return given.value.type === "ObjectExpression" ? within(given.value.properties.find((/** @type {Node} */ one) => keyOf(one) === node.property.name)?.value, given.at) : undefined;
    }
    if (node.type === "Identifier") {
      const { value, at } = this.named(node.name, owner);
      return value && value !== node ? within(value, at) : undefined;
    }
    if (node.type === "MemberExpression" && !node.computed) {
      const key = node.property.name;
      if (node.object.type === "ThisExpression" && isClass(owner?.holder)) return within(this.statics(owner.holder).get(key), this.program);
      if (node.object.type === "MemberExpression" && node.object.object.type === "Identifier" && (key === "id" || key === "key" || key === "ID")) {
        const value = this.members.get(node.object.object.name)?.get(node.object.property.name);
        return value?.arguments ? within(value.arguments[0], this.program) : undefined;
      }
      if (node.object.type !== "Identifier") return undefined;
      const { value, at } = this.named(node.object.name, owner);
      const own = at === this.program ? this.members.get(node.object.name)?.get(key) : at?.given?.get(key);
      if (own) return within(own, this.program);
      if (value?.type === "ObjectExpression") return within(value.properties.find((/** @type {Node} */ one) => keyOf(one) === key)?.value, at);
      if (isClass(value)) return within(this.statics(value).get(key), value);
      // new MenuId("x"), new RawContextKey("x"): their names.
      if ((value?.type === "NewExpression" && (key === "key" || key === "id" || key === "ID")) || value?.type === "CallExpression") {
        const [first] = value.arguments;
        if (first?.type === "ObjectExpression") return within(first.properties.find((/** @type {Node} */ one) => keyOf(one) === key)?.value, at);
        return within(first, at);
      }
    }
    return undefined;
  }

  /** What a parameter is, by how its function is called. */
  given(/** @type {Node} */ name, /** @type {Node} */ owner, /** @type {{ calls?: { made: Node, call: Node }[] }} */ env) {
    const made = this.ownerOf(name.name, owner);
    const called = made && env.calls?.find((one) => one.made === made);
    const at = called ? made.params.findIndex((/** @type {Node} */ one) => (one.left ?? one).name === name.name) : -1;
    return at >= 0 && called?.call.arguments[at] ? { value: called.call.arguments[at], at: called.call.up } : undefined;
  }

  /** @returns {Map<string, Node>} */
  statics(/** @type {Node} */ one) {
    if (one.statics) return one.statics;
    one.statics = new Map();
    for (const member of one.body.body) {
      if (member.type === "PropertyDefinition" && member.static && keyOf(member)) one.statics.set(keyOf(member), member.value);
      if (member.type === "MethodDefinition" && member.static && keyOf(member)) one.statics.set(keyOf(member), member.value);
      if (member.type === "StaticBlock") {
        const take = (/** @type {Node} */ node) => {
          if (node.type === "AssignmentExpression" && node.left.type === "MemberExpression" && node.left.object.type === "ThisExpression") one.statics.set(node.left.property.name, node.right);
          else children(node, take);
        };
        children(member, take);
      }
    }
    return one.statics;
  }

  /** The class that a class extends. */
  parent(/** @type {Node} */ one) {
    const above = one.superClass;
    if (!above) return undefined;
    if (isClass(above)) return above;
    const { value } = above.type === "Identifier" ? this.named(above.name, one.up) : { value: undefined };
    return isClass(value) && value !== one ? value : undefined;
  }

  /** A class and all above it. */
  line(/** @type {Node} */ one) {
    const all = [];
    for (let at = one; at && all.length < 12 && !all.includes(at); at = this.parent(at)) all.push(at);
    return all;
  }

  method(/** @type {Node} */ one, /** @type {string} */ name) {
    for (const each of this.line(one)) {
      const found = each.body.body.find((member) => keyOf(member) === name && (isFunction(member.value)));
      if (found) return found.value;
    }
    return undefined;
  }

  constructorOf(/** @type {Node} */ one) {
    for (const each of this.line(one)) {
      const found = each.body.body.find((member) => member.kind === "constructor");
      if (found) return { made: found.value, by: each };
    }
    return undefined;
  }
}

/** @typedef {{ service?: string, instance?: Node, classNode?: Node, names?: string }} Kind what is known of a value */

/** What a function of a bundle reaches. */
class Follower {
  /** @param {Bundle} bundle */
  constructor(bundle) {
    this.bundle = bundle;
  }

  /** @returns {Kind} */
  kind(/** @type {Node} */ node, /** @type {Node} */ owner, depth = 0) {
    const { bundle } = this;
    if (!node || depth > 8) return {};
    switch (node.type) {
      case "ThisExpression": {
        const holder = isFunction(owner) ? owner.inClass ?? owner.holder : owner;
        return isClass(holder) ? { instance: holder } : {};
      }
      case "AwaitExpression":
        return this.kind(node.argument, owner, depth + 1);
      case "ChainExpression":
        return this.kind(node.expression, owner, depth + 1);
      case "LogicalExpression":
      case "ConditionalExpression": {
        const first = this.kind(node.left ?? node.consequent, owner, depth + 1);
        return Object.keys(first).length > 0 ? first : this.kind(node.right ?? node.alternate, owner, depth + 1);
      }
      case "AssignmentExpression":
        return this.kind(node.right, owner, depth + 1);
      case "NewExpression": {
        const made = this.kind(node.callee, owner, depth + 1);
        return made.classNode ? { instance: made.classNode } : {};
      }
      case "Identifier": {
        const { value, at } = bundle.named(node.name, owner);
        if (isClass(value)) return { classNode: value };
        if (at === bundle.program && !value) return { names: node.name };
        if (value === undefined && isFunction(at) && at.isConstructor !== false) {
          const served = this.parameter(at, node.name);
          if (served) return { service: served };
        }
        if (value && value !== node && !isFunction(value)) {
          const found = this.kind(value, at, depth + 1);
          if (Object.keys(found).length > 0) return found;
        }
        return bundle.members.has(node.name) ? { names: node.name } : {};
      }
      case "ClassExpression":
        return { classNode: node };
      case "MemberExpression": {
        if (node.computed) return {};
        const of = this.kind(node.object, owner, depth + 1);
        if (of.instance) return this.field(of.instance, node.property.name ?? "", depth + 1);
        return {};
      }
      case "CallExpression": {
        const { callee, arguments: args } = node;
        if (callee.type === "MemberExpression" && !callee.computed) {
          const name = callee.property.name;
          if (name === "get" && args[0]?.type === "Identifier" && bundle.services.has(args[0].name)) return { service: bundle.services.get(args[0].name) };
          if (name === "createInstance" && args[0]) {
            const made = this.kind(args[0], owner, depth + 1);
            if (made.classNode) return { instance: made.classNode };
          }
          if (/^(?:get|_register|add)$/.test(name)) {
            const of = this.kind(callee.object, owner, depth + 1);
            if (name === "get" && of.classNode) return { instance: of.classNode };
            if (name !== "get" && args[0]) return this.kind(args[0], owner, depth + 1);
          }
        }
        return {};
      }
    }
    return {};
  }

  /** The service that a constructor's parameter is. */
  parameter(/** @type {Node} */ made, /** @type {string} */ name) {
    const one = made.inClass;
    if (!isClass(one)) return undefined;
    const at = made.params.findIndex((each) => (each.left ?? each).name === name);
    return at < 0 || this.bundle.method(one, "constructor") !== made ? undefined : this.bundle.parameters.get(one)?.[at];
  }

  /** What a member of an instance is. @returns {Kind} */
  field(/** @type {Node} */ one, /** @type {string} */ name, depth = 0) {
    one.fields ??= new Map();
    if (one.fields.has(name)) return one.fields.get(name);
    one.fields.set(name, {});
    for (const each of this.bundle.line(one)) {
      const made = each.body.body.find((member) => member.kind === "constructor")?.value;
      const property = each.body.body.find((member) => member.type === "PropertyDefinition" && keyOf(member) === name && member.value);
      let value = property?.value;
      let owner = each;
      if (!value && made) {
        const look = (/** @type {Node} */ node) => {
          if (value) return;
          if (node.type === "AssignmentExpression" && node.left.type === "MemberExpression" && node.left.object.type === "ThisExpression" && node.left.property.name === name) value = node.right;
          else if (!isClass(node)) children(node, look);
        };
        look(made.body);
        owner = made;
      }
      if (!value) continue;
      let found = {};
      if (value.type === "Identifier" && owner === made) {
        const at = made.params.findIndex((param) => (param.left ?? param).name === value.name);
        const service = at < 0 ? undefined : this.bundle.parameters.get(each)?.[at];
        if (service) found = { service };
      }
      if (Object.keys(found).length === 0) found = this.kind(value, owner, depth + 1);
      one.fields.set(name, found);
      return found;
    }
    return {};
  }

  /** The words of a call that decide what it does. */
  words(/** @type {Node[]} */ args, /** @type {Node} */ owner) {
    const [first] = args;
    if (!first) return "";
    const text = this.bundle.text(first, owner);
    if (text !== undefined) return `(${text})`;
    return "";
  }

  /**
   * What the functions reach, and what they call.
   * @param {Node[]} roots
   * @returns {string[]}
   */
  follow(roots) {
    const reach = new Set();
    const seen = new Set();
    /** @type {[Node, number][]} */
    const queue = roots.map((one) => [one, 0]);
    const enter = (/** @type {Node} */ one, /** @type {number} */ depth) => {
      if (!one || seen.has(one)) return;
      if (depth > MAX_DEPTH || seen.size > MAX_VISITED) {
        reach.add("more than can be followed");
        return;
      }
      seen.add(one);
      queue.push([one, depth]);
    };
    for (const [one] of queue) seen.add(one);
    while (queue.length > 0) {
      const [root, depth] = /** @type {[Node, number]} */ (queue.shift());
      const walk = (/** @type {Node} */ node, /** @type {Node} */ owner) => {
        if (isClass(node) && node !== root) return; // by what makes one of it
        const at = isFunction(node) ? node : owner;
        if (node.type === "CallExpression" || node.type === "NewExpression") this.call(node, owner, depth, reach, enter);
        children(node, (child) => walk(child, at));
      };
      if (isFunction(root)) walk(root, root);
      else walk(root, root.up ?? this.bundle.program);
    }
    return [...reach].sort();
  }

  call(/** @type {Node} */ node, /** @type {Node} */ owner, /** @type {number} */ depth, /** @type {Set<string>} */ reach, /** @type {(one: Node, depth: number) => void} */ enter) {
    const { bundle } = this;
    const { callee, arguments: args } = node;
    for (const arg of args)
      if (arg.type === "Identifier") {
        const { value, at } = bundle.named(arg.name, owner);
        if (isFunction(value) && at === bundle.program) enter(value, depth + 1);
      }
    if (node.type === "NewExpression") {
      const { classNode } = this.kind(callee, owner);
      if (classNode) {
        const made = bundle.constructorOf(classNode);
        if (made) enter(made.made, depth + 1);
      }
      return;
    }
    if (callee.type === "Identifier") {
      const { value } = bundle.named(callee.name, owner);
      if (isFunction(value)) enter(value, depth + 1);
      return;
    }
    if (callee.type === "Super" || callee.type !== "MemberExpression" || callee.computed) return;
    const name = callee.property.name;
    if (callee.object.type === "Super") {
      const holder = owner.inClass ?? owner.holder;
      const above = isClass(holder) && bundle.parent(holder);
      if (above) enter(bundle.method(above, name), depth + 1);
      return;
    }
    const of = this.kind(callee.object, owner);
    if (of.service) {
      const acts = REACHES.test(of.service) && (!TELLS.test(name) || ACTS.test(name));
      if (acts || SINKS.has(name)) {
        reach.add(`${of.service}.${name}${this.words(args, owner)}`);
        return;
      }
      for (const one of bundle.serving.get(of.service) ?? []) enter(bundle.method(one, name), depth + 1);
      return;
    }
    if (of.instance) {
      const found = bundle.method(of.instance, name);
      if (found) {
        enter(found, depth + 1);
        return;
      }
      const member = this.field(of.instance, name);
      if (member.instance || member.service) return;
    }
    if (of.classNode && bundle.statics(of.classNode).has(name)) {
      const found = bundle.statics(of.classNode).get(name);
      if (isFunction(found)) enter(found, depth + 1);
      return;
    }
    if (callee.object.type === "Identifier") {
      const found = bundle.members.get(callee.object.name)?.get(name);
      if (isFunction(found)) {
        enter(found, depth + 1);
        return;
      }
    }
    if (SINKS.has(name)) reach.add(`?.${name}${this.words(args, owner)}`);
  }
}

/** @typedef {{ id: Node, owner: Node, handlers: Node[], calls: { made: Node, call: Node }[], node: Node }} Registration */

/** The commands of a bundle: what each one's handler is. */
class Commands {
  /** @type {Map<string, Set<Node>>} by id; "*" in one stands for what cannot be told */
  found = new Map();
  /** @type {Set<string>} registrations whose command nobody can tell anything of */
  computed = new Set();
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

  /** @type {Map<string, string>} other names of commands */
  aliases = new Map();
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

/** @param {string} source the workbench, as published */
export function reachOf(source) {
  const bundle = new Bundle(source);
  const { found, computed, aliases } = new Commands(bundle);
  const follower = new Follower(bundle);
  const followed = new Map([...found].map(([id, handlers]) => [id, handlers.size === 0 ? ["unknown"] : follower.follow([...handlers])]));
  // By another name a command reaches what it reaches.
  for (const [alias, id] of aliases) if (followed.has(alias)) followed.set(alias, followed.get(id) ?? ["unknown"]);
  const commands = Object.fromEntries([...followed].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { commands, computed: [...computed].sort(), contexts: contextsOf(bundle) };
}

export const workbenchOf = (/** @type {string} */ folder) => fs.readFileSync(path.join(folder, "out/vs/code/browser/workbench/workbench.js"), "utf8");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const here = path.dirname(fileURLToPath(import.meta.url));
  console.log(JSON.stringify(reachOf(workbenchOf(process.argv[2] ?? path.join(here, "../node_modules/code-server/lib/vscode"))), null, 1));
}
