#!/bin/sh
# The shell's own ways: pipes, here-documents, traps, redirections, descriptors, pipes with names,
# subshells, process exit codes, xargs in parallel. (">/dev/stdout" cuts a file: never the job's own output.)
# run: /usr/bin {W}

echo one | cat | tr a-z A-Z | sed 's/ONE/two/'; echo "pipe $?"
cat <<END
here $((1 + 2)) $(echo nested)
END
cat <<'END' | sort
b
a
END
trap 'echo trapped exit' EXIT
trap 'echo trapped usr1' USR1
kill -USR1 $$
(trap 'echo child term; exit 7' TERM; kill -TERM "$(sh -c 'echo $PPID')"; sleep 1); echo "subshell $?"
sh -c 'kill -9 $$'; echo "killed $?"; sh -c 'kill -SEGV $$' 2>/dev/null; echo "segv $?"; sh -c 'exit 300'; echo "exit $?"
false | true; echo "last $?"; ! true; echo "not $?"
exec 3>three 4<tree/plain.txt; echo to-three >&3; cat <&4; exec 3>&- 4<&-; cat three; echo x >&9; echo "bad descriptor $?"
echo both >out 2>&1; ls nowhere >out 2>&1; cat out; echo a >>out; wc -l <out; : >out; test -s out; echo "empty $?"
set -C; echo clobber >out; echo "noclobber $?"; echo forced >|out; set +C; cat <>out
mkfifo fifo; echo through >fifo & cat fifo; wait; (cat fifo; echo reader done) & printf 'a\nb\n' >fifo; wait
for i in 1 2 3; do (echo "job $i"; exit $i) >job.$i & done; wait; cat job.*
sh -c 'exit 5' & wait $!; echo "wait $?"
seq 30 | xargs -P 4 -n 3 sh -c 'echo "$*" >x.$1' sh; cat x.* | tr ' ' '\n' | sort -n | wc -l
find tree -name 'file-00*' -print0 | xargs -0 -n 2 wc -c | awk '{s+=$1} END {print s}'
seq 20000 | sort -R | sort -n | tail -1; seq 100000 | head -1; yes 2>/dev/null | head -3
cat /dev/null; head -c 5 /dev/zero | wc -c; head -c 20 /dev/urandom | wc -c; echo gone >/dev/null; echo full >/dev/full; echo "full $?"
echo dev-stdin | cat /dev/stdin; { echo cut; echo out >/dev/stdout; } >own; cat own; echo out >/dev/stdout | cat; echo fd | cat /dev/fd/0; { echo err >/dev/stderr; } 2>&1 | cat; echo tty 2>/dev/null >/dev/tty; echo "tty $?"; echo self | cat /proc/self/fd/0
timeout 0.2 sleep 5; echo "timeout $?"; nohup echo nohup 2>/dev/null; env -i /bin/sh -c 'echo "$HOME-$PWD" | wc -l'; ./absent; echo "absent $?"; ./tree/plain.txt; echo "not executable $?"; ./tree; echo "folder $?"
tree/executable 1 2; cp tree/executable ./e 2>/dev/null || cat tree/executable >e; chmod +x e; ./e; sh ./e x; echo 'echo no interpreter line $0' >n; chmod +x n; ./n
printf '#!/nowhere/x\n' >bad; chmod +x bad; ./bad; echo "bad interpreter $?"; printf '#!/bin/sh -e\nfalse\necho never\n' >strict; chmod +x strict; ./strict; echo "strict $?"
umask; (umask 077; echo private >masked; ls -l masked | cut -c1-10); umask 027; echo x >masked2; mkdir masked3; ls -ld masked2 masked3 | cut -c1-10; umask -S
cd tree/to-folder; pwd -P | sed 's,.*/work,W,'; pwd -L | sed 's,.*/work,W,'; cd ..; pwd -L | sed 's,.*/work,W,'; cd nowhere; echo "cd $?"; cd plain.txt; cd /; pwd; cd "$OLDPWD"; mkdir gone; cd gone; rmdir ../gone; ls; pwd -P >/dev/null; echo "gone $?"; echo x >file; cd ../..
read -r line <tree/plain.txt; echo "$line"; while read -r a b; do echo "$b $a"; done <<END
1 2
3 4
END
[ -e tree/dangling ]; echo "dangling $?"; [ -h tree/dangling ]; echo "link $?"; [ -w / ]; [ -r tree/loop-a ]; echo "loop $?"; [ -p tree/pipe ]; [ -O tree ]; echo "owner $?"; [ -u tree ]; test -t 0; echo "terminal $?"
ulimit -n >/dev/null; ulimit -c 0; (ulimit -n 8; exec 5<tree/plain.txt; cat <&5; exec 6</dev/null 7</dev/null; sh -c 'exec 9</dev/null' 2>&1 | wc -l); (ulimit -f 1; head -c 5000 /dev/zero >limited) 2>/dev/null; ls -l limited | awk '{print $5}'
echo 'pwd | wc -l; . ./sourced' >s; echo 'echo sourced $1' >sourced; . ./s; (. ./nowhere) 2>/dev/null; echo "sourced nothing $?"; echo end
