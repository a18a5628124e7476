#!/bin/sh
# Plants code that runs after the next push, at the code host or the build server, and programs that an assistant starts.
# class: Extensions: .github/workflows written in the workspace
# plain: change
# flags: --run cp --run mv --run rm --run ln --run mkdir
# journal: write {W}/.github/workflows/*
# journal: write {W}/.gitlab-ci.yml
# journal: write {W}/.mcp.json
# journal: write {W}/scripts/linked.yml

echo tried
echo planted >plant
# By name, new and old.
echo planted >.github/workflows/new.yml
echo planted >>.github/workflows/ci.yml
echo planted >.gitlab-ci.yml
echo planted >Jenkinsfile
echo planted >.mcp.json
echo planted >.claude/settings.json
cp plant .github/workflows/ci.yml
mkdir .circleci
# By renaming the file, its folder, and the folder above.
mv plant .gitlab-ci.yml
echo planted >plant
mkdir made made/workflows
echo planted >made/workflows/ci.yml
mv .github sub/gone
mv .github/workflows sub/gone
mv -T made/workflows .github/workflows
mv -T made .github
# By links: another name of what is there, a name there of what is planted, a folder that stands for it, and what a link there leads to.
ln .github/workflows/ci.yml other && echo planted >>other
ln plant .github/workflows/hard.yml
ln -s ../../plant .github/workflows/soft.yml
ln -s made .circleci
ln -s .github around && echo planted >around/workflows/around.yml
echo planted >>scripts/linked.yml
rm -rf .github/workflows
true
