#!/bin/sh
# A C project of 64 files: make -j2, dependencies, a static and a shared library, an incremental build,
# an error, a parallel clean; the programs run.
# run: /usr/bin /usr/lib/gcc {W}
# needs: make gcc

mkdir -p project/src project/include && cd project || exit 1
{
  echo '#pragma once'
  for i in $(seq 60); do echo "int value_$i(int x);"; done
} >include/values.h
for i in $(seq 60); do
  cat >src/value_$i.c <<END
#include "values.h"
#include <stdio.h>
#include <string.h>
static int table_$i[$i];
int value_$i(int x) {
  memset(table_$i, 0, sizeof table_$i);
  for (int j = 0; j < $i; ++j) table_$i[j] = x * j + $i;
  char text[32];
  snprintf(text, sizeof text, "%d", table_$i[$i - 1]);
  return (int)strlen(text) + table_$i[0];
}
END
done
{
  echo '#include "values.h"'
  echo '#include <stdio.h>'
  echo 'int main(void) { int sum = 0;'
  for i in $(seq 60); do echo "  sum += value_$i($i);"; done
  printf '%s\n' '  printf("sum %d\n", sum); return sum % 7; }'
} >src/main.c
cat >Makefile <<'END'
SOURCES := $(sort $(wildcard src/value_*.c))
OBJECTS := $(SOURCES:src/%.c=build/%.o)
CFLAGS := -O1 -fPIC -Iinclude -MMD
all: build/program build/shared
build/%.o: src/%.c | build
	@$(CC) $(CFLAGS) -c $< -o $@
build:
	@mkdir -p $@
build/libvalues.a: $(OBJECTS)
	@rm -f $@ && ar rcsD $@ $^
build/libvalues.so: $(OBJECTS)
	@$(CC) -shared -o $@ $^
build/program: build/main.o build/libvalues.a
	@$(CC) -o $@ $^
	@echo linked
build/shared: build/main.o build/libvalues.so
	@$(CC) -o $@ $< -Lbuild -lvalues -Wl,-rpath,'$$ORIGIN'
	@echo linked
clean:
	@rm -rf build
-include $(wildcard build/*.d)
END
make -j2; echo "make $?"
./build/program; echo "ran $?"
./build/shared; echo "ran $?"
make -j2; echo "again $?"
make -q; echo "nothing to do $?"
touch include/values.h; make -n | wc -l
echo 'broken' >>src/value_7.c; make -j2 -k 2>&1 | sed -n 's/.*\(value_7.c:[0-9]*:[0-9]*: error\).*/\1/p'; echo "broken $?"
sed -i '$d' src/value_7.c; make -j2; echo "mended $?"
ar t build/libvalues.a | sort | wc -l
gcc -E -Iinclude src/value_3.c | wc -l; echo 'int main(void){return 3;}' | gcc -x c - -o piped; ./piped; echo "piped $?"
gcc -O2 -flto -Iinclude src/main.c src/value_*.c -o lto; ./lto; echo "lto $?"
make clean; ls
