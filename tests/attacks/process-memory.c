// Reads and writes the memory of processes outside by process_vm_readv and process_vm_writev.
// class: OS sandboxes: process_vm_writev on the supervisor or a sibling
// plain: leak
// journal: system *process_vm*
#include "attack.h"
#include <sys/uio.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  pid_t pids[8];
  for (int i = 0, n = victims(pids); i < n; ++i) {
    char buffer[256] = "";
    struct iovec here = {buffer, sizeof buffer}, there = {(void*)number("ADDRESS"), sizeof buffer};
    if (process_vm_readv(pids[i], &here, 1, &there, 1, 0) > 0) leak(buffer, sizeof buffer);
    else refused("process_vm_readv");
    strcpy(buffer, "overwritten");
    if (process_vm_writev(pids[i], &here, 1, &there, 1, 0) > 0) effect("wrote to the memory of %d", pids[i]);
    else refused("process_vm_writev");
  }
  return 0;
}
