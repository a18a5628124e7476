#!/bin/sh
# git in a repository that is there already, with the blocklist in force: what a day's work does, and
# nothing that changes hooks or settings.
# modes: user-blocked
# ignore: */index */index.lock */COMMIT_EDITMSG *.idx *.rev *.pack */packs */commit-graph *.graph */logs/* *.tar
# needs: git
# prepare: yes

export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1 GIT_EDITOR=true GIT_PAGER=cat
if [ "$1" = prepare ]; then
  git config --global init.defaultBranch main
  git config --global gc.auto 0
  git config --global pack.threads 1
  git init -q r && cp -r tree/many r && cd r && git add -A && git commit -q -m first
  git init -q --bare ../bare.git
  printf '#!/bin/sh\necho hook ran\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
  exit
fi
cd r || exit 1
git status --short --branch
git checkout -q -b side && echo side >side.txt && sed -i 's/file 3/file three/' many/file-003.txt
git add -A && git commit -m side && git diff --stat HEAD~1
git checkout -q main && echo main >main.txt && git add -A && git commit -q -m main
git merge -q --no-edit side; echo "merge $?"; git log --oneline --graph
git checkout -q -b conflict HEAD~1 && echo other >side.txt && git add -A && git commit -q -m conflict
git merge side 2>&1; echo "conflict $?"; git status --porcelain; cat side.txt; git merge --abort; echo "abort $?"
git checkout -q side && git rebase -q conflict 2>&1 | sed 's/[0-9a-f]\{7,40\}/ID/g'; git status --porcelain
git checkout --theirs side.txt && git add side.txt && git rebase --continue 2>&1 | tail -1
echo dirty >many/file-001.txt && git stash -q && git stash list && git stash pop -q && git checkout -q -- .
git tag -a -m 'a tag' v1 && git describe && git cat-file -p v1
git mv side.txt moved.txt && git rm -q many/file-002.txt && git status --short && git commit -m moved
git push -q ../bare.git main:refs/heads/pushed; echo "push $?"
git fetch -q ../bare.git pushed && git rev-parse FETCH_HEAD main; echo "fetch $?"
git gc -q --prune=now; echo "gc $?"; git fsck --strict; echo "fsck $?"
git archive --format=tar HEAD | tar t | sort | head -5
git blame -s moved.txt && git grep -c file | head -3
touch untracked && mkdir empty && git clean -ndx && git clean -fdxq; git status --short --branch
git log --format='%s %an %ad %T' --all | sort
