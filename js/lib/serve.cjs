'use strict';
// Answers the other side's requests about our objects. What the host lets a guest do stands in
// policy.permits and policy.prototypeOf.

const P = require('./primordials.cjs');
const { Op, Flag, Kind, WireError } = require('./wire.cjs');
const { View, reachOf } = require('./view.cjs');
const { intrinsics, isForwarded, changes } = require('./intrinsics.cjs');
const { outlineOf } = require('./outline.cjs');
const { decodeArguments, decodeDescriptor, encodeDescriptor } = require('./standin.cjs');

// Returns the length of the reply. Throws WireErrors alone, and what ends the turn.
function serve(endpoint, header) {
  const { copying, view, reach } = endpoint;
  endpoint.depth++;
  try {
    return answer(endpoint, header);
  } finally {
    endpoint.depth--;
    endpoint.copying = copying;
    endpoint.view = view;
    endpoint.reach = reach;
  }
}

function answer(endpoint, header) {
  let write;
  try {
    write = perform(endpoint, header);
    endpoint.policy.beforeReply(endpoint);
    return reply(endpoint, Op.RETURN, 0, write);
  } catch (error) {
    if (WireError.is(error)) throw error;
    endpoint.policy.beforeReply(endpoint);
    return throwTo(endpoint, error);
  }
}

function throwTo(endpoint, error) {
  const limit = endpoint.policy.limitOf(error);
  if (limit !== undefined) return reply(endpoint, Op.THROW, Flag.LIMIT, () => {
    endpoint.encodeText(limit.code);
    endpoint.encodeText(limit.message);
  });
  try {
    return reply(endpoint, Op.THROW, 0, () => endpoint.encode(error));
  } catch (again) {
    if (WireError.is(again)) throw again;
    const text = endpoint.policy.limitOf(again)?.message ?? 'what was thrown cannot cross the membrane';
    return reply(endpoint, Op.THROW, Flag.LIMIT, () => {
      endpoint.encodeText(endpoint.policy.limitOf(again)?.code ?? 'ERR_SANDBOX_COPY');
      endpoint.encodeText(text);
    });
  }
}

function reply(endpoint, op, flags, write) {
  return endpoint.sayPatiently(op, 0, () => {
    write(endpoint);
    endpoint.policy.finishReply(endpoint);
  }, flags);
}

const value = (result) => (endpoint) => endpoint.encode(result);

// A sloppy function of the host makes its own global object of a `this` that is nothing.
const nobody = P.ObjectFreeze(P.ObjectCreate(null));
const somebody = (policy, self) => (policy.isHost && (self === undefined || self === null) ? nobody : self);

// What is reached through an object that is reached by reference is by reference too, under its view.
const within = (view, result) => (endpoint) => {
  if (endpoint.policy.isHost) {
    endpoint.copying = false;
    endpoint.view = view;
  }
  endpoint.encode(result);
};
// What a function gives is new: data are copied, unless whoever exposed the function said otherwise.
const given = (view, result) => (endpoint) => {
  if (endpoint.policy.isHost) {
    endpoint.copying = view === View.READONLY || view === View.CACHED;
    endpoint.view = view;
  }
  endpoint.encode(result);
};

