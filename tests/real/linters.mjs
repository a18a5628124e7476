// Extensions that find problems.
import { until } from "../vscode/editor.mjs";
import { problems, written } from "./hands.mjs";

export const jobs = [
  {
    name: "ESLint",
    extensions: ["dbaeumer.vscode-eslint"],
    project: "eslint",
    job: "finds a problem and mends another one on saving",
    files: {
      "projects/app/eslint.config.js": 'module.exports = [{ rules: { "no-unused-vars": "error", "prefer-const": "error" } }];\n',
      "projects/app/linted.js": "let unused = 1;\n",
    },
    settings: { "editor.codeActionsOnSave": { "source.fixAll.eslint": "explicit" } },
    async drive({ editor, world }) {
      await editor.openFile("linted.js");
      const found = await problems(editor, /'unused' is assigned a value but never used/);
      await editor.page.locator(".editor-group-container.active .view-lines").first().click();
      await editor.page.keyboard.press("Control+Home");
      await editor.page.keyboard.type("// \n");
      // A save that comes before the server has read the change finds nothing to mend.
      await until("what was saved", async () => (await editor.save(), /^\/\/ ?\nconst unused = 1;\n/.test(world.read("home/projects/app/linted.js"))), 30_000);
      return `${found}\n${world.read("home/projects/app/linted.js")}`;
    },
    expected: /never used\n\/\/ ?\nconst unused = 1;\n$/,
  },
  {
    name: "ESLint, one package of a repository",
    extensions: ["dbaeumer.vscode-eslint"],
    project: "eslint",
    above: true,
    job: "finds a problem by the eslint of the folder above",
    files: {
      "projects/eslint.config.js": 'module.exports = [{ rules: { "no-unused-vars": "error" } }];\n',
      "projects/app/package.json": "{}\n",
      "projects/app/linted.js": "let unused = 1;\n",
    },
    async drive({ editor }) {
      await editor.openFile("linted.js");
      return problems(editor, /'unused' is assigned a value but never used/);
    },
    expected: /never used/,
  },
  {
    name: "stylelint",
    extensions: ["stylelint.vscode-stylelint"],
    project: "stylelint",
    job: "finds a problem by the workspace's own stylelint",
    files: {
      "projects/app/.stylelintrc.json": '{ "rules": { "color-no-invalid-hex": true } }\n',
      "projects/app/wrong.css": "a { color: #12; }\n",
    },
    async drive({ editor }) {
      await editor.openFile("wrong.css");
      return problems(editor, /[^\n]*invalid hex[^\n]*/i);
    },
    expected: /invalid hex/i,
  },
  {
    name: "markdownlint",
    extensions: ["davidanson.vscode-markdownlint"],
    job: "finds a problem, as the .markdownlint.json of the workspace says",
    files: { "projects/app/.markdownlint.json": '{ "MD009": false }\n', "projects/app/notes.md": "# One   \n\n\n\nText   \n" },
    async drive({ editor }) {
      await editor.openFile("notes.md");
      return problems(editor, /[^\n]*MD0\d\d[^\n]*/);
    },
    expected: /MD012/,
  },
  {
    name: "Code Spell Checker",
    extensions: ["streetsidesoftware.code-spell-checker"],
    job: "finds a word that is not in its dictionaries",
    files: { "projects/app/words.md": "A sentence with a mispelledd word.\n" },
    async drive({ editor }) {
      await editor.openFile("words.md");
      return problems(editor, /[^\n]*mispelledd[^\n]*/);
    },
    expected: /mispelledd.*Unknown word|Unknown word.*mispelledd/,
  },
  {
    name: "ShellCheck",
    extensions: ["timonwong.shellcheck"],
    job: "finds a problem by Debian's shellcheck",
    files: { "projects/app/script.sh": "#!/bin/sh\necho $1\n" },
    async drive({ editor }) {
      await editor.openFile("script.sh");
      return problems(editor, /Double quote[^\n]*/);
    },
    expected: /Double quote to prevent globbing/,
  },
  {
    name: "Error Lens",
    extensions: ["usernamehw.errorlens"],
    job: "writes a problem beside its line",
    files: { "projects/app/broken.json": '{ "a": }\n' },
    async drive({ editor, page }) {
      await editor.openFile("broken.json");
      let texts = [];
      await until("a problem beside its line", async () => (texts = await written(page)).some((text) => text.includes("Value expected")), 60_000);
      return texts.find((text) => text.includes("Value expected"));
    },
    expected: /Value expected/,
  },
];
