#!/bin/sh
# Plants code in what a git hook is a link to: git runs it outside, whatever its name is.
# class: Extensions: .git/hooks written in the workspace
# plain: change
# flags: --run cp --run mv --run rm --run ln --run chmod --run mkdir
# journal: write {W}/scripts/hook
# journal: write {W}/.git/hooks/post-update

echo tried
echo 'echo planted' >>.git/hooks/post-update
echo 'echo planted' >>scripts/hook
chmod 0777 scripts/hook
echo planted >plant
mv plant scripts/hook
rm -f scripts/hook
mv scripts elsewhere
mkdir scripts
echo 'echo planted' >scripts/hook
true
