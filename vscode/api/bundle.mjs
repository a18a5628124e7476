// A minified bundle as a syntax tree: what its names stand for, who is whose, and which texts can be told.
//
// What it relies on: functions, classes and texts of the bundle have names that are unique in it; decorators say which service a
// constructor's parameter is, and which class is such a service; methods and members keep their names.
import { parse } from "acorn";

/** @typedef {any} Node */
export const isFunction = (/** @type {Node} */ n) => n?.type === "FunctionExpression" || n?.type === "ArrowFunctionExpression" || n?.type === "FunctionDeclaration";
export const isClass = (/** @type {Node} */ n) => n?.type === "ClassExpression" || n?.type === "ClassDeclaration";
export const keyOf = (/** @type {Node} */ n) => (n.computed ? undefined : (n.key?.name ?? n.key?.value));

/** Members that are added to the nodes below. */
const OURS = new Set(["up", "holder", "inClass", "names", "given", "statics", "fields"]);

/** Each child of a node. @param {Node} node @param {(child: Node) => void} take */
export function children(node, take) {
  for (const key in node) {
    const value = node[key];
    if (!value || typeof value !== "object" || OURS.has(key)) continue;
    if (Array.isArray(value)) {
      for (const one of value) if (one && typeof one.type === "string") take(one);
    } else if (typeof value.type === "string") take(value);
  }
}

/** A bundle's names, and who is whose. */
export class Bundle {
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
