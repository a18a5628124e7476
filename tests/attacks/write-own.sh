#!/bin/sh
# Has the home folder granted for writing, and grants itself more: bulkhead's policy, grants and journal.
# class: OS sandboxes: the sandbox's own configuration
# plain: change
# flags: --read {HOME} --write {HOME} --run mv --run rm --run mkdir
# journal: write {HOME}/.config/bulkhead/*

for fact; do case $fact in HOME=*) home=${fact#HOME=} ;; esac; done
echo tried
echo '{}' >"$home/.config/bulkhead/grants.json"
echo '{}' >"$home/.config/bulkhead/policy.json"
echo planted >"$home/.config/bulkhead/canary"
echo planted >"$home/.local/state/bulkhead/keys/canary"
rm -rf "$home/.local/state/bulkhead"
mv "$home/.config/bulkhead" "$home/.config/other"
mv "$home/.config" "$home/other"
mv "$home/.local/state" "$home/other2"
mv "$home/.local" "$home/other3"
true
