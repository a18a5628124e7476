import bulkhead from './index.cjs';

export const {
  Sandbox, live, readonly, protected_, byValue, transfer, revoke, isGuest, callSignal, limit, warm, cool, SandboxError, TimeLimitError,
  MemoryLimitError, StackLimitError, OutputLimitError, HandleLimitError, LostError, DisposedError, GuestError,
} = bulkhead;