function perform(endpoint, header) {
  if (header.op < Op.GET) {
    const special = endpoint.policy.perform(endpoint, header);
    if (special !== undefined) return special;
  }
  if (header.op === Op.INTRINSIC) return intrinsic(endpoint);
  if (header.op === Op.COLLECT) return value(endpoint.collect());
  const entry = endpoint.entryOf(header.target);
  const object = entry.value;
  const { view, kind } = entry;
  const { policy } = endpoint;
  const { op } = header;
  if (policy.isHost && reachOf(view) > endpoint.reach) endpoint.reach = reachOf(view);
  // What was copied is not there to be asked: a host's error has a stack, and its promise others wait for.
  if (policy.isHost && (kind === Kind.PROMISE || kind === Kind.ERROR)) throw new WireError('a copy is asked');
  switch (op) {
    case Op.GET: {
      const key = endpoint.decodeKey();
      const receiver = hasMore(endpoint) ? somebody(policy, endpoint.decode()) : object;
      policy.check(endpoint, object);
      return within(view, policy.get(endpoint, object, key, receiver));
    }
    case Op.SET: {
      const key = endpoint.decodeKey();
      const { heard } = endpoint;
      const item = endpoint.decode();
      policy.check(endpoint, object);
      return value(policy.permits(view, key, item) && P.reflectSet(object, key, policy.dataFor(endpoint, view, item, heard), object));
    }
    case Op.HAS: {
      const key = endpoint.decodeKey();
      policy.check(endpoint, object);
      return value(P.reflectHas(object, key));
    }
    case Op.DELETE: {
      const key = endpoint.decodeKey();
      policy.check(endpoint, object);
      return value(policy.permits(view, key) && P.deleteProperty(object, key));
    }
    case Op.KEYS: {
      policy.check(endpoint, object);
      const keys = policy.keys(endpoint, object);
      return () => {
        endpoint.link.writer.u32(keys.length);
        for (let i = 0; i < keys.length; i++) endpoint.encodeKey(keys[i]);
      };
    }
    case Op.GET_PROTOTYPE: {
      policy.check(endpoint, object);
      const prototype = policy.prototypeOf(endpoint, object);
      return policy.isHost ? within(View.READONLY, prototype) : () => endpoint.encodePrototype(prototype);
    }
    case Op.SET_PROTOTYPE: {
      const prototype = endpoint.decode();
      policy.check(endpoint, object);
      return value(!policy.isHost && isObjectOrNull(prototype) && P.setPrototypeOf(object, prototype));
    }
    case Op.DESCRIBE: {
      const key = endpoint.decodeKey();
      policy.check(endpoint, object);
      const found = policy.describe(object, key);
      return () => {
        endpoint.link.writer.u8(found === undefined ? 0 : 1);
        if (found === undefined) return;
        if (policy.isHost) {
          endpoint.copying = false;
          endpoint.view = view;
        }
        P.setPrototypeOf(found, null);
        encodeDescriptor(endpoint, found);
      };
    }
    case Op.DEFINE: {
      const key = endpoint.decodeKey();
      const { heard } = endpoint;
      const descriptor = decodeDescriptor(endpoint);
      policy.check(endpoint, object);
      const allowed = policy.permits(view, key, descriptor.value) &&
        (view !== View.PROTECTED || (descriptor.get === undefined && descriptor.set === undefined));
      if (allowed && P.reflectHas(descriptor, 'value')) descriptor.value = policy.dataFor(endpoint, view, descriptor.value, heard);
      return value(allowed && P.defineProperty(object, key, descriptor));
    }
    case Op.IS_EXTENSIBLE:
      policy.check(endpoint, object);
      return value(P.isExtensible(object));
    case Op.PREVENT_EXTENSIONS:
      policy.check(endpoint, object);
      return value(view === View.LIVE && P.preventExtensions(object));
    case Op.APPLY: {
      const self = endpoint.decode();
      const args = decodeArguments(endpoint);
      policy.check(endpoint, object);
      if (kind !== Kind.FUNCTION && kind !== Kind.CONSTRUCTOR) throw new WireError('no function');
      return given(view, P.apply(object, somebody(policy, self), args));
    }
    case Op.CONSTRUCT: {
      const newTarget = endpoint.decode();
      const args = decodeArguments(endpoint);
      policy.check(endpoint, object);
      if (kind !== Kind.CONSTRUCTOR) throw new WireError('no constructor');
      // What newTarget is, the language checks.
      return given(view, newTarget === undefined ? P.construct(object, args) : P.construct(object, args, newTarget));
    }
    case Op.COPY:
      policy.check(endpoint, object);
      return policy.copy(endpoint, object);
    case Op.OUTLINE: {
      if (policy.isHost) throw new WireError('outline');
      const outline = outlineOf(endpoint, object, endpoint.link.reader.u8());
      return () => {
        endpoint.copying = true;
        endpoint.encode(outline);
      };
    }
    case Op.INVOKE: {
      // For the host's asynchronous face alone: by any name, a host's own `constructor` is reached as well.
      if (policy.isHost) throw new WireError('invoke');
      const name = endpoint.decodeKey();
      const args = decodeArguments(endpoint);
      policy.check(endpoint, object);
      return value(P.apply(object[name], object, args));
    }
  }
  throw new WireError(`request ${op}`);
}

// A method of the language on an object of ours that has what it needs in slots of its own.
function intrinsic(endpoint) {
  const path = endpoint.decodeText();
  const self = endpoint.decode();
  const args = decodeArguments(endpoint);
  const method = isForwarded(path) ? intrinsics().objects.get(path) : undefined;
  if (typeof method !== 'function' || !isObjectOrNull(self) || !endpoint.isExported(self)) throw new WireError('intrinsic');
  endpoint.policy.check(endpoint, self);
  if (endpoint.policy.isHost && changes(path) && !endpoint.exported[View.LIVE].has(self)) throw new P.TypeError('this object may only be read');
  return value(P.apply(method, self, args));
}

const hasMore = (endpoint) => endpoint.link.reader.at < endpoint.link.reader.end;
const isObjectOrNull = (item) => typeof item === 'object' || typeof item === 'function';

module.exports = { serve, throwTo };
