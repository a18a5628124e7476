import bulkhead from './index.cjs';

export const {
  Sandbox, live, readonly, protected_, byValue, revoke, isGuest, warm, cool, SandboxError, TimeLimitError, MemoryLimitError,
  StackLimitError, OutputLimitError, HandleLimitError, LostError, DisposedError, GuestError,
} = bulkhead;
