#!/bin/sh
# The tools that copy, move, link and change files, with everything that they keep. (Not: setuid and setgid,
# which no compartment leaves behind.)
# run: cp mv ln rm rmdir mkdir mkfifo install touch chmod chown chgrp stat ls dd truncate split csplit tee sort cat head tail wc find sed readlink realpath mktemp sync shuf comm join paste uniq tr cut od sha256sum du test expr seq id getfattr setfattr unlink link mknod shred cmp diff

cp -a tree copy; echo "cp -a $?"
cp -r tree recursive; echo "cp -r $?"
cp -al tree linked; echo "cp -al $?"
cp -as "$PWD/tree/many" symbolic; echo "cp -as $?"; rm -r symbolic
cp --parents tree/a/b/c/deep.txt copy; cp --sparse=always tree/sparse sparse-copy; cp --reflink=auto tree/big.bin reflinked
cp -p tree/readonly over; cp tree/plain.txt over; echo "over $?"; cp -f tree/plain.txt over; echo "forced $?"
cp -n tree/empty over; cp -u tree/plain.txt copy/; cp -b tree/empty over; cp --backup=numbered tree/empty over; ls over*
cp tree/soft.txt followed; cp -P tree/soft.txt kept; cp -L tree/to-folder/c/deep.txt .; cp tree/dangling x; echo "dangling $?"
cp tree a b; cp tree/a x; cp nowhere x; cp tree/plain.txt tree/plain.txt; cp tree/plain.txt nowhere/
mv copy moved; mv moved/plain.txt moved/renamed.txt; mv -n moved/empty moved/renamed.txt; mv moved/a recursive/many; mv tree/loop-a moved; mv nowhere x; mv recursive/many moved/renamed.txt; mv moved moved/a
mv -T moved/sticky moved/closed; echo "mv -T $?"; mv -f tree/readonly tree/empty; echo "mv -f $?"
ln moved/renamed.txt hardlink; ln -s /etc/hostname absolute; ln -sf moved/renamed.txt absolute; ln -sr moved/private related; ln -sfn moved related; ln moved x; ln nowhere x; ln -s x moved/renamed.txt
readlink absolute related; readlink -f absolute; realpath --relative-to=. related/closed; readlink moved; readlink -e nowhere; readlink -f tree/loop-b
install -D -m 640 tree/plain.txt deep/er/installed; install -d -m 711 made; stat -c '%n %a %F' deep/er/installed made
touch -d '2001-02-03 04:05:06.123456789' touched; touch -r touched referenced; touch -a -d '2002-01-01' touched; touch -m -d @1000000000 touched; touch -c absent; touch nowhere/x; touch -h -d '2003-01-01' related; stat -c '%n %X %y' touched referenced related
for mode in 755 u-w,g+x,o=r a+X 1777 u=rwx,go= 711; do chmod $mode touched; stat -c '%a %A' touched; done; chmod 0644 touched
chmod -R g+w moved/many; chmod nowhere x; chmod 600 tree/dangling; chmod --reference=made moved/closed; stat -c %a moved/closed moved/many/file-001.txt
chown "$(id -u):$(id -g)" touched; echo "chown $?"; chown -h "$(id -u)" related; echo "chown -h $?"; chgrp "$(id -g)" moved/many; echo "chgrp $?"; chown nobody touched 2>&1; echo "chown other $?"; chown "$(id -u)" touched 2>/dev/null
setfattr -n user.shape -v round touched; getfattr -d touched; setfattr -x user.shape touched; getfattr -d touched; setfattr -x user.shape touched; getfattr -n user.colour tree/plain.txt
dd if=tree/big.bin of=part bs=1000 skip=3 count=20 seek=2 status=none; dd if=/dev/zero of=part bs=1 count=1 conv=notrunc oflag=append status=none; dd if=tree of=x status=none; dd if=tree/big.bin bs=64k iflag=fullblock status=none | wc -c
truncate -s 100K sized; truncate -s -10K sized; truncate -r tree/plain.txt sized2; truncate -s 10 tree; stat -c '%s %b' sized sized2
split -b 100000 tree/big.bin piece.; split -l 1 -d tree/many/file-003.txt line.; csplit -s tree/many/file-010.txt 5; cat piece.* | cmp - tree/big.bin; echo "cmp $?"
echo teed | tee tee1 tee2 | cat; echo more | tee -a tee1 >/dev/null; tee nowhere/x </dev/null; sort -r -o tee1 tee1; cat tee1
rm tee2; rm nowhere; rm -f nowhere; rm moved; rm -r linked; echo "rm -r $?"; rmdir made; rmdir moved; rmdir -p deep/er; mkdir -p p/q/r; mkdir p; rmdir -p p/q/r; mkdir -m 750 moded; mkdir nowhere/x; stat -c %a moded
rm -d moded; unlink hardlink; unlink moved; link tree/a/sibling.txt linked-again; shred -u -n 1 part; ls part; mkfifo fifo; mkfifo fifo; mkfifo -m 600 fifo2; mknod fifo3 p; stat -c '%n %a %F' fifo fifo2 fifo3
umask 077; touch masked; mkdir masked-d; mkfifo masked-p; umask 000; touch open; mkdir open-d; cp masked open2; ln -s x open-l; stat -c '%n %a' masked masked-d masked-p open open-d open2; umask 022
test -w tree/readonly; echo "w $?"; test -r tree/private; echo "r $?"; test -x tree/plain.txt; echo "x $?"; test tree/plain.txt -ef tree/hard.txt; echo "ef $?"; test touched -ot referenced; echo "ot $?"; test -p fifo; test -L related; test -k tree/sticky; echo "k $?"
ls -la tree/many | wc -l; ls -R tree | sort | sha256sum; ls -lL tree/soft.txt | cut -c1-10; ls tree/many/ | head -3; ls tree/plain.txt/; ls nowhere; ls -d tree/closed/; du -s --apparent-size tree/many | cut -f1 >/dev/null
find tree -type f -newer touched | sort | head -5; find tree -name '*.txt' -perm -200 -links +1 | sort; find tree -type l -xtype l | sort; find tree -type p -exec stat -c %a {} +; find . -name 'piece.*' -delete; find tree -maxdepth 1 -type f -print0 | sort -z | tr '\0\n' '\n?'; find tree -size +100k; find nowhere; find tree -samefile tree/hard.txt | sort
sha256sum tree/many/* | sha256sum; head -c 10 tree/plain.txt/ ; cat tree; cat tree/loop-b; cat < tree/closed; mktemp -d ./t.XXXXXX | wc -c; rm -rf t.*; diff -r tree/many moved/many; echo "diff $?"; od -c tree/empty; sync tree/plain.txt
