'use strict';
// Code caches that leave their process: what V8 made of a script, under a key of the host's. V8 believes
// what it reads there, so an altered one is native code of somebody else's, in the worker.

const { createHash, createHmac, randomBytes, timingSafeEqual } = require('node:crypto');

const MAGIC = Buffer.from('BHC1');
const MAC = 32;

// Of this process, for hosts that name none.
let own;
const keyOf = (given) => given ?? (own ??= randomBytes(32));

// Of one tenant and one text: another tenant's worker may have been taken over when it made its own.
function macOf(key, tenant, source, bytes) {
  const mac = createHmac('sha256', keyOf(key)).update(MAGIC);
  for (const part of [tenant, source]) mac.update(createHash('sha256').update(part, 'utf8').digest());
  return mac.update(bytes).digest();
}
const seal = (key, tenant, source, bytes) => Buffer.concat([MAGIC, macOf(key, tenant, source, bytes), bytes]);

// What V8 gets, or undefined where it is another text's, another tenant's, under another key or altered.
function open(key, tenant, source, sealed) {
  if (sealed.length < MAGIC.length + MAC || !MAGIC.equals(sealed.subarray(0, MAGIC.length))) return undefined;
  const bytes = sealed.subarray(MAGIC.length + MAC);
  return timingSafeEqual(macOf(key, tenant, source, bytes), sealed.subarray(MAGIC.length, MAGIC.length + MAC)) ? bytes : undefined;
}

module.exports = { seal, open };
