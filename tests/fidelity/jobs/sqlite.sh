#!/bin/sh
# SQLite from its source, which comes with code-server: configure, make -j2, and the program that comes of it.
# run: /usr/bin /usr/lib/gcc {W}
# ignore: sqlite/config.log
# modes: user-served user-workspace
# needs: gcc
# prepare: yes

if [ "$1" = prepare ]; then
  tar -xzf "$BULKHEAD_DATA"/vscode/node_modules/code-server/lib/vscode/node_modules/@vscode/sqlite3/deps/sqlite-autoconf-*.tar.gz && mv sqlite-autoconf-* sqlite
  exit
fi
cd sqlite || exit 1
./configure --quiet --disable-shared CFLAGS=-O0 >configured 2>&1; echo "configure $?"
make -s -j2 >made 2>&1; echo "make $?"
LC_ALL=C sort -o made made  # two compilers warn, whichever is first
make -q; echo "nothing to do $?"
./sqlite3 work.db 'create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) insert into t select i, hex(i) from n;
create index tb on t(b); select count(*), sum(a), max(b) from t; pragma integrity_check; vacuum;'; echo "ran $?"
./sqlite3 work.db .dump | cksum
make -s clean; echo "clean $?"
