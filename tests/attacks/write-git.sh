#!/bin/sh
# Plants code in the workspace that runs outside later: git hooks, git's configuration.
# class: Extensions: .git/hooks written in the workspace
# plain: change
# flags: --run cp --run mv --run rm --run ln --run chmod --run mkdir --run git
# journal: write {W}/.git/hooks/*
# journal: write {W}/.git/config
# journal: write {W}/.husky

echo tried
echo 'echo planted' >.git/hooks/pre-commit
echo 'echo planted' >.git/hooks/post-checkout
echo '[core] fsmonitor = planted' >>.git/config
chmod +x .git/hooks/post-checkout
echo planted >plant
cp plant .git/hooks/post-merge
mv plant .git/hooks/pre-commit
ln -sf /tmp .git/hooks/link
ln -f allowed.txt .git/hooks/hard
rm -rf .git/hooks
mv .git/hooks .git/elsewhere
git config core.pager planted
mkdir .git/hooks/folder
mkdir .husky
true
