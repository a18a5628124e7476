#!/bin/sh
# rsync: archives, hard links, attributes, deletion, updates in place, changed files, filters.
# run: ls head rsync sh cat rm mkdir touch sed stat find sort chmod ls
# needs: rsync

rsync -aHXS --itemize-changes tree/ one/ | sort; echo "first $?"
rsync -aHXS --omit-dir-times --itemize-changes tree/ one/; echo "again $?"
echo changed >>tree/plain.txt; rm tree/a/sibling.txt; chmod 600 tree/executable; touch -d @1400000000 tree/empty
rsync -aHX --delete --omit-dir-times -i tree/ one/ | sort; echo "changed $?"
rsync -a --inplace --no-whole-file --checksum -i tree/big.bin one/big.bin; rsync -rlt --chmod=D700,F600 tree/many two; stat -c %a two/many two/many/file-001.txt
rsync -a --exclude='*.txt' --include='*/' tree/ three/; find three -name '*.txt'; rsync -a --link-dest=../one tree/ four/; echo "link-dest $?"
rsync -a --backup --suffix=.old tree/private one/private; rsync -a --backup --backup-dir=../old tree/plain.txt one/; rsync -a --remove-source-files tree/many/file-03* five/; ls five tree/many | sort | head -50
rsync -a nowhere x; echo "absent $?"; rsync -a tree/plain.txt nowhere/x/y; echo "no folder $?"; rsync -an --delete -i tree/a/ one/ | sort | head
rsync -a --files-from=- tree six <<END
plain.txt
a/b
END
find six | sort; rsync -aL tree/soft.txt tree/to-folder seven; stat -c %F seven/soft.txt; rsync -a --numeric-ids --times --omit-dir-times -e sh tree/a eight 2>&1; echo "end $?"
