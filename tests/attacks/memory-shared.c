// Reads what others keep in shared memory and queues: POSIX, System V, files in /dev/shm and /tmp.
// class: OS sandboxes: shared memory and queues of others
// plain: leak
#include "attack.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>

static int take(int mq, const char* what) {
  char buffer[8192];
  const long n = mq < 0 ? -1 : syscall(SYS_mq_timedreceive, mq, buffer, sizeof buffer, NULL, NULL);
  if (n > 0) leak(buffer, (size_t)n);
  else refused(what);
  return n > 0;
}

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
  // The name is to be nobody's here, and free: queues work, those of others are elsewhere.
  const char* name = fact("MQ") + 1;
  const int mq = (int)syscall(SYS_mq_open, name, O_RDONLY | O_NONBLOCK, 0, NULL);
  if (mq < 0 && errno != ENOENT) effect("a queue is refused, and not absent: %s", strerror(errno));
  if (!take(mq, "mq_open") && syscall(SYS_mq_open, name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL) < 0)
    effect("no queue can be made: %s", strerror(errno));
  take(open(text("/dev/mqueue/%s", name), O_RDONLY | O_NONBLOCK), "/dev/mqueue");
  read_path(fact("SHM_FILE"));
  read_path(fact("TMP_FILE"));
  put_file(fact("TMP_FILE"), "changed");
  put_file(fact("SHM_FILE"), "changed");
  return 0;
}
