// InheritedMemory: the copy of the supervisor's memory that init starts with.
#pragma once

namespace bulkhead {

// Gives back every page of the heap, of its arenas, of other threads' stacks and of this one's
// above `frame`: init needs none of it for the rest of its life, it may hold what the supervisor
// had read (its environment, grants, answers), and it would stay resident for as long as the
// compartment lives. Kept are what files back, their .bss and thread-local storage.
//
// For a process of one thread that touches neither the heap nor what lies above `frame`, an address
// in its caller's frame, again. Async-signal-safe. Does nothing in builds with sanitizers, whose
// own tables are among that memory.
void drop_inherited_memory(const void* frame) noexcept;

}  // namespace bulkhead
