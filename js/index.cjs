'use strict';
// Before anything is loaded that an older Node cannot even read.
if (Number.parseInt(process.version.slice(1), 10) < 22)
  throw new Error(`bulkhead needs Node 22 or newer; this is ${process.version}`);

const { Sandbox, isGuest } = require('./lib/sandbox.cjs');
const { views, revoke, limit, transfer } = require('./lib/policy-host.cjs');
const { callSignal } = require('./lib/link.cjs');
const { warm, cool } = require('./lib/pool.cjs');
const {
  SandboxError, TimeLimitError, MemoryLimitError, StackLimitError, OutputLimitError, HandleLimitError, LostError, DisposedError,
  GuestError,
} = require('./lib/errors.cjs');
const { live, readonly, protected_, byValue } = views;

module.exports = {
  Sandbox, live, readonly, protected_, byValue, transfer, revoke, isGuest, callSignal, limit, warm, cool, SandboxError, TimeLimitError,
  MemoryLimitError, StackLimitError, OutputLimitError, HandleLimitError, LostError, DisposedError, GuestError,
};
