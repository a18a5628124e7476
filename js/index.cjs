'use strict';
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
