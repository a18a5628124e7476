#!/bin/sh
# Starts bulkhead inside the compartment with everything granted, and with nothing enforced: a
# compartment within gets no more than the one around it. It finds its data, has a home and a state
# folder that it may write, and may run what it would start. unshare is a sandbox that asks for less.
# class: vm2, OS sandboxes: nested sandboxes that inherit more than their parent
# plain: leak
# flags: --read {DATA}/manifests --read {BULKHEAD} --run {BULKHEAD} --run mkdir --run unshare --run cat
# journal: system unshare

for fact; do case $fact in KEY=*) key=${fact#*=} ;; BULKHEAD=*) bulkhead=${fact#*=} ;; DATA=*) data=${fact#*=} ;; esac; done
mkdir state config
export BULKHEAD_DATA="$data" XDG_STATE_HOME="$PWD/state" XDG_CONFIG_HOME="$PWD/config"
echo tried
"$bulkhead" run --quiet --read / --write / --unblock ssh-keys --run cat -- cat "$key"
"$bulkhead" run --quiet --audit -- cat "$key"
unshare --user --map-current-user cat "$key"
true
