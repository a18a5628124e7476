#!/bin/sh
# Lets a granted program do the reading: a child, a shell's redirection, an interpreter.
# class: Deno: shells and children; VS Code: tasks and terminals
# plain: leak
# flags: --run cat --run cp --run perl --run dd
# journal: read {KEY}

for fact; do case $fact in KEY=*) key=${fact#KEY=} ;; esac; done
echo tried
cat "$key"
while read -r line; do echo "$line"; done <"$key"
. "$key"
cp "$key" loot
dd if="$key" of=loot2 2>/dev/null
perl -e 'open(F, $ARGV[0]) && print <F>' "$key"
exec cat <"$key"
