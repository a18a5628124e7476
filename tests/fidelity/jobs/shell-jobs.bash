#!/bin/bash
# bash: job control, process substitution, coproc, arrays of files, globs, file descriptors above nine.
# run: /usr/bin

set -m
sleep 30 & kill -STOP %1; sleep 0.1; jobs -s | sed 's/ \+/ /g'; kill -CONT %1; kill %1; wait %1; echo "job $?"
(exit 3) & wait -n; echo "any $?"; sleep 0.05 & sleep 0.01 & wait; jobs; set +m
diff <(seq 3) <(seq 4); echo "diff $?"; comm -12 <(seq 5) <(seq 3 8); cat <(echo a) <(echo b) | paste - -; seq 5 | tee >(sort -r >reversed) >/dev/null; wait; sleep 0.2; cat reversed
coproc upper { tr a-z A-Z; }; echo hello >&"${upper[1]}"; eval "exec ${upper[1]}>&-"; cat <&"${upper[0]}"
shopt -s globstar nullglob dotglob extglob
printf '%s\n' tree/**/*.txt | wc -l; echo tree/!(many|a)/; echo nothing*; for f in tree/*; do [[ -f $f && ! -L $f ]] && echo "${f##*/}" | cat -v; done
exec {fd}>high; echo "to high" >&"$fd"; exec {fd}>&-; cat high; exec 200<tree/plain.txt; read -r -u 200 line; echo "$line"; exec 200<&-
mapfile -t lines <tree/many/file-009.txt; echo "${#lines[@]}"; read -r -n 3 part <tree/plain.txt; echo "$part"; printf -v x '%05d' 42; echo "$x"
bash -c 'echo "$0 $*"' name a b; bash -c 'kill -INT $$; echo never'; echo "int $?"; (trap '' TERM; kill $BASHPID; echo deaf); trap 'echo err $?' ERR; false; trap - ERR
ls /proc/self/fd | wc -l; ls -l /proc/$$/exe | sed 's/.*-> //'; [[ /proc/self/cwd -ef . ]]; echo "cwd $?"; cat /proc/self/comm; head -c 4 /proc/self/cmdline | tr '\0' ' '; echo; tr '\0' '\n' </proc/$$/environ | grep -c HOME=; wc -l </proc/self/status >/dev/null; echo $?
exec 5<>/dev/null; : <&5; bash -c 'exec -a other bash -c "echo \$0"'; exec sed -n 1p tree/plain.txt
