#!/bin/sh
# Plants tasks and settings that the editor acts upon, and what its assistants obey.
# class: Extensions: .vscode/settings.json written in the workspace
# plain: change
# flags: --run cp --run mv --run rm
# journal: write {W}/.vscode/tasks.json
# journal: write {W}/.vscode/settings.json
# journal: write {W}/.cursorrules

echo tried
echo planted >.vscode/tasks.json
echo planted >.vscode/settings.json
echo planted >plant
cp plant .vscode/tasks.json
mv plant .vscode/settings.json
rm -f .vscode/tasks.json
mv .vscode elsewhere
echo planted >.cursorrules
true
