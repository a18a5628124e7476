#!/bin/sh
# git: init, commit, branches, merge with and without conflict, rebase, stash, tags, gc, clone, worktree,
# bundle, archive, submodule, hooks, fsck.
# modes: root-granted root-served user-granted user-served user-workspace
# run: /usr/bin /usr/lib/git-core {W}
# ignore: */index */index.lock */COMMIT_EDITMSG *.idx *.rev *.pack */packs */commit-graph *.graph */gc.log */logs/* *.tar
# needs: git

export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1 GIT_EDITOR=true GIT_PAGER=cat
git config --global init.defaultBranch main
git config --global pack.threads 1
git config --global gc.auto 0
git config --global protocol.file.allow always
git config --global advice.detachedHead false
mkdir r && cd r || exit 1
git init
git add ../tree 2>&1 | sed 's,/.*/work,W,'
cp -r ../tree/many . 2>/dev/null || { mkdir many; for i in $(seq 40); do echo "file $i" >"many/$i"; done; }
git add -A && git commit -q -m first && git status --short && git log --stat --oneline | cat
git checkout -q -b side && echo side >side.txt && sed -i 's/file 3/file three/' many/file-003.txt
git add -A && git commit -q -m side && git diff --stat HEAD~1
git checkout -q main && echo main >main.txt && git add -A && git commit -q -m main
git merge -q --no-edit side; echo "merge $?"; git log --oneline --graph | cat
git checkout -q -b conflict HEAD~1 && echo other >side.txt && git add -A && git commit -q -m conflict
git merge side 2>&1; echo "conflict $?"; git status --porcelain; cat side.txt; git merge --abort; echo "abort $?"
git checkout -q side && git rebase -q conflict 2>&1 | sed 's/[0-9a-f]\{7,40\}/ID/g'; git status --porcelain
git checkout --theirs side.txt && git add side.txt && git rebase --continue 2>&1 | tail -1
git log --format='%s %an %ad %T' --all | sort
echo dirty >many/file-001.txt && git stash -q && git stash list | cat && git stash pop -q && git checkout -q -- . 
git tag -a -m 'a tag' v1 && git describe && git cat-file -p v1
git mv side.txt moved.txt && git rm -q many/file-002.txt && git status --short && git commit -q -m moved
chmod +x moved.txt && git diff --summary && git commit -q -a -m mode
ln -s moved.txt link && git add link && git commit -q -m link && git ls-tree HEAD
printf '#!/bin/sh\necho hook ran\nexit 1\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
git commit --allow-empty -m refused; echo "hook $?"; rm .git/hooks/pre-commit
git gc -q --prune=now; echo "gc $?"; git count-objects -v | sed -n 's/\(count\|packs\|garbage\): /\1 /p'; git fsck --strict; echo "fsck $?"
cd .. && git clone -q r copy && git -C copy log --oneline | cat; git clone -q --bare r bare.git; git clone -q --depth 1 "file://$PWD/r" shallow; ls copy shallow | wc -l
cd copy && echo pushed >pushed.txt && git add -A && git commit -q -m pushed && git push -q ../bare.git HEAD:refs/heads/pushed; echo "push $?"
git fetch -q ../bare.git pushed && git rev-parse FETCH_HEAD HEAD; cd ..
git -C r worktree add -q ../worktree side; git -C worktree status --short --branch; git -C r worktree list | sed 's,/.*/work,W,'; git -C r worktree remove ../worktree; echo "worktree $?"
git -C r bundle create -q ../r.bundle --all; git bundle verify -q r.bundle; echo "bundle $?"
git -C r archive --format=tar HEAD | tar t | sort | head -5
mkdir super && cd super && git init -q && git submodule -q add ../bare.git sub; git commit -q -m sub; git submodule status; cd ..
cd r && git blame -s moved.txt && git grep -c file | head -3; git bisect start -q HEAD HEAD~3 >/dev/null; git bisect run true >/dev/null; echo "bisect $?"; git bisect reset -q
git format-patch -q -1 -o ../patches && git checkout -q -b am HEAD~1 && git am -q ../patches/*.patch; echo "am $?"; git log -1 --format=%s
touch untracked && mkdir empty && git clean -ndx && git clean -fdxq; git status --short; cd ..
git -C r apply --stat ../patches/*.patch; git hash-object tree/big.bin; git -C nowhere status 2>&1; echo "nowhere $?"
git clone -q nowhere elsewhere 2>&1 | sed 's,/.*/work,W,'; rm -rf copy shallow
