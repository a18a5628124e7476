// What the kernel tells of processes: trees, memory, CPU time, and the notifications that a supervisor takes.
import fs from "node:fs";
import path from "node:path";

const read = (file) => {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return ""; // it has ended
  }
};
const list = (folder) => {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
};

export const children = (pid) =>
  list(`/proc/${pid}/task`).flatMap((task) => read(`/proc/${pid}/task/${task}/children`).split(" ").filter(Boolean).map(Number));

/** A process and all below it. */
export const tree = (pid) => [pid, ...children(pid).flatMap(tree)];

export const nameOf = (pid) => read(`/proc/${pid}/comm`).trim();
export const wordsOf = (pid) => read(`/proc/${pid}/cmdline`).split("\0");

/** Bytes: its proportional share, and what it alone holds. */
export function memory(pid) {
  const rollup = read(`/proc/${pid}/smaps_rollup`);
  const field = (name) => 1024 * Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(rollup)?.[1] ?? 0);
  return { pss: field("Pss"), own: field("Private_Clean") + field("Private_Dirty") };
}

export const memoryOf = (pids) =>
  pids.map(memory).reduce((sum, one) => ({ pss: sum.pss + one.pss, own: sum.own + one.own }), { pss: 0, own: 0 });

/** Seconds on a CPU so far, of the threads that live. */
export const cpu = (pid) => list(`/proc/${pid}/task`).reduce((sum, task) => sum + Number(read(`/proc/${pid}/task/${task}/schedstat`).split(" ")[0]) / 1e9, 0);

/** SECCOMP_IOCTL_NOTIF_RECV: _IOWR('!', 0, struct seccomp_notif), 80 bytes (linux/seccomp.h). */
const NOTIF_RECV = "0xc0502100";
const TRACING = "/sys/kernel/tracing";

/**
 * Counts the system-call notifications that a process takes from now on: its ioctl(SECCOMP_IOCTL_NOTIF_RECV)
 * calls, by a tracing instance of our own. undefined where that cannot be done (it needs root and
 * CONFIG_FTRACE_SYSCALLS).
 */
export function countNotifications(pid) {
  const instance = path.join(TRACING, "instances", `bulkhead-bench-${process.pid}`);
  const event = path.join(instance, "events/syscalls/sys_enter_ioctl");
  try {
    fs.mkdirSync(instance);
    fs.writeFileSync(path.join(event, "filter"), `cmd == ${NOTIF_RECV}`);
    fs.writeFileSync(path.join(instance, "options/event-fork"), "1");
    fs.writeFileSync(path.join(instance, "set_event_pid"), list(`/proc/${pid}/task`).join(" "));
    fs.writeFileSync(path.join(event, "enable"), "1");
  } catch {
    if (fs.existsSync(instance)) fs.rmdirSync(instance);
    return undefined;
  }
  const remove = () => fs.rmdirSync(instance);
  process.once("exit", remove);
  return {
    /** How many, and in how many different seconds. */
    stop() {
      fs.writeFileSync(path.join(event, "enable"), "0");
      const times = [...read(path.join(instance, "trace")).matchAll(/(\d+)\.\d+: sys_ioctl\(/g)].map(([, second]) => second);
      const lost = list(path.join(instance, "per_cpu")).reduce((sum, one) => sum + Number(/^overrun: (\d+)/m.exec(read(path.join(instance, "per_cpu", one, "stats")))?.[1] ?? 0), 0);
      process.removeListener("exit", remove);
      remove();
      return { count: times.length + lost, seconds: new Set(times).size };
    },
  };
}
