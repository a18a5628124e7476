#!/bin/sh
# Starts bulkhead inside the compartment with everything granted: a compartment within gets no more
# than the one around it.
# class: vm2, OS sandboxes: nested sandboxes that inherit more than their parent
# plain: leak
# flags: --read {BULKHEAD} --run {BULKHEAD} --run cat
# journal: * *

for fact; do case $fact in KEY=*) key=${fact#*=} ;; BULKHEAD=*) bulkhead=${fact#*=} ;; WHERE=*) where=${fact#*=} ;; esac; done
echo tried
if [ "$where" = plain ]; then cat "$key"; fi
"$bulkhead" run --quiet --read / --write / --unblock all --run cat -- cat "$key"
"$bulkhead" run --quiet --audit -- cat "$key"
true
