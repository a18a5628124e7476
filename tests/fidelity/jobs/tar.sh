#!/bin/sh
# tar: modes, owners, times, links, sparse files, extended attributes, pipes, increments, comparison.
# run: tar gzip xz cat rm mkdir sort sed touch ls stat sh wc cut dd chmod
# needs: tar
# ignore: *.tar *.tar.gz *.snar *.tar.xz

tar --create --sort=name --format=posix --pax-option=delete=atime,delete=ctime --xattrs --sparse --file one.tar tree; echo "create $?"
tar tvf one.tar | sed 's/ \+/ /g' | cut -d' ' -f1,2,6- | sort
mkdir out && tar xpf one.tar --xattrs -C out; echo "extract $?"
tar df one.tar; echo "compare $?"
tar df one.tar -C out; echo "compare extracted $?"
mkdir piped && tar cf - -C tree . | tar xpf - -C piped; echo "pipe $?"
tar czf two.tar.gz tree/many && mkdir zipped && tar xzf two.tar.gz -C zipped && ls zipped/tree/many | wc -l
tar cJf three.tar.xz tree/a && tar tJf three.tar.xz | sort
mkdir owner && tar xf one.tar -C owner --no-same-permissions --no-same-owner -m --strip-components=1; ls owner | wc -l
echo changed >>tree/plain.txt; tar df one.tar; echo "compare changed $?"
tar xf one.tar --keep-old-files tree/plain.txt; echo "keep $?"
tar xf one.tar --unlink-first tree/plain.txt; echo "unlink $?"; cat tree/hard.txt
tar xf one.tar --overwrite tree/readonly; echo "overwrite $?"; stat -c '%a %h %s' tree/readonly tree/plain.txt
tar --delete --file one.tar tree/big.bin; tar rf one.tar tree/a/sibling.txt; tar tf one.tar | sort | wc -l
mkdir inc && tar cf inc/0.tar -g inc/s.snar tree/a 2>&1; echo new >tree/a/new.txt; tar cf inc/1.tar -g inc/s.snar tree/a; tar tf inc/1.tar | sort
tar xf absent.tar; echo "absent $?"; tar cf /nowhere/x.tar tree; echo "nowhere $?"
chmod 0 tree/private; tar cf closed.tar tree/private; echo "closed $?"; chmod 600 tree/private
rm -rf inc
