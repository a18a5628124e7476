#!/bin/sh
# Has the home folder granted for writing, and writes what is blocked in it all the same: start-up files,
# keys that let others in, programs started at login.
# class: Extensions: persistence in the home directory
# plain: change
# flags: --read {HOME} --write {HOME} --run mkdir --run mv --run ln --run cp
# journal: write {HOME}/.bashrc

for fact; do case $fact in HOME=*) home=${fact#HOME=} ;; esac; done
echo tried
echo planted >>"$home/.bashrc"
echo planted >"$home/.profile"
echo planted >"$home/.zshrc"
echo planted >"$home/.ssh/authorized_keys"
mkdir -p "$home/.config/autostart" && echo planted >"$home/.config/autostart/x.desktop"
mkdir -p "$home/.config/systemd/user" && echo planted >"$home/.config/systemd/user/x.service"
mv "$home/.bashrc" "$home/plain"
mv "$home/.ssh" "$home/folder"
ln -f "$home/.bashrc" "$home/second" && echo planted >"$home/second"
echo planted >new && mv new "$home/.bashrc"
echo planted >"$home/.gitconfig"
true
