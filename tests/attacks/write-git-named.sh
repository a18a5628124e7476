#!/bin/sh
# Plants code where git's configuration says that git finds its hooks and a filter's program.
# class: Extensions: .git/hooks written in the workspace
# plain: change
# flags: --run cp --run mv --run rm --run ln --run mkdir
# journal: write {W}/ci/hooks/pre-commit
# journal: write {W}/ci/clean.py

echo tried
echo 'echo planted' >ci/hooks/pre-commit
echo 'echo planted' >ci/hooks/post-merge
echo 'planted' >ci/clean.py
echo planted >plant
mv plant ci/clean.py
rm -f ci/clean.py
ln -f allowed.txt ci/hooks/post-merge
mv ci/hooks ci/elsewhere
mkdir ci/hooks
mv ci elsewhere
true
