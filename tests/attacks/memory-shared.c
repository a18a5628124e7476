// Reads what others keep in shared memory and queues: POSIX, System V, files in /dev/shm and /tmp.
// class: OS sandboxes: shared memory and queues of others
// plain: leak
#include "attack.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>

int main(int argc, char** argv) {
  (void)argc;
  attack(argv);
  const key_t key = (key_t)number("IPC_KEY");
  const int shm = shmget(key, 0, 0);
  if (shm < 0) refused("shmget");
  else leak(shmat(shm, NULL, SHM_RDONLY), 128);
  for (int id = 0; id < 1 << 10; ++id) {
    struct shmid_ds status;
    const int found = shmctl(id, SHM_STAT, &status);
    if (found >= 0) effect("sees shared memory %d", found);
  }
  const int queue = msgget(key, 0);
  struct { long kind; char text[256]; } message = {0};
  if (queue < 0 || msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT | MSG_NOERROR) < 0) refused("msgget");
  else leak(message.text, sizeof message.text);
  char buffer[8192];
  const int mq = (int)syscall(SYS_mq_open, fact("MQ") + 1, O_RDONLY | O_NONBLOCK, 0, NULL);
  const long n = mq < 0 ? -1 : syscall(SYS_mq_timedreceive, mq, buffer, sizeof buffer, NULL, NULL);
  if (n > 0) leak(buffer, (size_t)n);
  else refused("mq_open");
  read_path(fact("SHM_FILE"));
  read_path(fact("TMP_FILE"));
  put_file(fact("TMP_FILE"), "changed");
  put_file(fact("SHM_FILE"), "changed");
  return 0;
}
