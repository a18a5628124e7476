#!/bin/sh
# What programs read about themselves and the machine: /proc/self, /proc/PID of a child, /sys, /dev.
# run: cat sed wc ls readlink head sleep cut grep tr sort id nproc uname dd tty stat rm

for file in status maps smaps stat statm limits mounts mountinfo cgroup comm cmdline environ io oom_score oom_score_adj auxv wchan sched; do
  cat /proc/self/$file >copy 2>/dev/null; echo "$file $?"; test -s copy; echo "  content $?"
done
cat /proc/self/comm; readlink /proc/self/exe; readlink /proc/self/cwd | sed 's,.*/work,W,'; readlink /proc/self/root; ls /proc/self/fd; readlink /proc/self | grep -c '^[0-9]*$'; readlink /proc/thread-self | grep -c task
ls /proc/self/task | wc -l; cat /proc/$$/task/*/comm; readlink /proc/self/ns/pid | cut -d: -f1; ls /proc/self/ns | sort | tr '\n' ' '; echo
sleep 5 & sleep 0.2; cat /proc/$!/comm; tr '\0' ' ' </proc/$!/cmdline; echo; readlink /proc/$!/exe; readlink /proc/$!/cwd | sed 's,.*/work,W,'; ls /proc/$!/fd >/dev/null; echo "fd $?"; kill $!; wait
cat /proc/999999/comm; echo "absent $?"; ls /proc/nothing; echo 300 >/proc/self/oom_score_adj; cat /proc/self/oom_score_adj; echo name >/proc/$$/comm; cat /proc/$$/comm
for file in cpuinfo meminfo stat uptime loadavg version filesystems sys/kernel/pid_max sys/vm/overcommit_memory net/dev net/tcp; do
  cat /proc/$file >/dev/null 2>&1; echo "$file $?"
done
ls /sys/devices/system/cpu | grep -c 'cpu[0-9]'; cat /sys/devices/system/cpu/online; nproc; uname -s; id -u >/dev/null; echo $?
cat /etc/passwd | wc -l; cat /etc/group | wc -l; id -un >/dev/null; ls /etc/ssl/certs >/dev/null; echo "certificates $?"; cat /etc/os-release | head -1; wc -c </etc/ld.so.cache
stat -c '%n %F %a %t:%T' /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty; dd if=/dev/zero of=/dev/null bs=1k count=1 status=none; echo "dd $?"; tty; ls -l /dev/stdin /dev/stdout /dev/fd | sed 's/.*\/dev/\/dev/'
own=fidelity-own.$$  # two users' plain runs share these folders
echo a >/tmp/$own && cat /tmp/$own; stat -c '%a' /tmp; echo b >/dev/shm/$own && cat /dev/shm/$own; rm -f /tmp/$own /dev/shm/$own copy
