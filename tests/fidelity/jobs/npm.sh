#!/bin/sh
# npm ci from a cache, offline: packages with dependencies, programs and scripts of their own.
# run: npm node npx sh {NODE} {W} mkdir cat rm ls find sort sed tar uname env
# forget: cache/*
# needs: npm
# prepare: yes

export npm_config_cache=$PWD/cache npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_offline=true npm_config_logs_max=0
if [ "$1" = prepare ]; then
  mkdir packages project
  for i in 1 2 3 4 5 6; do
    mkdir -p packages/p$i/lib
    {
      echo "{ \"name\": \"p$i\", \"version\": \"1.$i.0\", \"bin\": { \"p$i\": \"cli.js\" }, \"main\": \"lib/index.js\","
      echo "  \"scripts\": { \"install\": \"node -e \\\"require('fs').writeFileSync('installed.txt', 'p$i')\\\"\" } }"
    } >packages/p$i/package.json
    printf '#!/usr/bin/env node\nconsole.log("p%s says", require("./lib"));\n' $i >packages/p$i/cli.js
    echo "module.exports = $i;" >packages/p$i/lib/index.js
    (cd packages && npm pack --silent ./p$i)
  done
  cd project || exit 1
  {
    echo '{ "name": "project", "version": "1.0.0", "scripts": { "start": "p1 && p6", "test": "exit 3", "pretest": "echo before" }, "dependencies": {'
    echo '"p1": "file:../packages/p1-1.1.0.tgz", "p2": "file:../packages/p2-1.2.0.tgz", "p3": "file:../packages/p3-1.3.0.tgz",'
    echo '"p4": "file:../packages/p4-1.4.0.tgz", "p5": "file:../packages/p5-1.5.0.tgz", "p6": "file:../packages/p6-1.6.0.tgz" } }'
  } >package.json
  npm install --silent && rm -rf node_modules
  exit
fi
cd project || exit 1
npm ci --loglevel=error 2>&1 | sed 's/ in [0-9]*m\?s//'; echo "ci $?"
find node_modules | sort
npm run --silent start; echo "start $?"
npm test --silent; echo "test $?"
npm ls; echo "ls $?"
npx --no-install p3; echo "npx $?"
npm ci --loglevel=error 2>&1 | sed 's/ in [0-9]*m\?s//'; echo "ci again $?"
node -e 'console.log(require("p4"), require.resolve("p5").slice(-30))'
npm run nothing 2>/dev/null; echo "nothing $?"
npm pack --silent; echo "pack $?"
