// What a function of a bundle reaches: calls of what writes, runs, sends, saves, copies or answers, in it and in what it calls.
import { children, isClass, isFunction, keyOf } from "./bundle.mjs";

/** @typedef {import("./bundle.mjs").Node} Node @typedef {import("./bundle.mjs").Bundle} Bundle */

/** Methods that are a reach whoever they are called on. */
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

/** @typedef {{ service?: string, instance?: Node, classNode?: Node, names?: string }} Kind what is known of a value */

/** What a function of a bundle reaches. */
export class Follower {
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
